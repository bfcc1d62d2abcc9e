// Package resumelink signs, checks and hides the tokens of resume links.
//
// Guaranteed: only who has a key makes a token that opens, for one bookmark and one outcome,
// until it expires; [Hide] takes every token that [Keys.Sign] makes out of a text. Not
// guaranteed: that a token opens once only, which the bookmark sees to.
package resumelink

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Link is what a resume link says: anyone who has it may resume one bookmark with one
// outcome, until it expires.
type Link struct {
	Bookmark string    `json:"b"`
	Outcome  string    `json:"o,omitempty"`
	Made     time.Time `json:"-"`
	Expires  time.Time `json:"-"`
}

// linkDoc is the signed form; times are in seconds since 1970.
type linkDoc struct {
	Link
	Made    int64 `json:"m"`
	Expires int64 `json:"e"`
}

// The reasons why a link is not good.
var (
	ErrInvalid = errors.New("the link is not valid")
	ErrExpired = errors.New("the link has expired")
)

// Keys sign links, the first one, and check them, all of them: to change the
// key, add the new one as the second on every node, then put it first, then take
// the old one away. Each has at least [MinKey] bytes.
type Keys [][]byte

// MinKey is how many bytes a key has at least.
const MinKey = 32

// ReadKeys reads the keys that a file has, one a line. Its errors name the setting, and no key.
func ReadKeys(file string) (Keys, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("link-key-file: %w", err)
	}
	var keys Keys
	for line := range strings.FieldsSeq(string(raw)) {
		if len(line) < MinKey {
			return nil, fmt.Errorf("link-key-file %s: key %d has %d characters; it needs at least %d, such as weft secret FILE writes", file, len(keys)+1, len(line), MinKey)
		}
		keys = append(keys, []byte(line))
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("link-key-file %s has no key in it; weft secret FILE writes one", file)
	}
	return keys, nil
}

// linkPurpose keeps signatures of links apart from any other use of a key.
const linkPurpose = "weft resume link\n"

// maxToken bounds what is looked at.
const maxToken = 2048

// Sign gives the token of a link: two parts in URL-safe base64 with a dot between,
// what it says and its HMAC-SHA256.
func (k Keys) Sign(l Link) (string, error) {
	if len(k) == 0 {
		return "", errors.New("there is no key to sign links with")
	}
	doc, err := json.Marshal(linkDoc{l, l.Made.Unix(), l.Expires.Unix()})
	if err != nil {
		return "", err
	}
	said := base64.RawURLEncoding.EncodeToString(doc)
	return said + "." + base64.RawURLEncoding.EncodeToString(sign(k[0], said)), nil
}

// tokenHead is what every token begins with: the beginning of its document. No other
// signed thing has it; a JSON Web Token begins with a header.
const tokenHead = "eyJiIjoi"

var tokenForm = regexp.MustCompile(tokenHead + `[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}`)

// Hide replaces the token of every resume link in a text: anyone who reads one
// may resume. Links are found by their form, with any signature, and not where
// they are encoded in another form.
func Hide(text string) string {
	if !strings.Contains(text, tokenHead) {
		return text
	}
	return tokenForm.ReplaceAllLiteralString(text, "(hidden)")
}

// HideIn is [Hide] for the texts of a JSON-like value, keys included. v
// itself is not changed, and is what comes back if no link is in it.
func HideIn(v any) any {
	if !linksIn(v) {
		return v
	}
	switch v := v.(type) {
	case string:
		return Hide(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = HideIn(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[Hide(k)] = HideIn(e)
		}
		return out
	}
	return v
}

// linksIn reports whether a JSON-like value may hold a resume link.
func linksIn(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, tokenHead)
	case []any:
		return slices.ContainsFunc(v, linksIn)
	case map[string]any:
		for k, e := range v {
			if strings.Contains(k, tokenHead) || linksIn(e) {
				return true
			}
		}
	}
	return false
}

// Open checks a token. It returns [ErrInvalid], or [ErrExpired] for one that
// was good until then.
func (k Keys) Open(token string, now time.Time) (Link, error) {
	said, signature, ok := strings.Cut(token, ".")
	if !ok || len(token) > maxToken {
		return Link{}, ErrInvalid
	}
	if strings.ContainsAny(token, "\r\n") { // what decodes base64 does not mind them
		return Link{}, ErrInvalid
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || !k.signed(said, sum) {
		return Link{}, ErrInvalid
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(said)
	if err != nil {
		return Link{}, ErrInvalid
	}
	var doc linkDoc
	if err := json.Unmarshal(raw, &doc); err != nil {
		return Link{}, ErrInvalid
	}
	l := doc.Link
	l.Made, l.Expires = time.Unix(doc.Made, 0).UTC(), time.Unix(doc.Expires, 0).UTC()
	if !now.Before(l.Expires) {
		return l, ErrExpired
	}
	return l, nil
}

func (k Keys) signed(said string, sum []byte) bool {
	good := false
	for _, key := range k {
		if hmac.Equal(sum, sign(key, said)) {
			good = true
		}
	}
	return good
}

func sign(key []byte, said string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(linkPurpose))
	mac.Write([]byte(said))
	return mac.Sum(nil)
}
