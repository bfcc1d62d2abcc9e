package web

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/charset"
	"github.com/weft-run/weft/internal/inflate"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Types of bodies of forms.
const (
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
)

// bytesOf are the bytes that a list of numbers from 0 to 255 means as a body of a type that is no text: what scripts make of
// bytes is such a list.
func bytesOf(v any, media string) ([]byte, bool) {
	list, ok := v.([]any)
	kind, sub, _ := strings.Cut(media, "/")
	switch {
	case !ok || len(list) == 0 || sub == "" || kind == "text" || kind == "multipart" || media == formType:
		return nil, false
	}
	for _, text := range []string{"json", "jsonl", "xml", "yaml", "javascript", "graphql", "sql"} {
		if strings.HasSuffix(sub, text) {
			return nil, false
		}
	}
	raw := make([]byte, len(list))
	for i, e := range list {
		switch e.(type) {
		case string, bool:
			return nil, false
		}
		n, err := engine.Convert(e, "Int64")
		whole, ok := n.(int64)
		if err != nil || !ok || whole < 0 || whole > 255 {
			return nil, false
		}
		raw[i] = byte(whole)
	}
	return raw, true
}

// givenContent is what is to be sent, and givenType its type: DownloadHttpFile of Elsa has names of its own for them.
func givenContent(x *engine.Execution) any {
	if x.Node().Given("requestContent") {
		return x.Value("requestContent")
	}
	return x.Value("content")
}

func givenType(x *engine.Execution) string {
	if x.Node().Given("requestContentType") {
		return x.Text("requestContentType")
	}
	return x.Text("contentType")
}

// sentBody is the body that the inputs content and contentType mean, and its type; "": there is none. Text is
// sent as it is, in the charset of its type; an object as the fields of a form, if the type is that of forms, a
// list of bytes as these, if the type is no text, and everything else as JSON.
func sentBody(ctx context.Context, x *engine.Execution) (body []byte, contentType string, err error) {
	given := givenType(x)
	media, _, _ := mime.ParseMediaType(given) // what cannot be read is sent as it is
	content := givenContent(x)
	if ref, ok := files.RefOf(content); ok {
		body, err = x.Files().Read(ctx, ref)
		return body, cmp.Or(given, ref.Type, octets), err
	}
	elsa := x.Node().Activity().Place.Pointer != ""
	if text, ok := content.(string); ok && elsa && media == formType && strings.HasPrefix(strings.TrimSpace(text), "{") { // the text of an object
		var fields map[string]any
		if workflow.Unmarshal([]byte(text), &fields) == nil {
			content = fields
		}
	}
	switch v := content.(type) {
	case nil:
		return nil, given, nil
	case string:
		body, contentType = []byte(v), "text/plain; charset=utf-8"
		if elsa { // whose text is JSON where nothing is said
			contentType = "application/json"
		}
	case map[string]any:
		switch media {
		case formType:
			form, err := formOf(v)
			return []byte(form), given, err
		case multipartType:
			return nil, "", errors.New("an object is not sent as " + multipartType + ": take " + formType + ", or write the body as a text")
		}
		body, err = json.Marshal(v)
		contentType = "application/json"
	default:
		if raw, ok := bytesOf(v, media); ok {
			return raw, given, nil
		}
		body, err = json.Marshal(v)
		contentType = "application/json"
	}
	if err != nil {
		return nil, "", fmt.Errorf("the content has no JSON form: %w", err)
	}
	if given != "" {
		contentType = given
	}
	body, err = charset.Encode(body, contentType)
	return body, contentType, err
}

// formOf writes the members of an object as the fields of a form, in the order of their names; a list is one
// field for each of its items.
func formOf(fields map[string]any) (string, error) {
	form := url.Values{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		values, ok := fields[name].([]any)
		if !ok {
			values = []any{fields[name]}
		}
		for _, v := range values {
			switch v.(type) {
			case map[string]any, []any:
				return "", fmt.Errorf("the field %q of the content is no text: a form has texts, numbers, true and false, and lists of them", name)
			case nil:
				form.Add(name, "")
			default:
				form.Add(name, engine.Text(v))
			}
		}
	}
	return form.Encode(), nil
}

// escapedQuery writes a query as browsers do: what may not stand in a request line is escaped, and what is
// escaped stays so.
func escapedQuery(query string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(query) {
		switch b := query[i]; {
		case b <= ' ' || b >= 0x7f || strings.IndexByte("\"<>`{}|\\^", b) >= 0:
			out.WriteByte('%')
			out.WriteByte(hex[b>>4])
			out.WriteByte(hex[b&15])
		default:
			out.WriteByte(b)
		}
	}
	return out.String()
}

// readBody reads an answer, compressed or not, of up to [files.MaxSize] bytes. Of one that is large it has one of the places,
// which the caller gives back.
func readBody(ctx context.Context, resp *http.Response) (body []byte, large bool, err error) {
	plain, err := inflate.Plain(resp.Header, resp.Body, files.MaxSize) // the transport has unpacked what it asked for itself
	var unknown *inflate.CodingError
	if errors.As(err, &unknown) {
		plain, err = resp.Body, nil // as it came, in base64
	}
	if err != nil {
		return nil, false, err
	}
	body, err = io.ReadAll(io.LimitReader(plain, maxResponseBody+1))
	if err != nil || len(body) <= maxResponseBody {
		return body, false, err
	}
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	rest, err := io.ReadAll(io.LimitReader(plain, files.MaxSize+1-int64(len(body))))
	body = append(body, rest...)
	var most *http.MaxBytesError
	if errors.As(err, &most) || len(body) > files.MaxSize {
		err = fmt.Errorf("the answer is larger than %d bytes", files.MaxSize)
	}
	if err != nil {
		<-places
		return nil, false, err
	}
	return body, true, nil
}

// places are for the answers of more than maxResponseBody bytes that a process has in its memory at once: all the bursts
// that a node runs may ask for one.
var places = make(chan struct{}, 16)

// receivedBody gives a body as a value: JSON decoded, other text as text, anything else in base64. The charset is
// that of the type, or of a byte order mark.
func receivedBody(contentType string, body []byte) any {
	if len(body) == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	isJSON := err == nil && (media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json"))
	text := body
	if isJSON || charset.Of(contentType) != "" || strings.HasPrefix(media, "text/") {
		if t, err := charset.Text(body, contentType); err == nil {
			text = t
		}
	}
	if isJSON {
		var v any
		if workflow.Unmarshal(text, &v) == nil {
			return v
		}
	}
	if utf8.Valid(text) {
		return string(text)
	}
	return base64.StdEncoding.EncodeToString(body)
}

// lateError says that a request was not answered within its timeout.
type lateError struct {
	within time.Duration
	cause  error
}

func (e *lateError) Error() string { return "no answer within " + e.within.String() }
func (e *lateError) Unwrap() error { return e.cause }
