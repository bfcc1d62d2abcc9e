// Package charset reads text that came over HTTP, in any charset that it names.
//
// It guarantees that what it gives is UTF-8 with every character that was sent, or an error: bytes that a charset does
// not have are not replaced.
package charset

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// UnknownError says that a charset is none of those that are read.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the charset %.40q is not known; send UTF-8, UTF-16, or one of ISO 8859 or Windows 125x", e.Name)
}

// Text is a body as UTF-8, by the charset of its Content-Type and by a byte order mark, which is no part of the text.
// Without either, the body is given as it is, and may be anything. Errors: [UnknownError], and bytes that the charset does
// not have.
func Text(body []byte, contentType string) ([]byte, error) {
	named := Of(contentType)
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return body[3:], nil
	case named == "" && (bytes.HasPrefix(body, []byte("\xfe\xff")) || bytes.HasPrefix(body, []byte("\xff\xfe"))):
		named = "utf-16"
	}
	return Decode(body, named)
}

// Plain tells that a body is what [Text] would give, without reading its type: it names no charset, and the body has no mark.
func Plain(body []byte, contentType string) bool {
	return !strings.Contains(contentType, "=") && (len(body) == 0 || body[0] != 0xef && body[0] < 0xfe)
}

// Of is the charset that a Content-Type names, in lower case; "": none.
func Of(contentType string) string {
	if !strings.Contains(strings.ToLower(contentType), "charset") { // most say none
		return ""
	}
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(params["charset"]))
}

// Decode gives a text as UTF-8. Text that is said to be UTF-8, or of no charset, is given as it is. Errors as of [Text].
func Decode(text []byte, name string) ([]byte, error) {
	switch name {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return text, nil
	}
	of := byName(name)
	if of == nil {
		return nil, &UnknownError{name}
	}
	if strings.HasPrefix(name, "utf-16") && len(text)%2 != 0 {
		return nil, errors.New("the text is said to be " + name + ", and has half a character at its end")
	}
	out, err := of.NewDecoder().Bytes(text)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return nil, errors.New("the text is said to be " + name + ", and has bytes that this charset does not have")
	}
	return out, nil
}

// Encode writes UTF-8 in the charset that a Content-Type names. Errors: [UnknownError], and a character that the charset does
// not have.
func Encode(text []byte, contentType string) ([]byte, error) {
	name := Of(contentType)
	switch name {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return text, nil
	}
	to := byName(name)
	if to == nil {
		return nil, &UnknownError{name}
	}
	out, err := to.NewEncoder().Bytes(text)
	if err != nil {
		return nil, errors.New("the text has characters that the charset " + name + " does not have: send it as UTF-8")
	}
	return out, nil
}

// byName finds a charset by the names that mail and the web have for it. ISO 8859-1 is read as Windows-1252, as browsers do:
// it has the same characters, and more in the place of control characters that nobody sends.
func byName(name string) encoding.Encoding {
	switch name {
	case "utf-16":
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case "latin1", "latin-1", "iso-8859-1", "iso8859-1", "iso_8859-1", "cp1252", "windows-1252":
		return charmap.Windows1252
	case "latin9", "latin-9":
		return charmap.ISO8859_15
	}
	for _, m := range charmap.All {
		if c, ok := m.(*charmap.Charmap); ok {
			if as := strings.ToLower(c.String()); strings.ReplaceAll(as, " ", "-") == name && (strings.HasPrefix(name, "iso-8859") || strings.HasPrefix(name, "windows-")) {
				return c
			}
		}
	}
	return nil
}
