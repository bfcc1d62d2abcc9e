package chaos

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

// world is one round: an etcd, its nodes, what was asked of them and what
// happened.
type world struct {
	evidence
	tb     testing.TB
	seed   uint64
	name   string // of the cluster
	etcd   *clustertest.Etcd
	ttl    time.Duration          // of the nodes' sessions
	late   time.Duration          // after which a burst makes its cause durable
	weaken func(*clientv3.Client) // makes the store worse, to show that the checks see it
	traits traits
	http   *http.Client

	coverage coverage
	calm     atomic.Bool // no more faults

	mu       sync.Mutex
	members  []*member                       // guarded by mu
	totals   map[string]float64              // of the metrics of nodes that ended; guarded by mu
	tracked  map[string][]*clustertest.Armed // guarded by mu
	armed    []*clustertest.Armed            // guarded by mu
	starting int                             // names of nodes; guarded by mu
}

const members = 3

func newWorld(tb testing.TB, seed uint64, weaken func(*clientv3.Client)) *world {
	tb.Helper()
	w := &world{tb: tb, seed: seed, name: clustertest.Namespace(tb), etcd: clustertest.Start(tb), weaken: weaken, ttl: ttl, late: lateAfter, traits: traitsOf(seed),
		totals: map[string]float64{}, tracked: map[string][]*clustertest.Armed{}}
	w.gather(tb, w.etcd.Client(tb), w.name)
	w.tight = w.traits.tight
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	w.http = &http.Client{Transport: transport}
	tb.Cleanup(transport.CloseIdleConnections)
	return w
}

// queueTTL is as a node has it, or so short that events for instances that do not wait
// yet are dead letters soon.
func (w *world) queueTTL() time.Duration {
	if w.traits.tight {
		return 2 * time.Second
	}
	return node.DefaultConfig().QueueTTL
}

// tightGrace is how long a finished instance stays at least. In rounds in which
// instances go, no copy is kept back for longer.
const tightGrace = 10 * time.Second

func (w *world) retention() retention.Limits {
	if w.traits.tight {
		return retention.Limits{Finished: time.Second, DeadLettersCount: 5000, Grace: tightGrace}
	}
	return retention.Limits{}
}

// sources are the definitions that the nodes run.
func (w *world) sources() []string {
	all := append(slices.Clone(definitions), doorsDefinitions...)
	if w.traits.large {
		all = append(all, sizesDefinitions...)
	}
	if w.traits.long {
		all = append(all, longWith(`chaos.Slow: "${{ inputs.ms }}"`)...)
	}
	return w.traits.saved(all)
}

// start starts the nodes and publishes what they run.
func (w *world) start(ctx context.Context) {
	w.tb.Helper()
	w.calm.Store(true)
	for range members {
		if err := w.add(ctx, ""); err != nil {
			w.tb.Fatal(err)
		}
	}
	for _, source := range w.sources() {
		if err := w.any(0).Publish(ctx, source); err != nil {
			w.tb.Fatalf("%v\n%s", err, source)
		}
	}
	w.calm.Store(false)
	w.mu.Lock()
	nodes := append([]*member(nil), w.members...)
	w.mu.Unlock()
	for _, m := range nodes {
		w.spoil(m.faults)
	}
}

// add starts one more node; without an id it gets a new one.
func (w *world) add(ctx context.Context, id string) error {
	w.mu.Lock()
	w.starting++
	n := w.starting
	w.mu.Unlock()
	if id == "" {
		id = "n" + string(rune('0'+n%10)) + string(rune('a'+n/10%26))
	}
	m, err := newMember(ctx, w.tb, w, id, w.seed<<16+uint64(n))
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.members = append(w.members, m)
	return nil
}

// program draws what a new node runs: the newer program or the older one, and how
// far its clock is off. One node at least has the newer program, and most have a
// clock that is right.
func (w *world) program(seed uint64) (newer bool, off time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := rand.New(rand.NewPCG(seed, 1<<36))
	newer = r.IntN(2) == 0
	right, has := 0, false
	for _, m := range w.members {
		has = has || m.newer
		if m.off == 0 {
			right++
		}
	}
	if newer = newer || !has; !newer {
		w.evidence.count("nodes with the older program")
	}
	if w.traits.clocks && right == members-1 {
		off = drawOffset(r)
		w.evidence.count("nodes with a wrong clock")
	}
	return newer, off
}

// caller makes one client of the nodes.
func (w *world) caller(id int) *caller {
	return &caller{e: &w.evidence, pick: func(n int) target { return w.any(n) }, id: id, r: rand.New(rand.NewPCG(w.seed, uint64(id))),
		traits: w.traits, sizes: sizing{large: w.traits.large},
		longInput: func(_ string, d time.Duration) map[string]any { return map[string]any{"ms": d.Milliseconds()} }}
}

// any is one of the live nodes.
func (w *world) any(n int) *member {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.members[n%len(w.members)]
}

// remove takes a node out of the list that callers use.
func (w *world) remove(m *member) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, x := range w.members {
		if x == m {
			w.members = append(w.members[:i:i], w.members[i+1:]...)
			return
		}
	}
}

// deliver sends what was kept back, of all nodes.
func (w *world) deliver() int {
	w.mu.Lock()
	nodes := append([]*member(nil), w.members...)
	w.mu.Unlock()
	n := 0
	for _, m := range nodes {
		n += m.faults.Deliver()
	}
	return n
}

// heal ends all faults but the late copies that are still kept back.
func (w *world) heal() {
	w.calm.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.armed {
		a.Disarm()
	}
}

// stop ends all nodes; a drain each, so that goroutines that are left show.
func (w *world) stop() {
	w.mu.Lock()
	nodes := w.members
	w.members = nil
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, m := range nodes {
		m.leave(ctx)
		w.collect(m.registry)
	}
}

// torment revokes leases, cuts nodes off, kills and restarts them, and delivers
// late copies, until ctx ends.
func (w *world) torment(ctx context.Context, r *rand.Rand) {
	var cuts sync.WaitGroup
	defer cuts.Wait()
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		next.Reset(time.Duration(100+r.IntN(700)) * time.Millisecond)
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		switch n := r.IntN(100); {
		case n < 60 || w.traits.tight && n < 65:
			w.deliver()
		case n < 80:
			w.revokeOne(ctx, r)
		case n < 87:
			m, d := w.any(r.IntN(members)), ttl/4+time.Duration(r.Int64N(int64(2*ttl)))
			cuts.Go(func() { w.cutOff(ctx, m, d) })
		default:
			w.replaceOne(ctx, r)
		}
	}
}

// loseHolder takes an instance away from whoever holds it.
func (w *world) loseHolder(ctx context.Context, instance string) bool {
	lock := w.holderOf(ctx, instance)
	lease, err := strconv.ParseInt(lock[strings.LastIndex(lock, "/")+1:], 16, 64)
	if err != nil {
		return false
	}
	_, err = w.direct.Revoke(ctx, clientv3.LeaseID(lease))
	return err == nil
}

// revokeOne takes the lease away under a live node.
func (w *world) revokeOne(ctx context.Context, r *rand.Rand) {
	m := w.any(r.IntN(members))
	e := m.session.Epoch()
	if e == nil {
		return
	}
	if _, err := w.direct.Revoke(ctx, e.Lease); err == nil {
		w.coverage.revoked.Add(1)
	}
}

// cutOff stops everything between a node and etcd, both ways, for a while; then
// what was under way arrives.
func (w *world) cutOff(ctx context.Context, m *member, d time.Duration) {
	m.proxy.BlackHole()
	w.coverage.cut.Add(1)
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
	m.proxy.Heal()
}

// replaceOne kills a node, and starts it again under its old name, which has to
// wait for the dead one's record, or under a new one.
func (w *world) replaceOne(ctx context.Context, r *rand.Rand) {
	m := w.any(r.IntN(members))
	id := m.id
	if r.IntN(2) == 0 {
		id = ""
	}
	w.remove(m)
	m.kill()
	w.coverage.killed.Add(1)
	w.collect(m.registry)
	late := context.WithoutCancel(ctx)
	w.coverage.posthumous.Add(int64(m.faults.Deliver())) // what it had sent arrives after its death
	m.close()
	bound, cancel := context.WithTimeout(late, 20*time.Second)
	defer cancel()
	if err := w.add(bound, id); err != nil {
		w.log.ErrorContext(ctx, "node not restarted", "error", err)
		if err = w.add(bound, ""); err != nil {
			w.record.violate("restart", "a node could not be started again: %v", err)
			return
		}
	}
	w.coverage.restarted.Add(1)
}

// pulse watches the machine: its longest pause says whether time limits mean
// anything.
func pulse(ctx context.Context, longest *atomic.Int64) {
	const beat = 20 * time.Millisecond
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := time.Now()
			longest.Store(max(longest.Load(), int64(now.Sub(last)-beat)))
			last = now
		}
	}
}
