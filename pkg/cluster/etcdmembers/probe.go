package etcdmembers

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/balancer"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/metrics"
)

// rank is how good a connection is.
type rank int32

const (
	unknown  rank = iota // it was not answered on, or not for long
	answered             // it was, and what the member does not know is missing
	fit
)

// link is one connection that is ready, until it breaks.
type link struct {
	m        *Members
	addr     string
	patience time.Duration            // how long an answer on it may take
	cc       grpc.ClientConnInterface // over this connection

	begin  sync.Once
	ctx    context.Context // of the connection
	cancel context.CancelFunc
	done   chan struct{} // closed when run has returned
	ranked atomic.Int32

	// Guarded by m.mu.

	asked       time.Time          // when the last question that was answered was asked
	silentSince time.Time          // when the first was asked that was not answered; zero: the last was
	behindSince time.Time          // zero: it is not behind
	told        *pb.StatusResponse // nil: it refuses to tell
	trip        time.Duration
	served      bool // it was fit
}

func (l *link) is() rank {
	if l == nil {
		return unknown
	}
	return rank(l.ranked.Load())
}

// probes makes the link of a connection that became ready (a [balancer.ProducerBuilder]).
type probes struct{ m *Members }

func (p *probes) Build(over any) (balancer.Producer, func()) {
	l := &link{m: p.m, patience: p.m.patience, cc: over.(grpc.ClientConnInterface), done: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l, func() {
		l.cancel()
		l.begin.Do(func() { close(l.done) }) // it never began
		<-l.done
	}
}

// begin asks on the connection until it breaks.
func (m *Members) begin(l *link, addr string) {
	l.addr = addr
	m.mu.Lock()
	m.links[l] = true
	if k := m.known[addr]; k != nil {
		l.patience = m.patience * time.Duration(1+k.again(time.Now(), m.patience))
	}
	m.mu.Unlock()
	go l.run()
}

// again is how much longer the answers on a new connection may take: a member that hangs takes
// none, so if there is one right after the last was closed, it was slow. A machine that has
// too much to do would close connections all the time.
func (k *known) again(now time.Time, patience time.Duration) int {
	switch since := now.Sub(k.cut); {
	case k.cut.IsZero() || since > calm:
		k.longer = 0
	case since < patience:
		k.longer = min(2*k.longer+1, mostLonger)
	}
	return k.longer
}

func (l *link) run() {
	defer close(l.done)
	for {
		l.ask()
		if !pace.Pause(l.ctx, l.m.patience/4) {
			break
		}
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	delete(l.m.links, l)
	if len(l.m.links) == 0 {
		l.m.term, l.m.floor, l.m.mark = 0, 0, progress{} // who comes may have been restored
	}
	l.m.judge(time.Now())
}

// ask asks the member for its state, which needs neither disk nor leader.
func (l *link) ask() {
	ctx, cancel := context.WithTimeout(l.ctx, l.patience)
	defer cancel()
	asked := time.Now()
	told, err := pb.NewMaintenanceClient(l.cc).Status(ctx, &pb.StatusRequest{})
	now := time.Now()
	if l.ctx.Err() != nil {
		return
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	switch code := status.Code(err); {
	case err == nil:
		l.answered(asked, now, told)
	case code == codes.Unavailable || code == codes.Canceled: // it is breaking
	case code != codes.DeadlineExceeded && !errors.Is(err, context.DeadlineExceeded):
		l.answered(asked, now, nil) // such as a token that has expired
	case now.Sub(asked) > l.patience+l.m.patience/2:
		// It is this process that stood still: what was answered is not read yet.
	default:
		l.unanswered(asked, now)
	}
	l.m.judge(now)
}

func (l *link) answered(asked, now time.Time, told *pb.StatusResponse) {
	l.asked, l.silentSince, l.told, l.trip = asked, time.Time{}, told, now.Sub(asked)
}

// unanswered closes the connection if the silence is the member's. m.mu is held.
func (l *link) unanswered(asked, now time.Time) {
	if l.silentSince.IsZero() {
		l.silentSince = asked
	}
	others := false
	for o := range l.m.links {
		others = others || o != l && o.silentSince.IsZero() && o.asked.Add(o.trip).After(l.silentSince)
	}
	if others || now.Sub(l.silentSince) >= aloneFactor*l.m.patience {
		l.m.metrics.LeftOut(l.addr, metrics.EtcdMemberSilent)
		if k := l.m.known[l.addr]; k != nil {
			k.cut = now
		}
		l.m.cut(l.addr)
	}
}

// judge says of each connection how good it is, from what all members told. mu is held.
func (m *Members) judge(now time.Time) {
	term, most := uint64(0), uint64(0)
	for l := range m.links {
		if l.told == nil {
			continue
		}
		most = max(most, l.told.RaftIndex)
		if l.told.Leader != 0 {
			term = max(term, l.told.RaftTerm)
		}
	}
	if term > m.term {
		if m.term > 0 {
			m.newLeader()
		}
		m.term = term
	}
	if now.Sub(m.mark.at) >= m.patience {
		m.floor, m.mark = m.mark.index, progress{most, now}
	}
	m.floor = min(m.floor, most)
	anyFit := false
	for l := range m.links {
		r := l.rate(term, m.floor)
		l.ranked.Store(int32(r))
		if r != answered {
			l.behindSince = time.Time{}
		} else if l.behindSince.IsZero() {
			l.behindSince = now
		}
		l.served = l.served || r == fit
		anyFit = anyFit || r == fit
	}
	for l := range m.links {
		if anyFit && l.served && l.is() == answered && now.Sub(l.behindSince) >= behindFactor*m.patience {
			l.served = false
			m.metrics.LeftOut(l.addr, metrics.EtcdMemberBehind)
			m.cut(l.addr)
		}
	}
	m.tell()
}

// rate ranks a connection, if the newest leader that is known is of term, and floor was
// committed some time ago.
func (l *link) rate(term, floor uint64) rank {
	switch {
	case l.asked.IsZero(), !l.silentSince.IsZero():
		return unknown
	case l.behind(term, floor) != "":
		return answered
	}
	return fit
}

// behind says why the member's answers to other calls would be missing or old.
func (l *link) behind(term, floor uint64) string {
	switch s := l.told; {
	case s == nil:
		return ""
	case s.IsLearner:
		return "it is a learner"
	case s.Leader == 0:
		return "it knows no leader"
	case s.RaftTerm < term:
		return "it knows an old leader"
	case s.RaftAppliedIndex < floor:
		return "it has not applied what was committed"
	}
	return ""
}

// tell notes for each address what its connection is like, and logs what is new. mu is held.
func (m *Members) tell() {
	now := map[string]Member{}
	for l := range m.links {
		is := Member{Address: l.addr, Answers: l.is() != unknown, Fit: l.is() == fit, RoundTrip: l.trip}
		switch l.is() {
		case unknown:
			is.Why = isSilent
		case answered:
			is.Why = l.behind(m.term, m.floor)
		}
		if l.told != nil {
			is.Version, is.Leader = l.told.Version, l.told.Leader != 0 && l.told.Leader == l.told.Header.GetMemberId()
		}
		now[l.addr] = is
	}
	for addr, k := range m.known {
		is, ok := now[addr]
		if !ok {
			is = Member{Address: addr, Why: notConnected}
			if k.Why == isSilent {
				is.Why = isSilent
			}
		}
		if is.Answers != k.Answers {
			m.metrics.Answers(addr, is.Answers)
		}
		switch {
		case is.Fit && k.told:
			m.log.Info("etcd member takes calls again", slog.String("member", addr))
			k.told = false
		case k.Fit && !is.Fit && !m.closed:
			m.log.Warn("etcd member is left out", slog.String("member", addr), slog.String("reason", is.Why))
			k.told = true
		}
		k.Member = is
	}
}
