package evaluation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/workflow"
)

// AppendText adds the text of a value as people expect it in the middle of a
// sentence: nil is nothing, numbers are plain, lists and objects are JSON.
func AppendText(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return b, nil
	case string:
		return append(b, v...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		return strconv.AppendFloat(b, v, 'f', -1, 64), nil
	case json.Number:
		return append(b, v...), nil
	case time.Time:
		return v.UTC().AppendFormat(b, time.RFC3339Nano), nil
	case time.Duration:
		return append(b, v.String()...), nil
	}
	raw, err := workflow.Marshal(v)
	if err != nil {
		return b, fmt.Errorf("it has no JSON form: %w", err)
	}
	return append(b, raw...), nil
}

// ParseJSON reads exactly one JSON value. With an error, at is the byte offset of what
// is wrong.
func ParseJSON(text string) (v any, at int, err error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		at, ended := len(text), errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = max(int(syntax.Offset)-1, 0)
			err = unexpected(text, at)
		}
		if ended {
			at, err = len(text), errors.New("it ends too early")
		}
		return nil, at, err
	}
	rest := text[dec.InputOffset():]
	if t := strings.TrimLeft(rest, " \t\r\n"); t != "" {
		return nil, len(text) - len(t), errors.New("something follows the value")
	}
	return v, 0, nil
}

// unexpected says what JSON has not where it stands.
func unexpected(text string, at int) error {
	r, _ := utf8.DecodeRuneInString(text[min(at, len(text)):])
	switch {
	case at >= len(text):
		return errors.New("it ends too early")
	case text[at] < ' ':
		return errors.New("a line break, or what is no character, stands in it unescaped")
	case strings.Count(text[:at], "[")+strings.Count(text[:at], "{") >= maxNested:
		return ErrDepth
	}
	return fmt.Errorf("%c is not expected here", r)
}

// maxNested is how deep encoding/json reads.
const maxNested = 10000
