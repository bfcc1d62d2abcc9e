package etcdmembers

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// member answers as a member of etcd does, but for what a test wants otherwise: a real
// one cannot be made to fall behind and still answer.
type member struct {
	pb.UnimplementedKVServer
	pb.UnimplementedMaintenanceServer

	addr    string
	state   atomic.Pointer[pb.StatusResponse]
	hold    atomic.Pointer[chan struct{}] // reads and writes wait for it
	reads   atomic.Int64
	writes  atomic.Int64
	refuses atomic.Bool // to say how it is
}

func newMember(t *testing.T, id uint64) *member {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &member{addr: l.Addr().String()}
	m.is(func(s *pb.StatusResponse) { s.Header = &pb.ResponseHeader{MemberId: id}; s.Version = "3.7.3" })
	s := grpc.NewServer()
	pb.RegisterKVServer(s, m)
	pb.RegisterMaintenanceServer(s, m)
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) }) // it ends with Stop
	t.Cleanup(func() { s.Stop(); wg.Wait() })
	return m
}

// is changes its state.
func (m *member) is(change func(*pb.StatusResponse)) {
	s := &pb.StatusResponse{Leader: 1, RaftTerm: 2, RaftIndex: 100, RaftAppliedIndex: 100}
	if old := m.state.Load(); old != nil {
		s = &pb.StatusResponse{Header: old.Header, Version: old.Version, Leader: old.Leader, RaftTerm: old.RaftTerm, RaftIndex: old.RaftIndex, RaftAppliedIndex: old.RaftAppliedIndex, IsLearner: old.IsLearner}
	}
	change(s)
	m.state.Store(s)
}

func (m *member) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	if m.refuses.Load() {
		return nil, status.Error(codes.Unauthenticated, "etcdserver: invalid auth token")
	}
	return m.state.Load(), nil
}

func (m *member) wait(ctx context.Context) error {
	if hold := m.hold.Load(); hold != nil {
		select {
		case <-*hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (m *member) Range(ctx context.Context, _ *pb.RangeRequest) (*pb.RangeResponse, error) {
	m.reads.Add(1)
	return &pb.RangeResponse{Header: &pb.ResponseHeader{}}, m.wait(ctx)
}

func (m *member) Put(ctx context.Context, _ *pb.PutRequest) (*pb.PutResponse, error) {
	m.writes.Add(1)
	return &pb.PutResponse{Header: &pb.ResponseHeader{}}, m.wait(ctx)
}

// two members of one cluster.
func two(t *testing.T) (a, b *member, d *dialed) {
	t.Helper()
	a, b = newMember(t, 1), newMember(t, 2)
	d = dialMembers(t, nil, "http://"+a.addr, "http://"+b.addr)
	if _, err := d.Get(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	d.fit(t, 2)
	return a, b, d
}

func TestAMemberThatIsBehindGetsNoCalls(t *testing.T) {
	for name, c := range map[string]struct {
		is  func(*pb.StatusResponse)
		why string
	}{
		"it lost its leader":       {func(s *pb.StatusResponse) { s.Leader = 0 }, "it knows no leader"},
		"it holds an old one":      {func(s *pb.StatusResponse) { s.RaftTerm-- }, "it knows an old leader"},
		"its disk stands still":    {func(s *pb.StatusResponse) { s.RaftAppliedIndex -= 10 }, "it has not applied what was committed"},
		"it is a learner":          {func(s *pb.StatusResponse) { s.IsLearner = true }, "it is a learner"},
		"its leader is one of old": {func(s *pb.StatusResponse) { s.RaftTerm -= 2; s.Leader = 7 }, "it knows an old leader"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, d := two(t)
			hold := make(chan struct{})
			b.hold.Store(&hold)
			late := pulse(t)
			inHand := make(chan error, 2)
			for range 2 { // one of them is b's
				go func() {
					_, err := d.Put(context.WithoutCancel(t.Context()), "key", "")
					inHand <- err
				}()
			}
			polltest.Eventually(t, "both are under way", func() bool { return a.writes.Load()+b.writes.Load() == 2 && b.writes.Load() > 0 })
			a.is(func(s *pb.StatusResponse) { s.RaftIndex, s.RaftAppliedIndex = 105, 105 })
			b.is(c.is)
			d.fit(t, 1)
			for _, m := range d.members.Members() {
				if m.Address == b.addr && (!m.Answers || m.Why != c.why) {
					t.Errorf("it is %+v, want %q", m, c.why)
				}
			}
			was := b.reads.Load()
			for range 10 {
				if _, err := d.Get(t.Context(), "key"); err != nil {
					t.Error(err)
				}
			}
			if n := b.reads.Load() - was; n > 0 {
				t.Errorf("it was asked %d times", n)
			}
			began := time.Now()
			for range 2 {
				if err := <-inHand; err != nil && status.Code(err) != codes.Unavailable {
					t.Errorf("a write in its hands: %v", err)
				}
			}
			if took := time.Since(began); took > 3*time.Second+10*late() {
				t.Errorf("the write in its hands took %v", took)
			}
			if n := a.writes.Load() + b.writes.Load(); n != 2 {
				t.Errorf("2 writes were sent %d times", n)
			}
			close(hold)
			b.is(func(s *pb.StatusResponse) {
				s.Leader, s.RaftTerm, s.RaftIndex, s.RaftAppliedIndex, s.IsLearner = 1, 2, 105, 105, false
			})
			d.fit(t, 2)
		})
	}
}

// With nobody who is better, a member that is behind is asked.
func TestWithoutAFitMemberCallsGoOn(t *testing.T) {
	a, b, d := two(t)
	for _, m := range []*member{a, b} {
		m.is(func(s *pb.StatusResponse) { s.Leader = 0 })
	}
	d.fit(t, 0)
	for range 5 {
		if _, err := d.Get(t.Context(), "key"); err != nil {
			t.Error(err)
		}
	}
	for _, m := range d.members.Members() {
		if !m.Answers {
			t.Errorf("%+v", m)
		}
	}
}

// Who refuses to say how it is answers, and takes calls: its token may have expired.
func TestAMemberThatRefusesToTellIsFit(t *testing.T) {
	a, b := newMember(t, 1), newMember(t, 2)
	a.refuses.Store(true)
	b.refuses.Store(true)
	d := dialMembers(t, nil, "http://"+a.addr, "http://"+b.addr)
	if _, err := d.Get(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	d.fit(t, 2)
}

// What was on its way to the old leader is lost: reads are asked again, writes are
// unknown.
func TestWithANewLeaderCallsOfTheOldOneEnd(t *testing.T) {
	a, b, d := two(t)
	late := pulse(t)
	hold := make(chan struct{})
	defer close(hold)
	a.hold.Store(&hold)
	b.hold.Store(&hold)
	read, write := make(chan error, 1), make(chan error, 1)
	go func() { _, err := d.Get(context.WithoutCancel(t.Context()), "key"); read <- err }()
	go func() { _, err := d.Put(context.WithoutCancel(t.Context()), "key", ""); write <- err }()
	was := a.reads.Load() + b.reads.Load()
	polltest.Eventually(t, "both are under way", func() bool { return a.reads.Load()+b.reads.Load() >= was && a.writes.Load()+b.writes.Load() == 1 })
	began := time.Now()
	a.hold.Store(nil)
	b.hold.Store(nil)
	for _, m := range []*member{a, b} {
		m.is(func(s *pb.StatusResponse) { s.Leader, s.RaftTerm = 2, 3 })
	}
	if err := <-write; status.Code(err) != codes.Unavailable {
		t.Errorf("the write: %v", err)
	}
	if err := <-read; err != nil {
		t.Errorf("the read: %v", err)
	}
	if took := time.Since(began); took > time.Second+10*late() {
		t.Errorf("they took %v", took)
	}
	if n := a.writes.Load() + b.writes.Load(); n != 1 {
		t.Errorf("a write was sent %d times", n)
	}
}

// What is restored counts from anew.
func TestAnEtcdThatIsRestoredIsNotBehindItself(t *testing.T) {
	a, b, d := two(t)
	for _, m := range []*member{a, b} {
		m.is(func(s *pb.StatusResponse) { s.RaftIndex, s.RaftAppliedIndex = 7, 7 })
	}
	polltest.Eventually(t, "it has seen that", func() bool {
		d.members.mu.Lock()
		defer d.members.mu.Unlock()
		return d.members.floor == 7
	})
	d.fit(t, 2)
}

func TestMain(m *testing.M) { os.Exit(clustertest.RunClean(m)) }
