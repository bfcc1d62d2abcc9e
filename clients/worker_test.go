package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/clients/worker"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/apiclient"
)

// away is a way to the node on which it does not answer at first: some requests are refused, and some lost.
func away(t *testing.T) string {
	t.Helper()
	target, err := url.Parse(sharedServer(t))
	if err != nil {
		t.Fatal(err)
	}
	var came atomic.Int64
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := came.Add(1); {
		case n > 6:
			proxy.ServeHTTP(w, r)
		case n%2 == 0:
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// crew is a worker that is tested.
type crew struct {
	lines chan string  // that it prints
	stop  func() error // has it end as an operator does, and gives what came of it
}

// lines gives what is written to it, line by line.
func lines(t *testing.T) (io.WriteCloser, chan string) {
	in, out := io.Pipe()
	got := make(chan string, 100)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(got)
		for s := bufio.NewScanner(in); s.Scan(); {
			got <- s.Text()
		}
	})
	t.Cleanup(func() { out.Close(); reading.Wait() })
	return out, got
}

// startScript starts a program of another language as a worker.
func startScript(t *testing.T, server, task, name string, args ...string) *crew {
	t.Helper()
	out, got := lines(t)
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program(t, name), args...)
	cmd.Env = append(os.Environ(), "WEFT_SERVER="+server, "WEFT_TASK="+task, "PYTHONDONTWRITEBYTECODE=1", "no_proxy=127.0.0.1")
	cmd.Stdout, cmd.Stderr = out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &crew{got, sync.OnceValue(func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%w\n%s", err, errs.String())
		}
		return nil
	})}
}

func startGo(t *testing.T, server, task string) *crew {
	t.Helper()
	out, got := lines(t)
	client, err := apiclient.New(apiclient.Config{Server: server})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- worker.Run(ctx, client, worker.Handlers{task: handle(out)}, worker.Config{Name: task, Max: 3, Lease: time.Second, Grace: 200 * time.Millisecond})
	}()
	return &crew{got, sync.OnceValue(func() error {
		cancel()
		return <-ended
	})}
}

// handle does what its payload says, as in python/test_worker.py and typescript/test_worker.mjs.
func handle(out io.Writer) worker.Handler {
	return func(ctx context.Context, t *worker.Task) (any, error) {
		var p struct {
			Do string
			N  int
		}
		if err := t.Decode(&p); err != nil {
			return nil, err
		}
		switch {
		case p.Do == "twice":
			return map[string]any{"twice": 2 * p.N, "attempt": t.Attempt}, nil
		case p.Do == "flaky" && t.Attempt == 1:
			panic("not this time")
		case p.Do == "flaky":
			return map[string]any{"attempt": t.Attempt}, nil
		case p.Do == "never":
			return nil, &worker.FailureError{Kind: "unpackable", Message: "it is larger than a house"}
		case p.Do == "unwritable":
			return func() {}, nil
		}
		t.Say(40, "wrapping")
		<-ctx.Done()
		fmt.Fprintln(out, "stopped", t.TaskID)
		return nil, errors.New("stopped")
	}
}

// works holds a worker to what all of them promise.
func works(t *testing.T, task string, start func(server string) *crew) {
	t.Helper()
	ctx := t.Context()
	client, err := apiclient.New(apiclient.Config{Server: sharedServer(t)})
	if err != nil {
		t.Fatal(err)
	}
	definition := fmt.Sprintf("id: %s\ninputs: {what: object}\noutputs: {did: \"${{ variables.did }}\"}\nvariables: {did: object}\nroot:\n  - {runTask: %s, payload: \"${{ inputs.what }}\", result: did}\n", task, task)
	if _, err := client.PublishDefinition(ctx, []byte(definition), apiclient.PublishDefinitionQuery{}); err != nil {
		t.Fatal(err)
	}
	begin := func(do string, n int) string {
		got, err := client.ExecuteDefinition(ctx, task, apiclient.StartRequest{Input: map[string]any{"what": map[string]any{"do": do, "n": n}}})
		if err != nil {
			t.Fatal(err)
		}
		return got.Body.InstanceID
	}
	end := func(id string) *apiclient.Instance {
		got, err := client.GetInstance(ctx, id, apiclient.WaitUpTo(60*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		return &got.Body
	}
	listed := func(instance string) *apiclient.Task {
		for one, err := range client.AllTasks(ctx, apiclient.ListTasksQuery{Name: task}) {
			if err != nil {
				t.Fatal(err)
			}
			if one.InstanceID == instance {
				return &one
			}
		}
		return nil
	}

	var twice []string
	for n := range 5 { // more than at once, and before the worker is there
		twice = append(twice, begin("twice", n))
	}
	w := start(away(t))
	defer func() { _ = w.stop() }()
	for n, id := range twice {
		if got := fmt.Sprint(end(id).Output); got != fmt.Sprintf("map[did:map[attempt:1 twice:%d]]", 2*n) {
			t.Errorf("%d twice: %s", n, got)
		}
	}
	if got := fmt.Sprint(end(begin("flaky", 0)).Output); got != "map[did:map[attempt:2]]" {
		t.Errorf("what failed once is %s", got)
	}
	for do, says := range map[string]string{"never": "unpackable: it is larger than a house", "unwritable": "bad-result: "} {
		id := begin(do, 0)
		polltest.Eventually(t, do+" is faulted", func() bool { return end(id).SubStatus == "Faulted" })
		if got := fmt.Sprint(end(id).Incidents); !strings.Contains(got, says) {
			t.Errorf("the incident of %s is %s", do, got)
		}
	}

	stopped := func(id string) {
		t.Helper()
		select {
		case line := <-w.lines:
			if line != "stopped "+id {
				t.Errorf("%q", line)
			}
		case <-time.After(time.Minute):
			t.Error("the handler is not told to stop")
		}
	}
	at := func(instance string) (id string) {
		polltest.Eventually(t, "the worker says how far it is", func() bool {
			one := listed(instance)
			if one == nil || one.Progress == nil || *one.Progress != 40 || one.Text != "wrapping" {
				return false
			}
			id = one.TaskID
			return true
		})
		return id
	}
	vain := begin("slow", 0)
	id := at(vain)
	if _, err := client.CancelInstance(ctx, vain); err != nil {
		t.Fatal(err)
	}
	stopped(id)

	last := begin("slow", 0)
	id = at(last)
	if err := w.stop(); err != nil {
		t.Errorf("it ended: %v", err)
	}
	stopped(id)
	if one := listed(last); one == nil || one.Worker != "" || one.Attempts != 0 {
		t.Errorf("what it had is not free: %+v", one)
	}
}

func TestAWorkerInGoWorks(t *testing.T) {
	t.Parallel()
	works(t, "client-go", func(server string) *crew { return startGo(t, server, "client-go") })
}

func TestAWorkerInPythonWorks(t *testing.T) {
	t.Parallel()
	program(t, "python3")
	works(t, "client-py", func(server string) *crew {
		return startScript(t, server, "client-py", "python3", "python/test_worker.py")
	})
}

func TestAWorkerInJavaScriptWorks(t *testing.T) {
	t.Parallel()
	program(t, "node")
	works(t, "client-js", func(server string) *crew {
		return startScript(t, server, "client-js", "node", "typescript/test_worker.mjs")
	})
}

// A result is sent until there is an answer that stays, with one Idempotency-Key.
func TestAReportIsSentUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	var given, reports atomic.Int64
	keys := make(chan string, 3)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.HasSuffix(r.URL.Path, "/claim"):
			keys <- r.Header.Get("Idempotency-Key")
			if reports.Add(1) < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			fmt.Fprint(w, `{"outcomes": []}`)
		case given.Add(1) == 1:
			fmt.Fprint(w, `{"items": [{"taskId": "t", "name": "pack", "claim": "c", "attempt": 1}]}`)
		default:
			_, _ = io.Copy(io.Discard, r.Body) // else the end of the request is not noticed
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	client, err := apiclient.New(apiclient.Config{Server: s.URL, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- worker.Run(ctx, client, worker.Handlers{"pack": func(context.Context, *worker.Task) (any, error) { return 1, nil }}, worker.Config{})
	}()
	sent := map[string]int{}
	for range 3 {
		select {
		case key := <-keys:
			sent[key]++
		case <-time.After(20 * time.Second):
			t.Fatalf("it is not sent again: %v", sent)
		}
	}
	if len(sent) != 1 || sent[""] > 0 {
		t.Errorf("a repeated report has another key: %v", sent)
	}
	stop()
	if err := <-ended; err != nil || reports.Load() != 3 {
		t.Errorf("%d reports: %v", reports.Load(), err)
	}
	if err := worker.Run(t.Context(), client, nil, worker.Config{Max: -1}); err == nil {
		t.Error("a worker of -1 tasks at once")
	}
}

// A worker that the cluster refuses ends, with the reason.
func TestAWorkerIsToldWhatIsRefused(t *testing.T) {
	t.Parallel()
	client, err := apiclient.New(apiclient.Config{Server: sharedServer(t)})
	if err != nil {
		t.Fatal(err)
	}
	err = worker.Run(t.Context(), client, worker.Handlers{strings.Repeat("x", 5000): nil}, worker.Config{})
	var refused *apiclient.ProblemError
	if !errors.As(err, &refused) || refused.Status != 422 {
		t.Errorf("a name that no task can have: %v", err)
	}
}

// The examples do the tasks named pack, each as long as it runs; that in Go has a test of its own.
func TestTheExamplesPack(t *testing.T) {
	t.Parallel()
	client, err := apiclient.New(apiclient.Config{Server: sharedServer(t)})
	if err != nil {
		t.Fatal(err)
	}
	parcel, err := os.ReadFile("parcel.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.PublishDefinition(t.Context(), parcel, apiclient.PublishDefinitionQuery{}); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"python3": {"python/example_worker.py"}, "node": {"typescript/example_worker.mjs"}} {
		t.Run(name, func(t *testing.T) {
			w := startScript(t, sharedServer(t), "", name, args...)
			defer func() { _ = w.stop() }()
			got, err := client.ExecuteDefinition(t.Context(), "parcel", apiclient.StartRequest{Input: map[string]any{"items": []string{"cup", "jug", "pan"}}}, apiclient.WaitUpTo(time.Minute))
			if err != nil || fmt.Sprint(got.Body.Output) != "map[boxes:2]" {
				t.Errorf("%v %v", got, err)
			}
			if err := w.stop(); err != nil {
				t.Errorf("it ended: %v", err)
			}
		})
	}
}

// A worker's loop is short enough to be read before it is used, and to be written again in another language.
func TestTheLoopsAreShort(t *testing.T) {
	t.Parallel()
	for file, comment := range map[string]*regexp.Regexp{
		"worker/loop.go":        regexp.MustCompile(`(?m)^\s*//.*$`),
		"typescript/worker.js":  regexp.MustCompile(`(?m)^\s*//.*$`),
		"python/weft_worker.py": regexp.MustCompile(`(?s)""".*?"""`),
	} {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range bytes.Lines(comment.ReplaceAll(src, nil)) {
			if len(bytes.TrimSpace(line)) > 0 {
				lines++
			}
		}
		if lines > 150 {
			t.Errorf("%s has %d lines beside comments; 150 are enough", file, lines)
		}
	}
}
