package web

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"path"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/charset"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// maxByteList is how many bytes of a file are given as a list of numbers.
const maxByteList = 64 << 10

// DownloadHTTPFile gets a file from a service.
func DownloadHTTPFile() (workflow.Descriptor, engine.Activity) {
	inputs := append(requestInputs(),
		workflow.InputDescriptor{Name: "requestContent", Type: "Object", Description: "Elsa's name of content."},
		workflow.InputDescriptor{Name: "requestContentType", Type: "String", Description: "Elsa's name of contentType."},
		workflow.InputDescriptor{Name: "disableAuthorizationHeaderValidation", Type: "Boolean", Description: "Elsa's switch; the header is sent as it is given."},
		workflow.InputDescriptor{Name: "expectedStatusCodes", Type: "Object[]", Default: []any{200}, Description: "The status codes that have a port of their own."},
	)
	return workflow.Descriptor{
		Type: "Elsa.DownloadHttpFile", Main: "url", AnyOutcome: true, Asks: workflow.AsksHTTP,
		Description: fmt.Sprintf("Gets a file of up to %d bytes from a service, as FlowSendHttpRequest sends a request. The file lies beside the instance: its result refers to it, for WriteFileHttpResponse, ReadFile, or the content of another request.", files.MaxSize),
		Inputs:      inputs,
		Outputs: []workflow.OutputDescriptor{
			{Name: "result", Type: "Object", Description: "The file: name, fileName, contentType, length and sha256; null if the answer has no body."},
			{Name: "statusCode", Type: "Int32", Description: "The answer's status."},
			{Name: "response", Type: "Object", Fields: []string{"statusCode", "headers"}, Description: "The answer without its body."},
			{Name: "responseContentStream", Type: "Object", Description: "The file, as result."},
			{Name: "responseContentBytes", Type: "Object", Description: fmt.Sprintf("What is in the file as a list of numbers, if the output is connected; more than %d bytes are an incident.", maxByteList)},
			{Name: "responseHeaders", Type: "Object", Fields: []string{}, Description: "The answer's headers."},
			{Name: "responseContentHeaders", Type: "Object", Fields: []string{}, Description: "Those of them that are about the body."},
		},
	}, downloadHTTPFileActivity{}
}

type downloadHTTPFileActivity struct{ flowSendHTTPRequestActivity }

func (downloadHTTPFileActivity) Execute(ctx context.Context, x *engine.Execution) error {
	e, err := send(ctx, x)
	if err != nil {
		return err
	}
	return goOn(x, e, func() error { return e.publishFile(ctx, x) })
}

// publishFile keeps what was got, and sets the outputs of a request that was answered.
func (e *exchange) publishFile(ctx context.Context, x *engine.Execution) error {
	file := e.file
	if len(e.body) > 0 {
		ref, err := x.Files().Keep(ctx, e.fileName(), e.header.Get("Content-Type"), e.body)
		if err != nil {
			return err
		}
		file = ref.Value()
	}
	if x.Node().Activity().Outputs["responseContentBytes"] != "" {
		if e.size > maxByteList {
			return workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("responseContentBytes is connected, and the file has %d bytes; up to %d are given as a list: use the result, which refers to the file", e.size, maxByteList))
		}
		x.SetOutput("responseContentBytes", listOf(e.body))
	}
	headers, ofContent := e.headers(), map[string]any{}
	for name, text := range headers {
		if contentHeaders[name] {
			ofContent[name] = text
		}
	}
	x.SetOutput("statusCode", e.status)
	x.SetOutput("responseHeaders", headers)
	x.SetOutput("responseContentHeaders", ofContent)
	x.SetOutput("response", map[string]any{"statusCode": e.status, "headers": headers})
	x.SetOutput("responseContentStream", file)
	x.SetOutput("result", file)
	return nil
}

// contentHeaders are those that .NET keeps with the content of an answer.
var contentHeaders = map[string]bool{
	"Allow": true, "Content-Disposition": true, "Content-Encoding": true, "Content-Language": true, "Content-Length": true, "Content-Location": true,
	"Content-Md5": true, "Content-Range": true, "Content-Type": true, "Expires": true, "Last-Modified": true,
}

// fileName is the name of what was got: as the answer says, or the end of the address.
func (e *exchange) fileName() string {
	if _, params, err := mime.ParseMediaType(e.header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return plainName(params["filename"])
	}
	if u, err := url.Parse(e.url); err == nil {
		if name := path.Base(u.Path); name != "/" && name != "." {
			return plainName(name)
		}
	}
	return "file.dat"
}

// readAs is what is in a file, in a form that expressions have.
func readAs(form, typ string, data []byte) (any, error) {
	switch form {
	case "base64":
		return base64.StdEncoding.EncodeToString(data), nil
	case "bytes":
		return listOf(data), nil
	}
	text, err := charset.Text(data, typ)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, errors.New("the file is no text: read it as base64 or bytes")
	}
	if form != "json" {
		return string(text), nil
	}
	var v any
	if err := workflow.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("the file is no JSON: %w", err)
	}
	return v, nil
}
