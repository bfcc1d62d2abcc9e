package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster"
)

// What an instance is wide of.
const (
	ofPlaces   = "places"
	ofChildren = "children"
)

// wideDefinitions are one that waits for a task for each item, and one that waits for a child for each.
var wideDefinitions = []string{
	"id: wide-places\ninputs: {n: {type: integer}}\nroot:\n  - parallelForEach: ${{ 1..inputs.n }}\n    body: {runTask: pack}\n",
	"id: wide-child\nroot:\n  - event: never\n",
	"id: wide-children\ninputs: {n: {type: integer}}\nroot:\n  - parallelForEach: ${{ 1..inputs.n }}\n    body: {executeWorkflow: {workflowDefinitionId: wide-child, waitForCompletion: true}}\n",
}

// wideOne is the instance, and where its node is.
type wideOne struct {
	o      options
	of     string
	setup  nodeSetup
	client *clientv3.Client // of the etcd beside the node; nil: it is in the node
	ready  nodeReady
	calls  *http.Client
	state  []byte // an export of it
}

// wideAll measures what one instance with many places or children costs over HTTP. Each step is made by a node that has
// just started, a process of its own, so that the memory of one step is not that of the one before.
func wideAll(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp(o.dir, "weft-bench-wide-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w := &wideOne{o: o, of: o.wideOf, calls: &http.Client{Transport: &http.Transport{}}, setup: nodeSetup{ID: "wide", Cluster: "wide", Group: "on", Dir: dir}}
	where := "in the process of the node"
	if o.etcd[0] != embedded {
		etcd, err := startEtcd(ctx, 1, dir, memberSettings{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, etcd.stop()) }()
		w.setup.Endpoints, where = etcd.endpoints, "a process of its own"
		if w.client, err = dial(etcd.endpoints); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.client.Close()) }()
	}
	fmt.Printf("%s; load average before it %.2f; one instance of %d %s, etcd %s. Each step on a node that has just started.\n\n", machine(), load(), o.wide, w.of, where)
	fmt.Print("| what | answer | after s | all of it after s | MiB sent, received | resident MiB of the node before | most | above |\n|---|---|---|---|---|---|---|---|\n")
	for _, s := range w.steps() {
		if err := w.measure(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

// wideStep is one request, and what holds when all of it is done.
type wideStep struct {
	what, method, path string
	body               func() []byte
	waits              int  // at so many places anything waits then
	there              bool // the instance is there
}

func (w *wideOne) steps() []wideStep {
	n, mine := w.o.wide, "/instances/wide"
	start := func() []byte { return fmt.Appendf(nil, `{"instanceId": "wide", "input": {"n": %d}}`, n) }
	state := func() []byte { return w.state }
	all := n
	if w.of == ofChildren {
		all = 2 * n // each child waits, too
	}
	started := wideStep{"start", http.MethodPost, "/definitions/wide-" + w.of + "/execute", start, all, true}
	steps := []wideStep{
		started,
		{"show", http.MethodGet, mine, nil, all, true},
		{"explain", http.MethodGet, mine + "/explain", nil, all, true},
		{"export", http.MethodGet, mine + "/state", nil, all, true},
		{"cancel", http.MethodPost, mine + "/cancel", nil, 0, true},
	}
	if w.of == ofPlaces {
		steps = append(steps, wideStep{"import over what it was, ended", http.MethodPut, mine + "/state", state, all, true},
			wideStep{"import over one that waits", http.MethodPut, mine + "/state", state, all, true},
			wideStep{"delete", http.MethodDelete, mine, nil, 0, false},
			wideStep{"import of one that is gone", http.MethodPut, mine + "/state", state, all, true},
			wideStep{"delete", http.MethodDelete, mine, nil, 0, false})
	} else {
		again := started
		again.what = "delete the ended one"
		steps = append(steps, wideStep{again.what, http.MethodDelete, mine, nil, 0, false}, started, wideStep{"delete", http.MethodDelete, mine, nil, 0, false})
	}
	return steps
}

// measure makes a step on a node of its own.
func (w *wideOne) measure(ctx context.Context, s wideStep) (err error) {
	ready, stop, err := startNode(w.setup)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	w.ready = ready
	for _, d := range wideDefinitions {
		if err := (&overHTTP{urls: []string{ready.URL}, client: w.calls}).publish(ctx, d); err != nil {
			return err
		}
	}
	if err := wait(ctx, 2*time.Second); err != nil { // until what a start needs is over
		return err
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", ready.PID), []byte("5"), 0); err != nil { // the most from here on
		return err
	}
	before, err := peakMemory(ready.PID)
	if err != nil {
		return err
	}
	began := time.Now()
	var body []byte
	if s.body != nil {
		body = s.body()
	}
	status, answer, err := w.request(ctx, s.method, s.path, body)
	if err != nil {
		return err
	}
	answered := time.Since(began)
	if s.what == "export" {
		w.state = answer
	}
	if status >= http.StatusMultipleChoices {
		return fmt.Errorf("%d: %.500s", status, answer)
	}
	if err := w.settled(ctx, s); err != nil {
		return err
	}
	took := time.Since(began)
	most, err := peakMemory(ready.PID)
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %d | %.1f | %.1f | %.1f, %.1f | %d | %d | %d |\n", s.what, status, answered.Seconds(), took.Seconds(), mib(len(body)), mib(len(answer)), before>>20, most>>20, (most-before)>>20)
	return nil
}

func mib(n int) float64 { return float64(n) / (1 << 20) }

func (w *wideOne) request(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, w.ready.URL+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := w.calls.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// settled waits until all that a step wanted is done: the keys of places where anything waits are there, or gone, and no
// mailbox has anything. It looks at etcd, as a look through the node would be in its memory.
func (w *wideOne) settled(ctx context.Context, s wideStep) error {
	client := w.client
	if client == nil {
		var err error
		if client, err = dial(w.ready.Endpoints); err != nil {
			return err
		}
		defer client.Close()
	}
	root := cluster.Root(w.setup.Cluster)
	for said := time.Now(); ; {
		var found [3]int64
		for i, under := range []string{"bookmark/", "mailbox/", "instance/wide"} {
			opts := []clientv3.OpOption{clientv3.WithCountOnly()}
			if i < 2 {
				opts = append(opts, clientv3.WithPrefix())
			}
			resp, err := client.Get(ctx, root+under, opts...)
			if err != nil {
				return err
			}
			found[i] = resp.Count
		}
		if int(found[0]) == s.waits && found[1] == 0 && (found[2] == 1) == s.there {
			return nil
		}
		if time.Since(said) > time.Minute {
			said = time.Now()
			fmt.Fprintln(os.Stderr, s.what+": "+strconv.FormatInt(found[0], 10)+" places,", found[1], "commands in mailboxes")
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}
