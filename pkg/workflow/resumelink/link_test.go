package resumelink_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	old, fresh := bytes.Repeat([]byte("o"), 32), bytes.Repeat([]byte("n"), 32)
	want := resumelink.Link{Bookmark: "i~1", Outcome: "ja & amen", Made: now, Expires: now.Add(time.Hour)}
	token, err := resumelink.Keys{old}.Sign(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string]resumelink.Keys{"same": {old}, "second while keys change": {fresh, old}} {
		if got, err := keys.Open(token, now.Add(time.Hour-time.Second)); err != nil || got != want {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if _, err := (resumelink.Keys{old}).Open(token, now.Add(time.Hour)); !errors.Is(err, resumelink.ErrExpired) {
		t.Errorf("after its time: %v", err)
	}
	if _, err := (resumelink.Keys{}).Sign(want); err == nil {
		t.Error("signed without a key")
	}
	said, signature, _ := strings.Cut(token, ".")
	other, _ := resumelink.Keys{old}.Sign(resumelink.Link{Bookmark: "i~2", Expires: want.Expires})
	otherSaid, _, _ := strings.Cut(other, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"b":"i~1","m":0,"e":99999999999}`))
	// The last letter has two bits that stand for nothing.
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	spelled := token[:len(token)-1] + letters[strings.IndexByte(letters, token[len(token)-1])^1:][:1]
	for name, bad := range map[string]string{
		"other bits after its end": spelled, "a line break": token[:5] + "\n" + token[5:], "a line break at the end": token + "\r\n",
		"nothing": "", "no signature": said, "an empty signature": said + ".", "another's signature": otherSaid + "." + signature,
		"forged": forged + "." + signature, "cut off": token[:len(token)-3], "more": token + "A", "no base64": "!." + signature, "long": strings.Repeat("x", 5000) + "." + signature,
	} {
		if _, err := (resumelink.Keys{fresh, old}).Open(bad, now); !errors.Is(err, resumelink.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, keys := range map[string]resumelink.Keys{"another key": {fresh}, "none": nil} {
		if _, err := keys.Open(token, now); !errors.Is(err, resumelink.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHideLinks(t *testing.T) {
	t.Parallel()
	for _, l := range []resumelink.Link{
		{Bookmark: "i", Expires: time.Unix(1, 0)},
		{Bookmark: "an-instance:x/ü", Outcome: "approve & <go>", Made: time.Unix(1<<33, 0), Expires: time.Unix(1<<34, 0)},
		{Bookmark: strings.Repeat("b", 500), Outcome: strings.Repeat("ö", 200)},
		{},
	} {
		token, err := resumelink.Keys{[]byte(strings.Repeat("k", resumelink.MinKey))}.Sign(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, around := range []string{"%s", "https://weft.example/links/%s", "see %s.", "<a href=\"/links/%s\">", "%[1]s %[1]s", "%%2Flinks%%2F%s&x", "a\xff%s"} {
			text := fmt.Sprintf(around, token)
			got := resumelink.Hide(text)
			if want := strings.ReplaceAll(text, token, "(hidden)"); got != want {
				t.Errorf("%q became %q, not %q", text, got, want)
			}
			in := map[string]any{"a": []any{text, 1, nil, map[string]any{text: true}}}
			if out := fmt.Sprint(resumelink.HideIn(in)); strings.Contains(out, token) {
				t.Errorf("%s", out)
			}
			if !strings.Contains(fmt.Sprint(in), token) {
				t.Error("the value itself was changed")
			}
		}
	}
	for _, text := range []string{"", "eyJiIjoi", "eyJhbGciOiJIUzI1NiJ9.eyJiIjoieCJ9.c2ln", "no link"} {
		if got := resumelink.Hide(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
