package node_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

const secretValue = `t0p "s3cret"/+?&`

// What a workflow reads from a secret reaches whom it is for and nothing else: not
// the store, not the log, not standard output, not the metrics, not the API.
func TestASecretIsNeverKept(t *testing.T) {
	t.Parallel()
	echo := make(chan *http.Request, 10)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		echo <- r
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Echo", url.QueryEscape(r.Header.Get("X-Key")))
		fmt.Fprintf(w, `{"you": %q, "said": %q, "auth": %q}`, r.URL.String(), body, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	dir := t.TempDir()
	put := func(name, value string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("api-key", secretValue+"\n")
	put("pin", "483920571164") // longer than what changes of a time
	put("sent", "callers-may-send-this")

	var log, lines syncBuffer
	audit := filepath.Join(t.TempDir(), "audit.log")
	n := start(t, node.Config{
		EtcdEndpoints: clustertest.Start(t).Endpoints(), Cluster: "secrets", SecretsDir: dir, AuditLog: audit, AllowPrivateAddresses: true,
		Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Lines: &lines,
	})
	publish := func(status int, definition string) map[string]any {
		t.Helper()
		got, answer := call(t, n, http.MethodPost, "/api/v1/definitions", definition)
		if got != status {
			t.Fatalf("publish: %d %v", got, answer)
		}
		return answer
	}
	run := func(id, body string) map[string]any {
		t.Helper()
		status, answer := call(t, n, http.MethodPost, "/api/v1/definitions/"+id+"/execute", body)
		if status != 200 {
			t.Fatalf("%s: %d %v", id, status, answer)
		}
		return answer
	}

	// It arrives, in every language, and what the other side repeats of it is marked.
	publish(201, fmt.Sprintf(`
id: calls
variables: {answer: object}
root:
  - sendHttpRequest:
      url: "%s/?k=${{ secrets['api-key'] | toBase64() }}"
      method: POST
      content: {javascript: "({key: secrets['api-key'], pin: Number(getSecret('pin'))})"}
      headers: {X-Key: "${{ secrets['api-key'] }}"}
      authorization: "Basic ${{ toBase64('user:' + secrets['api-key']) }}"
    result: answer
  - writeLine: {liquid: "key {{ secrets['api-key'] }} {{ secrets.pin }}"}
  - runJavaScript: "getSecret('api-key')"
  - setName: "n ${{ secrets['api-key'] }}"
  - event: go
  - writeLine: "${{ variables.answer.body.said }}"
`, other.URL))
	run("calls", `{"instanceId": "calls"}`)
	got := <-echo
	if got.Header.Get("X-Key") != secretValue {
		t.Errorf("the header is %q", got.Header.Get("X-Key"))
	}
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+secretValue)); got.Header.Get("Authorization") != want {
		t.Errorf("authorization %q", got.Header.Get("Authorization"))
	}

	// Who sends one as a name finds it in no audit log, also not half of it.
	for _, name := range []string{secretValue, strings.Repeat("x", 500) + secretValue} {
		call(t, n, http.MethodPost, "/api/v1/events/"+url.PathEscape(name), `{"instanceId": "nobody"}`)
		call(t, n, http.MethodPost, "/api/v1/stimuli", fmt.Sprintf(`{"activityType": "Elsa.Event", "instanceId": "nobody", "correlationId": %q}`, name))
	}
	if raw, err := os.ReadFile(audit); err != nil || !strings.Contains(string(raw), "***") || strings.Contains(string(raw), secretValue[:4]) { // what follows is escaped
		t.Errorf("the audit log: %v %s", err, raw)
	}

	// Keeping it is an incident, however it is tried.
	for i, body := range []string{
		`setVariable: {variable: v, value: "${{ secrets['api-key'] }}"}`,
		`runJavaScript: "setVariable('v', {deep: [getSecret('api-key')]})"`,
		`setVariable: {variable: v, value: "${{ int(secrets.pin) }}"}`,
		`correlate: "${{ secrets['api-key'] }}"`,
		`publishEvent: {eventName: e, payload: {k: "${{ secrets['api-key'] }}"}}`,
		`event: "${{ secrets['api-key'] }}"`,
		`runTask: {taskName: work, payload: {k: "${{ secrets['api-key'] }}"}}`,
		`dispatchWorkflow: {workflowDefinitionId: calls, input: {k: "${{ secrets['api-key'] }}"}}`,
		`setOutput: {outputName: o, outputValue: "${{ secrets['api-key'] }}"}`,
		`forEach: {items: "${{ [secrets['api-key']] }}"}
    body: {event: never}`,
	} {
		id := fmt.Sprint("keeps", i)
		publish(201, "id: "+id+"\nvariables: {v: object}\noutputs: {o: object}\nroot:\n  - "+body+"\n")
		answer := run(id, `{"instanceId": "`+id+`"}`)
		incidents, _ := answer["incidents"].([]any)
		if answer["subStatus"] != "Faulted" || len(incidents) == 0 || !strings.Contains(fmt.Sprint(incidents[0]), "secrets are never kept") {
			t.Errorf("%s: %v %v", body, answer["subStatus"], incidents)
		}
	}

	// A memory variable carries it for as long as a burst lasts, errors are marked,
	// and so is the answer of an endpoint.
	publish(201, `
id: errs
variables: {m: {type: string, storage: memory}}
root:
  - setVariable: {variable: m, value: "${{ secrets['api-key'] }}"}
  - sendHttpRequest: {url: "http://127.0.0.1:1/${{ variables.m }}", headers: {X-Key: "${{ variables.m }}"}}
`)
	if s := fmt.Sprint(run("errs", `{"instanceId": "errs"}`)["incidents"]); !strings.Contains(s, "***api-key***") {
		t.Errorf("incidents %s", s)
	}
	publish(201, `
id: answers
root:
  - httpEndpoint: {path: leak, supportedMethods: [POST]}
    trigger: true
  - writeHttpResponse: {content: "it is ${{ secrets['api-key'] }}", responseHeaders: {X-Leak: "${{ secrets.pin }}"}}
`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL()+"/workflows/leak", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Idempotency-Key", "k")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if string(body) != "it is ***api-key***" || resp.Header.Get("X-Leak") != "***pin***" {
		t.Errorf("the endpoint said %q %v", body, resp.Header)
	}

	// A name that is not there is a problem with its place, or an incident once the
	// secret is gone.
	if s := fmt.Sprint(publish(422, "id: bad\nroot:\n  - writeLine: \"${{ secrets.nope }}\"\n")); !strings.Contains(s, "unknown-secret") || !strings.Contains(s, "line:3") {
		t.Error(s)
	}
	put("gone", "will-be-gone")
	polltest.Eventually(t, "the new secret is known", func() bool {
		status, _ := call(t, n, http.MethodPost, "/api/v1/definitions", "id: gone\nroot:\n  - writeLine: \"${{ secrets.gone }}\"\n")
		return status == 201
	})
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "the secret is gone", func() bool { return run("gone", `{}`)["subStatus"] == "Faulted" })

	// What a caller sends is kept as it came, and not shown.
	publish(201, hello)
	if s := fmt.Sprint(run("hello", `{"input": {"x": "callers-may-send-this"}}`)); !strings.Contains(s, "***sent***") {
		t.Error(s)
	}

	status, metrics := 0, ""
	if resp, err := http.Get(n.URL() + "/metrics"); err != nil { //nolint:noctx // the test ends it
		t.Fatal(err)
	} else {
		raw, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		status, metrics = resp.StatusCode, string(raw)
	}
	if status != 200 {
		t.Errorf("metrics: %d", status)
	}
	shown := map[string]string{"the log": log.String(), "standard output": lines.String(), "the metrics": metrics}
	for _, path := range []string{"/api/v1/instances/calls", "/api/v1/instances/calls/journal?limit=500", "/api/v1/instances/calls/state", "/api/v1/instances/errs/journal", "/api/v1/instances/keeps1/state"} {
		_, answer := call(t, n, http.MethodGet, path, "")
		shown[path] = fmt.Sprint(answer)
	}
	for where, text := range stored(t, n) {
		shown[where] = text
	}
	for where, text := range shown {
		for _, form := range []string{`t0p "s3`, `s3cret`, "483920571164", "will-be-gone", base64.StdEncoding.EncodeToString([]byte("user:" + secretValue))[:20], base64.StdEncoding.EncodeToString([]byte(secretValue))[:12]} {
			if strings.Contains(text, form) {
				t.Errorf("%q is in %s: %.600s", form, where, text)
			}
		}
	}
	if !strings.Contains(lines.String(), "key ***api-key*** ***pin***") {
		t.Errorf("lines %s", lines.String())
	}
}

var base64Runs = regexp.MustCompile(`[A-Za-z0-9+/]{8,}={0,2}`)

// stored is every key of the store with its value, unpacked.
func stored(t *testing.T, n *node.Node) map[string]string {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: n.EtcdEndpoints()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all, err := c.Get(t.Context(), "", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	zr, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer zr.Close()
	out := map[string]string{}
	for _, kv := range all.Kvs {
		value := kv.Value
		if i := bytes.Index(value, []byte{0x28, 0xb5, 0x2f, 0xfd}); i >= 0 {
			if value, err = zr.DecodeAll(value[i:], nil); err != nil {
				t.Fatal(err)
			}
		}
		text := string(kv.Key) + "=" + string(value)
		for _, b := range base64Runs.FindAll(value, -1) { // bytes in JSON, such as a response's
			if plain, err := base64.StdEncoding.DecodeString(string(b)); err == nil {
				text += " " + string(plain)
			}
		}
		out[string(kv.Key)] = text
	}
	if len(out) < 30 {
		t.Fatalf("the store has only %d keys", len(out))
	}
	return out
}
