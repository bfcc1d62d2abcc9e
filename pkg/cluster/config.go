package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/metrics"
)

// The coordination modes of a node.
const (
	ModeDistributed = "distributed"
	ModeLocal       = "local"
)

// MinTTL is the shortest session that may be asked for. etcd grants no less
// than 1.5 election timeouts anyway, 2 s by default.
const MinTTL = 2 * time.Second

// Config is what [Open] needs.
type Config struct {
	// Client takes and releases locks, watches, and reads. Dial it with
	// MaxUnaryRetries 1: a client that repeats a mutation on its own reports an
	// applied transaction as refused. Required.
	Client *clientv3.Client
	// LeaseClient grants, renews and revokes the session's lease and does
	// nothing else, so that long lists and watches cannot delay a renewal.
	// Client is used if it is nil.
	LeaseClient *clientv3.Client

	Cluster string // name of the cluster; see [Root]. Required.
	NodeID  string // unique in the cluster. Required.
	Address string // where other nodes and people reach this one
	Version string // of the program
	// Program is a digest of what the program can run, equal for programs that can
	// run the same; Abilities say what that is. They are what [Session.Able] compares.
	Program   string
	Abilities []string
	Reads     int    // the newest form of records that the program reads; see [Session.AllRead]
	Mode      string // [ModeDistributed] (also if empty) or [ModeLocal]

	// TTL of the session, at least [MinTTL], in whole seconds (rounded up). What
	// etcd grants counts; see [Epoch.TTL].
	TTL time.Duration

	// OneMachine says that all nodes of the cluster are processes of this machine,
	// and have its clock: there is none to compare.
	OneMachine bool

	// Now is the wall clock that this node shows the others, default [time.Now].
	// Leases and time limits do not go by it.
	Now     func() time.Time
	Logger  *slog.Logger     // slog.Default() if nil
	Metrics *metrics.Metrics // may be nil
}

func (c Config) withDefaults() (Config, error) {
	var errs []error
	if c.Client == nil {
		errs = append(errs, errors.New("an etcd client is required"))
	}
	if c.LeaseClient == nil {
		c.LeaseClient = c.Client
	}
	if c.Cluster == "" || strings.Contains(c.Cluster, "/") {
		errs = append(errs, fmt.Errorf("cluster name %q: it must not be empty or contain a slash", c.Cluster))
	}
	if c.NodeID == "" || strings.Contains(c.NodeID, "/") {
		errs = append(errs, fmt.Errorf("node id %q: it must not be empty or contain a slash", c.NodeID))
	}
	switch c.Mode {
	case "":
		c.Mode = ModeDistributed
	case ModeDistributed, ModeLocal:
	default:
		errs = append(errs, fmt.Errorf("mode %q: it must be %q or %q", c.Mode, ModeDistributed, ModeLocal))
	}
	if c.TTL < MinTTL {
		errs = append(errs, fmt.Errorf("session TTL %v: it must be at least %v", c.TTL, MinTTL))
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if err := errors.Join(errs...); err != nil {
		return c, fmt.Errorf("cluster configuration: %w", err)
	}
	return c, nil
}

// ttlSeconds is the TTL as etcd takes it.
func (c Config) ttlSeconds() int64 { return int64((c.TTL + time.Second - 1) / time.Second) }

// Root is the prefix of every key of a cluster.
func Root(cluster string) string { return "/weft/" + cluster + "/" }
