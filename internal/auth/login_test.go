package auth_test

import (
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/auth/authtest"
)

const home = "https://weft.example/console/callback"

// visit goes to the provider as a browser does, and gives what it sends back.
func visit(t *testing.T, address string) url.Values {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return back.Query()
}

func TestPeopleSignInAtTheProvider(t *testing.T) {
	t.Parallel()
	iss, a := provider(t, func(c *auth.OIDCConfig) {
		c.ClientID, c.ClientSecret = authtest.Client, func() (string, error) { return authtest.Secret, nil }
	})
	for what, c := range map[string]struct {
		person  map[string]any
		answers func(id, access string) map[string]any
		spoil   func(l *auth.Login, redirect, code *string)
		name    string
		role    auth.Role
	}{
		"roles of the identity token":  {person: map[string]any{"sub": "ada", "roles": []string{"operator"}}, name: "oidc:ada", role: auth.Operator},
		"no role":                      {person: map[string]any{"sub": "ada", "roles": nil}, name: "oidc:ada", role: auth.Anyone},
		"several audiences, one party": {person: map[string]any{"sub": "ada", "roles": "viewer", "aud": []string{"x", authtest.Client}, "azp": authtest.Client}, name: "oidc:ada", role: auth.Viewer},
		"roles of the access token": {person: map[string]any{"sub": "ada", "roles": nil}, name: "oidc:ada", role: auth.Admin, answers: func(id, _ string) map[string]any {
			return map[string]any{"id_token": id, "access_token": iss.Token(map[string]any{"sub": "ada", "roles": "admin"})}
		}},
		"an access token of another person": {person: map[string]any{"sub": "ada", "roles": nil}, name: "oidc:ada", role: auth.Anyone, answers: func(id, _ string) map[string]any {
			return map[string]any{"id_token": id, "access_token": iss.Token(map[string]any{"sub": "eve", "roles": "admin"})}
		}},
		"an access token for another application": {person: map[string]any{"sub": "ada", "roles": nil}, name: "oidc:ada", role: auth.Anyone, answers: func(id, _ string) map[string]any {
			return map[string]any{"id_token": id, "access_token": iss.Token(map[string]any{"sub": "ada", "roles": "admin", "aud": "other"})}
		}},
		"another nonce":               {person: map[string]any{"nonce": "x"}},
		"no nonce":                    {person: map[string]any{"nonce": nil}},
		"another application":         {person: map[string]any{"aud": "other"}},
		"a token of the API":          {person: map[string]any{"aud": authtest.Audience}},
		"another party":               {person: map[string]any{"azp": "other"}},
		"several audiences, no party": {person: map[string]any{"aud": []string{"x", authtest.Client}}},
		"another issuer":              {person: map[string]any{"iss": "https://evil.example"}},
		"expired":                     {person: map[string]any{"exp": 1000}},
		"nobody":                      {person: map[string]any{"sub": nil}},
		"no identity token":           {answers: func(_, access string) map[string]any { return map[string]any{"access_token": access} }},
		"a forged one": {answers: func(string, string) map[string]any {
			return map[string]any{"id_token": iss.ForgedToken(map[string]any{"aud": authtest.Client})}
		}},
		"another browser's verifier": {spoil: func(l *auth.Login, _, _ *string) { l.Verifier = "x" }},
		"another address":            {spoil: func(_ *auth.Login, redirect, _ *string) { *redirect = "https://evil.example/" }},
		"a code of nobody":           {spoil: func(_ *auth.Login, _, code *string) { *code = "x" }},
	} {
		iss.Person(c.person, c.answers)
		address, l, err := a.OIDC.Begin(home)
		if err != nil {
			t.Fatal(err)
		}
		back := visit(t, address)
		if back.Get("state") != l.State || len(l.State) < 20 || len(l.Verifier) < 43 {
			t.Errorf("%s: %v, begun with %+v", what, back, l)
		}
		redirect, code := home, back.Get("code")
		if c.spoil != nil {
			c.spoil(&l, &redirect, &code)
		}
		p, err := a.OIDC.Finish(t.Context(), l, redirect, code)
		var refused *auth.RefusedError
		switch {
		case c.name == "" && !errors.As(err, &refused):
			t.Errorf("%s: %+v %v", what, p, err)
		case c.name != "" && (err != nil || p.Name != c.name || p.Role != c.role):
			t.Errorf("%s: %+v %v, want %s %s", what, p, err, c.name, c.role)
		}
		if c.name != "" {
			if _, err := a.OIDC.Finish(t.Context(), l, redirect, code); !errors.As(err, &refused) {
				t.Errorf("%s: the code counts twice: %v", what, err)
			}
		}
	}
	// What a browser gets opens no route of the API: it is for the console.
	if _, err := ask(t, a, iss.Token(map[string]any{"aud": authtest.Client})); err == nil {
		t.Error("an identity token is a credential of the API")
	}
	_, l, err := a.OIDC.Begin(home)
	if err != nil {
		t.Fatal(err)
	}
	iss.Stop()
	var away *auth.UnavailableError
	if _, err := a.OIDC.Finish(t.Context(), l, home, "code"); !errors.As(err, &away) {
		t.Errorf("a provider that is away: %v", err)
	}
}

// TestASignInAsksTheProviderOnce holds that nobody drives a node to ask its provider as often as
// they like: a sign-in counts once, and so many are under way at a time.
func TestASignInAsksTheProviderOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	iss, a := provider(t, func(c *auth.OIDCConfig) {
		c.ClientID, c.ClientSecret = authtest.Client, func() (string, error) {
			asked.Add(1)
			return authtest.Secret, nil
		}
	})
	begin := func() (auth.Login, string) {
		address, l, err := a.OIDC.Begin(home)
		if err != nil {
			t.Fatal(err)
		}
		return l, visit(t, address).Get("code")
	}
	finish := func(l auth.Login, code string) error {
		_, err := a.OIDC.Finish(t.Context(), l, home, code)
		return err
	}
	var refused *auth.RefusedError
	l, code := begin()
	for range 3 {
		if err := finish(l, "made-up"); !errors.As(err, &refused) {
			t.Errorf("a code of nobody: %v", err)
		}
	}
	if err := finish(l, code); !errors.As(err, &refused) || asked.Load() != 1 {
		t.Errorf("one sign-in asked the provider %d times: %v", asked.Load(), err)
	}

	come, goOn := make(chan struct{}), make(chan struct{})
	iss.Person(map[string]any{"sub": "ada"}, func(id, _ string) map[string]any {
		come <- struct{}{}
		<-goOn
		return map[string]any{"id_token": id}
	})
	var all errgroup.Group
	for range auth.MaxExchanges {
		l, code := begin()
		all.Go(func() error { return finish(l, code) })
	}
	for range auth.MaxExchanges {
		<-come
	}
	var away *auth.UnavailableError
	l, code = begin()
	before := asked.Load()
	if err := finish(l, code); !errors.As(err, &away) || asked.Load() != before {
		t.Errorf("one more than there are places: %v", err)
	}
	close(goOn)
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	iss.Person(map[string]any{"sub": "ada"}, nil)
	if err := finish(l, code); err != nil {
		t.Errorf("it was not used, and there are places again: %v", err)
	}
}
