package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
)

const tasked = `id: %[1]s
outputs: {got: "${{ variables.got }}"}
variables: {got: {type: any}}
root:
  - runTask: {taskName: %[1]s, payload: {n: 12345678901234567890, text: "a\nb"}}
    result: got
`

// tasked publishes a definition whose instances wait for a task of its name, and starts one of each id.
func (u *user) tasked(name string, ids ...string) {
	u.t.Helper()
	u.wants(0, "*", "apply", u.file(name+".yaml", fmt.Sprintf(tasked, name)))
	for _, id := range ids {
		u.wants(0, "*", "run", name, "--id", id)
	}
}

// worker starts a worker; stop interrupts it, and gives what it said.
func (u *user) worker(args ...string) (stop func() said) {
	u.t.Helper()
	ctx, cancel := context.WithCancel(u.t.Context())
	done := make(chan said, 1)
	go func() {
		var out bytes.Buffer
		done <- u.until(ctx, &out, &out, append([]string{"worker"}, args...)...)
	}()
	stop = sync.OnceValue(func() said {
		cancel()
		return <-done
	})
	u.t.Cleanup(func() { stop() })
	return stop
}

func (u *user) becomes(id, status string) {
	u.t.Helper()
	polltest.Eventually(u.t, id+" is "+status, func() bool {
		return strings.TrimSpace(u.weft("instances", "get", id, "--jq", ".subStatus").out) == status
	})
}

func (u *user) there(file string) {
	u.t.Helper()
	polltest.Eventually(u.t, "there is "+file, func() bool {
		_, err := os.Stat(filepath.Join(u.home, file))
		return err == nil
	})
}

// A program has the task, and what it writes is the result, whatever form it has.
func TestAWorkerDoesTasks(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.tasked("wt-does", "wt-json", "wt-text", "wt-none", "wt-null", "wt-left")
	stop := u.worker("wt-other", "wt-does", "--max", "3", "--worker", "packer", "--kill-after", "100ms", "--", "sh", "-c", `
		cat > "$0/$WEFT_INSTANCE_ID.json"
		echo "$WEFT_TASK_ID $WEFT_TASK_NAME $WEFT_ATTEMPT" > "$0/$WEFT_INSTANCE_ID.env"
		case $WEFT_INSTANCE_ID in
		wt-json) echo '{"n": 12345678901234567890}';;
		wt-text) printf 'two\nlines\n';;
		wt-null) echo null;;
		wt-left) sleep 1000 & echo 1;;
		esac`, u.home)
	for id, want := range map[string]string{"wt-json": `{"n":12345678901234567890}`, "wt-text": "two\nlines", "wt-none": "null", "wt-null": "null", "wt-left": "1"} {
		u.becomes(id, "Finished")
		if got := strings.TrimSpace(u.weft("instances", "get", id, "--jq", ".output.got").out); got != want {
			t.Errorf("%s has %q, want %q", id, got, want)
		}
	}
	raw, err := os.ReadFile(filepath.Join(u.home, "wt-json.json"))
	if err != nil {
		t.Fatal(err)
	}
	var task struct {
		TaskID, Name, InstanceID, DefinitionID, Claim string
		Attempt                                       int
		Payload                                       struct {
			N    json.Number
			Text string
		}
	}
	if err := json.Unmarshal(raw, &task); err != nil || task.Name != "wt-does" || task.InstanceID != "wt-json" || task.DefinitionID != "wt-does" || task.Claim == "" || task.Attempt != 1 || task.Payload.N != "12345678901234567890" || task.Payload.Text != "a\nb" {
		t.Errorf("%v %s", err, raw)
	}
	if env, err := os.ReadFile(filepath.Join(u.home, "wt-json.env")); err != nil || string(env) != task.TaskID+" wt-does 1\n" {
		t.Errorf("%v %s", err, env)
	}
	if got := stop(); got.code != 0 || got.out != "" || strings.Count(got.err, ": done\n") != 5 || !strings.Contains(got.err, "weft: packer claims tasks\n") {
		t.Errorf("%+v", got)
	}
}

// What ends with another code than 0 is tried again, and faults then with the last that it said.
func TestAWorkerThatFails(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.tasked("wt-fails", "wt-fails")
	stop := u.worker("wt-fails", "--attempts", "2", "--", "sh", "-c", `seq 100 >&2; echo "no paper $WEFT_ATTEMPT" >&2; exit 3`)
	u.becomes("wt-fails", "Faulted")
	if got := u.weft("instances", "get", "wt-fails", "-o", "json").out; !strings.Contains(got, `exit status 3: 82\n83\n`) || !strings.Contains(got, `\n100\nno paper 2`) {
		t.Errorf("%s", got)
	}
	if got := stop(); !strings.Contains(got.err, "attempt 1 failed: exit status 3: 82 83 ") || !strings.Contains(got.err, "tried again (1 of 2)\n") || !strings.Contains(got.err, "its activity faults\n") {
		t.Errorf("%s", got.err)
	}
}

// Where the activity has a retry, that counts, and not the worker.
func TestAWorkerLeavesItToTheRetry(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("wt-tries.yaml", "id: wt-tries\nroot:\n  - runTask: wt-tries\n    retry: {attempts: 2, delay: 50ms}\n"))
	u.wants(0, "*", "run", "wt-tries", "--id", "wt-tries")
	stop := u.worker("wt-tries", "--attempts", "1", "--", "sh", "-c", `echo "no paper $WEFT_ATTEMPT" >&2; exit 3`)
	u.becomes("wt-tries", "Faulted")
	if got := u.weft("instances", "get", "wt-tries", "-o", "json").out; !strings.Contains(got, `no paper 2 (attempt 2 of 2; it was the last one)`) {
		t.Errorf("%s", got)
	}
	if got := stop(); strings.Count(got.err, "the retry of its activity decides what follows\n") != 2 {
		t.Errorf("%s", got.err)
	}
}

// What can be no result faults at once, and a program without end is ended.
func TestAWorkerWhoseOutputIsNoResult(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.tasked("wt-bad", "wt-long", "wt-bytes", "wt-wide", "wt-pair")
	u.worker("wt-bad", "--kill-after", "100ms", "--", "sh", "-c", `case $WEFT_INSTANCE_ID in
		wt-long) trap '' TERM; yes;;
		wt-bytes) printf '\377';;
		wt-pair) echo '"\ud800"';;
		wt-wide) head -c 1048570 /dev/zero | tr '\0' x;;
		esac`)
	for id, want := range map[string]string{"wt-long": "too-large: the program wrote more than 1024 KiB", "wt-bytes": "bad-result: what the program wrote", "wt-wide": "bad-result: the result is refused: ", "wt-pair": "\\ud800"} {
		u.becomes(id, "Faulted")
		if got := u.weft("instances", "get", id, "-o", "json").out; !strings.Contains(got, want) {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// A program for which nobody waits any more is asked to end, with what it has started, and killed if it does not.
func TestAWorkerWhoseTaskIsGone(t *testing.T) {
	t.Parallel()
	for _, trap := range []string{`echo > "$0/asked"; exit 0`, ""} {
		u := at(t)
		name := fmt.Sprintf("wt-gone-%d", len(trap))
		u.tasked(name, name)
		stop := u.worker(name, "--lease", "1s", "--kill-after", "100ms", "--", "sh", "-c", `trap '`+trap+`' TERM; (trap "" TERM; echo > "$0/started"; while :; do sleep 1; done) & wait; wait; while :; do sleep 1; done`, u.home)
		u.there("started")
		if got := u.weft("tasks", "list", "--name", name, "--columns", "name,worker,attempts", "--no-headers"); !strings.HasPrefix(got.out, name+"  ") || !strings.HasSuffix(got.out, "  1\n") {
			t.Errorf("%+v", got)
		}
		u.wants(0, "*", "instances", "cancel", name, "--yes")
		if trap != "" {
			u.there("asked")
		}
		// The process that keeps the place ends: the next task is done.
		u.wants(0, "*", "run", name, "--id", name+"-next")
		polltest.Eventually(t, "the next has a worker", func() bool {
			return strings.Contains(u.weft("tasks", "list", "--name", name, "--jq", ".items[].worker").out, ":")
		})
		u.wants(0, "*", "instances", "cancel", name+"-next", "--yes")
		if got := stop(); strings.Count(got.err, "the program was ended: ") < 1 || !strings.Contains(got.err, "cancelled") {
			t.Errorf("%s", got.err)
		}
	}
}

// An interrupted worker waits for what runs, and gives back what does not end.
func TestAnInterruptedWorker(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.tasked("wt-ends", "wt-ends")
	program := []string{"--", "sh", "-c", `trap 'exit 0' TERM; echo > "$0/started"; until test -e "$0/go"; do sleep 0.1; done; echo 1`, u.home}
	got := func() said {
		stop := u.worker(append([]string{"wt-ends", "--grace", "0s"}, program...)...)
		u.there("started")
		return stop()
	}()
	if got.code != 0 || !strings.Contains(got.err, "given back: the worker ends\n") {
		t.Fatalf("%+v", got)
	}
	u.wants(0, "wt-ends  -  -\n", "tasks", "list", "--name", "wt-ends", "--columns", "name,worker,attempts", "--no-headers")
	if err := os.Remove(filepath.Join(u.home, "started")); err != nil {
		t.Fatal(err)
	}
	stop := u.worker(append([]string{"wt-ends", "--grace", "1h"}, program...)...)
	u.there("started")
	ended := make(chan said, 1)
	go func() { ended <- stop() }()
	u.file("go", "")
	u.becomes("wt-ends", "Finished")
	if got := <-ended; got.code != 0 || !strings.Contains(got.err, ": done\n") {
		t.Errorf("%+v", got)
	}
}

// A cluster that cannot be asked for a while loses nothing: it is asked again, and told what came of the task.
func TestAWorkerBearsAClusterThatIsAway(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]int{}
	bodies := make(chan string, 1)
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		if n := asked[r.URL.Path]; n <= 5 {
			panic(http.ErrAbortHandler)
		} else if strings.HasSuffix(r.URL.Path, "/claim") && n > 6 {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"items": []}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/claim") {
			fmt.Fprint(w, `{"items": [{"taskId": "t1", "claim": "c", "name": "n", "attempt": 1, "instanceId": "i"}]}`)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, `{"outcomes": []}`)
		bodies <- string(raw)
	}))
	t.Cleanup(cluster.Close)
	u := newUser(t)
	stop := u.worker("n", "--server", cluster.URL, "--lease", "24h", "--", "echo", "[1, 2]")
	select {
	case got := <-bodies:
		if got != `{"claim":"c","result":[1,2]}` {
			t.Errorf("%s", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("no result is reported")
	}
	if got := stop(); got.code != 0 || !strings.Contains(got.err, "claims again in 1s\n") || !strings.Contains(got.err, "reports again in 1s\n") {
		t.Errorf("%+v", got)
	}
}

func TestAWorkerThatIsRefused(t *testing.T) {
	t.Parallel()
	u := at(t)
	for _, c := range []struct{ line, why string }{
		{"worker", "it takes the names of tasks, then --, then a command"},
		{"worker a", "then --, then a command"},
		{"worker a --", "then --, then a command"},
		{"worker -- true", "1 to 20 tasks before --, and there are 0"},
		{"worker" + strings.Repeat(" a", 21) + " -- true", "there are 21"},
		{"worker a -- wt-there-is-no-such", "the command wt-there-is-no-such cannot be run"},
		{"worker a --max 0 -- true", "--max is 0; it may be 1 to 100"},
		{"worker a --max 101 -- true", "--max is 101"},
		{"worker a --lease 1ms -- true", "--lease is 1ms; it may be 1s to 24h"},
		{"worker a --attempts 0 -- true", "--attempts is 0"},
		{"worker a --grace -1s -- true", "--grace is -1s"},
		{"worker a --kill-after 0s -- true", "--kill-after is 0s"},
		{"worker a --worker= -- true", "--worker is empty"},
		{"worker a --key k -- true", "--key names one request"},
		{"worker a -w -- true", "--watch is for what is only shown"},
	} {
		u.refuses(2, c.why, strings.Split(c.line, " ")...)
	}
	u.refuses(3, "up to 256 bytes", "worker", strings.Repeat("x", 300), "--", "true")
	if got := u.wants(0, "*", "worker", "a", "--curl", "--", "true"); !strings.Contains(got.out, "/api/v1/tasks/claim") {
		t.Errorf("%s", got.out)
	}
}
