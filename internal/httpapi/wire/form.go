package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/charset"
	"github.com/weft-run/weft/internal/pairs"
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

// Multipart reads the fields and the files of a form of parts, multipart/form-data. A file without a name is a field: so
// browsers send where none was chosen.
func Multipart(body []byte, contentType string) (url.Values, []File, error) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["boundary"] == "" {
		return nil, nil, errors.New("its Content-Type names no boundary")
	}
	parts, out := multipart.NewReader(bytes.NewReader(body), params["boundary"]), url.Values{}
	var files []File
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return out, files, nil
		case err != nil:
			return nil, nil, err
		case n == mostParts:
			return nil, nil, fmt.Errorf("it has more than %d fields, which is fixed", mostParts)
		case part.FormName() == "":
			return nil, nil, fmt.Errorf("its part %d has no name", n+1)
		}
		raw, err := io.ReadAll(part)
		if err != nil {
			return nil, nil, err
		}
		name, typ := part.FormName(), part.Header.Get("Content-Type")
		if file := part.FileName(); file != "" {
			if !utf8.ValidString(name + file + typ) {
				return nil, nil, fmt.Errorf("the name or the type of its file %q is not UTF-8", file)
			}
			files = append(files, File{name, file, typ, raw})
			continue
		}
		text, err := charset.Text(raw, typ)
		if err != nil {
			return nil, nil, fmt.Errorf("its field %q: %w", name, err)
		}
		if !utf8.Valid(text) || !utf8.ValidString(name) {
			return nil, nil, fmt.Errorf("its field %q is not UTF-8", name)
		}
		out[name] = append(out[name], string(text))
	}
}
