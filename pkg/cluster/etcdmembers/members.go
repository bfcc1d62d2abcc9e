package etcdmembers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/weft-run/weft/pkg/metrics"
)

// Config is what [New] needs.
type Config struct {
	// SessionTTL is what the times are parts of.
	SessionTTL time.Duration
	Log        *slog.Logger     // slog.Default() if nil
	Metrics    *metrics.Metrics // may be nil
}

// Members are the members of etcd as one client sees them. Make it with [New].
type Members struct {
	id       string
	log      *slog.Logger
	metrics  *metrics.EtcdMembers
	patience time.Duration                                            // how long an answer may take
	lookup   func(ctx context.Context, host string) ([]string, error) // changed by tests only
	probes   *probes

	main    atomic.Pointer[chooser] // nil: the client is not there yet
	age     atomic.Pointer[age]     // the calls of now
	renewed atomic.Int64            // when a renewal was begun, last

	mu     sync.Mutex
	links  map[*link]bool               // guarded by mu
	known  map[string]*known            // by address; guarded by mu
	conns  map[string]map[net.Conn]bool // by address; guarded by mu
	silent map[string]time.Time         // by remote address: when a connection to it was last given up; guarded by mu
	term   uint64                       // the newest with a leader; guarded by mu
	floor  uint64                       // what was committed at least one patience ago; guarded by mu
	mark   progress                     // what becomes the floor; guarded by mu
	closed bool                         // guarded by mu
}

// progress is how far etcd's log was committed.
type progress struct {
	index uint64
	at    time.Time
}

// Member is a member of etcd, or what answers at an endpoint.
type Member struct {
	Address   string        // the endpoint's host and port, or its socket
	Answers   bool          // it was asked a moment ago, and answered
	Fit       bool          // calls go to it
	Why       string        // it does not answer or is not fit
	RoundTrip time.Duration // of the last answer; 0: there was none
	Leader    bool
	Version   string // of etcd; "": it was not told
}

// known is what was last said of an address.
type known struct {
	Member
	told   bool      // the log was told that it does not answer, or is not fit
	cut    time.Time // when a connection to it was last closed for its silence
	longer int       // its answers may take so many times patience, and patience
}

// The bounds of patience, and the other times as multiples of it.
const (
	leastPatience = 300 * time.Millisecond
	mostPatience  = time.Second
	partOfTTL     = 25
	aloneFactor   = 4 // nobody else answers: silence has to last longer
	mostLonger    = 3
	calm          = time.Minute // without a connection that was closed too soon
	behindFactor  = 2
)

// afterLeader is how long calls that were made before a new leader was seen may
// still be answered.
const afterLeader = 100 * time.Millisecond

var last atomic.Int64 // id of Members

// registered has every Members that is not closed, by id: gRPC makes the balancer of a
// client, and can be told no more about it than text.
var registered sync.Map

// New makes a Members. It starts nothing before a client is made with its options.
func New(cfg Config) *Members {
	m := &Members{
		id: strconv.FormatInt(last.Add(1), 10), metrics: metrics.EtcdMembersOf(cfg.Metrics), log: cmp.Or(cfg.Log, slog.Default()),
		lookup:   net.DefaultResolver.LookupHost,
		patience: min(max(cfg.SessionTTL/partOfTTL, leastPatience), mostPatience),
		links:    map[*link]bool{}, known: map[string]*known{}, conns: map[string]map[net.Conn]bool{}, silent: map[string]time.Time{},
	}
	m.probes = &probes{m}
	m.age.Store(newAge())
	registered.Store(m.id, m)
	return m
}

// DialOptions are for the client, behind others that it has.
func (m *Members) DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		// The client asks for round robin; this is instead of it.
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(fmt.Sprintf(`{"loadBalancingConfig": [{%q: {"members": %q}}]}`, balancerName, m.id)),
		grpc.WithContextDialer(m.dial),
		// A process that hangs still accepts connections, and says nothing on them.
		grpc.WithConnectParams(grpc.ConnectParams{
			MinConnectTimeout: 2*m.patience + 200*time.Millisecond,
			Backoff:           backoff.Config{BaseDelay: m.patience / 2, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second},
		}),
		grpc.WithChainUnaryInterceptor(m.call),
		grpc.WithChainStreamInterceptor(m.stream),
	}
}

// Close is to be called before the client is closed. It ends the calls under way.
func (m *Members) Close() {
	registered.Delete(m.id)
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.age.Load().end(context.Canceled)
}

// Members are those of the client's endpoints, by address.
func (m *Members) Members() []Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]Member, 0, len(m.known))
	for _, k := range m.known {
		all = append(all, k.Member)
	}
	slices.SortFunc(all, func(a, b Member) int { return cmp.Compare(a.Address, b.Address) })
	return all
}

// endpoints says which addresses there are.
func (m *Members) endpoints(addresses []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for a := range m.known {
		if !slices.Contains(addresses, a) {
			delete(m.known, a)
			m.metrics.Gone(a)
		}
	}
	for _, a := range addresses {
		if m.known[a] == nil {
			m.known[a] = &known{Member: Member{Address: a, Why: notConnected}}
			m.metrics.Answers(a, false)
		}
	}
}

const (
	notConnected = "there is no connection to it"
	isSilent     = "it does not answer"
)
