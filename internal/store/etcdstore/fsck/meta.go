package fsck

import (
	"crypto/rand"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/format"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/signouts"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// meta: what all nodes agree on can be read, and all is of this program's format.
func (f *fsck) meta() {
	f.values("meta/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		switch parts[0] {
		case "format":
			f.checkFormat(name, kv)
		case "link-key":
			f.checkLinkKey(name, kv)
		case "pause":
			if v := string(kv.Value); v != "true" && v != "false" {
				n := f.damaged(name, "it is neither true nor false: %.80q", v)
				f.replace(n, kv, ", and puts false, which is how the nodes take it").PutRaw(string(kv.Key), []byte("false"))
			}
		case "age":
			decodeCounted(f, name, kv, new(record.StoredAge))
		case "balance":
			f.checkBalance(name, kv)
		default:
			f.passing("unknown-key", name, "this program knows no such key")
		}
	})
}

// checkBalance: it can be read, and its counts fit each other. One that does not is begun
// again by the node that counts.
func (f *fsck) checkBalance(name string, kv *mvccpb.KeyValue) {
	var b store.Balance
	if !decodeCounted(f, name, kv, &b) {
		return
	}
	is := b.Difference
	b.Settle()
	switch {
	case b.Difference != is:
		f.report("balance", name, "its counts leave %d, and it says %d", b.Difference, is).Hint = "no node writes this; delete the key, and it is counted again from then on"
	case is != 0:
		f.report("balance", name, "%d of what was accepted has vanished", is).Hint = "see docs/runbooks/balance-difference.md"
	}
}

// signOuts: each says of whom it is. One that does not ends no session.
func (f *fsck) signOuts() {
	f.under("signed-out/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if _, err := signouts.ReadSignOut(strings.Join(parts, "/")); err != nil {
			f.drop(f.report("sign-out-unreadable", name, "%v; the nodes leave it out", err), name)
		}
	})
}

func (f *fsck) checkFormat(name string, kv *mvccpb.KeyValue) {
	var is format.Format
	if n := f.decodeShown(name, kv, &is); n != nil {
		return // format judges it, when all is known
	}
	if is.Version < 1 {
		f.damaged(name, "it names no version: %.80q", kv.Value)
		return
	}
	if err := format.Foreign(f.s.conn.Conn, []*mvccpb.KeyValue{kv}); err != nil {
		f.report("format", name, "%v", err).Hint = "nothing else was checked"
		f.other = true
	}
}

// format: what says the format can be made again if all that there is fits together
// as this program reads it. It is the last rule, and its repair the first: before
// nothing else can be judged.
func (f *fsck) format() {
	n := f.causes[f.below(f.s.conn.Keys.Format())]
	if n == nil {
		return
	}
	fits := len(f.causes) <= 1+len(f.kvs)/10 // damage is no sign of another format, where it is the exception
	for _, other := range f.found {
		fits = fits && (other.Rule == "damaged" || other.Passing) && !f.foreign[other.Key] && !other.newer
	}
	if !fits {
		n.Hint = "other keys do not fit either, so that all may be of another format, and nothing is repaired: run weft fsck of the version that the nodes had, or see docs/runbooks/damaged-records.md"
		for _, other := range f.found {
			other.Mend, other.Repair = nil, ""
		}
		return
	}
	name := f.below(f.s.conn.Keys.Format())
	f.values(name, 1, func(_ string, kv *mvccpb.KeyValue, _ []string) {
		f.replace(n, kv, ", and puts that of this program, as all else fits it").Put(string(kv.Key), format.ThisFormat)
		if n.Mend != nil {
			n.Mend.first = true
		}
	})
}

func (f *fsck) checkLinkKey(name string, kv *mvccpb.KeyValue) {
	var k record.LinkKey
	n := f.decodeShown(name, kv, &k)
	if n == nil && len(k.Key) < resumelink.MinKey {
		n = f.damaged(name, "it has %d bytes, which is no key", len(k.Key))
	}
	if n == nil {
		return
	}
	made := record.LinkKey{Key: make([]byte, resumelink.MinKey)}
	if _, err := rand.Read(made.Key); err != nil {
		f.err = err
		return
	}
	o := f.replace(n, kv, ", and makes a new key: resume links that were handed out are void")
	n.Hint = "restart the nodes that run, one after the other: they sign with the old key, which they read when they started"
	o.Put(string(kv.Key), made)
}
