package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// etcdFaults loses members and leaders of etcd, compacts and fills it, one after
// the other until ctx ends.
func (w *town) etcdFaults(ctx context.Context) {
	faults := []func(context.Context){
		w.moveLeader, w.moveLeader,
		func(ctx context.Context) { w.killMember(ctx, true) },
		func(ctx context.Context) { w.killMember(ctx, false) },
		func(ctx context.Context) { w.pauseMember(ctx, true) },
		func(ctx context.Context) { w.pauseMember(ctx, false) },
		w.compact, w.compact,
		w.fill,
	}
	bag := deal(w.seed, faults)
	pause := time.NewTimer(w.between(time.Second, 3*time.Second))
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		bag[0](context.WithoutCancel(ctx))
		bag = append(bag[1:], bag[0])
		pause.Reset(w.between(time.Second, 4*time.Second))
	}
}

func (w *town) moveLeader(ctx context.Context) {
	leader, err := w.quorum.leader(ctx)
	if err != nil {
		return
	}
	for _, m := range w.quorum.members {
		if m == leader {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		st, err := m.client.Status(ctx, m.config.Client)
		if err == nil {
			_, err = leader.client.MoveLeader(ctx, st.Header.MemberId)
		}
		cancel()
		if err == nil {
			w.count("leaders moved")
			return
		}
	}
}

// choose gives the leader, or one of the others.
func (w *town) choose(ctx context.Context, leads bool) *etcdMember {
	leader, err := w.quorum.leader(ctx)
	if err != nil {
		return nil
	}
	if leads {
		return leader
	}
	for {
		if m := w.quorum.members[w.draw(len(w.quorum.members))]; m != leader {
			return m
		}
	}
}

func (w *town) killMember(ctx context.Context, leads bool) {
	m := w.choose(ctx, leads)
	if m == nil {
		return
	}
	m.process().kill()
	w.count(map[bool]string{true: "etcd leaders killed", false: "etcd followers killed"}[leads])
	<-time.After(w.between(200*time.Millisecond, 3*time.Second))
	if err := w.quorum.run(m); err != nil {
		w.record.violate("harness", "%v", err)
		return
	}
	w.answers(ctx, m)
}

func (w *town) pauseMember(ctx context.Context, leads bool) {
	m := w.choose(ctx, leads)
	if m == nil {
		return
	}
	if err := m.process().stop(); err != nil {
		w.record.violate("harness", "pause etcd: %v", err)
		return
	}
	w.count(map[bool]string{true: "etcd leaders paused", false: "etcd followers paused"}[leads])
	<-time.After(w.between(500*time.Millisecond, 4*time.Second))
	m.process().resume()
	w.answers(ctx, m)
}

// answers waits until a member is there again.
func (w *town) answers(ctx context.Context, m *etcdMember) {
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		ctx, cancel := context.WithTimeout(ctx, answersSoon)
		_, err := m.client.Get(ctx, "hello")
		cancel()
		if err == nil {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
	w.record.violate("harness", "%s did not come back:\n%s", m.config.Name, m.process().tail())
}

// compact takes away all history that the test has seen: a watch that is behind
// breaks.
func (w *town) compact(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := w.direct.Compact(ctx, w.history.seen.Load()); err == nil {
		w.count("compactions")
	}
}

// fill writes until etcd's quota is reached, and some time later does what the
// runbook says: compact, defragment, disarm.
func (w *town) fill(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	junk := strings.Repeat("x", 1<<20)
	for i := 0; ; i++ {
		_, err := w.direct.Txn(ctx).Then(clientv3.OpPut(fmt.Sprintf("junk/%d", i), junk), clientv3.OpPut(w.history.root+junkSentinel, "")).Commit()
		if errors.Is(err, rpctypes.ErrNoSpace) {
			break
		}
		if ctx.Err() != nil {
			w.record.violate("harness", "etcd was not filled: %v", err)
			break
		}
	}
	w.witness.full(true)
	w.count("quota reached")
	<-time.After(w.between(300*time.Millisecond, 2*time.Second))
	for {
		err := w.empty(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			w.record.violate("harness", "etcd was not emptied: %v", err)
			break
		}
		<-time.After(100 * time.Millisecond)
	}
	w.witness.full(false)
	w.count("quota recovered")
}

// junkSentinel is written with the junk and deleted with it, so that the history
// knows the revisions up to which it may be compacted.
const junkSentinel = "sentinel/junk"

func (w *town) empty(ctx context.Context) error {
	gone, err := w.direct.Txn(ctx).Then(clientv3.OpDelete("junk/", clientv3.WithPrefix()), clientv3.OpDelete(w.history.root+junkSentinel)).Commit()
	if err != nil {
		return err
	}
	for deleted := gone.Responses[0].GetResponseDeleteRange().Deleted; deleted > 0 && w.history.seen.Load() < gone.Header.Revision; {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if _, err := w.direct.Compact(ctx, w.history.seen.Load(), clientv3.WithCompactPhysical()); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return err
	}
	for _, m := range w.quorum.members {
		if _, err := m.client.Defragment(ctx, m.config.Client); err != nil {
			return err
		}
	}
	// A write that was on its way when the space ran out raises the alarm again.
	for calm := time.Now(); time.Since(calm) < time.Second; {
		alarms, err := w.direct.AlarmList(ctx)
		if err != nil {
			return err
		}
		if len(alarms.Alarms) > 0 {
			calm = time.Now()
			if _, err := w.direct.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
				return err
			}
		}
		<-time.After(50 * time.Millisecond)
	}
	_, err = w.direct.Put(ctx, "junk/last", "")
	return err
}

// networkFaults delay and reset connections between nodes and etcd.
func (w *town) networkFaults(ctx context.Context) {
	pause := time.NewTimer(w.between(time.Second, 3*time.Second))
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		s := w.slots[w.draw(len(w.slots))]
		name, kind, attributes, lasts := "connections delayed", "latency", `{"latency": 60, "jitter": 50}`, w.between(300*time.Millisecond, 1500*time.Millisecond)
		if w.draw(2) == 0 {
			name, kind, attributes, lasts = "connections reset", "reset_peer", `{"timeout": 0}`, 100*time.Millisecond
		}
		undo, err := s.route.spoil(kind, attributes, bothWays)
		if err != nil {
			w.record.violate("harness", "%s: %v", name, err)
		}
		<-time.After(lasts)
		undo()
		w.count(name)
		pause.Reset(w.between(500*time.Millisecond, 3*time.Second))
	}
}
