package activities_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// withSecrets are the secrets of a node; current can be set while a burst runs.
func withSecrets(current *atomic.Pointer[secrets.Set]) option {
	return withEnv(func(e *engine.Env) { e.Secrets, e.Present = current.Load(), current.Load })
}

func secretSet(t *testing.T, values map[string]string) *secrets.Set {
	t.Helper()
	s, err := secrets.New(values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A secret that is renewed between two tries of one request is the new one in the second. Neither stands in what is
// kept, also where the server repeats it.
func TestCredentialsAreLookedUpAtEachTry(t *testing.T) {
	t.Parallel()
	var current atomic.Pointer[secrets.Set]
	current.Store(secretSet(t, map[string]string{"api": "first-token"}))
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		if len(got) == 1 {
			current.Store(secretSet(t, map[string]string{"api": "second-token"}))
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "you are "+r.Header.Get("Authorization"))
	}))
	t.Cleanup(srv.Close)
	send := named("send", act("SendHttpRequest", inputs{"url": lit(srv.URL), "authorizationSecret": lit("api"), "authorizationScheme": lit("Bearer"), "retries": lit(1), "retryDelay": lit("1ms")}))
	send.Outputs = map[string]string{"result": "answer"}
	def := root(send)
	def.Variables = []workflow.Variable{{Name: "answer"}}
	b := start(t, def, withHTTP(true), withSecrets(&current)).wantStatus(workflow.Finished)
	if strings.Join(got, ", ") != "Bearer first-token, Bearer second-token" {
		t.Errorf("the server got %q", got)
	}
	raw, err := json.Marshal([]any{b.header, b.journal, string(b.state)})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "-token") || !strings.Contains(string(raw), "***api***") {
		t.Errorf("kept: %s", raw)
	}
	if uses := b.prog.Secrets(); len(uses) != 1 || uses[0].Name != "api" || uses[0].What != "input authorizationSecret of send" {
		t.Errorf("uses %v", uses)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}))
	srv.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	raw, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	var current atomic.Pointer[secrets.Set]
	current.Store(secretSet(t, map[string]string{"cert": certificate, "key": key, "both": certificate + key, "user": "ada:pass word", "plain": "no-colon", "lines": "two\nlines of it"}))
	for name, c := range map[string]struct {
		in   inputs
		want string // of the answer, or of the incident
	}{
		"two secrets":          {inputs{"clientCertificate": lit("cert"), "clientKey": lit("key"), "caCertificate": lit("cert"), "authorizationSecret": lit("user"), "authorizationScheme": lit("basic")}, "basic YWRhOnBhc3Mgd29yZA=="},
		"one secret":           {inputs{"clientCertificate": lit("both"), "caCertificate": lit("cert")}, ""},
		"no certificate":       {inputs{"caCertificate": lit("cert")}, "certificate required"},
		"nobody trusts it":     {inputs{"clientCertificate": lit("both")}, "certificate signed by unknown authority"},
		"no such secret":       {inputs{"clientCertificate": lit("gone")}, "clientCertificate: there is no secret gone"},
		"no certificate in it": {inputs{"clientCertificate": lit("plain")}, "the secret plain: it is no certificate with its key"},
		"no authorities in it": {inputs{"caCertificate": lit("user")}, "the secret user: there is no certificate in it"},
		"no password":          {inputs{"authorizationSecret": lit("plain"), "authorizationScheme": lit("Basic")}, "plain is no user:password"},
		"line break":           {inputs{"authorizationSecret": lit("lines")}, "lines has a line break"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.in["url"] = lit(srv.URL)
			send := act("SendHttpRequest", c.in)
			send.Outputs = map[string]string{"parsedContent": "answer"}
			def := root(send)
			def.Variables = []workflow.Variable{{Name: "answer"}}
			def.Outputs = []workflow.Output{{Name: "got", Value: ptr(varExpr("answer"))}}
			b := start(t, def, withHTTP(true), withSecrets(&current))
			if b.header.SubStatus == workflow.Finished {
				if got := b.header.Output["got"]; !strings.Contains(name, "secret") || c.want != "" && !strings.Contains(engine.Text(got), "basic ***") {
					t.Errorf("answer %v", got)
				}
				return
			}
			if len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, c.want) || c.want == "" {
				t.Errorf("incidents %v", b.header.Incidents)
			}
		})
	}
}

func TestCredentialsThatContradict(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]inputs{
		"both say what the header is":   {"authorization": lit("Bearer x"), "authorizationSecret": lit("api")},
		"there is no clientCertificate": {"clientKey": lit("key")},
		"write it into authorization":   {"authorizationScheme": lit("Bearer")},
	} {
		in["url"] = lit("https://a.example")
		for _, typ := range []string{"SendHttpRequest", "FlowSendHttpRequest"} {
			def := root(act(typ, in))
			def.ID = "x"
			_, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
			if err := problems.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", typ, err)
			}
		}
	}
}
