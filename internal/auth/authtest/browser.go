package authtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
)

// Client is what the provider calls the application in which people sign in, and Secret its secret.
const (
	Client = "weft-console"
	Secret = "the client's / secret"
)

// asking is a sign-in that somebody was sent here for.
type asking struct{ redirect, nonce, challenge string }

// Person is who signs in from now on: the claims of their identity token. answers, if not nil,
// changes what is answered to a code.
func (i *Issuer) Person(claims map[string]any, answers func(id, access string) map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.person, i.answers = claims, answers
}

// authorize signs the person in without a question, and sends them back with a code.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != Client || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("tenant") != "t" {
		http.Error(w, "no such client", http.StatusBadRequest)
		return
	}
	i.mu.Lock()
	if i.codes == nil {
		i.codes = map[string]asking{}
	}
	code := rand.Text()
	i.codes[code] = asking{q.Get("redirect_uri"), q.Get("nonce"), q.Get("code_challenge")}
	i.mu.Unlock()
	answer := back.Query()
	answer.Set("code", code)
	answer.Set("state", q.Get("state"))
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

// token gives tokens for a code, once, to who can prove that the code is theirs.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	code := r.PostFormValue("code")
	a, ok := i.codes[code]
	delete(i.codes, code)
	person, answers := maps.Clone(i.person), i.answers
	i.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	proof := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || id != Client || secret != Secret || r.PostFormValue("redirect_uri") != a.redirect || base64.RawURLEncoding.EncodeToString(proof[:]) != a.challenge {
		http.Error(w, `{"error": "invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims := map[string]any{"aud": Client, "nonce": a.nonce}
	maps.Copy(claims, person)
	identity, access := i.Token(claims), "opaque"
	answer := map[string]any{"id_token": identity, "access_token": access, "token_type": "Bearer"}
	if answers != nil {
		answer = answers(identity, access)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the reader tells
}
