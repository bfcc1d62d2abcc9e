package charset_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/charset"
)

func TestTextIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, typ, want string }{
		{"Grüße", "text/plain", "Grüße"},
		{"Grüße", "text/plain; charset=UTF-8", "Grüße"},
		{"Grüße", "text/plain; charset=us-ascii", "Grüße"},
		{"\xef\xbb\xbfGr", "text/plain", "Gr"},
		{"\xef\xbb\xbfGrüße", "text/plain; charset=iso-8859-1", "Grüße"}, // the mark says what it is
		{"Gr\xfc\xdfe", "text/plain; charset=ISO-8859-1", "Grüße"},
		{"Gr\xfc\xdfe", `text/plain; charset="latin1"`, "Grüße"},
		{"5 \x80", "text/plain;charset=windows-1252", "5 €"},
		{"5 \x80", "text/plain;charset=iso-8859-1", "5 €"},
		{"5 \xa4", "text/plain;charset=iso-8859-15", "5 €"},
		{"\xcf\xf0", "text/plain;charset=windows-1251", "Пр"},
		{"\xb1", "text/plain;charset=iso-8859-2", "ą"},
		{"\xff\xfea\x00", "text/plain", "a"},
		{"\xfe\xff\x00a", "text/plain", "a"},
		{"\xff\xfea\x00", "text/plain; charset=utf-16", "a"},
		{"\x00a", "text/plain; charset=utf-16", "a"},
		{"a\x00=\xd8\x00\xde", "text/plain; charset=utf-16le", "a😀"},
		{"\xff\x00", "application/octet-stream", "\xff\x00"},
		{"", "text/plain; charset=utf-16", ""},
		{"a", "text/plain; charset", "a"},
	} {
		got, err := charset.Text([]byte(c.body), c.typ)
		if charset.Plain([]byte(c.body), c.typ) && c.body != c.want {
			t.Errorf("%q as %s is said to be plain", c.body, c.typ)
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%q as %s: %q, %v, want %q", c.body, c.typ, got, err, c.want)
		}
	}
	for _, c := range []struct {
		body, typ string
		unknown   bool
	}{
		{"a", "text/plain; charset=shift_jis", true},
		{"a", "text/plain; charset=klingon", true},
		{"\x81", "text/plain; charset=windows-1253", false},
		{"a\x00b", "text/plain; charset=utf-16le", false},
		{"\x00\xd8", "text/plain; charset=utf-16le", false},
	} {
		got, err := charset.Text([]byte(c.body), c.typ)
		var unknown *charset.UnknownError
		if err == nil || errors.As(err, &unknown) != c.unknown {
			t.Errorf("%q as %s: %q, %v", c.body, c.typ, got, err)
		}
	}
}

func TestTextIsWritten(t *testing.T) {
	t.Parallel()
	for typ, want := range map[string]string{
		"text/plain": "5 €", "text/plain; charset=utf-8": "5 €", "text/plain; charset=windows-1252": "5 \x80", "text/plain; charset=iso-8859-15": "5 \xa4",
		"text/plain; charset=utf-16le": "5\x00 \x00\xac\x20", "text/plain; charset=iso-8859-2": "", "text/plain; charset=klingon": "",
	} {
		if got, err := charset.Encode([]byte("5 €"), typ); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", typ, got, err)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"a", "\xff\xfea\x00", "\xef\xbb\xbf", "\x80"} {
		f.Add(s, "utf-16")
		f.Add(s, "windows-1252")
	}
	f.Fuzz(func(t *testing.T, body, name string) {
		got, err := charset.Decode([]byte(body), name)
		if err == nil && utf8.ValidString(body) && !utf8.Valid(got) {
			t.Errorf("%q as %s: %q", body, name, got)
		}
	})
}
