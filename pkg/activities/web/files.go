package web

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"path"
	"strings"
	"unicode"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

const (
	octets   = "application/octet-stream"
	maxFiles = 100     // of one answer
	maxText  = 4 << 20 // of a file that is read as text or JSON
	maxBytes = 1 << 20 // of one that is read as its bytes
)

// content is a file to be sent: one that lies beside an instance, or what is in it.
type content struct {
	ref  *files.Ref
	data []byte
	name string
	typ  string
}

// contents are the files that a value means, in their order. Text is a text file, a list of numbers from 0 to 255 are the
// bytes of one, an object with content and fileName is one, and a list of any of these several.
func contents(v any, into []content) ([]content, error) {
	if len(into) == maxFiles {
		return nil, fmt.Errorf("there are more than %d files", maxFiles)
	}
	if ref, ok := files.RefOf(v); ok {
		return append(into, content{ref: &ref, name: ref.Name, typ: ref.Type}), nil
	}
	switch v := v.(type) {
	case nil:
		return into, nil
	case string:
		if isURL(v) {
			return nil, errors.New("the content is an address: DownloadHttpFile gets what is there, and its result is a file")
		}
		return append(into, content{data: []byte(v), name: "file.txt", typ: "text/plain"}), nil
	case []any:
		if raw, ok := bytesOf(v, octets); ok {
			return append(into, content{data: raw, name: "file.bin"}), nil
		}
		for _, e := range v {
			var err error
			if into, err = contents(e, into); err != nil {
				return nil, err
			}
		}
		return into, nil
	case map[string]any:
		return made(v, into)
	}
	return nil, fmt.Errorf("%s is no file: give a file, a text, a list of bytes, an object with content and fileName, or a list of these", strings.TrimSpace(engine.Text(v)))
}

// made is the file that an object means which a script has made.
func made(m map[string]any, into []content) ([]content, error) {
	var c content
	for name, v := range m {
		text, isText := v.(string)
		switch strings.ToLower(name) {
		case "content", "stream":
			inner, err := contents(v, nil)
			if err != nil || len(inner) != 1 || inner[0].ref != nil {
				return nil, errors.Join(fmt.Errorf("the content of the object is neither a text nor a list of bytes"), err)
			}
			c.data = inner[0].data
		case "filename":
			if c.name = text; !isText {
				return nil, errors.New("fileName of the object is no text")
			}
		case "contenttype":
			if c.typ = text; !isText {
				return nil, errors.New("contentType of the object is no text")
			}
		}
	}
	if c.data == nil {
		return nil, errors.New("an object is sent as a file if it has content, a text or a list of bytes, and fileName")
	}
	return append(into, c), nil
}

// isURL reports whether Elsa takes a text for an address.
func isURL(text string) bool {
	text = strings.ToLower(text)
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// kept keeps what is not kept yet.
func (c *content) kept(ctx context.Context, x *engine.Execution) (files.Ref, error) {
	if c.ref != nil {
		return *c.ref, x.Files().Check(ctx, *c.ref)
	}
	return x.Files().Keep(ctx, c.name, c.typ, c.data)
}

// zipped is an archive of several files: the same bytes for the same files.
func zipped(ctx context.Context, x *engine.Execution, list []content) ([]byte, error) {
	var out bytes.Buffer
	w, taken, left := zip.NewWriter(&out), map[string]bool{}, int64(files.MaxSize)
	for i := range list {
		c := &list[i]
		data, err := c.data, error(nil)
		if c.ref != nil {
			if c.ref.Bytes > left {
				return nil, tooMuch()
			}
			data, err = x.Files().Read(ctx, *c.ref)
		}
		if err != nil {
			return nil, err
		}
		if left -= int64(len(data)); left < 0 {
			return nil, tooMuch()
		}
		member, err := w.Create(freeName(taken, plainName(c.name)))
		if err == nil {
			_, err = member.Write(data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func tooMuch() error {
	return workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the files of the archive have more than %d bytes together, which is fixed", files.MaxSize))
}

// plainName is the name of a file without folders, and without what no name may have.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ReplaceAll(name, `\`, "/"))
	if name = strings.TrimSpace(path.Base(name)); name == "" || name == "." || name == ".." || name == "/" {
		return "file.bin"
	}
	return name
}

// freeName is a name that no other file of the archive has, in any case of letters.
func freeName(taken map[string]bool, name string) string {
	ext := path.Ext(name)
	free := name
	for n := 1; taken[strings.ToLower(free)]; n++ {
		free = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
	}
	taken[strings.ToLower(free)] = true
	return free
}

// typeByName is the type of a file where nothing says it.
func typeByName(name string) string {
	if typ := typesByName[strings.ToLower(path.Ext(name))]; typ != "" {
		return typ
	}
	return octets
}

// typesByName are the same on every node, whose system may know more or others.
var typesByName = map[string]string{
	".txt": "text/plain", ".csv": "text/csv", ".htm": "text/html", ".html": "text/html", ".css": "text/css", ".md": "text/markdown", ".ics": "text/calendar",
	".json": "application/json", ".xml": "application/xml", ".js": "text/javascript", ".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml", ".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4", ".webm": "video/webm", ".doc": "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// ReadFile gives what is in a file to expressions.
func ReadFile() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.ReadFile", NoEffect: true, Main: "file",
		Description: fmt.Sprintf("Gives what is in a file that an HTTP endpoint took, or a request got: variables and expressions have only its name, type, size and hash. As text or JSON up to %d bytes are read, as base64 or bytes %d. What it gives is a part of the instance: take what is needed of it, and set the variable to null.", maxText, maxBytes),
		Inputs: []workflow.InputDescriptor{
			{Name: "file", Type: "Object", Required: true, Description: "The file."},
			{Name: "as", Type: "String", Default: "text", Options: readForms, Description: "What it is read as: text (in the charset of its type), json, base64, or bytes (a list of numbers)."},
		},
		Outputs: []workflow.OutputDescriptor{{Name: "result", Type: "Object", Description: "What is in the file."}},
	}, readFileActivity{}
}

var readForms = []string{"text", "json", "base64", "bytes"}

type readFileActivity struct{}

func (readFileActivity) Execute(ctx context.Context, x *engine.Execution) error {
	ref, ok := files.RefOf(x.Value("file"))
	if !ok {
		return errors.New("file is none: give the file of an HTTP endpoint or the result of DownloadHttpFile")
	}
	form, most := x.Text("as"), int64(maxText)
	if form == "base64" || form == "bytes" {
		most = maxBytes
	}
	if ref.Bytes > most {
		return workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the file has %d bytes; up to %d are read into the instance as %s", ref.Bytes, most, form))
	}
	data, err := x.Files().Read(ctx, ref)
	if err != nil {
		return err
	}
	v, err := readAs(form, ref.Type, data)
	if err != nil {
		return err
	}
	x.SetOutput("result", v)
	return nil
}

// WriteFileHTTPResponse answers a request with a file.
func WriteFileHTTPResponse() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.WriteFileHttpResponse", NoEffect: true, Responds: true, Main: "content",
		Description: "Answers the HTTP request as WriteHttpResponse does, with a file to save: in ranges, and not again, if the caller asks so. Several files are sent as a zip archive; none is 204.",
		Inputs: []workflow.InputDescriptor{
			{Name: "content", Type: "Object", Description: "The file: one that an HTTP endpoint took or DownloadHttpFile got, a text, a list of bytes, an object with content, fileName and contentType, or a list of these."},
			{Name: "filename", Type: "String", Description: "What it is saved as; the default is its own name, of an archive download.zip."},
			{Name: "contentType", Type: "String", Description: "Its type; the default is its own, or follows from the name."},
			{Name: "entityTag", Type: "String", Description: "The ETag, by which callers know it again; the default is a hash of what is in it."},
			{Name: "enableResumableDownloads", Type: "Boolean", Description: "Elsa's switch. Downloads can always be resumed: the same files have the same ETag."},
			{Name: "downloadCorrelationId", Type: "String", Description: "Elsa's name of a cached archive; none is needed."},
		},
	}, writeFileHTTPResponseActivity{}
}

type writeFileHTTPResponseActivity struct{}

// Prepare refuses what is known to be no file.
func (writeFileHTTPResponseActivity) Prepare(p *engine.Preparation) {
	if v, ok := p.Constant("content"); ok && v != nil {
		if _, err := contents(v, nil); err != nil {
			p.Problem("bad-literal", p.Place("content"), "%v", err)
		}
	}
	if v, ok := p.Constant("entityTag"); ok && v != nil {
		if _, err := entityTag(engine.Text(v)); err != nil {
			p.Problem("bad-literal", p.Place("entityTag"), "%v", err)
		}
	}
}

func (writeFileHTTPResponseActivity) Execute(ctx context.Context, x *engine.Execution) error {
	list, err := contents(x.Value("content"), nil)
	if err != nil {
		return err
	}
	tag, err := entityTag(x.Text("entityTag"))
	if err != nil {
		return err
	}
	switch len(list) {
	case 0:
		x.Respond(workflow.Response{Status: 204})
		return nil
	case 1:
	default:
		data, err := zipped(ctx, x, list)
		if err != nil {
			return err
		}
		list = []content{{data: data, name: "download.zip", typ: "application/zip"}}
	}
	c := &list[0]
	ref, err := c.kept(ctx, x)
	if err != nil {
		return err
	}
	if given := x.Text("filename"); strings.TrimSpace(given) != "" {
		c.name = given
	}
	ref.Name = plainName(c.name)
	ref.Type = firstText(x.Text("contentType"), c.typ, typeByName(ref.Name))
	if strings.ContainsFunc(ref.Type, unicode.IsControl) {
		return fmt.Errorf("the content type %q is not valid", ref.Type)
	}
	if tag == "" {
		tag = `"` + ref.Hash + `"`
	}
	x.Respond(workflow.Response{Status: 200, ContentType: ref.Type, File: &ref, Headers: map[string]string{
		"ETag": tag, "Content-Disposition": mime.FormatMediaType("attachment", map[string]string{"filename": ref.Name}),
	}})
	return nil
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// entityTag is a tag as a header has it, in quotes; "": none is given.
func entityTag(given string) (string, error) {
	given = strings.TrimSpace(given)
	if given == "" {
		return "", nil
	}
	weak := strings.HasPrefix(given, "W/")
	bare := strings.TrimPrefix(given, "W/")
	if len(bare) > 1 && strings.HasPrefix(bare, `"`) && strings.HasSuffix(bare, `"`) {
		bare = bare[1 : len(bare)-1]
	}
	if bare == "" || strings.ContainsFunc(bare, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }) {
		return "", fmt.Errorf("entityTag: %q is none: it has letters, digits and signs of ASCII, without spaces and quotes", given)
	}
	if weak {
		return `W/"` + bare + `"`, nil
	}
	return `"` + bare + `"`, nil
}

// listOf are bytes as scripts have them.
func listOf(data []byte) []any {
	list := make([]any, len(data))
	for i, b := range data {
		list[i] = json.Number(fmt.Sprint(b))
	}
	return list
}
