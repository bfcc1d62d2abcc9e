package etcdstore

import (
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
)

// What fills etcd is told by kind, by definition and by instance: all keys are in a kind, and the sum is what is
// there. Where only some may be read the numbers of keys are right all the same, and the bytes within what is said.
func TestWhatFillsEtcdIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 120 {
		id := fmt.Sprintf("i%03d", i)
		f := w.lock(id, "a")
		c := w.first(id, f)
		c.After.Header.Name = noise(200 + i*7%50)
		if i == 7 {
			c.After.Header.Input = map[string]any{"blob": noise(60_000)}
			c.After.Header.DefinitionID = "heavy"
		}
		w.commit(c)
		w.unlock(f)
	}
	all, err := w.raw.Get(w.ctx(), w.Keys.Root, clientv3.WithPrefix())
	w.ok(err)
	keys, bytes := int64(0), int64(0)
	for _, kv := range all.Kvs {
		if !strings.HasPrefix(string(kv.Key), w.Keys.Root+record.AsideDir) {
			keys, bytes = keys+1, bytes+int64(len(kv.Key)+len(kv.Value))
		}
	}
	f, err := w.Filling(w.ctx(), lists.FillingBounds{})
	w.ok(err)
	sum := func(list []lists.Share) (keys, bytes, off int64) {
		for _, s := range list {
			keys, bytes, off = keys+s.Keys, bytes+s.Bytes, off+s.Off
		}
		return keys, bytes, off
	}
	if k, b, off := sum(f.Kinds); !f.Whole || k != keys || b != bytes || off != 0 {
		t.Errorf("whole %v: %d keys of %d, %d bytes of %d ± %d", f.Whole, k, keys, b, bytes, off)
	}
	if len(f.Largest) == 0 || f.Largest[0].Name != "i007" || f.Largest[0].Definition != "heavy" || f.Largest[0].Bytes < 45_000 {
		t.Errorf("the largest is %+v", f.Largest[:1])
	}
	if n, _, _ := sum(f.Definitions); len(f.Definitions) != 2 || f.Definitions[0].Name == "" || n != 120 {
		t.Errorf("%+v", f.Definitions)
	}
	some, err := w.Filling(w.ctx(), lists.FillingBounds{Bytes: 60 << 10})
	w.ok(err)
	k, b, off := sum(some.Kinds)
	if some.Whole || k != keys || off == 0 || b < bytes-3*off || b > bytes+3*off {
		t.Errorf("of some, whole %v: %d keys of %d, %d bytes of %d ± %d", some.Whole, k, keys, b, bytes, off)
	}
	none, err := newWorld(t).Filling(w.ctx(), lists.FillingBounds{})
	w.ok(err)
	if !none.Whole || len(none.Largest) != 0 {
		t.Errorf("%+v", none)
	}
}
