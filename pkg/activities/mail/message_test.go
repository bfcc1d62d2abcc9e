package mail_test

import (
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities/mail"
	"github.com/weft-run/weft/pkg/workflow"
)

const whole = `
  - sendEmail:
      from: Größe & Co <shop@example.org>
      to: ["Ada <ada@example.org>, bob@example.org"]
      cc: carl@example.org
      bcc: [dora@example.org, ada@example.org]
      replyTo: help@example.org
      subject: Ihre Bestellung – ${{ inputs.x.nr }}
      body: "<p>Schön</p>\n.\n<p>dot</p>"
      text: "Schön\n.\ndot"
      attachments: ${{ inputs.x.files }}
    outputs: {messageId: id}
  - setOutput: {outputName: id, outputValue: "${{ variables.id }}"}
`

// part is one of a mail, with what is in it.
type part struct{ kind, name, content string }

// parts takes a mail apart.
func parts(t *testing.T, header func(string) string, body io.Reader) (out []part) {
	t.Helper()
	media, params, err := mime.ParseMediaType(header("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(media, "multipart/") {
		if header("Content-Transfer-Encoding") == "base64" {
			body = base64.NewDecoder(base64.StdEncoding, body)
		}
		raw, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		_, disposition, _ := mime.ParseMediaType(header("Content-Disposition"))
		return []part{{media, disposition["filename"], strings.ReplaceAll(string(raw), "\r\n", "\n")}}
	}
	for r := multipart.NewReader(body, params["boundary"]); ; {
		p, err := r.NextPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parts(t, p.Header.Get, p)...)
	}
}

func TestAMail(t *testing.T) {
	t.Parallel()
	p := &post{security: mail.Plain}
	cfg := p.begin(t)
	file := map[string]any{"name": "f", "fileName": "a.bin", "contentType": "application/x-a", "length": int64(4), "content": "AAEC/w=="}
	x := map[string]any{"nr": 7, "files": []any{
		map[string]any{"fileName": "Preise €.csv", "contentType": "text/csv; charset=utf-8", "content": "a;b\n"},
		file, map[string]any{"FileName": "b.bin", "content": "AAEC/w==", "encoding": "base64"}, map[string]any{"content": "AAEC/w=="},
		[]any{int64(1), int64(255)}, map[string]any{"order": 7}, map[string]any{"content": []any{int64(3)}, "fileName": "3"},
	}}
	r := run(t.Context(), t, &cfg, "i1", whole, x)
	run(t.Context(), t, &cfg, "i1", whole, x)
	run(t.Context(), t, &cfg, "i2", whole, x)
	mails := p.got()
	if r.incident() != "" || len(mails) != 3 {
		t.Fatalf("%d mails; %q", len(mails), r.incident())
	}
	if l := mails[0]; l.from != "shop@example.org" || !slices.Equal(l.to, []string{"ada@example.org", "bob@example.org", "carl@example.org", "dora@example.org"}) {
		t.Errorf("from %s to %v", l.from, l.to)
	}
	var ids []string
	for _, l := range mails {
		m, err := netmail.ReadMessage(strings.NewReader(l.body))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.Header.Get("Message-ID"))
	}
	if ids[0] != ids[1] || ids[0] == ids[2] || r.Output["id"] != ids[0] || !strings.HasSuffix(ids[0], "@example.org>") {
		t.Errorf("ids %v, output %v", ids, r.Output)
	}
	m, err := netmail.ReadMessage(strings.NewReader(mails[0].body))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Subject": "Ihre Bestellung – 7", "Bcc": "", "Date": "Sun, 01 Mar 2026 12:00:00 +0000", "Reply-To": "<help@example.org>", "Cc": "<carl@example.org>", "User-Agent": "", "X-Mailer": ""} {
		if got, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get(name)); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if from, err := m.Header.AddressList("From"); err != nil || from[0].Name != "Größe & Co" {
		t.Errorf("from %v, %v", from, err)
	}
	raw := "\x00\x01\x02\xff"
	want := []part{
		{"text/plain", "", "Schön\n.\ndot"}, {"text/html", "", "<p>Schön</p>\n.\n<p>dot</p>"},
		{"text/csv", "Preise €.csv", "a;b\n"}, {"application/x-a", "a.bin", raw}, {"application/octet-stream", "b.bin", raw}, {"application/octet-stream", "Attachment-4", "AAEC/w=="},
		{"application/octet-stream", "Attachment-5", "\x01\xff"}, {"application/json", "Attachment-6", `{"order":7}`}, {"application/octet-stream", "3", "\x03"},
	}
	got := parts(t, m.Header.Get, m.Body)
	for i := range got {
		if name, err := new(mime.WordDecoder).DecodeHeader(got[i].name); err == nil {
			got[i].name = name
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("parts\n%q\nwant\n%q", got, want)
	}
}

// No text of a definition adds a header or a recipient, and a mail has bounds.
func TestWhatIsNoMail(t *testing.T) {
	t.Parallel()
	p := &post{security: mail.Plain}
	cfg := p.begin(t)
	many := func(n int, v any) (out []any) {
		for range n {
			out = append(out, v)
		}
		return out
	}
	var crowd []any
	for i := range 101 {
		crowd = append(crowd, strings.Repeat("a", i+1)+"@example.org")
	}
	for _, c := range []struct {
		field string
		x     any
		want  string
	}{
		{"subject", "a\r\nBcc: eve@example.org", "subject: a line break in it would begin another header"},
		{"subject", "a\nb", "a line break"},
		{"subject", strings.Repeat("a", 901), "subject: it has 901 bytes; it may have 900"},
		{"to", "a@example.org\r\nBcc: eve@example.org", "to: an address: a line break"},
		{"to", "a@example.org>\x00", "to: an address: a line break"},
		{"to", "\"a b\"@example.org", "is no address that is sent to"},
		{"to", "nobody", "to: \"nobody\" is no address of mail"},
		{"to", "", "nobody is named"},
		{"to", crowd, "there are 101 recipients; a mail may have 100"},
		{"from", "a@example.org, b@example.org", "from: \"a@example.org, b@example.org\" is not one address"},
		{"replyTo", "a@example.org, b@example.org", "replyTo: answers go to one address, not to 2"},
		{"attachments", "/etc/passwd", "a text would be a file of the node or an address"},
		{"attachments", many(21, map[string]any{"content": "a"}), "attachments: there are 21; a mail may have 20"},
		{"attachments", map[string]any{"content": "a", "fileName": "a\r\nX: b"}, "attachments: number 1: fileName: a line break"},
		{"attachments", map[string]any{"content": "a", "contentType": "text/plain\r\nX: b"}, "is no type such as"},
		{"attachments", map[string]any{"content": "a", "contentType": "words"}, "attachments: number 1: contentType"},
		{"attachments", map[string]any{"content": "&", "encoding": "base64"}, "it is no base64"},
		{"attachments", map[string]any{"content": "a", "encoding": "zip"}, "encoding: \"zip\" is not base64"},
		{"attachments", many(11, map[string]any{"content": strings.Repeat("a", 1<<20)}), "they have more than 10485760 bytes"},
		{"attachments", many(9, map[string]any{"content": strings.Repeat("a", 1<<20)}), "bytes as it is sent; it may have 10485760"},
	} {
		in := map[string]string{"to": "a@example.org", "subject": "s", "text": "t"}
		in[c.field] = "${{ inputs.x }}"
		root := "  - sendEmail:\n"
		for name, v := range in {
			root += "      " + name + ": \"" + v + "\"\n"
		}
		r := run(t.Context(), t, &cfg, "i1", root, c.x)
		if !strings.HasPrefix(r.incident(), "mail-invalid: ") || !strings.Contains(r.incident(), c.want) {
			t.Errorf("%s: %q, want %q", c.field, r.incident(), c.want)
		}
	}
	if n := len(p.got()); n > 0 {
		t.Errorf("%d mails were sent", n)
	}
	cfg.From = ""
	if r := run(t.Context(), t, &cfg, "i1", plain, nil); !strings.Contains(r.incident(), "from: it is not given, and the node has no --smtp-from") {
		t.Errorf("incident %q", r.incident())
	}
	if r := run(t.Context(), t, nil, "i1", plain, nil); !strings.Contains(r.incident(), "--smtp-address") {
		t.Errorf("incident %q", r.incident())
	}
}

func TestWhatIsKnownWhenItIsPublished(t *testing.T) {
	t.Parallel()
	for root, want := range map[string]string{
		"  - sendEmail: {subject: a}\n":                                     "nobody is named",
		"  - sendEmail: {to: [a@example.org, b]}\n":                         "\"b\" is no address of mail",
		"  - sendEmail: {to: a@example.org, subject: \"a\\nBcc: b\"}\n":     "line break",
		"  - sendEmail: {to: a@example.org, from: \"a@example.org\\nb\"}\n": "line break",
	} {
		_, problems := compile(t, root, nil)
		if err := problems.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", root, err)
		} else if problems[0].Place == (workflow.Place{}) {
			t.Errorf("%s: no place", root)
		}
	}
}

func TestSettingsOfAMailServer(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]mail.Config{
		"":                            {Address: "mail.example.org:587", Security: mail.StartTLS, From: "a <a@example.org>", User: "u"},
		"must be host:port":           {Address: "mail.example.org", Security: mail.StartTLS},
		"smtp-address is \":25\"":     {Address: ":25", Security: mail.StartTLS},
		"smtp-address is \"a:70000\"": {Address: "a:70000", Security: mail.StartTLS},
		"smtp-tls is \"ssl\"":         {Address: "a:25", Security: "ssl"},
		"anybody on the way":          {Address: "a:25", Security: mail.Plain, User: "u"},
		"smtp-from":                   {Address: "a:25", Security: mail.Plain, From: "nobody"},
	} {
		if err := c.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
