package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/server"
)

// restateFlows are Restate's services, and what they did.
type restateFlows struct {
	did            tally
	gates          gates
	ingress, admin string
}

func restatePeer(ctx context.Context, dir string, o options) (*peer, error) {
	f := &restateFlows{}
	ports, err := freePorts(ctx, 4)
	if err != nil {
		return nil, err
	}
	f.ingress, f.admin = "http://"+ports[0], "http://"+ports[1]
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(o.restateServer, "--base-dir", dir, "--listen-mode", "tcp", "--no-logo")
	cmd.Env = append(os.Environ(), "RESTATE_INGRESS__BIND_ADDRESS="+ports[0], "RESTATE_ADMIN__BIND_ADDRESS="+ports[1], "RESTATE_BIND_ADDRESS="+ports[2],
		"RESTATE_DISABLE_TELEMETRY=true", "RESTATE_LOG_FILTER=warn", "RESTATE_DEFAULT_NUM_PARTITIONS=4", "RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE=256MB")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it does not outlive this program
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := func() {
		cancel()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	go func() {
		if err := f.services().Start(ctx, ports[3]); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "restate's services:", err)
		}
	}()
	up, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	var last error
	err = until(up, "the services are registered", func() bool {
		var a reply
		a, last = f.call(up, http.MethodPost, f.admin+"/deployments", "", map[string]any{"uri": "http://" + ports[3]})
		return last == nil && a.status == http.StatusCreated
	})
	if err != nil {
		said, _ := os.ReadFile(log.Name())
		stop()
		return nil, errors.Join(err, last, errors.New(string(said)))
	}
	return &peer{version: "1.7.6, Go SDK 1.2.0", stop: stop, situations: []situation{
		{"1, 3 the same start twice with one idempotency key, with another body", f.twice},
		{"1 the same workflow id twice", f.workflowTwice},
		{"2 the key again after the end", f.again},
		{"5, 6, 8 a promise before the wait, of one that is not started, and twice", f.early},
		{"7 a promise of one that has ended", f.ended},
		{"13 a step that always fails", f.fails},
		{"14 cancel during a step", f.cancels},
		{"15 cancel of a caller", f.parent},
		{"19 a result of 8 MiB and of 40 MiB", f.large},
	}}, nil
}

func (f *restateFlows) services() *server.Restate {
	svc := restate.NewService("Svc").
		Handler("steps", restate.NewServiceHandler(f.steps)).
		Handler("quick", restate.NewServiceHandler(func(_ restate.Context, in string) (string, error) { f.did.add("quick"); return in, nil })).
		Handler("fails", restate.NewServiceHandler(f.failing)).
		Handler("parent", restate.NewServiceHandler(func(ctx restate.Context, id string) (string, error) {
			r, err := restate.Service[string](ctx, "Svc", "sleeps").Request(id)
			if err != nil {
				f.did.add("parent saw")
				return "", err
			}
			return r, nil
		})).
		Handler("sleeps", restate.NewServiceHandler(func(ctx restate.Context, id string) (string, error) {
			f.did.add("sleeps " + id)
			if err := restate.Sleep(ctx, time.Hour); err != nil {
				f.did.add("child saw")
				return "", err
			}
			return "", nil
		})).
		Handler("large", restate.NewServiceHandler(func(ctx restate.Context, mib int) (int, error) {
			s, err := restate.Run(ctx, func(restate.RunContext) (string, error) {
				f.did.add(fmt.Sprint("large ", mib))
				return strings.Repeat("x", mib<<20), nil
			})
			if err != nil {
				return 0, err
			}
			return len(s), nil
		}))
	wf := restate.NewWorkflow("Wf").
		Handler("run", restate.NewWorkflowHandler(func(ctx restate.WorkflowContext, id string) (string, error) {
			f.did.add("run " + id)
			return restate.Promise[string](ctx, "go").Result()
		})).
		Handler("go", restate.NewWorkflowSharedHandler(func(ctx restate.WorkflowSharedContext, v string) (string, error) {
			if err := restate.Promise[string](ctx, "go").Resolve(v); err != nil {
				return "", err
			}
			return "resolved", nil
		}))
	return server.NewRestate().WithLogger(slog.DiscardHandler, true).Bind(svc).Bind(wf)
}

func (f *restateFlows) steps(ctx restate.Context, id string) (string, error) {
	f.did.add("handler " + id)
	r, err := restate.Run(ctx, func(ctx restate.RunContext) (string, error) {
		n := f.did.add("gate " + id)
		err := f.gates.of(id).pass(ctx)
		f.did.add("left " + id)
		return fmt.Sprint("call ", n), err
	})
	if err != nil {
		return "", err
	}
	if _, err := restate.Run(ctx, func(restate.RunContext) (string, error) { f.did.add("second " + id); return "", nil }); err != nil {
		return "", err
	}
	return r, nil
}

func (f *restateFlows) failing(ctx restate.Context, _ string) (string, error) {
	if _, err := restate.Run(ctx, func(restate.RunContext) (string, error) { f.did.add("first"); return "", nil }); err != nil {
		return "", err
	}
	if _, err := restate.Run(ctx, func(restate.RunContext) (string, error) { f.did.add("failing"); return "", errors.New("no") }); err != nil {
		return "", err
	}
	return "", nil
}

// reply is what the server answered.
type reply struct {
	status int
	body   string
}

func (a reply) String() string {
	return fmt.Sprintf("%d %s", a.status, strings.TrimPrefix(short(errors.New(a.body)), "error: "))
}

func (f *restateFlows) call(ctx context.Context, method, url, key string, body any) (reply, error) {
	var b io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return reply{}, err
		}
		b = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, b)
	if err != nil {
		return reply{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return reply{status: res.StatusCode, body: string(raw)}, err
}

func (f *restateFlows) post(ctx context.Context, path, key string, body any) (reply, error) {
	return f.call(ctx, http.MethodPost, f.ingress+path, key, body)
}

// send starts without waiting, and returns the invocation's id.
func (f *restateFlows) send(ctx context.Context, path string, body any) (string, error) {
	a, err := f.post(ctx, path+"/send", "", body)
	if err != nil {
		return "", err
	}
	var in struct {
		InvocationID string `json:"invocationId"`
	}
	if err := json.Unmarshal([]byte(a.body), &in); err != nil || in.InvocationID == "" {
		return "", fmt.Errorf("%s: %w", a, err)
	}
	return in.InvocationID, nil
}

func (f *restateFlows) twice(ctx context.Context) (string, error) {
	type answer struct {
		reply
		err error
	}
	got := make(chan answer, 2)
	ask := func(in string) {
		a, err := f.post(ctx, "/Svc/steps", "t1", in)
		got <- answer{a, err}
	}
	go ask("t1")
	if err := until(ctx, "the step runs", func() bool { return f.did.of("gate t1") == 1 }); err != nil {
		return "", err
	}
	go ask("another body")
	time.Sleep(time.Second) // so that it is there before the first ends
	close(f.gates.of("t1").opened)
	one, two := <-got, <-got
	return fmt.Sprintf("answers %s and %s; steps of the first: %d, of the other: %d", one, two, f.did.of("gate t1"), f.did.of("gate another body")), errors.Join(one.err, two.err)
}

func (f *restateFlows) workflowTwice(ctx context.Context) (string, error) {
	if _, err := f.send(ctx, "/Wf/w1/run", "w1"); err != nil {
		return "", err
	}
	a, err := f.post(ctx, "/Wf/w1/run", "", "w1")
	if err != nil {
		return "", err
	}
	b, err := f.post(ctx, "/Wf/w1/run/send", "", "w1")
	return fmt.Sprintf("a second call: %s; a second send: %s; ran %d times", a, b, f.did.of("run w1")), err
}

func (f *restateFlows) again(ctx context.Context) (string, error) {
	one, err := f.post(ctx, "/Svc/quick", "a1", "one")
	if err != nil {
		return "", err
	}
	two, err := f.post(ctx, "/Svc/quick", "a1", "two")
	return fmt.Sprintf("answers %s and %s, ran %d times", one, two, f.did.of("quick")), err
}

func (f *restateFlows) early(ctx context.Context) (string, error) {
	one, err := f.post(ctx, "/Wf/e1/go", "", "early")
	if err != nil {
		return "", err
	}
	two, err := f.post(ctx, "/Wf/e1/go", "", "later")
	if err != nil {
		return "", err
	}
	r, err := f.post(ctx, "/Wf/e1/run", "", "e1")
	return fmt.Sprintf("before the start: %s; again: %s; then the workflow is started: %s", one, two, r), err
}

func (f *restateFlows) ended(ctx context.Context) (string, error) {
	if _, err := f.post(ctx, "/Wf/n1/go", "", "x"); err != nil {
		return "", err
	}
	if _, err := f.post(ctx, "/Wf/n1/run", "", "n1"); err != nil {
		return "", err
	}
	a, err := f.post(ctx, "/Wf/n1/go", "", "late")
	return fmt.Sprintf("ended: %s", a), err
}

func (f *restateFlows) fails(ctx context.Context) (string, error) {
	id, err := f.send(ctx, "/Svc/fails", "")
	if err != nil {
		return "", err
	}
	began := time.Now()
	if err := until(ctx, "the step is tried 5 times", func() bool { return f.did.of("failing") >= 5 }); err != nil {
		return "", err
	}
	took := time.Since(began)
	a, err := f.call(ctx, http.MethodPatch, f.admin+"/invocations/"+id+"/kill", "", nil)
	return fmt.Sprintf("step before: %d calls; failing step: 5 calls within %.0f s, it goes on; kill: %d", f.did.of("first"), took.Seconds(), a.status), err
}

func (f *restateFlows) cancels(ctx context.Context) (string, error) {
	id, err := f.send(ctx, "/Svc/steps", "c1")
	if err != nil {
		return "", err
	}
	if err := until(ctx, "the step runs", func() bool { return f.did.of("gate c1") == 1 }); err != nil {
		return "", err
	}
	if _, err := f.call(ctx, http.MethodPatch, f.admin+"/invocations/"+id+"/cancel", "", nil); err != nil {
		return "", err
	}
	goesOn := holds(ctx, 3*time.Second, func() bool { return f.did.of("left c1") == 0 })
	close(f.gates.of("c1").opened)
	a, err := f.call(ctx, http.MethodGet, f.ingress+"/restate/invocation/"+id+"/attach", "", nil)
	return fmt.Sprintf("after 3 s the step goes on: %v; then the next step: %d calls; it ends with %s", goesOn, f.did.of("second c1"), a), err
}

func (f *restateFlows) parent(ctx context.Context) (string, error) {
	id, err := f.send(ctx, "/Svc/parent", "ch")
	if err != nil {
		return "", err
	}
	if err := until(ctx, "the child sleeps", func() bool { return f.did.of("sleeps ch") == 1 }); err != nil {
		return "", err
	}
	if _, err := f.call(ctx, http.MethodPatch, f.admin+"/invocations/"+id+"/cancel", "", nil); err != nil {
		return "", err
	}
	a, err := f.call(ctx, http.MethodGet, f.ingress+"/restate/invocation/"+id+"/attach", "", nil)
	saw := until(ctx, "the child sees it", func() bool { return f.did.of("child saw") > 0 }) == nil
	return fmt.Sprintf("the child saw the cancel: %v; the caller ends with %s", saw, a), err
}

func (f *restateFlows) large(ctx context.Context) (string, error) {
	eight, err := f.post(ctx, "/Svc/large", "", 8)
	if err != nil {
		return "", err
	}
	id, err := f.send(ctx, "/Svc/large", 40)
	if err != nil {
		return "", err
	}
	err = until(ctx, "the large step is tried twice", func() bool { return f.did.of("large 40") >= 2 })
	tried := f.did.of("large 40")
	if err != nil {
		a, aerr := f.call(ctx, http.MethodGet, f.ingress+"/restate/invocation/"+id+"/output", "", nil)
		return fmt.Sprintf("8 MiB: %s; 40 MiB: %d calls, then %s", eight, tried, a), aerr
	}
	a, err := f.call(ctx, http.MethodPost, f.admin+"/query", "", map[string]string{"query": "SELECT status, retry_count, last_failure FROM sys_invocation WHERE id = '" + id + "'"})
	return fmt.Sprintf("8 MiB: %s; 40 MiB: the step is called again and again (%d so far): %s", eight, tried, a), err
}

func freePorts(ctx context.Context, n int) ([]string, error) {
	var lc net.ListenConfig
	var all []string
	for range n {
		l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all, nil
}
