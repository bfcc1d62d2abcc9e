package mail

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	netmail "net/mail"
	"slices"
	"strings"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// What a mail may be.
const (
	maxRecipients  = 100
	maxSubject     = 900 // bytes
	maxAttachments = 20
	maxMessage     = 10 << 20 // bytes, as it is sent
)

// message makes the mail that the inputs describe, and gives the id that it has.
func message(x *engine.Execution, sender string) (*envelope, string, error) {
	from := strings.TrimSpace(x.Text("from"))
	if from == "" {
		from = sender
	}
	if from == "" {
		return nil, "", errors.New("from: it is not given, and the node has no --smtp-from")
	}
	by, err := address(from)
	if err != nil {
		return nil, "", fmt.Errorf("from: %w", err)
	}
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(by)
	e := &envelope{from: by.Address}
	for _, in := range []struct {
		name string
		put  func(...*netmail.Address)
	}{{"to", m.ToMailAddress}, {"cc", m.CcMailAddress}, {"bcc", func(...*netmail.Address) {}}, {"replyTo", nil}} {
		list, err := addresses(x.Texts(in.name))
		switch {
		case err != nil:
			return nil, "", fmt.Errorf("%s: %w", in.name, err)
		case len(list) == 0:
		case in.put != nil:
			in.put(list...)
			for _, a := range list {
				if !slices.Contains(e.to, a.Address) {
					e.to = append(e.to, a.Address)
				}
			}
		case len(list) > 1:
			return nil, "", fmt.Errorf("replyTo: answers go to one address, not to %d", len(list))
		default:
			m.ReplyToMailAddress(list[0])
		}
	}
	switch {
	case len(e.to) == 0:
		return nil, "", errors.New("to: nobody is named who is to have the mail, in to, cc or bcc")
	case len(e.to) > maxRecipients:
		return nil, "", fmt.Errorf("there are %d recipients; a mail may have %d", len(e.to), maxRecipients)
	}
	subject := x.Text("subject")
	if err := header("subject", subject, maxSubject); err != nil {
		return nil, "", err
	}
	m.Subject(subject)
	_, domain, _ := strings.Cut(by.Address, "@")
	id := strings.ToLower(workflow.DeriveID("mail", x.InstanceID(), x.IdempotencyKey())) + "@" + domain
	m.SetMessageIDWithValue(id)
	m.SetDateWithValue(x.Now())
	if text, html := x.Text("text"), x.Text("body"); text != "" || html == "" {
		m.SetBodyString(gomail.TypeTextPlain, text)
		if html != "" {
			m.AddAlternativeString(gomail.TypeTextHTML, html)
		}
	} else {
		m.SetBodyString(gomail.TypeTextHTML, html)
	}
	if err := attach(m, x.Value("attachments")); err != nil {
		return nil, "", fmt.Errorf("attachments: %w", err)
	}
	var out bytes.Buffer
	if _, err := m.WriteTo(&out); err != nil {
		return nil, "", err
	}
	if out.Len() > maxMessage {
		return nil, "", fmt.Errorf("the mail has %d bytes as it is sent; it may have %d", out.Len(), maxMessage)
	}
	e.body = out.Bytes()
	return e, "<" + id + ">", nil
}

// header refuses what would be more than one line of a header.
func header(what, text string, most int) error {
	switch {
	case strings.ContainsAny(text, "\r\n\x00"):
		return fmt.Errorf("%s: a line break in it would begin another header", what)
	case len(text) > most:
		return fmt.Errorf("%s: it has %d bytes; it may have %d", what, len(text), most)
	}
	return nil
}

// address reads one address, such as ada@example.org or Ada <ada@example.org>.
func address(text string) (*netmail.Address, error) {
	list, err := addresses([]string{text})
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%q is not one address", workflow.CutChars(text, 100))
	}
	return list[0], nil
}

// addresses reads entries of one or more addresses each.
func addresses(entries []string) (out []*netmail.Address, err error) {
	for _, entry := range entries {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		if err := header("an address", entry, 10_000); err != nil {
			return nil, err
		}
		list, err := netmail.ParseAddressList(entry)
		if err != nil {
			return nil, fmt.Errorf("%q is no address of mail: %s", workflow.CutChars(entry, 100), strings.TrimPrefix(err.Error(), "mail: "))
		}
		for _, a := range list {
			if strings.ContainsAny(a.Address, "<> \t") || strings.ContainsFunc(a.Name+a.Address, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				return nil, fmt.Errorf("%q is no address that is sent to", workflow.CutChars(a.Address, 100))
			}
		}
		out = append(out, list...)
	}
	return out, nil
}

// attach adds what the input attachments has: one or a list.
func attach(m *gomail.Msg, v any) error {
	var list []any
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if strings.TrimSpace(v) == "" {
			return nil
		}
		list = []any{v}
	case []any:
		list = v
		if _, ok := bytesOf(v); ok {
			list = []any{v}
		}
	default:
		list = []any{v}
	}
	if len(list) > maxAttachments {
		return fmt.Errorf("there are %d; a mail may have %d", len(list), maxAttachments)
	}
	total := 0
	for i, item := range list {
		f, err := fileOf(item, i+1)
		if err != nil {
			return fmt.Errorf("number %d: %w", i+1, err)
		}
		if total += len(f.content); total > maxMessage {
			return fmt.Errorf("they have more than %d bytes", maxMessage)
		}
		content := f.content
		m.AttachReadSeeker(f.name, bytes.NewReader(content), gomail.WithFileContentType(gomail.ContentType(f.media)), gomail.WithFileEncoding(gomail.EncodingB64))
	}
	return nil
}

type file struct {
	name, media string
	content     []byte
}

// fileOf reads one attachment: an object with content, fileName and contentType, or another value, which is sent as JSON, or, if
// it is a list of bytes, as these.
func fileOf(item any, number int) (*file, error) {
	f := &file{name: fmt.Sprintf("Attachment-%d", number), media: "application/octet-stream"}
	if raw, ok := bytesOf(item); ok {
		f.content = raw
		return f, nil
	}
	if _, ok := item.(string); ok {
		return nil, errors.New("a text would be a file of the node or an address, and neither is read here; give {fileName, contentType, content}, which sendHttpRequest can fetch")
	}
	object, ok := item.(map[string]any)
	content, has := field(object, "content")
	if !ok || !has {
		raw, err := json.Marshal(item)
		f.media, f.content = "application/json", raw
		return f, err
	}
	if name, _ := field(object, "fileName"); engine.Text(name) != "" {
		f.name = engine.Text(name)
		if err := header("fileName", f.name, 255); err != nil {
			return nil, err
		}
	}
	if media, _ := field(object, "contentType"); engine.Text(media) != "" {
		f.media = engine.Text(media)
		parsed, params, err := mime.ParseMediaType(f.media)
		if err != nil || !strings.Contains(parsed, "/") {
			return nil, fmt.Errorf("contentType: %q is no type such as application/pdf", workflow.CutChars(f.media, 100))
		}
		if f.media = mime.FormatMediaType(parsed, params); f.media == "" {
			return nil, errors.New("contentType: it cannot be written in a header")
		}
	}
	var err error
	f.content, err = contentOf(object, content)
	return f, err
}

// contentOf is what content means: bytes, base64 where encoding says so or where it is a file of a form, other text, or a value.
func contentOf(object map[string]any, content any) ([]byte, error) {
	if raw, ok := bytesOf(content); ok {
		return raw, nil
	}
	text, ok := content.(string)
	if !ok {
		return json.Marshal(content)
	}
	encoding, _ := field(object, "encoding")
	raw, err := base64.StdEncoding.DecodeString(text)
	switch length, isFile := field(object, "length"); {
	case strings.EqualFold(engine.Text(encoding), "base64"):
		if err != nil {
			return nil, fmt.Errorf("content: it is no base64, as encoding says: %w", err)
		}
		return raw, nil
	case engine.Text(encoding) != "":
		return nil, fmt.Errorf("encoding: %q is not base64", workflow.CutChars(engine.Text(encoding), 40))
	case isFile && err == nil && length == int64(len(raw)):
		return raw, nil
	case !utf8.ValidString(text):
		return nil, errors.New("content: it is no text")
	}
	return []byte(text), nil
}

// field is the member of an object, with a small or a capital first letter.
func field(object map[string]any, name string) (any, bool) {
	if v, ok := object[name]; ok {
		return v, true
	}
	v, ok := object[workflow.UpperFirst(name)]
	return v, ok
}

// bytesOf are the bytes that a list of numbers from 0 to 255 means.
func bytesOf(v any) ([]byte, bool) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, false
	}
	raw := make([]byte, len(list))
	for i, e := range list {
		n, ok := e.(int64)
		if !ok || n < 0 || n > 255 {
			return nil, false
		}
		raw[i] = byte(n)
	}
	return raw, true
}
