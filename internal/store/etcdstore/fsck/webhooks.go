package fsck

import (
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
)

// webhooks: each can be read and says how far it is, commits know which are told of incidents,
// and what is to be told belongs to one.
func (f *fsck) webhooks() {
	is, wants := map[string]*store.Webhook{}, map[string]bool{}
	f.values("webhook/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		w := &store.Webhook{Created: kv.CreateRevision}
		n := f.decode(name, kv, w)
		if n == nil && w.Name != parts[0] {
			n = f.damaged(name, "it says that it is webhook %q", w.Name)
		}
		is[parts[0]] = w
		if n != nil {
			f.setAside(n, kv)
			n.Hint = "put it again: PUT /api/v1/webhooks/" + parts[0]
		} else if at := f.s.conn.Keys.WebhookAt(w.Name); !f.has(at) {
			o := f.repair(f.report("webhook-without-position", name, "how far it is is not known any more"), "lets it begin with what comes from its last change on", name, at)
			o.Put(at, store.WebhookPosition{At: map[string]int64{}})
		}
		for key := range f.s.conn.Wants(w) {
			if wants[f.below(key)] = true; n == nil && !f.has(key) {
				f.repair(f.report("webhook-not-wanted", name, "no commit knows that it is told of incidents"), "puts "+f.below(key), name, key).PutRaw(key, nil)
			}
		}
	})
	f.under("incident-wanted/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if hook := f.s.conn.Keys.Webhook(parts[len(parts)-1]); !wants[name] && !f.follows(hook) {
			f.drop(f.report("wanted-without-webhook", name, "no webhook is told of these incidents"), name, hook)
		}
	})
	f.values("webhook-at/", fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
		if is[parts[0]] == nil {
			f.drop(f.report("position-without-webhook", name, "there is no such webhook"), name, f.s.conn.Keys.Webhook(parts[0]))
		} else if n := f.decode(name, kv, &store.WebhookPosition{}); n != nil {
			f.replace(n, kv, ", and lets it begin with what comes from its last change on").Put(string(kv.Key), store.WebhookPosition{At: map[string]int64{}})
		}
	})
	for _, prefix := range []string{"webhook-due/", "webhook-failed/"} {
		f.values(prefix, fsckPage, func(name string, kv *mvccpb.KeyValue, parts []string) {
			var l store.WebhookLetter
			n := f.decode(name, kv, &l)
			switch w := is[parts[0]]; {
			case n == nil && l.ID != parts[len(parts)-1]:
				f.setAside(f.damaged(name, "it says that it is letter %q", l.ID), kv)
			case n != nil:
				f.setAside(n, kv)
			case w == nil || w.Created != l.Webhook: // for a moment while it is deleted
				f.report("letter-without-webhook", name, "there is no such webhook any more").Passing = true
			}
		})
	}
}
