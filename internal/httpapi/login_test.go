package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/auth/authtest"
	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// guarded is a node that asks for credentials.
type guarded struct {
	*server
	node   *node.Node
	issuer *authtest.Issuer
	keys   map[auth.Role]string // as headers
	log    *logBuffer
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func startGuarded(t *testing.T, change func(*node.Config)) *guarded {
	t.Helper()
	g := &guarded{issuer: authtest.NewIssuer(t), keys: map[auth.Role]string{}, log: &logBuffer{}}
	var entries []auth.KeyEntry
	for r := auth.Viewer; r <= auth.Admin; r++ {
		key, entry, err := auth.NewKey(r.String(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		g.keys[r], entries = "Authorization: Bearer "+key, append(entries, entry)
	}
	raw, err := yaml.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := node.Config{
		AuthKeysFile: path, AuthOIDCIssuer: g.issuer.URL, AuthOIDCAudience: authtest.Audience,
		Logger: slog.New(slog.NewJSONHandler(g.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&cfg)
	}
	g.node = nodetest.Start(t, cfg)
	g.server = &server{base: nodetest.Address(g.node), run: "1"}
	g.contract = readContract(t, g.base, g.keys[auth.Viewer])
	return g
}

func TestNodeAsksWhoCalls(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	const hello = "id: hello\nroot:\n  - writeLine: hello\n"
	const execute = "/api/v1/definitions/hello/execute"
	publish := func(header string) answer { return g.do(t, "POST", "/api/v1/definitions", hello, header) }

	// A role that is too low changes nothing; the right one does.
	if a := publish(g.keys[auth.Operator]); a.status != 403 || a.code() != "forbidden" || !strings.Contains(string(a.body), "needs the role designer, and key:operator has the role operator") {
		t.Errorf("operator: %d %s", a.status, a.body)
	}
	if a := g.do(t, "GET", "/api/v1/definitions/hello", "", g.keys[auth.Viewer]); a.status != 404 {
		t.Errorf("it was published all the same: %d %s", a.status, a.body)
	}
	if a := publish(g.keys[auth.Designer]); a.status != 201 {
		t.Errorf("designer: %d %s", a.status, a.body)
	}
	if a := g.do(t, "POST", execute, "{}"); a.status != 401 || a.code() != "unauthenticated" || a.header.Get("WWW-Authenticate") != `Bearer realm="weft"` {
		t.Errorf("nobody: %d %s %s", a.status, a.body, a.header)
	}

	// Tokens.
	bearer := func(token string) string { return "Authorization: Bearer " + token }
	operator := map[string]any{"roles": []string{"operator"}}
	if a := g.do(t, "POST", execute, "{}", bearer(g.issuer.Token(operator))); a.status != 200 {
		t.Errorf("a token: %d %s", a.status, a.body)
	}
	if a := g.do(t, "POST", execute, "{}", bearer(g.issuer.Token(map[string]any{"roles": nil}))); a.status != 403 || !strings.Contains(string(a.body), "oidc:ada has no role") {
		t.Errorf("a token without a role: %d %s", a.status, a.body)
	}
	for name, token := range map[string]string{
		"expired":                 g.issuer.Token(map[string]any{"roles": "admin", "exp": time.Now().Add(-time.Hour).Unix()}),
		"another audience":        g.issuer.Token(map[string]any{"roles": "admin", "aud": "billing"}),
		"another issuer":          authtest.NewIssuer(t).Token(map[string]any{"roles": "admin"}),
		"HS256 by the public key": g.issuer.ForgedToken(map[string]any{"roles": "admin"}),
		"made up":                 "weft_00000000000000000000000000000000000000000000",
	} {
		a := g.do(t, "POST", execute, "{}", bearer(token))
		if a.status != 401 || a.code() != "unauthenticated" || a.header.Get("WWW-Authenticate") != `Bearer realm="weft", error="invalid_token"` {
			t.Errorf("%s: %d %s %s", name, a.status, a.body, a.header)
		}
	}
	if items := g.get(t, "/api/v1/instances", g.keys[auth.Viewer]).json(t)["items"].([]any); len(items) != 1 {
		t.Errorf("%d instances, want the one of the token that counts", len(items))
	}

	// What asks how the node is needs nothing, and bad credentials do not matter.
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		if a := g.do(t, "GET", path, ""); a.status != 200 {
			t.Errorf("%s: %d", path, a.status)
		}
		if a := g.do(t, "GET", path, "", bearer("weft_wrong")); a.status != 200 {
			t.Errorf("%s with a wrong key: %d", path, a.status)
		}
	}
	if a := g.do(t, "GET", "/openapi.json", ""); a.status != 401 {
		t.Errorf("openapi.json: %d", a.status)
	}
}

// A definition says who may call its endpoints, and never sees the credentials.
func TestEndpointsAskWhoCallsIfTheirDefinitionSays(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	for _, yaml := range []string{
		"id: public\nroot:\n  - {httpEndpoint: {path: public}, trigger: true, result: request}\n  - {writeHttpResponse: {content: \"${{ variables.request.headers }}\"}}\nvariables: {request: {type: object}}\n",
		"id: members\nroot:\n  - {httpEndpoint: {path: members, authorize: true}, trigger: true}\n  - {writeHttpResponse: {content: in}}\n",
		"id: approvers\nroot:\n  - {httpEndpoint: {path: approvers, authorize: true, policy: approvers}, trigger: true}\n  - {writeHttpResponse: {content: in}}\n",
		"id: operators\nroot:\n  - {httpEndpoint: {path: operators, authorize: true, policy: Operator}, trigger: true}\n  - {writeHttpResponse: {content: in}}\n",
	} {
		if a := g.do(t, "POST", "/api/v1/definitions", yaml, g.keys[auth.Designer]); a.status != 201 {
			t.Fatalf("publish: %d %s", a.status, a.body)
		}
	}
	token := g.issuer.Token(map[string]any{"roles": []string{"approvers"}})
	callers := map[string]string{"nobody": "", "wrong": "Authorization: Bearer weft_wrong", "viewer": g.keys[auth.Viewer], "operator": g.keys[auth.Operator], "approver": "Authorization: Bearer " + token}
	for path, want := range map[string]map[string]int{
		"public":    {"nobody": 200, "wrong": 200, "viewer": 200, "operator": 200, "approver": 200},
		"members":   {"nobody": 401, "wrong": 401, "viewer": 200, "operator": 200, "approver": 200},
		"approvers": {"nobody": 401, "wrong": 401, "viewer": 403, "operator": 403, "approver": 200},
		"operators": {"nobody": 401, "wrong": 401, "viewer": 403, "operator": 200, "approver": 403},
	} {
		for name, header := range callers {
			headers := []string{"X-Custom: shown"}
			if header != "" {
				headers = append(headers, header)
			}
			a := g.do(t, "GET", "/workflows/"+path, "", headers...)
			if a.status != want[name] {
				t.Errorf("%s for %s: %d %s, want %d", path, name, a.status, a.body, want[name])
			}
			if path == "public" && (!strings.Contains(string(a.body), "shown") || strings.Contains(string(a.body), "Bearer")) {
				t.Errorf("%s: the workflow sees %s", name, a.body)
			}
		}
	}
	// Nowhere else either: not in the journal, not in the log.
	for _, item := range g.get(t, "/api/v1/instances?definitionId=public", g.keys[auth.Viewer]).json(t)["items"].([]any) {
		id := item.(map[string]any)["instanceId"].(string)
		for _, part := range []string{"", "/journal", "/state"} {
			if body := string(g.get(t, "/api/v1/instances/"+id+part, g.keys[auth.Operator]).body); strings.Contains(body, "weft_") || strings.Contains(body, token[:20]) {
				t.Errorf("%s%s has credentials: %s", id, part, body)
			}
		}
	}
	if log := g.log.String(); strings.Contains(log, "Bearer") || strings.Contains(log, "weft_") || strings.Contains(log, token[:20]) || !strings.Contains(log, "request answered") {
		t.Error("the log has credentials, or nothing")
	}
}

// Two definitions wait at one path: who may call is asked of the instance that
// the request is for.
func TestAnEndpointThatWaitsAsksWhoCalls(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	for id, guard := range map[string]string{"managed": ", authorize: true, policy: managers", "open": ""} {
		yaml := "id: " + id + "\nroot:\n  - httpEndpoint: {path: approve, supportedMethods: [POST]" + guard + "}\n  - writeHttpResponse: {content: went}\n"
		if a := g.do(t, "POST", "/api/v1/definitions", yaml, g.keys[auth.Designer]); a.status != 201 {
			t.Fatalf("publish: %d %s", a.status, a.body)
		}
	}
	for _, id := range []string{"managed", "open"} {
		if a := g.do(t, "POST", "/api/v1/definitions/"+id+"/execute", `{"instanceId": "`+id+`"}`, g.keys[auth.Operator]); a.status != 201 && a.status != 200 {
			t.Fatalf("execute: %d %s", a.status, a.body)
		}
	}
	managed := "/workflows/approve?workflowInstanceId=managed"
	if a := g.do(t, "POST", managed, ""); a.status != 401 {
		t.Errorf("nobody: %d %s", a.status, a.body)
	}
	if a := g.do(t, "POST", managed, "", g.keys[auth.Admin]); a.status != 403 {
		t.Errorf("no manager: %d %s", a.status, a.body)
	}
	// Nor does anything else that is not a request of a manager.
	waits := g.get(t, "/api/v1/instances/managed", g.keys[auth.Viewer]).json(t)
	mark := waits["bookmarks"].([]any)[0].(map[string]any)["bookmarkId"].(string)
	const forged = `"activityType": "Elsa.HttpEndpoint", "stimulus": {"path": "approve", "method": "POST"}, "input": {"body": "forged", "headers": {"X-User": "boss"}}`
	for path, body := range map[string]string{
		"/api/v1/stimuli":                        `{` + forged + `}`,
		"/api/v1/stimuli?":                       `{"instanceId": "managed", ` + forged + `}`,
		"/api/v1/stimuli??":                      `{"bookmarkId": "` + mark + `", ` + forged + `}`,
		"/api/v1/stimuli???":                     `{"bookmarkId": "` + mark + `", "input": {"body": "forged"}}`,
		"/api/v1/bookmarks/" + mark + "/resume":  `{"input": {"body": "forged"}}`,
		"/api/v1/bookmarks/" + mark + "/resume?": ``,
	} {
		if a := g.do(t, "POST", strings.TrimRight(path, "?"), body, g.keys[auth.Admin]); a.status != 409 || a.code() != "bookmark-reserved" || !strings.Contains(string(a.body), "send it to /workflows/") {
			t.Errorf("%s %s: %d %s", path, body, a.status, a.body)
		}
	}
	if status := g.get(t, "/api/v1/instances/managed", g.keys[auth.Viewer]).json(t)["subStatus"]; status != "Suspended" {
		t.Errorf("it is %v", status)
	}
	if a := g.do(t, "POST", "/workflows/approve?workflowInstanceId=open", ""); a.status != 200 || string(a.body) != "went" {
		t.Errorf("the open one: %d %s", a.status, a.body)
	}
	if a := g.do(t, "POST", managed, "", "Authorization: Bearer "+g.issuer.Token(map[string]any{"roles": []string{"managers"}})); a.status != 200 || string(a.body) != "went" {
		t.Errorf("a manager: %d %s", a.status, a.body)
	}
}

func TestEveryMutatingCallIsAudited(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "audit.log")
	g := startGuarded(t, func(c *node.Config) { c.AuditLog = file })
	wait := "id: wait\nroot:\n  - event: go\n"
	open := "id: open\nroot:\n  - {httpEndpoint: {path: open/door}, trigger: true}\n  - {writeHttpResponse: {content: in}}\n"
	g.do(t, "POST", "/api/v1/definitions", wait, g.keys[auth.Designer])
	g.do(t, "POST", "/api/v1/definitions?dryRun=true", open, g.keys[auth.Designer])
	g.do(t, "POST", "/api/v1/definitions", open, g.keys[auth.Designer], "X-Request-Id: mine")
	g.do(t, "POST", "/api/v1/definitions/wait/execute", `{"instanceId": "w1", "input": {"pin": "hunter2"}}`, g.keys[auth.Operator])
	g.do(t, "POST", "/api/v1/definitions/wait/execute", `{"instanceId": "w1"}`, g.keys[auth.Operator])
	g.do(t, "GET", "/api/v1/instances/w1", "", g.keys[auth.Operator])
	g.do(t, "POST", "/api/v1/instances/w1/cancel", "", g.keys[auth.Viewer])
	g.do(t, "POST", "/api/v1/pause", "")
	g.do(t, "POST", "/api/v1/events/go", `{"payload": {"pin": "hunter2"}}`, "Authorization: Bearer "+g.issuer.Token(map[string]any{"roles": "operator"}))
	g.do(t, "GET", "/workflows/open/door?pin=hunter2", "")
	g.do(t, "DELETE", "/api/v1/nothing", "", g.keys[auth.Admin])
	g.do(t, "GET", "/api/v1/instances/w1/state", "", g.keys[auth.Operator])
	g.do(t, "POST", "/api/v1/definitions", "id: [", g.keys[auth.Designer])
	g.do(t, "POST", "/api/v1/stimuli", `{"activityType": "Elsa.Event", "stimulus": {"eventName": "x"}, "correlationId": "c1", "instanceId": "nobody"}`, g.keys[auth.Operator])
	g.do(t, "POST", "/api/v1/stimuli", `{"bookmarkId": "nobody~1"}`, g.keys[auth.Operator])
	g.do(t, "POST", "/api/v1/events/go", `{"instanceId": "nobody"}`, g.keys[auth.Operator])
	g.do(t, "POST", "/api/v1/instances/retry", `{"definitionId": "wait", "correlationId": "c1"}`, g.keys[auth.Operator])
	g.do(t, "POST", "/api/v1/instances/retry", "", g.keys[auth.Operator])
	g.do(t, "POST", "/api/v1/definitions/refresh", `{"definitionIds": ["wait", "open"]}`, g.keys[auth.Designer])
	g.do(t, "POST", "/api/v1/definitions/refresh", "", g.keys[auth.Designer])
	g.do(t, "POST", "/links/none", "")
	g.do(t, "POST", "/api/v1/unpause", "", g.keys[auth.Admin], "X-Weft-Relayed-By: "+strings.Repeat("node-1 ", 5000))
	want := []string{
		"key:designer designer publishDefinition wait version 1 done 201 ",
		"key:designer designer publishDefinition open version 1 checked 200 ",
		"key:designer designer publishDefinition open version 1 done 201 ",
		"key:operator operator executeDefinition wait done 200 ",
		"key:operator operator executeDefinition wait failed 409 instance-exists",
		"key:viewer viewer cancelInstance w1 denied 403 forbidden",
		"unknown  pause the cluster denied 401 unauthenticated",
		"oidc:ada operator sendEvent go done 200 ",
		"anyone  endpoint open/door done 200 ",
		"key:operator operator exportState w1 done 200 ",
		"key:designer designer publishDefinition a definition failed 422 definition-invalid",
		"key:operator operator sendStimulus Elsa.Event hash 8ieMgLoVblef7TDINLkhoYxgPo-3FLYo instance nobody correlation c1 failed 404 instance-not-found",
		"key:operator operator sendStimulus bookmark nobody~1 failed 404 instance-not-found",
		"key:operator operator sendEvent go instance nobody failed 404 instance-not-found",
		"key:operator operator retryInstances definition wait correlation c1 done 200 ",
		"key:operator operator retryInstances definition any done 200 ",
		"key:designer designer refreshDefinitions wait open done 200 ",
		"key:designer designer refreshDefinitions all done 200 ",
		"anyone  followLink no link failed 404 ",
		"key:admin admin unpause the cluster done 200 ",
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(raw)) {
		var l struct {
			Logger, Who, Role, Operation, Target, Result, Code, RequestID, Remote, Location string
			Status                                                                          int
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %s %d %s", l.Who, l.Role, l.Operation, l.Target, l.Result, l.Status, l.Code))
		if l.Result == "checked" && l.Location != "" {
			t.Errorf("what was only checked is nowhere: %s", line)
		}
		if l.Logger != "audit" || l.RequestID == "" || l.Remote == "" {
			t.Errorf("a line is not whole: %s", line)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("audited:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s := string(raw); strings.Count(s, `"relayedBy":"?"`) != 1 || len(s) > 500*len(got) {
		t.Errorf("what a caller says of itself is not bounded: %s", s)
	}
	if s := string(raw); strings.Contains(s, "hunter2") || strings.Contains(s, "weft_") || strings.Contains(s, "Bearer") || !strings.Contains(s, `"mine"`) {
		t.Errorf("the lines have what they must not, or not what they must: %s", s)
	}
	if strings.Contains(g.log.String(), `"logger":"audit"`) {
		t.Error("the lines are in the log as well")
	}
	// Moved away by somebody who rotates logs: a new one begins.
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "a new file begins", func() bool {
		g.do(t, "POST", "/api/v1/unpause", "", g.keys[auth.Admin])
		raw, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(raw), "unpause")
	})
}

// Without a file of its own the audit log is part of the log.
func TestAuditIsInTheLogByDefault(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	g.do(t, "POST", "/api/v1/unpause", "", g.keys[auth.Admin])
	if log := g.log.String(); strings.Count(log, `"logger":"audit"`) != 1 || !strings.Contains(log, `"operation":"unpause"`) {
		t.Error("it is not there once")
	}
}

// A key is its caller's: another one who has the same finds nothing by it.
func TestAKeyIsItsCallers(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	g.do(t, "POST", "/api/v1/definitions", "id: mine\nroot:\n  - writeLine: x\n", g.keys[auth.Designer])
	instance := func(header string) string {
		a := g.do(t, "POST", "/api/v1/definitions/mine/execute", "{}", header, "Idempotency-Key: same")
		if a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return a.json(t)["instanceId"].(string)
	}
	token := func() string { return "Authorization: Bearer " + g.issuer.Token(map[string]any{"roles": "operator"}) }
	first, other, third := instance(g.keys[auth.Operator]), instance(g.keys[auth.Designer]), instance(token())
	if first == other || first == third || other == third {
		t.Errorf("several callers got one answer: %s, %s, %s", first, other, third)
	}
	if instance(g.keys[auth.Operator]) != first || instance(token()) != third { // also with a new token
		t.Error("a caller did not get the answer again")
	}
}
