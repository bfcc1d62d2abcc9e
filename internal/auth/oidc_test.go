package auth_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/auth/authtest"
	"github.com/weft-run/weft/internal/polltest"
)

// provider starts a provider and what trusts it, and waits until it has keys.
func provider(t *testing.T, change func(*auth.OIDCConfig)) (*authtest.Issuer, *auth.Authenticator) {
	t.Helper()
	iss := authtest.NewIssuer(t)
	cfg := auth.OIDCConfig{Issuer: iss.URL, Audience: authtest.Audience}
	if change != nil {
		change(&cfg)
	}
	o, err := auth.NewOIDC(cfg)
	if err != nil {
		t.Fatal(err)
	}
	run(t, o.Run)
	a := &auth.Authenticator{OIDC: o}
	polltest.Eventually(t, "the provider is known", func() bool {
		_, err := ask(t, a, iss.Token(nil))
		return err == nil
	})
	return iss, a
}

// run runs a loop until the test ends.
func run(t *testing.T, loop func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- loop(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func ask(t *testing.T, a *auth.Authenticator, token string) (*auth.Principal, error) {
	t.Helper()
	return a.Authenticate(t.Context(), http.Header{"Authorization": {"Bearer " + token}})
}

func TestTokenOfTheProviderCounts(t *testing.T) {
	t.Parallel()
	iss, a := provider(t, nil)
	for _, c := range []struct {
		roles any
		want  auth.Role
	}{
		{"viewer", auth.Viewer}, {[]string{"operator", "viewer"}, auth.Operator}, {[]string{"x", "admin"}, auth.Admin},
		{"openid designer", auth.Designer}, {[]any{1, nil}, auth.Anyone}, {nil, auth.Anyone}, {"root", auth.Anyone}, {"Admin", auth.Anyone}, {"anyone", auth.Anyone},
	} {
		p, err := ask(t, a, iss.Token(map[string]any{"roles": c.roles}))
		if err != nil || p.Role != c.want || p.Name != "oidc:ada" {
			t.Errorf("roles %v: %+v, %v; want %v", c.roles, p, err, c.want)
		}
	}
	if p, err := ask(t, a, iss.TokenOfType("at+jwt", nil)); err != nil || p.Role != auth.Viewer {
		t.Errorf("an access token: %v", err)
	}
}

func TestRolesAreMapped(t *testing.T) {
	t.Parallel()
	iss, a := provider(t, func(c *auth.OIDCConfig) {
		c.RoleClaim, c.Roles = "realm_access.roles", []string{"admin=weft=admins", "operator=ops", "viewer=weft=admins"}
	})
	token := func(groups ...string) string {
		return iss.Token(map[string]any{"roles": "admin", "realm_access": map[string]any{"roles": groups}})
	}
	if p, err := ask(t, a, token("ops", "weft=admins")); err != nil || p.Role != auth.Admin || !p.Satisfies("ops") || p.Satisfies("approvers") {
		t.Errorf("%+v %v", p, err)
	}
	// Only what is mapped counts: the claim's own "admin" is another's word.
	if p, err := ask(t, a, token("admin")); err != nil || p.Role != auth.Anyone || p.Satisfies("viewer") || p.Satisfies("admin") || p.Satisfies("Admin") {
		t.Errorf("%+v %v", p, err)
	}
}

func TestForeignTokensAreRefused(t *testing.T) {
	t.Parallel()
	iss, a := provider(t, nil)
	other := authtest.NewIssuer(t)
	now := time.Now()
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	good := iss.Token(nil)
	parts := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
	for name, token := range map[string]string{
		"another issuer, its key":            other.Token(nil),
		"another issuer, our name":           other.Token(map[string]any{"iss": iss.URL}),
		"our key, another issuer's name":     iss.Token(map[string]any{"iss": other.URL}),
		"another audience":                   iss.Token(map[string]any{"aud": "billing"}),
		"no audience":                        iss.Token(map[string]any{"aud": nil}),
		"an empty list of audiences":         iss.Token(map[string]any{"aud": []string{}}),
		"a list of other audiences":          iss.Token(map[string]any{"aud": []string{"billing", authtest.Audience + "x"}}),
		"an audience within a text":          iss.Token(map[string]any{"aud": "billing " + authtest.Audience}),
		"expired":                            iss.Token(map[string]any{"exp": at(-2 * time.Minute)}),
		"never expires":                      iss.Token(map[string]any{"exp": nil}),
		"not yet valid":                      iss.Token(map[string]any{"nbf": at(5 * time.Minute)}),
		"issued in the future":               iss.Token(map[string]any{"iat": at(5 * time.Minute)}),
		"nobody's":                           iss.Token(map[string]any{"sub": nil}),
		"HS256 by the public key":            iss.ForgedToken(map[string]any{"roles": "admin"}),
		"HS256 by a published symmetric key": iss.SharedToken(map[string]any{"roles": "admin"}),
		"a stranger's, our key's name":       iss.StrangersToken("key-1", nil),
		"a stranger's without a name":        iss.StrangersToken("", nil),
		"for logging out":                    iss.TokenOfType("logout+jwt", nil),
		"with a line break":                  parts[0] + ".\n" + parts[1] + "." + parts[2],
		"unsigned":                           none + "." + parts[1] + ".",
		"unsigned, with the signature":       none + "." + parts[1] + "." + parts[2],
		"without its signature":              parts[0] + "." + parts[1] + ".",
		"other claims, its signature":        parts[0] + "." + strings.Split(iss.Token(map[string]any{"roles": "admin"}), ".")[1] + "." + parts[2],
		"cut":                                good[:len(good)-4],
		"no token":                           "eyJ",
		"an unknown API key":                 "weft_AAAA",
		"nothing":                            "",
		"too long":                           strings.Repeat("a", 20<<10),
	} {
		p, err := ask(t, a, token)
		var refused *auth.RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if err != nil && token != "" && len(token) < 1000 && len(token) > 20 && strings.Contains(err.Error(), token[:20]) {
			t.Errorf("%s: the error has the token: %v", name, err)
		}
	}
	for name, token := range map[string]string{
		"expired by less than clocks differ": iss.Token(map[string]any{"exp": at(-30 * time.Second)}),
		"for several audiences":              iss.Token(map[string]any{"aud": []string{"billing", authtest.Audience}}),
		"for a list of one":                  iss.Token(map[string]any{"aud": []string{authtest.Audience}}),
		"times with decimals":                iss.Token(map[string]any{"exp": float64(at(time.Hour)) + 0.5, "iat": float64(at(0)) + 0.25}),
		"valid by less than clocks differ":   iss.Token(map[string]any{"nbf": at(30 * time.Second), "iat": at(30 * time.Second)}),
	} {
		if _, err := ask(t, a, token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A token that was accepted is accepted from memory, but not beyond its end.
func TestAcceptedTokenExpires(t *testing.T) {
	t.Parallel()
	iss, a := provider(t, func(c *auth.OIDCConfig) { c.Leeway = time.Nanosecond })
	token := iss.Token(map[string]any{"exp": time.Now().Add(3 * time.Second).Unix()})
	if _, err := ask(t, a, token); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "the token counts no more", func() bool {
		_, err := ask(t, a, token)
		return err != nil
	})
}

func TestWithdrawnKeyCountsNoMore(t *testing.T) {
	t.Parallel()
	iss, a := provider(t, func(c *auth.OIDCConfig) { c.Refresh = 50 * time.Millisecond })
	old := iss.Token(nil)
	if _, err := ask(t, a, old); err != nil {
		t.Fatal(err)
	}
	iss.Rotate()
	polltest.Eventually(t, "the new key counts", func() bool {
		_, err := ask(t, a, iss.Token(nil))
		return err == nil
	})
	if _, err := ask(t, a, old); err == nil {
		t.Error("a token by the withdrawn key still counts")
	}
}

// A token by a key that is not known yet makes the node look, and strangers
// cannot make it look all the time.
func TestNewKeyIsLookedFor(t *testing.T) {
	t.Parallel()
	iss := authtest.NewIssuer(t)
	o, err := auth.NewOIDC(auth.OIDCConfig{Issuer: iss.URL, Audience: authtest.Audience, Refresh: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	a := &auth.Authenticator{OIDC: o}
	auth.Ask(t, o)
	auth.LongAgo(o)
	iss.Rotate()
	if _, err := ask(t, a, iss.Token(nil)); err != nil {
		t.Errorf("a token by the new key: %v", err)
	}
	asked := iss.Asked()
	if asked != 2 {
		t.Errorf("the keys were asked for %d times", asked)
	}
	for range 20 {
		// Nobody knows yet that the provider has no such key: the caller may come again, and is not refused for good.
		var unknown *auth.UnavailableError
		if _, err := ask(t, a, iss.StrangersToken("made-up", nil)); !errors.As(err, &unknown) || unknown.RetryAfter <= 0 || unknown.RetryAfter > 10*time.Second {
			t.Fatalf("a stranger's token: %v", err)
		}
	}
	if now := iss.Asked(); now != asked {
		t.Errorf("20 strangers made the node ask %d times", now-asked)
	}
}

// A key that came right after a look counts with the next one; until then its tokens are told to come again.
func TestATokenOfARotatedKeyIsNotRefused(t *testing.T) {
	t.Parallel()
	iss := authtest.NewIssuer(t)
	o, err := auth.NewOIDC(auth.OIDCConfig{Issuer: iss.URL, Audience: authtest.Audience, Refresh: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	a := &auth.Authenticator{OIDC: o}
	auth.Ask(t, o)
	iss.Rotate()
	token := iss.Token(nil)
	var later *auth.UnavailableError
	if _, err := ask(t, a, token); !errors.As(err, &later) || later.RetryAfter <= 0 {
		t.Errorf("right after a look: %v", err)
	}
	auth.LongAgo(o)
	if _, err := ask(t, a, token); err != nil {
		t.Errorf("with the next look: %v", err)
	}
}

// What is wrong with a token that its issuer signed is named.
func TestTokensOfAnotherShapeAreToldWhy(t *testing.T) {
	t.Parallel()
	iss, a := provider(t, nil)
	for want, claims := range map[string]map[string]any{
		"exp must be a number": {"exp": "2030-01-01T00:00:00Z"}, "nbf must be a number": {"nbf": "soon"}, "sub must be a text": {"sub": 7}, "aud must be a text or a list of texts": {"aud": map[string]any{"a": 1}},
	} {
		if _, err := ask(t, a, iss.Token(claims)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	_, rest, _ := strings.Cut(iss.Token(nil), ".")
	head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"x","crit":["exp"],"exp":1}`))
	if _, err := ask(t, a, head+"."+rest); err == nil || !strings.Contains(err.Error(), "crit") {
		t.Errorf("with crit: %v", err)
	}
}

// A provider that is away when the node starts keeps no API key out, and its own
// tokens only until it is there.
func TestProviderThatIsAwayIsAskedAgain(t *testing.T) {
	t.Parallel()
	iss := authtest.NewIssuer(t)
	iss.Down(true)
	o, err := auth.NewOIDC(auth.OIDCConfig{Issuer: iss.URL, Audience: authtest.Audience, Refresh: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	keys, key := keyFile(t, auth.Viewer, nil)
	a := &auth.Authenticator{OIDC: o, Keys: keys}
	run(t, o.Run)
	var away *auth.UnavailableError
	polltest.Eventually(t, "the reason is told", func() bool {
		_, err := ask(t, a, iss.Token(nil))
		if !errors.As(err, &away) {
			t.Fatalf("without keys: %v", err)
		}
		return strings.Contains(err.Error(), "503")
	})
	if _, err := ask(t, a, key); err != nil {
		t.Errorf("an API key meanwhile: %v", err)
	}
	iss.Down(false)
	polltest.Eventually(t, "the provider is back", func() bool {
		_, err := ask(t, a, iss.Token(nil))
		return err == nil
	})
	// Away again: what is known counts on.
	iss.Down(true)
	if _, err := ask(t, a, iss.Token(map[string]any{"sub": "grace"})); err != nil {
		t.Errorf("with keys from before: %v", err)
	}
	auth.SeenBefore(o, 25*time.Hour)
	if _, err := ask(t, a, iss.Token(nil)); !errors.As(err, &away) {
		t.Errorf("with keys from the day before yesterday: %v", err)
	}
}

func TestProviderOfAnotherNameIsNotTrusted(t *testing.T) {
	t.Parallel()
	iss := authtest.NewIssuer(t)
	o, err := auth.NewOIDC(auth.OIDCConfig{Issuer: iss.URL + "/", Audience: authtest.Audience})
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.AskOnce(t, o); err == nil || !strings.Contains(err.Error(), "exactly as the provider does") {
		t.Errorf("got %v", err)
	}
}

func TestOIDCSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]auth.OIDCConfig{
		"must start with https://":         {Issuer: "http://login.example.com", Audience: "weft"},
		"is no URL of a provider":          {Issuer: "login", Audience: "weft"},
		"needs auth-oidc-audience":         {Issuer: "https://login.example.com"},
		"must be role=value":               {Issuer: "https://login.example.com", Audience: "weft", Roles: []string{"admin"}},
		`"king=x" must be role=value, suc`: {Issuer: "https://login.example.com", Audience: "weft", Roles: []string{"king=x"}},
	} {
		if _, err := auth.NewOIDC(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestKeysExpireOnTheMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := time.Now().Add(time.Hour)
		keys, key := keyFile(t, auth.Operator, &end)
		a := &auth.Authenticator{Keys: keys}
		if p, err := ask(t, a, key); err != nil || p.Role != auth.Operator {
			t.Fatalf("%+v %v", p, err)
		}
		time.Sleep(time.Hour)
		if _, err := ask(t, a, key); err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("an hour later: %v", err)
		}
	})
}

// A redirect that leaves TLS for one hop ends the look, wherever it would come back.
func TestEveryRedirectOfTheProviderIsLookedAt(t *testing.T) {
	t.Parallel()
	var asked []string
	o, err := auth.NewOIDC(auth.OIDCConfig{Issuer: "https://login.example", Audience: "weft", Client: &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
		asked = append(asked, r.URL.String())
		to := map[string]string{"login.example": "http://astray.example/", "astray.example": "https://login.example/keys"}[r.URL.Host]
		return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {to}}, Body: http.NoBody, Request: r}
	})}})
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.AskOnce(t, o); err == nil || !strings.Contains(err.Error(), "redirected") || len(asked) != 1 {
		t.Errorf("%v; asked were %v", err, asked)
	}
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }
