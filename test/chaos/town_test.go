package chaos

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// town is one round with processes: a quorum of etcd, slots with nodes, a server
// outside, and the network between them.
type town struct {
	evidence
	tb       testing.TB
	seed     uint64
	name     string // of the cluster
	program  string
	dir      string
	launcher *launcher
	quorum   *quorum
	slots    []*slot
	outside  *outside
	witness  *witness
	http     *http.Client
	noSpace  error // why there is no namespace
	traits   traits
	calm     atomic.Bool
	watching sync.WaitGroup
	deaths   deaths
	loopback string // an address of this machine that is ours

	mu      sync.Mutex
	r       *rand.Rand                    // guarded by mu
	callers int                           // that were pinned to a slot; guarded by mu
	counts  map[string]int64              // guarded by mu
	newer   map[string]bool               // whether a node, by its id, is of the newer program; guarded by mu
	scraped map[string]map[string]float64 // metrics by slot and incarnation; guarded by mu
}

// nodesOfProcesses: two may be lost while one more is being lost or comes back.
const nodesOfProcesses = 5

func newTown(tb testing.TB, seed uint64, program string) *town {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 1<<33))
	pid := os.Getpid()
	w := &town{tb: tb, seed: seed, traits: traitsOf(seed), name: clustertest.Namespace(tb), program: program, dir: tb.TempDir(), r: r,
		counts: map[string]int64{}, newer: map[string]bool{}, scraped: map[string]map[string]float64{},
		// Nobody connects out from here, so no port of it is ever taken.
		loopback: fmt.Sprintf("127.%d.%d.%d", 64+pid>>16&63, pid>>8&255, 1+pid%254)}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	w.http = &http.Client{Transport: transport}
	tb.Cleanup(transport.CloseIdleConnections)
	w.tight = w.traits.tight
	w.launcher = newLauncher(tb)
	w.quorum = startQuorum(tb, w.launcher, w.loopback)
	w.gather(tb, dialEtcd(tb, w.quorum.endpoints()...), w.name)
	w.witness = &witness{quorum: w.quorum, root: cluster.Root(w.name)}
	host := w.loopback
	space, err := newNamespace(tb)
	if w.noSpace = err; err == nil {
		host = space.host
	}
	w.outside = newOutside(tb, host)
	var members []string
	for _, e := range w.quorum.endpoints() {
		members = append(members, strings.TrimPrefix(e, "http://"))
	}
	for i := range nodesOfProcesses {
		s := &slot{w: w, number: i}
		switch {
		case i == 0: // points inside of calls to etcd
			s.interposer = &interposer{}
			var through []string
			for _, m := range members {
				through = append(through, s.interposer.listen(tb, w.loopback+":0", m))
			}
			s.route = newRoute(tb, w.loopback, through)
		case i == 1 && err == nil:
			s.space = space
			s.route = newRoute(tb, space.host, members)
		default:
			s.route = newRoute(tb, w.loopback, members)
		}
		w.slots = append(w.slots, s)
	}
	tb.Cleanup(w.watching.Wait)
	return w
}

// buildNode builds the program that users run.
func buildNode(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "weft")
	cmd := exec.Command("go", "build", "-o", path, "../../cmd/weft")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build the node: %v\n%s", err, out)
	}
	return path
}

// nodeLog is where a node's log goes: beside WEFT_CHAOS_LOG, or nowhere.
func (w *town) nodeLog(id string) io.Writer {
	base := os.Getenv("WEFT_CHAOS_LOG")
	if base == "" {
		return io.Discard
	}
	f, err := os.Create(base + "." + filepath.Base(w.tb.Name()) + "." + id)
	if err != nil {
		return io.Discard
	}
	w.tb.Cleanup(func() { _ = f.Close() })
	return f
}

// start starts all nodes and publishes what they run.
func (w *town) start(ctx context.Context) {
	w.tb.Helper()
	limit, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	errs := make([]error, len(w.slots))
	var starting sync.WaitGroup
	for i, s := range w.slots {
		starting.Go(func() { errs[i] = s.launch(limit, true) })
	}
	starting.Wait()
	for _, err := range errs {
		if err != nil {
			w.tb.Fatal(err)
		}
	}
	for _, source := range w.sources() {
		if err := w.any(0).Publish(limit, source); err != nil {
			w.tb.Fatalf("%v\n%s", err, source)
		}
	}
}

// sources are the definitions that the nodes run.
func (w *town) sources() []string {
	all := slices.Concat(definitions, doorsDefinitions, []string{effect, ponderOutside})
	if w.traits.large {
		all = append(all, sizesDefinitions...)
	}
	if w.traits.long {
		all = append(all, longWith(`sendHttpRequest: "${{ inputs.url }}"`)...)
	}
	return slices.DeleteFunc(w.traits.saved(all), func(source string) bool { return strings.Contains(source, "chaos.Slow") }) // an activity of the other test
}

// effect calls outside, which takes as long as it is told.
const effect = `
id: slow
inputs: {url: string}
variables: {made: object}
root:
  - setVariable: {variable: made, value: {javascript: "[Date.now(), newGuid(), Math.random()]"}}
  - sendHttpRequest: {url: "${{ inputs.url }}", method: POST, content: "${{ {made: variables.made, at: now(), id: newId()} }}"}
  - writeLine: done
`

const ponderOutside = `
id: ponder
inputs: {url: string}
variables: {got: object}
root:
  - event: poke
    result: got
  - sendHttpRequest: {url: "${{ inputs.url }}&by=${{ variables.got.token }}", method: POST, content: {javascript: "({at: new Date(), id: newShortGuid()})"}}
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`

// any is the nth of the nodes that can be asked, round and round.
func (w *town) any(n int) target {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		var live []*remote
		for _, s := range w.slots {
			if r := s.node(); r != nil {
				live = append(live, r)
			}
		}
		if len(live) > 0 {
			return live[n%len(live)]
		}
	}
	return w.nobody()
}

// nobody is an address that refuses connections.
func (w *town) nobody() *remote {
	return &remote{id: "none", base: "http://" + w.loopback + ":1", http: w.http}
}

func (w *town) caller(id int) *caller {
	return &caller{e: &w.evidence, pick: w.any, id: id, r: rand.New(rand.NewPCG(w.seed, uint64(id))),
		slowInput: func(id string) map[string]any {
			return map[string]any{"url": w.outside.url(id, time.Duration(w.draw(1600))*time.Millisecond)}
		},
		longInput: func(id string, d time.Duration) map[string]any {
			return map[string]any{"url": w.outside.url(id, d) + "&always=1"}
		},
		traits: w.traits, sizes: sizing{large: w.traits.large}}
}

func (w *town) draw(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.r.IntN(n)
}

// between draws a duration.
func (w *town) between(from, to time.Duration) time.Duration {
	return from + time.Duration(w.draw(int(to-from)))
}

func (w *town) count(name string) { w.countN(name, 1) }

func (w *town) countN(name string, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[name] += n
}

// heal ends all faults and starts what is down.
func (w *town) heal(ctx context.Context) {
	w.calm.Store(true)
	for _, m := range w.quorum.members {
		m.process().resume()
		if !m.process().alive() {
			if err := w.quorum.run(m); err != nil {
				w.record.violate("harness", "%v", err)
			}
		}
	}
	limit, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	for _, s := range w.slots {
		if s.node() != nil {
			continue
		}
		if err := s.launch(limit, true); err != nil {
			w.record.violate("restart", "%v", err)
		}
	}
	for _, s := range w.slots {
		if err := s.ready(limit); err != nil {
			w.record.violate("not-ready", "%s after all faults have ended: %v", s.nodeID(), err)
		}
	}
}

// stop drains all nodes.
func (w *town) stop() {
	var leaving sync.WaitGroup
	for _, s := range w.slots {
		leaving.Go(func() {
			if err := s.leave(); err != nil {
				w.record.violate("drain", "%v", err)
			}
		})
	}
	leaving.Wait()
}

// fsck asks the program that users have.
func (w *town) fsck(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.program, "fsck", "--cluster", w.name, "--etcd-endpoints", strings.Join(w.quorum.endpoints(), ","))
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.record.violate("weft-fsck", "%v\n%s", err, out)
	}
}
