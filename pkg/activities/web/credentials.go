package web

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/outgoing"
	"github.com/weft-run/weft/pkg/engine"
)

// credentialInputs are those that name secrets.
var credentialInputs = []string{"authorizationSecret", "clientCertificate", "clientKey", "caCertificate"}

// checkCredentials looks at what is known of the credentials of a request at compile time.
func checkCredentials(p *engine.Preparation) {
	for _, name := range credentialInputs {
		if v, ok := p.Constant(name); ok && v != nil {
			p.Secret(engine.Text(v), name)
		}
	}
	if p.Node.Given("authorization") && p.Node.Given("authorizationSecret") {
		p.Problem("bad-literal", p.Place("authorizationSecret"), "authorization and authorizationSecret both say what the header is; leave one out")
	}
	if p.Node.Given("clientKey") && !p.Node.Given("clientCertificate") {
		p.Problem("bad-literal", p.Place("clientKey"), "clientKey is the key of a certificate, and there is no clientCertificate")
	}
	if p.Node.Given("authorizationScheme") && !p.Node.Given("authorizationSecret") {
		p.Problem("bad-literal", p.Place("authorizationScheme"), "authorizationScheme stands before the value of authorizationSecret, and there is none; write it into authorization")
	}
}

// authorizationOf is the header of one try; "" if there is none.
func authorizationOf(x *engine.Execution) (string, error) {
	name := x.Text("authorizationSecret")
	if name == "" {
		return x.Text("authorization"), nil
	}
	value, ok := x.Secret(name)
	if !ok {
		return "", fmt.Errorf("authorizationSecret: %w", evaluation.NoSecret(name))
	}
	scheme := strings.TrimSpace(x.Text("authorizationScheme"))
	if strings.EqualFold(scheme, "Basic") {
		if !strings.Contains(value, ":") {
			return "", fmt.Errorf("authorizationSecret: the secret %s is no user:password, which Basic wants", name)
		}
		value = base64.StdEncoding.EncodeToString([]byte(value))
	}
	header := strings.TrimSpace(scheme + " " + value)
	if strings.ContainsAny(header, "\r\n") {
		return "", fmt.Errorf("authorizationSecret: the secret %s has a line break in it", name)
	}
	return header, nil
}

// identityOf is who the client is in one try, and whom it trusts; nil if the inputs do not say.
func identityOf(x *engine.Execution) (*outgoing.Identity, error) {
	var pem [3]string
	given := false
	for i, input := range credentialInputs[1:] {
		name := x.Text(input)
		if name == "" {
			continue
		}
		value, ok := x.Secret(name)
		if !ok {
			return nil, fmt.Errorf("%s: %w", input, evaluation.NoSecret(name))
		}
		pem[i], given = value, true
	}
	if !given {
		return nil, nil
	}
	id, err := outgoing.NewIdentity(pem[0], pem[1], pem[2])
	if errors.Is(err, outgoing.ErrNoCertificate) {
		return nil, fmt.Errorf("caCertificate: the secret %s: %w", x.Text("caCertificate"), err)
	}
	if err != nil {
		return nil, fmt.Errorf("clientCertificate: the secret %s: %w", x.Text("clientCertificate"), err)
	}
	return id, nil
}
