package console

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
)

// tabs are those of an instance's page.
var tabs = []string{"waits", "journal", "timeline", "variables", "incidents", "data", "lineage", "owners"}

// TestEveryPageOfLargePayloads holds that no page grows with what an event, a task, an input or an output
// brings, and that all of it is one click away.
func TestEveryPageOfLargePayloads(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	s.publish("id: large\ninputs: {what: {type: string}}\noutputs: {what: {type: string}}\nvariables: {kept: {type: string}}\nroot:\n"+
		"  - setVariable: {variable: kept, value: '${{ inputs.what }}'}\n  - setOutput: {outputName: what, outputValue: '${{ inputs.what }}'}\n  - runTask: {taskName: pack, payload: '${{ inputs.what }}'}\n  - event: paid\n",
		"id: breaks\ninputs: {what: {type: string}}\nroot:\n  - fault: '${{ inputs.what }}'\n")
	// As large as a request may be.
	payload := hostile + strings.Repeat("x", 1<<20-4096)
	begin := func(definition, until string) string {
		t.Helper()
		for size := len(payload); ; size /= 2 { // what the state has room for
			status, answer := s.api(http.MethodPost, "/definitions/"+definition+"/dispatch", map[string]any{"input": map[string]any{"what": strings.ToValidUTF8(payload[:size], "")}})
			if status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity {
				continue
			}
			if status >= 300 {
				t.Fatalf("%d %v", status, answer)
			}
			id := answer["instanceId"].(string)
			sub := ""
			polltest.Eventually(t, id+" has run", func() bool {
				_, in := s.api(http.MethodGet, "/instances/"+id, nil)
				sub, _ = in["subStatus"].(string)
				return sub == until || sub == "Faulted"
			})
			if sub == until {
				t.Logf("%s with %d bytes", definition, size)
				return id
			}
			if size < 100_000 {
				t.Fatalf("%s with %d bytes is %s", definition, size, sub)
			}
		}
	}
	waits, faulted := begin("large", "Suspended"), begin("breaks", "Faulted")
	if status, answer := s.api(http.MethodPost, "/events/nobody-waits", map[string]any{"payload": payload}); status >= 300 {
		t.Errorf("an event of %d bytes: %d %v", len(payload), status, answer)
	}
	if status, answer := s.api(http.MethodPost, "/events/nobody-waits", map[string]any{"payload": payload, "instanceId": faulted}); status >= 500 {
		t.Errorf("an event for one that has ended: %d %v", status, answer)
	}
	v := s.as(auth.Admin)
	light := func(path string) {
		t.Helper()
		p := v.check("/console/"+path, http.StatusOK)
		if len(p.text) > 300_000 || strings.Contains(p.text, "<script>alert") || strings.Contains(p.text, "<img src=x") {
			t.Errorf("%s has %d bytes", path, len(p.text))
		}
	}
	for _, path := range append([]string{"definitions/large", "definitions/large/edit", "definitions/large/versions", "definitions/large/tests", "events?name=nobody-waits"}, plain...) {
		light(path)
	}
	for _, id := range []string{waits, faulted} {
		for _, tab := range tabs {
			light("instances/" + id + "?tab=" + tab)
		}
	}
	if p := v.get("/console/raw/instances/" + waits); len(p.text) < 100_000 || !strings.HasPrefix(p.head.Get("Content-Type"), "text/plain") {
		t.Errorf("the whole has %d bytes", len(p.text))
	}
}

// TestEveryPageOfWhatNobodyKnows holds that instances of a newer program, with states and activity types
// that this one has never heard of, have every page: none is blank, and none is refused.
func TestEveryPageOfWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	s := open(t, false)
	s.publish("id: odd\nroot:\n  - writeLine: x\n  - event: go\n")
	ids := []string{s.starts("odd", "Suspended", nil), s.starts("odd", "Suspended", nil)}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: s.node.EtcdEndpoints(), DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	all, err := etcd.Get(t.Context(), "", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, kv := range all.Kvs {
		key, value := string(kv.Key), kv.Value
		if !strings.Contains(key, "/instance/"+ids[0]) && !strings.Contains(key, "/journal/"+ids[0]) {
			continue
		}
		for from, to := range map[string]string{
			`"Suspended"`: `"Hibernating"`, `"Running"`: `"Dreaming"`, "Elsa.Event": "Acme.Oracle", "Elsa.WriteLine": "Acme.<b>Whisper", "Elsa.Sequence": "Acme.Sequence<i>", `"Completed"`: `"Evaporated"`,
		} {
			value = bytes.ReplaceAll(value, []byte(from), []byte(to))
		}
		if !bytes.Equal(value, kv.Value) {
			changed++
			if _, err := etcd.Put(t.Context(), key, string(value)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if changed < 2 {
		t.Fatalf("%d records were changed", changed)
	}
	v := s.as(auth.Admin)
	p := v.check("/console/instances", http.StatusOK)
	for _, want := range []string{`class="status hibernating">Hibernating`, ids[0], ids[1], "Acme.Oracle"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the list has no %q\n%s", want, p.text)
		}
	}
	for _, path := range plain {
		v.check("/console/"+path, http.StatusOK)
	}
	for _, tab := range tabs {
		p := v.check("/console/instances/"+ids[0]+"?tab="+tab, http.StatusOK)
		if !strings.Contains(p.text, "Hibernating") || strings.Contains(p.text, "<b>Whisper") || strings.Contains(p.text, "Sequence<i>") {
			t.Errorf("%s\n%s", tab, p.text)
		}
	}
	for _, path := range []string{"instances/" + ids[1], "definitions/odd", "definitions/odd/edit", "definitions/odd/versions", "definitions/odd/tests", "events?name=go", "go?q=" + ids[0]} {
		v.check("/console/"+path, http.StatusOK)
	}
}

// TestEveryPageOfFiveHundred holds that lists of 500 and more have pages of 50, which lead to all of it.
func TestEveryPageOfFiveHundred(t *testing.T) {
	t.Parallel()
	many := testsize.Of(500, 130)
	s := open(t, false)
	s.publish("id: task\nroot:\n  - runTask: {taskName: pack}\n", "id: late\nroot:\n  - delay: 20h\n", "id: waits\nroot:\n  - event: go\n", "id: breaks\nroot:\n  - fault: no\n")
	var all sync.WaitGroup
	for c := range 16 {
		all.Go(func() {
			for i := c; i < many; i += 16 {
				s.api(http.MethodPost, "/definitions", fmt.Sprintf("id: d%03d\nname: %q\nroot:\n  - event: start-%d\n    trigger: true\n", i, hostile, i))
				for _, id := range []string{"task", "late", "waits", "breaks"} {
					s.api(http.MethodPost, "/definitions/"+id+"/dispatch", map[string]any{"correlationId": hostile[:40]})
				}
				s.api(http.MethodPost, fmt.Sprint("/events/nobody-", i), map[string]any{"payload": hostile})
			}
		})
	}
	all.Wait()
	v := s.as(auth.Admin)
	row := regexp.MustCompile(`class="id" href="/console/instances/([^"]+)"`)
	for path, list := range map[string]struct {
		row  *regexp.Regexp
		want int
	}{
		"instances": {row, 4 * many}, "instances?q=status:faulted": {row, many}, "events": {row, many}, "tasks": {row, many}, "timers?kind=timers": {row, many},
		"definitions": {regexp.MustCompile(`<tr><td><a href="/console/definitions/([^"]+)"`), many + 4}, "queue": {regexp.MustCompile(`>(nobody-[0-9]+)<`), many},
	} {
		polltest.Eventually(t, fmt.Sprintf("%s has %d rows", path, list.want), func() bool {
			all := map[string]bool{}
			for at := "/console/" + path; at != ""; {
				p := v.check(at, http.StatusOK)
				if len(p.text) > 400_000 {
					t.Errorf("%s has %d bytes", at, len(p.text))
				}
				here := map[string]bool{}
				for _, m := range list.row.FindAllStringSubmatch(p.text, -1) {
					here[m[1]], all[m[1]] = true, true
				}
				if len(here) > 50 {
					t.Errorf("%s has %d rows", at, len(here))
				}
				at = nextPage(p)
			}
			return len(all) == list.want
		})
	}
	for _, path := range plain {
		v.check("/console/"+path, http.StatusOK)
	}
}
