package web

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/charset"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// WriteHTTPResponse answers the request that the instance began or went on with.
func WriteHTTPResponse() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.WriteHttpResponse", NoEffect: true, Responds: true, Main: "content",
		Description: "Answers the HTTP request that started or resumed the instance, or the one that waits for it, as long as its caller waits (requestTimeout of the endpoint). " +
			"The first answer counts. When nobody is there to answer, that is an incident, and the instance goes on.",
		Inputs: []workflow.InputDescriptor{
			{Name: "content", Type: "Object", Description: "The body: text is sent as it is, a file as what is in it, a list of bytes under a type that is no text as these bytes, anything else as JSON."},
			{Name: "contentType", Type: "String", Description: "The body's type; the default follows from the content."},
			{Name: "statusCode", Type: "HttpStatusCode", Default: 200, Description: `The status, such as 200 or "OK".`},
			{Name: "responseHeaders", Type: "Object", Description: "Headers, an object of texts."},
		},
	}, writeHTTPResponseActivity{}
}

type writeHTTPResponseActivity struct{}

func (writeHTTPResponseActivity) Execute(ctx context.Context, x *engine.Execution) error {
	r := workflow.Response{Status: int(x.Int("statusCode")), ContentType: x.Text("contentType")}
	asIs := false
	value := x.Value("content")
	if ref, ok := files.RefOf(value); ok {
		if err := x.Files().Check(ctx, ref); err != nil {
			return err
		}
		r.File, r.ContentType, value = &ref, firstText(r.ContentType, ref.Type, octets), nil
	}
	switch v := value.(type) {
	case nil:
	case string:
		r.Body = []byte(v)
		if r.ContentType == "" {
			r.ContentType = "text/plain; charset=utf-8"
		}
	default:
		media, _, _ := mime.ParseMediaType(r.ContentType) // what cannot be read is sent as it is
		if raw, ok := bytesOf(v, media); ok {
			r.Body, asIs = raw, true
			break
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("the content has no JSON form: %w", err)
		}
		r.Body = raw
		if r.ContentType == "" {
			r.ContentType = "application/json"
		}
	}
	var err error
	if !asIs {
		r.Body, err = charset.Encode(r.Body, r.ContentType)
	}
	if err != nil {
		return err
	}
	headers := x.Object("responseHeaders")
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		v := headers[name]
		texts := []string{}
		if list, ok := v.([]any); ok {
			for _, e := range list {
				texts = append(texts, engine.Text(e))
			}
		} else {
			texts = append(texts, engine.Text(v))
		}
		value := strings.Join(texts, ", ")
		if strings.ContainsAny(name+value, "\r\n") || strings.ContainsAny(name, " :") || name == "" {
			return fmt.Errorf("the response header %q is not valid", name)
		}
		if r.Headers == nil {
			r.Headers = map[string]string{}
		}
		r.Headers[name] = value
	}
	x.Respond(r)
	return nil
}
