package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// witness looks at etcd from outside, through each member in turn: when it
// answers, who leads, and who holds which work.
type witness struct {
	quorum *quorum
	root   string

	mu      sync.Mutex
	next    int          // member to ask; guarded by mu
	answers [3]time.Time // of the last answer of each member; guarded by mu
	outages []span       // in which a member that runs did not answer, writes were refused, or the nodes were paused; guarded by mu
	filled  time.Time    // since when etcd takes no writes; guarded by mu
	paused  time.Time    // since when the nodes take up nothing, by our doing; guarded by mu
	term    uint64       // of the last answer; guarded by mu
	changes []time.Time  // of leader, when they were seen; guarded by mu
	stalls  []span       // in which this process stood still; guarded by mu
}

type span struct{ from, to time.Time }

// overlap is how much of s lies between from and to.
func (s span) overlap(from, to time.Time) time.Duration {
	if s.from.After(from) {
		from = s.from
	}
	if s.to.Before(to) {
		to = s.to
	}
	return max(0, to.Sub(from))
}

// outageAfter is how long etcd may be silent before that counts.
const outageAfter = 700 * time.Millisecond

// beat is how often each member is asked.
const beat = 100 * time.Millisecond

// run asks each member ten times a second, so that outages and changes of leader
// are known. A member that hangs is an outage for what was sent to it and, if it
// leads, for all leases.
func (w *witness) run(ctx context.Context) {
	var asking sync.WaitGroup
	defer asking.Wait()
	for i := range w.quorum.members {
		asking.Go(func() { w.ask(ctx, i) })
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for last := time.Now(); ; last = time.Now() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := time.Now(); now.Sub(last) > starvation {
			w.mu.Lock()
			w.stalls = append(w.stalls, span{last, now})
			w.mu.Unlock()
		}
	}
}

// ask asks one member.
func (w *witness) ask(ctx context.Context, i int) {
	m := w.quorum.members[i]
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked, cancel := context.WithTimeout(ctx, answersSoon)
		resp, err := m.client.Get(asked, "hello")
		cancel()
		w.mu.Lock()
		switch {
		case !m.process().alive():
			w.answers[i] = time.Time{} // its clients know at once and ask others
		case err == nil:
			w.answered(i, resp.Header.RaftTerm)
		}
		w.mu.Unlock()
	}
}

// client is the next member's that runs.
func (w *witness) client() *clientv3.Client {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range w.quorum.members {
		w.next++
		if w.quorum.members[w.next%len(w.quorum.members)].well() {
			break
		}
	}
	return w.quorum.members[w.next%len(w.quorum.members)].client
}

// answered notes an answer of a member; mu is held.
func (w *witness) answered(i int, term uint64) {
	now := time.Now()
	if last := w.answers[i]; !last.IsZero() && now.Sub(last) > outageAfter {
		w.outages = append(w.outages, span{last, now})
	}
	w.answers[i] = now
	if term > w.term {
		if w.term > 0 {
			w.changes = append(w.changes, now)
		}
		w.term = term
	}
}

// full notes that etcd takes no writes, or that it does again.
func (w *witness) full(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if is {
		w.filled = time.Now()
		return
	}
	w.outages = append(w.outages, span{w.filled, time.Now()})
	w.filled = time.Time{}
}

// pause notes that the nodes take up nothing, or that they do again.
func (w *witness) pause(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if is {
		w.paused = time.Now()
		return
	}
	w.outages = append(w.outages, span{w.paused, time.Now()})
	w.paused = time.Time{}
}

// between tells what happened to etcd and to this process in a time.
func (w *witness) between(from, to time.Time) (changes int, outage, stall time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.changes {
		if c.After(from) && c.Before(to) {
			changes++
		}
	}
	now := time.Now()
	all := slices.Clone(w.outages)
	for _, last := range w.answers {
		if !last.IsZero() && now.Sub(last) > outageAfter {
			all = append(all, span{last, now})
		}
	}
	for _, since := range []time.Time{w.filled, w.paused} {
		if !since.IsZero() {
			all = append(all, span{since, now})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	for counted := from; len(all) > 0; all = all[1:] { // several at once count once
		if counted.Before(all[0].to) {
			outage += all[0].overlap(counted, to)
			counted = all[0].to
		}
	}
	for _, s := range w.stalls {
		stall += s.overlap(from, to)
	}
	return changes, outage, stall
}

// sight is who holds what at one revision.
type sight struct {
	revision int64
	at       time.Time                   // when it was asked for
	nodes    map[clientv3.LeaseID]string // ids by lease
	holders  map[string]clientv3.LeaseID // of instances' locks
	mail     map[string]map[string]int64 // instance → key → mod revision
}

// look reads that, from whichever member answers.
func (w *witness) look(ctx context.Context) (*sight, error) {
	var last error
	for range 2 * len(w.quorum.members) {
		asked, cancel := context.WithTimeout(ctx, answersSoon)
		began := time.Now()
		resp, err := w.client().Txn(asked).Then(
			clientv3.OpGet(w.root+"nodes/", clientv3.WithPrefix()), // keys only would leave out the lease
			clientv3.OpGet(w.root+"lock/instance/", clientv3.WithPrefix()),
			clientv3.OpGet(w.root+"mailbox/", clientv3.WithPrefix(), clientv3.WithKeysOnly()),
		).Commit()
		cancel()
		if err != nil {
			last = err
			continue
		}
		return w.read(resp, began), nil
	}
	return nil, fmt.Errorf("no member of etcd answers: %w", last)
}

func (w *witness) read(resp *clientv3.TxnResponse, at time.Time) *sight {
	s := &sight{revision: resp.Header.Revision, at: at, nodes: map[clientv3.LeaseID]string{}, holders: map[string]clientv3.LeaseID{}, mail: map[string]map[string]int64{}}
	for _, kv := range resp.Responses[0].GetResponseRange().Kvs {
		s.nodes[clientv3.LeaseID(kv.Lease)] = strings.TrimPrefix(string(kv.Key), w.root+"nodes/")
	}
	created := map[string]int64{}
	for _, kv := range resp.Responses[1].GetResponseRange().Kvs {
		id, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), w.root+"lock/instance/"), "/")
		if was := created[id]; was == 0 || kv.CreateRevision < was {
			created[id], s.holders[id] = kv.CreateRevision, clientv3.LeaseID(kv.Lease)
		}
	}
	for _, kv := range resp.Responses[2].GetResponseRange().Kvs {
		parts := strings.Split(strings.TrimPrefix(string(kv.Key), w.root+"mailbox/"), "/")
		if len(parts) < 3 {
			continue
		}
		if s.mail[parts[1]] == nil {
			s.mail[parts[1]] = map[string]int64{}
		}
		s.mail[parts[1]][string(kv.Key)] = kv.ModRevision
	}
	return s
}

// lease is the lease of a node's session, 0 if it has none.
func (s *sight) lease(id string) clientv3.LeaseID {
	for lease, node := range s.nodes {
		if node == id {
			return lease
		}
	}
	return 0
}

// holds lists the instances with acknowledged work that a node holds, and those
// that nobody holds.
func (s *sight) holds(lease clientv3.LeaseID) []string {
	var ids []string
	for id := range s.mail {
		if holder, held := s.holders[id]; !held || holder == lease {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// moved reports whether an instance's work has got on since an earlier look: a
// command was taken, or its takeover was counted.
func (s *sight) moved(id string, before *sight) bool {
	for key, mod := range before.mail[id] {
		if s.mail[id][key] != mod {
			return true
		}
	}
	return false
}
