package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
)

// What the shipped deployment gives a node, deploy/kubernetes/deployment.yaml.
const (
	shippedSoft = "900MiB" // GOMEMLIMIT
	shippedHard = 1 << 30
)

// floodCallers is how many callers run W1 beside a flood.
const floodCallers = 16

// flood is what one client of ill will does, all the time, until ctx ends.
type flood struct {
	name    string
	prepare func(ctx context.Context, f *flooded) error
	run     func(ctx context.Context, f *flooded)
}

// flooded is a node with the shipped limits, and who calls it.
type flooded struct {
	url     string
	keys    map[auth.Role]string
	callers *overHTTP    // from an address of their own; nil in the flood's process
	client  *http.Client // of the flood
	answers tally
}

// floodCommand makes this binary the client of ill will, so that what its requests
// wait for in its own process does not count as the callers' time: send-flood
// FLOOD-ORDER as JSON. It ends when its standard input does.
const floodCommand = "send-flood"

// floodOrder is what such a process is told.
type floodOrder struct {
	Flood, URL string
	Keys       map[auth.Role]string
}

func sendFlood(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: send-flood JSON")
	}
	var order floodOrder
	if err := json.Unmarshal([]byte(args[0]), &order); err != nil {
		return err
	}
	all := floods()
	i := slices.IndexFunc(all, func(fl flood) bool { return fl.name == order.Flood })
	if i < 0 {
		return fmt.Errorf("there is no flood %q", order.Flood)
	}
	ctx, cease := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cease()
	}()
	f := &flooded{url: order.URL, keys: order.Keys, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2048}}}
	all[i].run(ctx, f)
	_, err := fmt.Println(&f.answers)
	return err
}

// start sends the flood from a process of its own until cease, which gives what that
// was answered.
func (fl *flood) start(f *flooded) (cease func() (string, error), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	order, err := json.Marshal(floodOrder{Flood: fl.name, URL: f.url, Keys: f.keys})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, floodCommand, string(order))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() (string, error) {
		err := errors.Join(in.Close(), cmd.Wait())
		return strings.TrimSpace(out.String()), err
	}, nil
}

// tally counts answers by their status.
type tally struct {
	mu sync.Mutex
	by map[string]int
}

func (t *tally) add(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[string]int{}
	}
	t.by[what]++
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, k := range slices.Sorted(maps.Keys(t.by)) {
		out = append(out, fmt.Sprintf("%s × %d", k, t.by[k]))
	}
	return strings.Join(out, ", ")
}

// floodDefinitions are what some floods need.
var floodDefinitions = []string{
	"id: waits\nroot:\n  - event: never\n",
	"id: large\ninputs: {text: {type: string}}\nroot:\n  - event: never\n",
	`id: entries
variables: {body: object}
root:
  - httpEndpoint: {path: entries, supportedMethods: [POST]}
    trigger: true
    outputs: {parsedContent: body}
  - runJavaScript: "Object.entries(variables.body).map(([k, v]) => k + '=' + v).join('&')"
`,
	"id: endless\nroot:\n  - runJavaScript: \"for (let i = 0; i < 1e9; i++);\"\n",
	"id: compare\nroot:\n  - runJavaScript: \"let s = 'x'.repeat(1 << 19); new Array(1e6).fill(s + 'a').indexOf(s + 'b')\"\n",
	`id: pack
variables: {body: object}
root:
  - httpEndpoint: {path: pack, supportedMethods: [POST]}
    trigger: true
    outputs: {parsedContent: body}
  - parallelForEach: ${{ variables.body.items }}
    body: [{runTask: {taskName: pack, payload: {order: "${{ variables.body.order }}"}}}]
`,
}

// floods are those of the attack on Weft that the limits of the door answer.
func floods() []flood {
	megabyte := "[" + strings.Repeat("{},", 1<<20/3-1) + "{}]"
	sum := "1" + strings.Repeat("+1", 30_000)
	compile := "id: sums\nroot:\n" + strings.Repeat("  - runJavaScript: "+strconv.Quote(sum)+"\n", 4)
	items, _ := json.Marshal(map[string]any{"items": slices.Repeat([]string{"short"}, 150), "order": strings.Repeat("x", 600_000)})
	text, _ := json.Marshal(strings.Repeat("x", 1<<20-2))
	asJSON, asYAML := "application/json", "application/yaml"
	return []flood{
		{name: "none: another program computes on one processor", run: computes(1)},
		{name: "none: another program computes on all processors", run: computes(runtime.NumCPU())},
		{name: "100 × 1 MB of small values, for no endpoint", run: posts(100, "/workflows/none", auth.Anyone, asJSON, megabyte)},
		{name: "1,030 bodies that never come", run: holds(1030, "POST /links/x")},
		{name: "1,600 refused requests whose bodies never come", run: holds(1600, "POST /nope")},
		{name: "2,000 silent connections", run: holds(2000, "")},
		{name: "16 × forged resume links", run: posts(16, "/links/x", auth.Anyone, asJSON, "{}")},
		{name: "1,030 waits of a viewer", prepare: waiting, run: gets(1030, "/api/v1/instances/waits", auth.Viewer, "wait=300")},
		{name: "4 × pages of 200 instances of 0.9 MB", prepare: largeInstances, run: gets(4, "/api/v1/instances?limit=500", auth.Viewer, "")},
		{name: "10 × Object.entries of 1 MB", run: posts(10, "/workflows/entries", auth.Anyone, asJSON, string(text))},
		{name: "4 × scripts of 30,000 terms to compile", run: posts(4, "/api/v1/definitions?dryRun=true", auth.Designer, asYAML, compile)},
		{name: "4 × comparisons of long texts", run: posts(4, "/api/v1/definitions/compare/execute", auth.Operator, asJSON, "{}")},
		{name: "60 × endless scripts", run: posts(60, "/api/v1/definitions/endless/execute", auth.Operator, asJSON, "{}")},
		{name: "4 × fan-outs of 0.6 MB over 150", run: posts(4, "/workflows/pack", auth.Anyone, asJSON, string(items))},
	}
}

// posts sends one request after the other with each of n callers.
func posts(n int, path string, role auth.Role, contentType, body string) func(context.Context, *flooded) {
	return func(ctx context.Context, f *flooded) {
		f.together(ctx, n, func() { f.request(ctx, http.MethodPost, path, role, body, http.Header{"Content-Type": {contentType}}) })
	}
}

func gets(n int, path string, role auth.Role, prefer string) func(context.Context, *flooded) {
	return func(ctx context.Context, f *flooded) {
		f.together(ctx, n, func() { f.request(ctx, http.MethodGet, path, role, "", http.Header{"Prefer": {prefer}}) })
	}
}

// computes is no flood: it takes n processors, as the client of a flood may, and asks
// the node for nothing. What it does to the callers no limit in the node can prevent.
func computes(n int) func(context.Context, *flooded) {
	return func(ctx context.Context, f *flooded) {
		f.together(ctx, n, func() {
			for ctx.Err() == nil {
				_ = sha256.Sum256(make([]byte, 4096))
			}
		})
	}
}

// holds keeps n connections that send a head, or nothing, and then wait.
func holds(n int, request string) func(context.Context, *flooded) {
	head := request
	if request != "" {
		head = request + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
	}
	return func(ctx context.Context, f *flooded) {
		f.together(ctx, n, func() {
			var d net.Dialer
			c, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(f.url, "http://"))
			if err != nil {
				f.answers.add("not connected")
				return
			}
			defer context.AfterFunc(ctx, func() { c.Close() })()
			defer c.Close()
			if _, err := io.WriteString(c, head); err == nil {
				_, _ = io.Copy(io.Discard, c)
			}
			f.answers.add("closed")
		})
	}
}

// together does the same with n callers until ctx ends. Who is refused comes again
// at once, but not in a loop without air: it is one client.
func (f *flooded) together(ctx context.Context, n int, do func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for ctx.Err() == nil {
				do()
				select {
				case <-ctx.Done():
				case <-time.After(10 * time.Millisecond):
				}
			}
		})
	}
	wg.Wait()
}

func (f *flooded) request(ctx context.Context, method, path string, role auth.Role, body string, header http.Header) {
	req, err := http.NewRequestWithContext(ctx, method, f.url+path, strings.NewReader(body))
	if err != nil {
		panic(err) // the paths are our own
	}
	req.Header = header.Clone()
	if role != auth.Anyone {
		req.Header.Set("Authorization", "Bearer "+f.keys[role])
	}
	resp, err := f.client.Do(req)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		f.answers.add("cut off")
	default:
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		f.answers.add(strconv.Itoa(resp.StatusCode))
	}
}

func waiting(ctx context.Context, f *flooded) error {
	_, err := f.callers.start(ctx, start{definition: "waits", id: "waits"})
	return err
}

func largeInstances(ctx context.Context, f *flooded) error {
	text := strings.Repeat("0.9 MB of text. ", 900_000/16)
	for range 200 {
		if _, err := f.callers.start(ctx, start{definition: "large", input: map[string]any{"text": text}}); err != nil {
			return err
		}
	}
	return nil
}

// withKey sends requests with a key.
type withKey struct {
	key string
	to  http.RoundTripper
}

func (k *withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.to.RoundTrip(r)
}

// flooding is one row of the table.
type flooding struct {
	name        string
	quiet, loud outcome
	refused     int // of the callers' requests, for want of a place
	answers     string
	peak        int64 // bytes of resident memory
	exited      error
}

// floodAll runs each flood against a node of its own, and prints the table.
func floodAll(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp(o.dir, "weft-floods-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	keys, err := keysFile(filepath.Join(dir, "keys.yaml"))
	if err != nil {
		return err
	}
	var rows []flooding
	var errs []error
	for i, fl := range floods() {
		if ctx.Err() != nil || !strings.Contains(fl.name, o.floods) && o.floods != "all" {
			continue
		}
		row, err := fl.against(ctx, o, keys, filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", fl.name, err))
			continue
		}
		fmt.Fprintln(os.Stderr, row)
		rows = append(rows, row)
	}
	fmt.Printf("%s; %s each, %d callers\n\n", machine(), o.duration, floodCallers)
	fmt.Println("| flood | W1/s quiet, flooded | p99 quiet, flooded (ms) | × | callers: shed, failed | peak MB | what the flood was told |\n|---|---|---|---|---|---|---|")
	for _, r := range rows {
		fmt.Println(r)
		if r.exited != nil || r.loud.failed > r.refused || r.peak >= shippedHard {
			errs = append(errs, errors.Join(fmt.Errorf("%s: the node did not hold", r.name), r.exited, r.loud.err))
		}
	}
	return errors.Join(errs...)
}

func (r flooding) String() string {
	q, l := quantile(r.quiet.lat, .99), quantile(r.loud.lat, .99)
	return fmt.Sprintf("| %s | %.0f, %.0f | %.1f, %.1f | %.1f | %d, %d | %d | %s |", r.name,
		float64(r.quiet.ops)/r.quiet.took.Seconds(), float64(r.loud.ops)/r.loud.took.Seconds(),
		ms(q), ms(l), float64(l)/float64(q), r.refused, r.loud.failed-r.refused, r.peak>>20, r.answers)
}

func keysFile(path string) (map[auth.Role]string, error) {
	keys := map[auth.Role]string{}
	var entries []auth.KeyEntry
	for _, role := range []auth.Role{auth.Viewer, auth.Operator, auth.Designer, auth.Admin} {
		key, entry, err := auth.NewKey(role.String(), role, nil)
		if err != nil {
			return nil, err
		}
		keys[role], entries = key, append(entries, entry)
	}
	b, err := yaml.Marshal(entries)
	if err != nil {
		return nil, err
	}
	return keys, os.WriteFile(path, b, 0o600)
}

// against measures W1 beside one flood, and before it.
func (fl *flood) against(ctx context.Context, o options, keys map[auth.Role]string, dir string) (row flooding, err error) {
	row.name = fl.name
	if err := os.Mkdir(dir, 0o700); err != nil {
		return row, err
	}
	etcd, err := startEtcd(ctx, 1, dir, memberSettings{})
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, etcd.stop()) }()
	ready, stop, err := startNode(nodeSetup{ID: "flooded", Cluster: "floods", Dir: dir, Endpoints: etcd.endpoints, KeysFile: filepath.Join(filepath.Dir(dir), "keys.yaml")})
	if err != nil {
		return row, err
	}
	defer func() { row.exited = stop() }()

	own := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	f := &flooded{
		url: ready.URL, keys: keys,
		callers: &overHTTP{urls: []string{ready.URL}, client: &http.Client{Transport: &withKey{key: keys[auth.Admin], to: &http.Transport{DialContext: own.DialContext, MaxIdleConnsPerHost: floodCallers}}}},
	}
	for _, d := range slices.Concat([]string{definitions[0]}, floodDefinitions) {
		if err := f.callers.publish(ctx, d); err != nil {
			return row, err
		}
	}
	if fl.prepare != nil {
		if err := fl.prepare(ctx, f); err != nil {
			return row, err
		}
	}
	var refused atomic.Int64
	w1 := func(ctx context.Context, _ int64) error {
		_, err := f.callers.start(ctx, start{definition: "w1-burst", input: input})
		if err != nil && strings.Contains(err.Error(), `"busy"`) {
			refused.Add(1)
		}
		return err
	}
	closedLoop(ctx, floodCallers, o.duration/12, w1) // warm
	row.quiet = closedLoop(ctx, floodCallers, o.duration/3, w1)
	if row.quiet.failed > 0 {
		return row, fmt.Errorf("without a flood: %w", row.quiet.err)
	}
	cease, err := fl.start(f)
	if err != nil {
		return row, err
	}
	row.loud = closedLoop(ctx, floodCallers, o.duration, w1)
	row.refused = int(refused.Load())
	if row.answers, err = cease(); err != nil {
		return row, fmt.Errorf("the flood itself: %w", err)
	}
	row.peak, err = peakMemory(ready.PID)
	return row, err
}

// peakMemory is the most resident memory that a process had, in bytes.
func peakMemory(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(b, []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0, errors.Join(errors.New("the system does not tell the memory of the node: it has ended, or this is not Linux"), syscall.ESRCH)
	}
	kb, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return kb << 10, err
}
