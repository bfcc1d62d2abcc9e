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

// Multipart reads the fields of a form of parts, multipart/form-data. A part that is a file is refused by its name.
func Multipart(body []byte, contentType string) (url.Values, error) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["boundary"] == "" {
		return nil, errors.New("its Content-Type names no boundary")
	}
	parts, out := multipart.NewReader(bytes.NewReader(body), params["boundary"]), url.Values{}
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case n == mostParts:
			return nil, fmt.Errorf("it has more than %d fields, which is fixed", mostParts)
		case part.FormName() == "":
			return nil, fmt.Errorf("its part %d has no name", n+1)
		case part.FileName() != "" || isFile(part):
			return nil, fmt.Errorf("its part %q is the file %q, and files are not taken: send what is in it as a field, or as the body", part.FormName(), part.FileName())
		}
		raw, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		text, err := charset.Text(raw, part.Header.Get("Content-Type"))
		if err != nil {
			return nil, fmt.Errorf("its field %q: %w", part.FormName(), err)
		}
		if !utf8.Valid(text) || !utf8.ValidString(part.FormName()) {
			return nil, fmt.Errorf("its field %q is not UTF-8", part.FormName())
		}
		out[part.FormName()] = append(out[part.FormName()], string(text))
	}
}

// isFile tells a file whose name is empty, as browsers send it where none was chosen.
func isFile(part *multipart.Part) bool {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	_, named := params["filename"]
	return err == nil && named
}
