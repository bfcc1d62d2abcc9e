package serve

import (
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
)

// What an Idempotency-Key stands for is stored: the hash of a body stays. That of a form of parts does not hang on its
// boundary, which clients choose for each request.
func TestBodyOfAKey(t *testing.T) {
	t.Parallel()
	hash := func(typ, body string) string {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/workflows/a", nil)
		r.Header.Set("Idempotency-Key", "k")
		r.Header.Set("Content-Type", typ)
		c := Call{API: &API{Config: Config{Now: time.Now}}, Request: r, Body: []byte(body), Query: url.Values{}}
		key, err := c.Key()
		if err != nil {
			t.Fatal(err)
		}
		return key.BodyHash
	}
	form := func(boundary, content string) string {
		return hash("multipart/form-data; boundary="+boundary, "--"+boundary+"\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\n\r\n"+content+"\r\n--"+boundary+"--\r\n")
	}
	if form("x", "1") != form("y", "1") {
		t.Error("a form with another boundary is another request")
	}
	if form("x", "1") == form("x", "2") {
		t.Error("a form with another file is the same request")
	}
	for _, c := range []struct{ typ, body, want string }{
		{"application/json", `{"a": 1}`, "6cef7235df428440e53e02a33a154f4d1006aaf63297e3396275c4407878d97b"},
		{"text/plain", "a  b", "d0c66352e19110fd115644d5edd85d2adab9ea0bc5e9303d66b6c157932514a6"},
		{"multipart/mixed; boundary=x", "--x--", "d79296cba85342a4e49e627716cd1365a4c6b2b30193020d7930f7c5c6ab3426"},
	} {
		if got := hash(c.typ, c.body); got != c.want {
			t.Errorf("%s: %s, want %s", c.typ, got, c.want)
		}
	}
}
