package upkeep_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// dated is what is due of one kind, as tests put it: of no instance and no definition, so that it goes when it fires.
type dated struct{ kind, key, value string }

var (
	timersDue    = dated{"timer/", "%stimer/%02x/%s/none~%s", `{"instance":"none","bookmark":"none~%s","due":%q}`}
	schedulesDue = dated{"cron/", "%scron/%02x/%s/none/%s", `{"definitionId":"none","activityId":"%s","kind":"startAt","due":%q}`}
)

// in puts one into a shard, and gives its key.
func (d dated) in(m *member, shard int, name string, due time.Time) string {
	m.T.Helper()
	key := fmt.Sprintf(d.key, m.Root, shard, fmt.Sprintf("%013d", due.UnixMilli()), name)
	m.put(key, fmt.Sprintf(d.value, name, due.UTC().Format(time.RFC3339Nano)))
	return key
}

func (m *member) put(key, value string) {
	m.T.Helper()
	if _, err := clustertest.Shared(m.T).Client(m.T).Put(m.T.Context(), key, value); err != nil {
		m.T.Fatal(err)
	}
}

// left are the keys below a prefix of the cluster.
func (m *member) left(prefix string) (keys []string) {
	m.T.Helper()
	resp, err := clustertest.Shared(m.T).Client(m.T).Get(m.T.Context(), m.Root+prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		m.T.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		keys = append(keys, strings.TrimPrefix(string(kv.Key), m.Root))
	}
	return keys
}

// begins notes where the reads of a node begin below a prefix.
type begins struct {
	mu   sync.Mutex
	keys []string // guarded by mu
}

func (m *member) begins(prefix string) *begins {
	b := &begins{}
	m.Faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if !c.Mutating {
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, key := range c.Keys {
				if strings.HasPrefix(key, m.Root+prefix) {
					b.keys = append(b.keys, key)
				}
			}
		}
		return false
	}})
	return b
}

// take gives what was noted since it was asked last.
func (b *begins) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.keys = nil }()
	return b.keys
}

// Etcd walks over what was deleted since it was last compacted. So a look reads nothing again where all has fired: it
// costs by what is due, and not by what was. What is put before that it is told of, however long before.
func TestALookBeginsWhereTheOneBeforeEnded(t *testing.T) {
	t.Parallel()
	for _, of := range []dated{timersDue, schedulesDue} {
		t.Run(of.kind, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 1, resting(noSweep))
			m := c[0]
			quiet(t, c)
			read := m.begins(of.kind)
			var fired []string
			for round := range 4 {
				read.take()
				var now []string
				for shard := range etcdstore.TimerShards {
					now = append(now, of.in(m, shard, fmt.Sprint("r", round, "-", shard), time.Now().Add(300*time.Millisecond)))
				}
				eventually(t, "all fire", func() bool { return len(m.left(of.kind)) == 0 })
				quiet(t, c) // the watches have told of all
				keys := read.take()
				for _, key := range keys {
					if shard := key[:len(m.Root+of.kind)+3]; slices.ContainsFunc(fired, func(f string) bool { return strings.HasPrefix(f, shard) && key <= f }) {
						t.Errorf("round %d: a read begins at %s, where all had fired before", round, strings.TrimPrefix(key, m.Root))
					}
				}
				if len(keys) == 0 {
					t.Errorf("round %d: no read was seen", round)
				}
				fired = append(fired, now...)
			}
			for _, ago := range []time.Duration{time.Second, time.Hour, 20 * 365 * 24 * time.Hour} {
				of.in(m, 7, fmt.Sprint("ago", ago), time.Now().Add(-ago))
				eventually(t, "what was due before fires", func() bool { return len(m.left(of.kind)) == 0 })
			}
		})
	}
}

// tellsNothing is a member of etcd whose watches of a kind of keys begin, and tell nothing.
type tellsNothing struct {
	clientv3.Watcher
	kind string
}

func (h tellsNothing) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	if strings.Contains(key, "/"+h.kind) {
		return make(clientv3.WatchChan)
	}
	return h.Watcher.Watch(ctx, key, opts...)
}

// What is put a moment late into a shard of another node is seen without its sweep, as nothing tells of it.
func TestWhatWasDueAMomentAgoInAShardOfAnotherIsSeen(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	a := newMember(t, name, "a", resting(time.Second))
	b := newMember(t, name, "b", resting(noSweep), func(c *membertest.Config) { c.Skew = func() time.Duration { return time.Hour } })
	eventually(t, "the nodes know each other", func() bool { return len(a.Session.Members()) == 2 && len(b.Session.Members()) == 2 })
	looks := a.looks()
	eventually(t, "it has looked", func() bool { return looks() > 2 })
	began := time.Now()
	a.putTimers(a.shardsOf("b"), began.Add(-time.Second))
	a.allFire()
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %v: so many shards are read from their beginning in that time", took)
	}
}

// The sweep reads each shard from its beginning: what no watch told of, in the shards of others too.
func TestTheSweepReadsEachShardFromItsBeginning(t *testing.T) {
	t.Parallel()
	for _, of := range []dated{timersDue, schedulesDue} {
		t.Run(of.kind, func(t *testing.T) {
			t.Parallel()
			name := clustertest.Namespace(t)
			a := newMember(t, name, "a", resting(50*time.Millisecond), func(c *membertest.Config) {
				c.Session = func(c *cluster.Config) {
					c.OneMachine, c.Client.Watcher = true, tellsNothing{c.Client.Watcher, of.kind}
				}
			})
			b := newMember(t, name, "b", resting(noSweep), func(c *membertest.Config) { c.Skew = func() time.Duration { return time.Hour } })
			eventually(t, "the nodes know each other", func() bool { return len(a.Session.Members()) == 2 && len(b.Session.Members()) == 2 })
			looks := a.looks()
			eventually(t, "each has looked, and reads on from there", func() bool { return looks() > 2 })
			for shard := range etcdstore.TimerShards {
				of.in(a, shard, fmt.Sprint("old", shard), time.Now().Add(-time.Hour))
			}
			eventually(t, "all fire", func() bool { return len(a.left(of.kind)) == 0 })
		})
	}
}

// Whatever stands in front of a shard, what is due behind it fires: what no program can read, what is due later than its
// key says, and what a program of before put there of the years from 2286 on.
func TestNothingInFrontOfAShardKeepsWhatIsDueBehindItFromFiring(t *testing.T) {
	t.Parallel()
	const many = 120 // more than a page
	later := time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, value := range map[string]string{
		"unreadable":    "{",
		"due later":     `{"instance":"none","bookmark":"none~f","definitionId":"none","due":"2299-01-01T00:00:00Z"}`,
		"of a new node": `{"instance":"none","bookmark":"none~f","due":"2026-01-01T00:00:00Z","neverSeen":1}`,
	} {
		for _, of := range []dated{timersDue, schedulesDue} {
			t.Run(name+" "+of.kind, func(t *testing.T) {
				t.Parallel()
				m := newCluster(t, 1, resting(noSweep))[0]
				quiet(t, []*member{m})
				for i := range many {
					m.put(fmt.Sprintf(of.key, m.Root, 3, "1600000000000", fmt.Sprint("f", i)), value)
				}
				of.in(m, 3, "behind", time.Now().Add(-time.Second))
				of.in(m, 3, "soon", time.Now().Add(time.Second))
				eventually(t, "what is behind fires", func() bool { return len(m.left(of.kind)) == many })
			})
		}
	}
	t.Run("misplaced", func(t *testing.T) {
		t.Parallel()
		name := clustertest.Namespace(t)
		a := newMember(t, name, "a", resting(300*time.Millisecond))
		b := newMember(t, name, "b", resting(noSweep), func(c *membertest.Config) { c.Skew = func() time.Duration { return time.Hour } })
		eventually(t, "the nodes know each other", func() bool { return len(a.Session.Members()) == 2 && len(b.Session.Members()) == 2 })
		for _, shard := range []int{a.shardsOf("a")[0], a.shardsOf("b")[0]} { // of the node that works, and of one that does not
			for i := range many {
				timersDue.in(a, shard, fmt.Sprint("f", i), later.Add(time.Duration(i)*time.Hour))
			}
			timersDue.in(a, shard, "never", time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))
			timersDue.in(a, shard, "behind", time.Now().Add(-time.Second))
			timersDue.in(a, shard, "soon", time.Now().Add(time.Second))
		}
		eventually(t, "all that is due fires, and what lay before it is where it belongs", func() bool {
			left := a.left("timer/")
			placed := slices.DeleteFunc(slices.Clone(left), func(key string) bool {
				return !strings.Contains(key, "/9999999999999") && !strings.Contains(key, "never")
			})
			return len(left) == 2*(many+1) && len(placed) == len(left)
		})
	})
}

// A node looks through its shards for what a program of before put into the wrong place where no look gets for years.
func TestANodeMovesMisplacedTimersWhereverTheyLie(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	first := newMember(t, name, "a", resting(noSweep))
	never := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC) // its 15 digits are like those of 2050
	for shard := range etcdstore.TimerShards {
		timersDue.in(first, shard, "never", never)
	}
	if page, err := first.Inspector.Timers(t.Context(), "", 100); err != nil || len(page.Items) != etcdstore.TimerShards {
		t.Fatalf("%+v, %v", page.Items, err)
	}
	first.Leave()
	m := newMember(t, name, "b", resting(100*time.Millisecond))
	eventually(t, "all are where they belong", func() bool {
		left := m.left("timer/")
		return len(left) == etcdstore.TimerShards && !slices.ContainsFunc(left, func(key string) bool { return !strings.Contains(key, "/9999999999999253402214400000/") })
	})
}

// What could not be fired is looked at again, and what is behind it does not wait for that.
func TestWhatCouldNotFireIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	for _, of := range []dated{timersDue, schedulesDue} {
		t.Run(of.kind, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 1, resting(noSweep))
			m := c[0]
			quiet(t, c)
			failed := m.Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Times: 3, Match: func(c clustertest.Call) bool {
				return c.Mutating && c.Touches(m.Root+of.kind)
			}})
			of.in(m, 3, "a", time.Now().Add(300*time.Millisecond))
			of.in(m, 5, "b", time.Now().Add(300*time.Millisecond))
			eventually(t, "all fire", func() bool { return len(m.left(of.kind)) == 0 })
			if failed.Fired() != 3 {
				t.Errorf("%d attempts failed", failed.Fired())
			}
		})
	}
}
