package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"strconv"
	"strings"
)

// minLine is how long a line of a value is that is looked for by itself.
const minLine = 16

// forms are the texts by which a value is recognised, each once.
func forms(value string) []string {
	plain := []string{value}
	if t := strings.TrimSpace(value); len(t) >= MinLength {
		plain = append(plain, t)
	}
	for line := range strings.Lines(value) {
		// What begins with dashes says what a PEM file holds, and is no secret.
		if line = strings.TrimSpace(line); len(line) >= minLine && !strings.HasPrefix(line, "-----") {
			plain = append(plain, line)
		}
	}
	seen := map[string]bool{}
	var out []string
	add := func(texts ...string) {
		for _, t := range texts {
			if len(t) >= MinLength && !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
	}
	for _, v := range plain {
		add(v, html.EscapeString(v), hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))))
		add(strings.ReplaceAll(v, " ", "+"))        // in a query; percent escapes are taken out before
		add(strings.ToUpper(v), strings.ToLower(v)) // as an HTTP method, and as a host
		add(base64Forms(v)...)
	}
	for range 2 { // JSON is often a text in JSON
		for _, v := range out[:len(out):len(out)] {
			add(quotedForms(v)...)
		}
	}
	return out
}

// quotedForms are what is between the quotes when a text is written as JSON, with
// and without escaping for HTML, and as Go's %q.
func quotedForms(v string) []string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a string
	escaped, _ := json.Marshal(v)
	quoted := strconv.Quote(v)
	return []string{inside(strings.TrimSuffix(b.String(), "\n")), inside(string(escaped)), inside(quoted)}
}

func inside(quoted string) string { return quoted[1 : len(quoted)-1] }

// base64Forms are the characters that base64 has for v with any text around it,
// for each of the three places at which it can begin, in both alphabets. The
// characters at the ends that v shares with its neighbours are left out.
func base64Forms(v string) []string {
	var out []string
	for offset := range 3 {
		raw := append(make([]byte, offset, offset+len(v)), v...)
		first, last := (8*offset+5)/6, 8*len(raw)/6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, enc.EncodeToString(raw)[first:last])
		}
	}
	return out
}

func decode(doc []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
