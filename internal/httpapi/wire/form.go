package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/charset"
	"github.com/weft-run/weft/internal/pairs"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// MultipartType is what forms with files are sent as, and those that curl makes with -F.
const MultipartType = "multipart/form-data"

// Form reads the body of a form of the type application/x-www-form-urlencoded, in the charset of its Content-Type.
func Form(body, contentType string) (url.Values, error) {
	form, err := pairs.Read(body)
	if err != nil {
		return nil, err
	}
	in := charset.Of(contentType)
	out := make(url.Values, len(form))
	for name, values := range form {
		as, err := charset.Decode([]byte(name), in)
		if err == nil && !utf8.Valid(as) {
			err = fmt.Errorf("the name %q is not UTF-8", name)
		}
		for _, v := range values {
			text, terr := charset.Decode([]byte(v), in)
			if terr == nil && !utf8.Valid(text) {
				terr = fmt.Errorf("the value of %q is not UTF-8: name its charset in the Content-Type", name)
			}
			err = errors.Join(err, terr)
			out[string(as)] = append(out[string(as)], string(text))
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mostParts bounds the fields of a form of parts.
const mostParts = 1000

// File is a file of a form.
type File struct {
	Field, Name, Type string // Type as it is declared; "" if it is not
	Content           []byte
}

// A part of a form of parts. One without the name of a file is a field: so browsers send where none was chosen.
type part struct {
	name, file, typ string
	content         []byte
}

// quoted are the texts in a header, which may look like anything.
var quoted = regexp.MustCompile(`"(?:\\.|[^"\\])*"`)

// namesUnread reports whether a part gives the name of a file in another charset (filename*, RFC 5987). Where none was
// read from it, the part would be taken for a field, past all rules for files.
func namesUnread(h textproto.MIMEHeader) bool {
	return strings.Contains(strings.ToLower(quoted.ReplaceAllString(h.Get("Content-Disposition"), "")), "filename*")
}

// partsOf reads the parts of a form, in their order.
func partsOf(body []byte, contentType string) ([]part, error) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["boundary"] == "" {
		return nil, errors.New("its Content-Type names no boundary")
	}
	in := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for out := []part(nil); ; {
		next, err := in.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case len(out) == mostParts:
			return nil, fmt.Errorf("it has more than %d fields, which is fixed", mostParts)
		}
		p := part{name: next.FormName(), file: next.FileName(), typ: next.Header.Get("Content-Type")}
		switch {
		case p.name == "":
			return nil, fmt.Errorf("its part %d has no name", len(out)+1)
		case p.file == "" && namesUnread(next.Header):
			return nil, fmt.Errorf("the name of the file in its part %q cannot be read: send filename*=UTF-8''..., or a plain filename", p.name)
		}
		if p.content, err = io.ReadAll(next); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
}

// Unbound is the body of a form of parts without its boundary, which clients choose each time: what is in the parts,
// in their order, each behind its length. What is none, or cannot be read as one, stays what it is.
func Unbound(body []byte, contentType string) []byte {
	if media, _, err := mime.ParseMediaType(contentType); err != nil || media != MultipartType {
		return body
	}
	parts, err := partsOf(body, contentType)
	if err != nil {
		return body
	}
	out := make([]byte, 0, len(body))
	for _, p := range parts {
		for _, text := range [][]byte{[]byte(p.name), []byte(p.file), []byte(p.typ), p.content} {
			out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
		}
	}
	return out
}

// MaxUpload is how many bytes a body with files has at most: a file, and what is around it.
const MaxUpload = files.MaxSize + 1<<20

// Limit is how many bytes a body may have by the head of its request: more than usual where it may be, or hold, a file.
func Limit(takesFiles bool, h http.Header, usual int64) int64 {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if takesFiles && err == nil && (media == MultipartType || isBinary(media)) {
		return max(usual, MaxUpload)
	}
	return usual
}

// binaries are types of bodies that are files, beside images, sounds, films and fonts.
var binaries = map[string]bool{
	"application/octet-stream": true, "application/pdf": true, "application/zip": true, "application/x-zip-compressed": true, "application/gzip": true, "application/x-gzip": true,
	"application/x-tar": true, "application/x-7z-compressed": true, "application/vnd.rar": true, "application/x-rar-compressed": true, "application/wasm": true, "application/msword": true, "application/rtf": true,
}

func isBinary(media string) bool {
	kind, sub, _ := strings.Cut(media, "/")
	switch {
	case strings.HasSuffix(sub, "+xml"), strings.HasSuffix(sub, "+json"): // image/svg+xml is text
		return false
	case kind == "image", kind == "audio", kind == "video", kind == "font":
		return true
	}
	return binaries[media] || kind == "application" && (strings.HasPrefix(sub, "vnd.openxmlformats-") || strings.HasPrefix(sub, "vnd.oasis.opendocument.") || strings.HasPrefix(sub, "vnd.ms-"))
}

// isText tells whether a body of this type is none but text, or a form: bytes that are no text are a mistake in it.
func isText(media string) bool {
	return media == "" || media == FormType || media == MultipartType || strings.HasPrefix(media, "text/") || IsJSON(media) || strings.HasSuffix(media, "xml") || strings.HasSuffix(media, "yaml") || strings.HasSuffix(media, "javascript")
}

// Raw is the file that a body is as a whole; false: it is text, or a form.
func Raw(body []byte, h http.Header) (File, bool, error) {
	declared := h.Get("Content-Type")
	media, _, _ := mime.ParseMediaType(declared)
	if len(body) == 0 || !isBinary(media) && (isText(media) || utf8.Valid(body)) {
		return File{}, false, nil
	}
	f := File{Type: declared, Content: body}
	if given := h.Get("Content-Disposition"); given != "" {
		_, params, err := mime.ParseMediaType(given)
		if err != nil || !utf8.ValidString(params["filename"]) {
			return f, true, errors.New("its Content-Disposition, which names the file, cannot be read")
		}
		f.Field, f.Name = params["name"], params["filename"]
	}
	return f, true, nil
}

// Multipart reads the fields and the files of a form of parts, multipart/form-data.
func Multipart(body []byte, contentType string) (url.Values, []File, error) {
	parts, err := partsOf(body, contentType)
	if err != nil {
		return nil, nil, err
	}
	out := url.Values{}
	var files []File
	for _, p := range parts {
		if p.file != "" {
			if !utf8.ValidString(p.name + p.file + p.typ) {
				return nil, nil, fmt.Errorf("the name or the type of its file %q is not UTF-8", p.file)
			}
			files = append(files, File{p.name, p.file, p.typ, p.content})
			continue
		}
		text, err := charset.Text(p.content, p.typ)
		if err != nil {
			return nil, nil, fmt.Errorf("its field %q: %w", p.name, err)
		}
		if !utf8.Valid(text) || !utf8.ValidString(p.name) {
			return nil, nil, fmt.Errorf("its field %q is not UTF-8", p.name)
		}
		out[p.name] = append(out[p.name], string(text))
	}
	return out, files, nil
}
