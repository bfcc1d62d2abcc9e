package etcdstore

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/store"
)

// Without the lock, or with one that was lost, nothing of an instance is removed.
func TestRemoveWantsTheLock(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"damaged": "junk", "whole": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sound(t)
			if value != "" {
				_, err := w.raw.Put(w.ctx(), w.keys.instance("i"), value)
				w.ok(err)
			}
			lost := w.lock("i", "2")
			_, err := w.raw.Delete(w.ctx(), lost.Key)
			w.ok(err)
			before, err := w.raw.Get(w.ctx(), w.keys.root, clientv3.WithPrefix(), clientv3.WithCountOnly())
			w.ok(err)
			if err := w.Remove(w.ctx(), lost, "i", w.now); !errors.Is(err, store.ErrFenced) {
				t.Errorf("with a lost lock: %v", err)
			}
			after, err := w.raw.Get(w.ctx(), w.keys.root, clientv3.WithPrefix(), clientv3.WithCountOnly())
			w.ok(err)
			if after.Count != before.Count {
				t.Errorf("%d of %d keys are left", after.Count, before.Count)
			}
			w.ok(w.Remove(w.ctx(), w.lock("i", "3"), "i", w.now))
			w.ok(w.Remove(w.ctx(), w.lock("i", "4"), "i", w.now)) // nothing is there
			if r, err := w.Load(w.ctx(), "i", "", ""); err != nil || r.Record != nil {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
