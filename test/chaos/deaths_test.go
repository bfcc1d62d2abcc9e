package chaos

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// takeoverBound is what is promised, without changes of leader.
const takeoverBound = ttl + 2*time.Second

// leaseBound is when etcd has ended the lease of a lost node: it looks twice a
// second, and ending it is a proposal. One that fails, as that of a leader that is
// not sure to be it, is made again 3 s later.
const leaseBound = ttl + time.Second

// takeover is how long an instance's acknowledged work stood still after its
// node was lost: until the first write for it under another fence (a takeover is
// counted before it works) or until it was found to be done.
type takeover struct {
	Death    string        `json:"death"` // kind and node
	Instance string        `json:"instance"`
	Took     time.Duration `json:"took"`
	Allowed  time.Duration `json:"allowed"`
	Changes  int           `json:"leaderChanges,omitempty"`
	Outage   time.Duration `json:"etcdOutage,omitempty"`
	Stall    time.Duration `json:"stall,omitempty"`
	Lease    time.Duration `json:"lease,omitempty"` // after which the lost node's lease had ended; of what it held
	Held     bool          `json:"held"`            // by the lost node; otherwise nobody held it
	Late     bool          `json:"late,omitempty"`
	Invalid  string        `json:"invalid,omitempty"` // why it proves nothing
	Unable   time.Duration `json:"unable,omitempty"`  // while no node of the newer program had a session
	Why      string        `json:"why,omitempty"`     // what a node said of it when the bound was over
}

// reasons are what nodes say of work that is late.
type reasons struct {
	asking sync.WaitGroup
	mu     sync.Mutex
	said   map[string]string // by instance; "" while it is asked; guarded by mu
}

// mostExplained bounds what is asked after one death: asking is work too.
const mostExplained = 3

func (r *reasons) of(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said[id]
}

// begin reports whether an instance is to be asked for.
func (r *reasons) begin(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, asked := r.said[id]; asked || len(r.said) >= mostExplained {
		return false
	}
	if r.said == nil {
		r.said = map[string]string{}
	}
	r.said[id] = ""
	return true
}

// explain asks a node why work is late, beside the measurement.
func (w *town) explain(ctx context.Context, late []string, why *reasons) {
	for _, id := range late {
		if !why.begin(id) {
			continue
		}
		why.asking.Go(func() {
			text := "no node says why"
			for _, s := range w.slots {
				node := s.node()
				if node == nil {
					continue
				}
				asked, cancel := context.WithTimeout(ctx, time.Second)
				var x struct {
					Summary string `json:"summary"`
					Mail    []struct {
						Kind     string `json:"kind"`
						Attempts int    `json:"attempts"`
					} `json:"mail"`
				}
				_, err := node.ask(asked, http.MethodGet, "/instances/"+id+"/explain", nil, nil, &x)
				cancel()
				if err == nil {
					text = fmt.Sprintf("%s: %s; mail %v", node.id, x.Summary, x.Mail)
					break
				}
			}
			why.mu.Lock()
			defer why.mu.Unlock()
			why.said[id] = text
		})
	}
}

// deaths are all that was measured.
type deaths struct {
	mu     sync.Mutex
	all    []takeover      // guarded by mu
	empty  int             // deaths of nodes that held nothing; guarded by mu
	hunted map[string]bool // instances whose holders are lost again and again: later takeovers wait; guarded by mu
	blind  int             // deaths that etcd was not there to tell about; guarded by mu
}

// lost waits until everything that a node held when it was lost is on its way
// again. since is when it was lost; extra is what this kind of loss may take in
// addition.
func (w *town) lost(ctx context.Context, kind string, s *slot, since time.Time, extra time.Duration) {
	before, err := w.witness.look(ctx)
	if err != nil {
		w.deaths.mu.Lock()
		w.deaths.blind++
		w.deaths.mu.Unlock()
		return
	}
	pending := before.holds(before.lease(s.nodeID()))
	if len(pending) == 0 {
		w.deaths.mu.Lock()
		w.deaths.empty++
		w.deaths.mu.Unlock()
	}
	death := kind + " of " + s.nodeID()
	lease, ended := before.lease(s.nodeID()), time.Duration(0)
	var why reasons
	defer why.asking.Wait()
	var unable time.Duration // while no node of the newer program had a session
	looked := time.Now()
	report := func(id string) {
		t := takeover{Why: why.of(id), Unable: unable, Death: death, Instance: id, Held: before.holders[id] != 0, Allowed: takeoverBound + extra}
		if t.Held {
			t.Lease = ended
		}
		w.took(t, since)
	}
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for len(pending) > 0 && time.Since(since) < 8*takeoverBound {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return // the end of the run asks that everything ends
		}
		if time.Since(since) > takeoverBound+extra {
			w.explain(ctx, pending, &why)
		}
		now, err := w.witness.look(ctx)
		if err != nil {
			continue
		}
		if !w.newerLives(now) {
			unable += time.Since(looked)
		}
		looked = time.Now()
		if _, lives := now.nodes[lease]; ended == 0 && !lives {
			ended = time.Since(since)
		}
		pending = slices.DeleteFunc(pending, func(id string) bool {
			if now.moved(id, before) {
				report(id)
				return true
			}
			return false
		})
	}
	for _, id := range pending {
		report(id)
	}
}

// newerLives tells whether a node of the newer program has a session.
func (w *town) newerLives(now *sight) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range now.nodes {
		if w.newer[id] {
			return true
		}
	}
	return false
}

// forTheNewer tells whether only nodes of the newer program can run an instance.
func (w *town) forTheNewer(instance string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), answersSoon)
	defer cancel()
	rec, err := w.store.Reader.Instance(ctx, instance)
	return err == nil && rec != nil && slices.Contains(newerOnly, rec.Header.DefinitionID)
}

func (d *deaths) hunt(instance string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hunted == nil {
		d.hunted = map[string]bool{}
	}
	d.hunted[instance] = true
}

func (d *deaths) waits(instance string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hunted[instance] || strings.HasPrefix(instance, "long-")
}

// took judges one takeover.
func (w *town) took(t takeover, since time.Time) {
	now := time.Now()
	t.Took = now.Sub(since)
	_, t.Outage, t.Stall = w.witness.between(since, now)
	// A new leader gives every lease an election timeout on top of its TTL. Who is
	// lost before the next renewal takes that along, so the time before counts too.
	t.Changes, _, _ = w.witness.between(since.Add(-ttl), now)
	t.Allowed += time.Duration(t.Changes) * (ttl + electionTimeout)
	patient := w.deaths.waits(t.Instance)
	if t.Took > t.Allowed && t.Unable > 0 && w.forTheNewer(t.Instance) {
		// From when on one can run it the bound holds; it may have been lost a TTL before that was seen.
		t.Allowed += t.Unable + ttl
	}
	switch {
	case patient:
		t.Invalid = "it was lost before, and is tried again later and later"
	case t.Stall > 0:
		t.Invalid = "the test stood still"
	case t.Outage > 0:
		// It proves nothing about the bound, but it does not excuse everything: a
		// lease and a bound after the end of the outage.
		t.Invalid = "etcd was away"
		t.Allowed += t.Outage + ttl
	case t.Lease > leaseBound:
		// The bound on what Weft does then holds all the same.
		t.Invalid = "etcd ended the lease late"
		t.Allowed = max(t.Allowed, t.Lease+takeoverBound-ttl)
	}
	bound := t.Allowed
	if options.rounds == 1 {
		bound += t.Allowed // among the ordinary tests, which fight for the machine
	}
	if t.Late = t.Took > t.Allowed; t.Took > bound && t.Stall == 0 && !patient {
		w.record.violate("takeover-late", "%s after the %s: %v, promised are %v (%d changes of leader); %s", t.Instance, t.Death, t.Took.Round(time.Millisecond), t.Allowed, t.Changes, t.Why)
	}
	w.deaths.mu.Lock()
	defer w.deaths.mu.Unlock()
	w.deaths.all = append(w.deaths.all, t)
}

// spread tells how takeovers are distributed, those that count first.
func spread(all []takeover) string {
	limits := []time.Duration{time.Second, 2 * time.Second, 2500 * time.Millisecond, 3 * time.Second, 3500 * time.Millisecond, takeoverBound, 3 * takeoverBound / 2, time.Hour}
	var b strings.Builder
	for _, class := range []struct {
		name string
		is   func(takeover) bool
	}{
		{"held by the lost node", func(t takeover) bool { return t.Invalid == "" && t.Changes == 0 && t.Held }},
		{"held by nobody", func(t takeover) bool { return t.Invalid == "" && t.Changes == 0 && !t.Held }},
		{"with a change of leader", func(t takeover) bool { return t.Invalid == "" && t.Changes > 0 }},
		{"after a lease that etcd ended late", func(t takeover) bool { return t.Invalid != "" && t.Outage == 0 && t.Stall == 0 }},
		{"invalid since etcd was away or the test stood still", func(t takeover) bool { return t.Outage > 0 || t.Stall > 0 }},
	} {
		counts, longest, n, late := make([]int, len(limits)), time.Duration(0), 0, 0
		for _, t := range all {
			if !class.is(t) {
				continue
			}
			n++
			longest = max(longest, t.Took)
			if t.Late {
				late++
			}
			for i, limit := range limits {
				if t.Took <= limit {
					counts[i]++
					break
				}
			}
		}
		if n == 0 {
			continue
		}
		fmt.Fprintf(&b, "  takeovers, %s: %d, longest %v, beyond the bound %d;", class.name, n, longest.Round(time.Millisecond), late)
		for i, c := range counts {
			switch {
			case c == 0:
			case i == len(limits)-1:
				fmt.Fprintf(&b, " more: %d", c)
			default:
				fmt.Fprintf(&b, " ≤%v: %d", limits[i], c)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
