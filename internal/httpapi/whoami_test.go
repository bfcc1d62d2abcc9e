package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Who calls learns by which name and role, by what, and until when, and never what it called with.
func TestWhoamiTellsWhoCalls(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	told := func(headers ...string) string {
		a := g.do(t, "GET", "/api/v1/whoami", "", headers...)
		if a.status != 200 {
			return fmt.Sprint(a.status)
		}
		who := a.json(t)
		for _, h := range headers {
			if secret := strings.TrimPrefix(h, "Authorization: Bearer "); strings.Contains(string(a.body), secret[:12]) {
				t.Errorf("the answer has the credentials: %s", a.body)
			}
		}
		return fmt.Sprint(who["name"], " ", who["role"], " ", who["groups"], " ", who["by"], " ", who["expiresAt"])
	}
	for r, key := range g.keys {
		if got, want := told(key), fmt.Sprintf("key:%v %v [] key <nil>", r, r); got != want {
			t.Errorf("with a key: %s, want %s", got, want)
		}
	}
	bearer := func(claims map[string]any) string { return "Authorization: Bearer " + g.issuer.Token(claims) }
	ends := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	if got, want := told(bearer(map[string]any{"roles": []string{"operator", "shop"}, "exp": ends.Unix()})), "oidc:ada operator [operator shop] token "+ends.Format(time.RFC3339); got != want {
		t.Errorf("with a token: %s, want %s", got, want)
	}
	for what, c := range map[string]struct{ got, want string }{
		"nothing":                {told(), "401"},
		"a wrong key":            {told("Authorization: Bearer weft_wrong-and-long"), "401"},
		"a token that has ended": {told(bearer(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()})), "401"},
		"a token without a role": {told(bearer(map[string]any{"roles": nil})), "403"},
	} {
		if c.got != c.want {
			t.Errorf("with %s: %s, want %s", what, c.got, c.want)
		}
	}
}

func TestWhoamiWhereNobodyIsAsked(t *testing.T) {
	t.Parallel()
	who := sharedServer(t).get(t, "/api/v1/whoami").json(t)
	if who["name"] != nil || who["role"] != "admin" || who["by"] != "nothing" || who["expiresAt"] != nil {
		t.Errorf("%v", who)
	}
}
