package etcdstore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/format"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestAClusterOfAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	client := clustertest.Start(t).Client(t)
	s, err := New(Config{Client: client, Root: "/weft/" + clustertest.Namespace(t) + "/"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.CheckFormat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Put(t.Context(), s.conn.Keys.Format(), `{"version":99,"shards":64,"timerShards":16,"newer":true}`); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckFormat(t.Context()); err == nil || !strings.Contains(err.Error(), "format 99") {
		t.Errorf("got %v", err)
	}
}

// A program that runs notices another format, by the watch and by the sweep behind
// it, and its store does nothing from then on.
func TestAFormatThatChangesUnderARunningNode(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*clientv3.Client, string) error{
		"migrated": func(c *clientv3.Client, key string) error {
			_, err := c.Put(t.Context(), key, `{"version":99,"shards":64,"timerShards":16}`)
			return err
		},
		"gone": func(c *clientv3.Client, key string) error {
			_, err := c.Delete(t.Context(), key)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := clustertest.Shared(t).Client(t)
			s, err := New(Config{Client: client, Root: "/weft/" + clustertest.Namespace(t) + "/"})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.CheckFormat(t.Context()); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- s.KeepFormat(t.Context()) }()
			if _, err := s.Reader.Instance(t.Context(), "i"); err != nil {
				t.Fatal(err)
			}
			if err := change(client, s.conn.Keys.Format()); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				if err == nil {
					t.Error("it ended without a reason")
				}
			case <-time.After(20 * time.Second): // sooner than the sweep
				t.Fatal("it did not notice")
			}
			if err := s.Stimuli.PutSend(t.Context(), store.Send{ID: "s"}, nil); workflow.CodeOf(err) != workflow.CodeUnavailable || errors.Is(err, db.ErrUnknown) {
				t.Errorf("a write: %v", err)
			}
			if _, err := s.Reader.Instance(t.Context(), "i"); workflow.CodeOf(err) != workflow.CodeUnavailable {
				t.Errorf("a read: %v", err)
			}
		})
	}
}

// A format that cannot be read ends no node that runs; one that is another does, also
// after that.
func TestADamagedFormatEndsNoRunningNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.CheckFormat(w.ctx()))
	looked := func(times int) {
		polltest.Eventually(t, "it looks", func() bool { return w.faults.Calls("get") >= times })
	}
	before := w.faults.Calls("get")
	ended := make(chan error, 1)
	go func() { ended <- w.KeepFormat(w.ctx()) }()
	looked(before + 1)
	w.spoil(w.Keys.Format(), []byte("junk"))
	polltest.Eventually(t, "it has read it", func() bool { return w.Store.conn.Said.Load() != 0 || len(ended) > 0 })
	w.spoil(w.Keys.Format(), []byte(`{"version":99}`))
	if err := <-ended; !errors.Is(err, format.ErrFormat) || errors.Is(err, db.ErrDamaged) {
		t.Errorf("it ended with %v", err)
	}
}

// It ends without an error when the node does.
func TestTheWatchOfTheFormatEndsWithTheNode(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Client: clustertest.Shared(t).Client(t), Root: "/weft/" + clustertest.Namespace(t) + "/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckFormat(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.KeepFormat(ctx) }()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
