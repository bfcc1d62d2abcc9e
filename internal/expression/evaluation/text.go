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
		at := len(text)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = max(int(syntax.Offset)-1, 0)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
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
