package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	lru "github.com/hashicorp/golang-lru/v2"
)

// algorithms are those whose public keys may be published. The symmetric ones
// are not among them, nor is "none": a public key would do as their secret.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// verify gives the caller whose token this is.
func (o *OIDC) verify(ctx context.Context, token string) (*Principal, error) {
	set, err := o.current()
	if err != nil {
		return nil, err
	}
	now, id := time.Now(), sha256.Sum256([]byte(token))
	if p := set.cache.get(id, now); p != nil {
		return p, nil
	}
	claims, all, err := o.readBy(ctx, token, &set)
	if err != nil {
		return nil, err
	}
	if err := o.check(claims, o.cfg.Audience, now); err != nil {
		return nil, err
	}
	p := o.principal(claims, all)
	set.cache.put(id, p, claims.Expiry.Time().Add(o.cfg.Leeway))
	return p, nil
}

// readBy gives the claims of a token that one of the keys in set signed, which are to be
// checked. It looks for newer keys if it has to.
func (o *OIDC) readBy(ctx context.Context, token string, set **keySet) (*jwt.Claims, map[string]any, error) {
	if !oneSpelling(token) {
		return nil, nil, refused("the token is not encoded as a JWT is")
	}
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return nil, nil, refused("this is no API key and no JWT with one of the signatures that count (RS, PS, ES, EdDSA)")
	}
	if hasCritical(token) {
		return nil, nil, refused("the token has crit in its header, and this cluster knows no extension that it could name")
	}
	h := &parsed.Headers[0]
	if typ, _ := h.ExtraHeaders[jose.HeaderType].(string); !isAccess(typ) {
		return nil, nil, refused("the token is of another type than JWT or at+jwt")
	}
	keys := (*set).find(h)
	if len(keys) == 0 {
		if *set, err = o.newer(ctx, *set); err != nil {
			return nil, nil, err
		}
		keys = (*set).find(h)
	}
	var all map[string]any
	if !signedByOne(parsed, keys, &all) {
		return nil, nil, refused("the token is not signed by a key of the issuer that this cluster trusts")
	}
	var claims jwt.Claims
	if !signedByOne(parsed, keys, &claims) {
		return nil, nil, refused("the token's claims are not as RFC 7519 has them: " + misshapen(all))
	}
	return &claims, all, nil
}

// hasCritical tells whether the header of a JWT says that something in it must be understood (RFC 7515 section 4.1.11).
func hasCritical(token string) bool {
	first, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(first)
	var header map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &header) != nil {
		return false
	}
	_, is := header["crit"]
	return is
}

// misshapen names the registered claims that are of another type.
func misshapen(all map[string]any) string {
	var wrong []string
	for _, name := range []string{"exp", "nbf", "iat"} {
		switch all[name].(type) {
		case nil, float64, int64, json.Number:
		default:
			wrong = append(wrong, name+" must be a number")
		}
	}
	for _, name := range []string{"iss", "sub", "jti"} {
		switch all[name].(type) {
		case nil, string:
		default:
			wrong = append(wrong, name+" must be a text")
		}
	}
	if len(wrong) == 0 {
		return "aud must be a text or a list of texts"
	}
	return strings.Join(wrong, ", ")
}

// oneSpelling refuses other spellings of a token that decode to the same: line
// breaks, and bits after the end.
func oneSpelling(token string) bool {
	for part := range strings.SplitSeq(token, ".") {
		if _, err := base64.RawURLEncoding.Strict().DecodeString(part); err != nil || strings.ContainsAny(part, "\r\n") {
			return false
		}
	}
	return true
}

// isAccess keeps tokens out that the same provider signed for another purpose,
// such as logging out (RFC 8725 section 3.11).
func isAccess(typ string) bool {
	switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
	case "", "jwt", "at+jwt":
		return true
	}
	return false
}

func signedByOne(parsed *jwt.JSONWebToken, keys []*jose.JSONWebKey, into ...any) bool {
	for _, k := range keys {
		if parsed.Claims(k.Key, into...) == nil {
			return true
		}
	}
	return false
}

// check holds the claims to what is expected, and says to the caller what is
// wrong: it is their token.
func (o *OIDC) check(c *jwt.Claims, audience string, now time.Time) error {
	if c.Expiry == nil || c.Subject == "" || len(c.Subject) > 256 {
		return refused("the token must have the claims exp and sub, the latter of up to 256 bytes")
	}
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: o.cfg.Issuer, AnyAudience: jwt.Audience{audience}, Time: now}, o.cfg.Leeway)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrExpired):
		return refused("the token has expired")
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return refused("the token is not valid yet, by the clock of this node")
	case errors.Is(err, jwt.ErrInvalidAudience):
		return refused("the token is for another audience")
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return refused("the token is of another issuer")
	}
	return refused("the token's claims are not valid")
}

func (o *OIDC) principal(c *jwt.Claims, all map[string]any) *Principal {
	p := &Principal{Name: "oidc:" + c.Subject, Role: Anyone, Groups: texts(claim(all, o.cfg.RoleClaim)), By: ByToken, Expires: c.Expiry.Time()}
	for _, g := range p.Groups {
		p.Role = max(p.Role, o.roles[g])
	}
	return p
}

// claim finds a claim by its name, which may have dots in it, or else by a path
// of names.
func claim(all map[string]any, name string) any {
	if v, ok := all[name]; ok {
		return v
	}
	first, rest, ok := strings.Cut(name, ".")
	if inner, isObject := all[first].(map[string]any); ok && isObject {
		return claim(inner, rest)
	}
	return nil
}

// texts reads a list of texts, or one text with words as the claim scope has it.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// tokenCache remembers tokens that were checked, by their hash: what is in
// memory must be no token.
type tokenCache struct {
	seen *lru.Cache[[sha256.Size]byte, cached]
}

type cached struct {
	principal *Principal
	until     time.Time
}

// maxCached bounds the cache.
const maxCached = 4096

func newTokenCache() (tokenCache, error) {
	seen, err := lru.New[[sha256.Size]byte, cached](maxCached)
	return tokenCache{seen}, err
}

func (c tokenCache) get(id [sha256.Size]byte, now time.Time) *Principal {
	if e, ok := c.seen.Get(id); ok && now.Before(e.until) {
		return e.principal
	}
	return nil
}

func (c tokenCache) put(id [sha256.Size]byte, p *Principal, until time.Time) {
	c.seen.Add(id, cached{p, until})
}
