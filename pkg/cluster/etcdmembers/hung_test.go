package etcdmembers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/metrics"
)

const ttl = 10 * time.Second

// dialed is a client whose members are looked at.
type dialed struct {
	*clientv3.Client
	members *Members
	gauges  *prometheus.Registry
}

func dialMembers(t *testing.T, change func(*Members), endpoints ...string) *dialed {
	t.Helper()
	reg := prometheus.NewRegistry()
	counts, err := metrics.New(reg)
	if err != nil {
		t.Fatal(err)
	}
	m := New(Config{SessionTTL: ttl, Metrics: counts})
	if change != nil {
		change(m)
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 5 * time.Second, MaxUnaryRetries: 1, Logger: zap.NewNop(), DialOptions: m.DialOptions()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		if err := c.Close(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return &dialed{c, m, reg}
}

// fit waits until so many members take calls.
func (d *dialed) fit(t *testing.T, n int) {
	t.Helper()
	polltest.Eventually(t, fmt.Sprintf("%d members take calls", n), func() bool {
		got := 0
		for _, m := range d.members.Members() {
			if m.Fit {
				got++
			}
		}
		return got == n
	})
}

// answering reads the metric.
func (d *dialed) answering(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := d.gauges.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if f.GetName() == "weft_etcd_member_answers" {
			for _, s := range f.GetMetric() {
				got[s.GetLabel()[0].GetValue()] = s.GetGauge().GetValue()
			}
		}
	}
	return got
}

// pulse is how late this process is at most, until it is asked: a time limit is worth as
// much as the machine.
func pulse(t *testing.T) func() time.Duration {
	t.Helper()
	done, late := make(chan struct{}), atomic.Int64{}
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for last := time.Now(); ; {
			select {
			case <-done:
				return
			case <-tick.C:
				late.Store(max(late.Load(), int64(time.Since(last)-10*time.Millisecond)))
				last = time.Now()
			}
		}
	})
	t.Cleanup(func() { close(done); wg.Wait() })
	return func() time.Duration { return time.Duration(late.Load()) }
}

// Each member in turn stops to answer: reads are answered all the same, writes are
// answered or unknown, nothing takes a second, and the member comes back.
func TestAMemberThatHangsCostsNoCallASecond(t *testing.T) {
	etcd := clustertest.Start(t)
	var proxies []*clustertest.Proxy
	var endpoints []string
	for range 3 {
		proxies = append(proxies, etcd.Proxy(t))
		endpoints = append(endpoints, proxies[len(proxies)-1].Endpoint())
	}
	d := dialMembers(t, nil, endpoints...)
	for i, hangs := range proxies {
		if _, err := d.Get(t.Context(), "hello"); err != nil {
			t.Fatal(err)
		}
		d.fit(t, 3)
		late := pulse(t)
		addr := strings.TrimPrefix(hangs.Endpoint(), "http://")
		hangs.BlackHole()
		began := time.Now()
		var calls sync.WaitGroup
		for j := range 60 {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var err error
				if j%2 == 0 {
					_, err = d.Get(ctx, "key")
				} else if _, err = d.Put(ctx, fmt.Sprint("key-", j), "value"); status.Code(err) == codes.Unavailable {
					err = nil // unknown, and told
				}
				if err != nil {
					t.Errorf("member %d, call %d: %v", i, j, err)
				}
			})
		}
		calls.Wait()
		if took := time.Since(began); took > time.Second+10*late() {
			t.Errorf("member %d: the calls took %v", i, took)
		}
		polltest.Eventually(t, "the metric says which", func() bool {
			a := d.answering(t)
			return len(a) == 3 && a[addr] == 0
		})
		for range 30 { // it is left out: nothing waits any more
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond+10*late())
			if _, err := d.Put(ctx, "after", ""); err != nil {
				t.Errorf("member %d: %v", i, err)
			}
			cancel()
		}
		for _, m := range d.members.Members() {
			if (m.Address == addr) == m.Answers || (m.Why == "") == (m.Address == addr) {
				t.Errorf("%s hangs, and it says %+v", addr, m)
			}
		}
		hangs.Heal()
		d.fit(t, 3)
		if a := d.answering(t); a[addr] != 1 {
			t.Errorf("it is back, and the metric says %v", a)
		}
	}
}

// A watch goes on from where it was, over another member.
func TestAWatchLeavesAMemberThatHangs(t *testing.T) {
	etcd := clustertest.Start(t)
	direct := etcd.Client(t)
	a, b := etcd.Proxy(t), etcd.Proxy(t)
	d := dialMembers(t, nil, a.Endpoint(), b.Endpoint())
	events := d.Watch(clientv3.WithRequireLeader(t.Context()), "key", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	if r := <-events; r.Err() != nil {
		t.Fatal(r.Err())
	}
	next := 0
	for range 2 { // it is on one of them
		for _, hangs := range []*clustertest.Proxy{a, b} {
			d.fit(t, 2)
			hangs.BlackHole()
			if _, err := direct.Put(t.Context(), fmt.Sprint("key", next), ""); err != nil {
				t.Fatal(err)
			}
			select {
			case r := <-events:
				if len(r.Events) != 1 || string(r.Events[0].Kv.Key) != fmt.Sprint("key", next) {
					t.Fatalf("told %v, %v", r.Events, r.Err())
				}
			case <-time.After(30 * time.Second):
				t.Fatal("the watch hangs with its member")
			}
			next++
			hangs.Heal()
		}
	}
}

// What was not there from the start does not hold up the start.
func TestAMemberThatHangsFromTheStartIsNotWaitedFor(t *testing.T) {
	etcd := clustertest.Start(t)
	a, b := etcd.Proxy(t), etcd.Proxy(t)
	a.BlackHole()
	defer a.Heal()
	d := dialMembers(t, nil, a.Endpoint(), b.Endpoint())
	late, began := pulse(t), time.Now()
	for range 10 {
		if _, err := d.Put(t.Context(), "key", ""); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > time.Second+10*late() {
		t.Errorf("the first calls took %v", took)
	}
}

// turns is a load balancer that knows nothing of health: one connection here, the next
// one there.
func turns(t *testing.T, backends ...*clustertest.Proxy) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	pipe := func(from, to net.Conn) {
		defer from.Close()
		defer to.Close()
		buf := make([]byte, 4096)
		for {
			n, err := from.Read(buf)
			if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	}
	wg.Go(func() {
		for i := 0; ; i++ {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(backends[i%len(backends)].Endpoint(), "http://"))
			if err != nil {
				in.Close()
				continue
			}
			mu.Lock()
			open = append(open, in, out)
			mu.Unlock()
			wg.Go(func() { pipe(in, out) })
			wg.Go(func() { pipe(out, in) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

func TestBehindALoadBalancerAnotherConnectionIsTried(t *testing.T) {
	etcd := clustertest.Start(t)
	a, b := etcd.Proxy(t), etcd.Proxy(t)
	d := dialMembers(t, nil, turns(t, a, b))
	if _, err := d.Get(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	d.fit(t, 1)
	late, began := pulse(t), time.Now()
	a.BlackHole()
	defer a.Heal()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := d.Get(ctx, "key"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 3*time.Second+10*late() {
		t.Errorf("it took %v", took)
	}
}

// A single etcd that stands still for a while is waited for.
func TestTheOnlyMemberIsWaitedFor(t *testing.T) {
	etcd := clustertest.Start(t)
	p := etcd.Proxy(t)
	d := dialMembers(t, nil, p.Endpoint())
	if _, err := d.Get(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	d.fit(t, 1)
	p.BlackHole()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	time.AfterFunc(aloneFactor*d.members.patience/2, p.Heal)
	if _, err := d.Put(ctx, "key", ""); err != nil {
		t.Errorf("a pause that was shorter than %v: %v", aloneFactor*d.members.patience, err)
	}
}

// A name with several addresses leads to each of them.
func TestANameOfWhichOneAddressHangsLeadsToAnother(t *testing.T) {
	etcd := clustertest.Start(t)
	p := etcd.Proxy(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.Endpoint(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.2:"+port) // it accepts, and says nothing
	if err != nil {
		t.Skip(err)
	}
	defer silent.Close()
	names := func(m *Members) {
		m.lookup = func(_ context.Context, host string) ([]string, error) {
			if host != "etcd.example" {
				return nil, fmt.Errorf("asked for %q", host)
			}
			return []string{"127.0.0.2", "127.0.0.1"}, nil
		}
	}
	d := dialMembers(t, names, "http://etcd.example:"+port)
	late, began := pulse(t), time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := d.Get(ctx, "key"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 3*time.Second+10*late() {
		t.Errorf("it took %v", took)
	}
}

// On a machine that has too much to do each member is silent at times: connections are not
// closed again and again for it.
func TestAMemberThatComesBackAtOnceGetsMoreTime(t *testing.T) {
	t.Parallel()
	const patience = time.Second
	now, k := time.Now(), &known{}
	for i, c := range []struct {
		after time.Duration // the last connection was closed
		want  int
	}{{0, 1}, {patience - 1, mostLonger}, {0, mostLonger}, {patience, mostLonger}, {calm, mostLonger}, {calm + 1, 0}, {patience, 0}, {10, 1}} {
		k.cut = now.Add(-c.after)
		if got := k.again(now, patience); got != c.want {
			t.Errorf("step %d: %d times as long more, want %d", i, got, c.want)
		}
	}
	if got := (&known{}).again(now, patience); got != 0 {
		t.Errorf("the first connection: %d", got)
	}
}
