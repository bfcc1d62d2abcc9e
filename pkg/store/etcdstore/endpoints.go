package etcdstore

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Endpoints in the middle of a workflow are bookmarks, found by their hash like
// any other; what a request has to be matched against are their templates. A
// template is kept once, however many instances wait there, and deleted when
// none does any more. Who may call is not read there: those that wait at one
// template may be of definitions that say different things about it.

// endpointType is the activity type whose bookmarks have templates.
const endpointType = "Elsa.HttpEndpoint"

func (k keys) endpoints(method string) string { return k.root + "endpoint/" + method + "/" }
func (k keys) endpoint(method, template string) string {
	return k.endpoints(method) + encode(template)
}

// putEndpoint puts the template of an HTTP endpoint's bookmark.
func (s *Store) putEndpoint(o *ops, b *workflow.Bookmark) {
	if e := EndpointOf(b); e != nil {
		o.put(s.keys.endpoint(e.Method, e.Template), e)
	}
}

// EndpointOf is what an HTTP endpoint's bookmark says about itself; nil if it is
// none. A bookmark that does not say who may call is for authenticated callers.
func EndpointOf(b *workflow.Bookmark) *store.RouteEntry {
	payload, _ := b.Payload.(map[string]any)
	meta, _ := b.Metadata.(map[string]any)
	method, _ := payload["method"].(string)
	template, _ := meta["template"].(string)
	if b.ActivityType != endpointType || method == "" || template == "" {
		return nil
	}
	e := &store.RouteEntry{Hash: b.Hash, Method: method, Template: template}
	authorize, said := meta["authorize"].(bool)
	e.Authorize = authorize || !said
	e.Policy, _ = meta["policy"].(string)
	e.TooLarge, _ = meta["tooLarge"].(bool)
	if text, _ := meta["timeout"].(string); text != "" {
		e.Timeout, _ = time.ParseDuration(text)
	}
	switch n := meta["maxBody"].(type) {
	case int64:
		e.MaxBody = n
	case float64:
		e.MaxBody = int64(n)
	}
	return e
}

// Endpoints reads the templates at which instances wait, or lately waited, for a
// request of this method; up to 10,000.
func (s *Store) Endpoints(ctx context.Context, method string) ([]store.RouteEntry, error) {
	return s.routeEntries(ctx, s.keys.endpoints(method))
}

// Routes reads the routes of one method at which definitions are started.
func (s *Store) Routes(ctx context.Context, method string) ([]store.RouteEntry, error) {
	return s.routeEntries(ctx, s.keys.routes()+method+"/")
}

func (s *Store) routeEntries(ctx context.Context, prefix string) ([]store.RouteEntry, error) {
	resp, err := s.get(ctx, "read routes", prefix, clientv3.WithPrefix(), clientv3.WithLimit(maxRoutesRead))
	if err != nil {
		return nil, err
	}
	out := make([]store.RouteEntry, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		out[i].Modified = kv.ModRevision
		if err := Decode(kv.Value, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const maxRoutesRead = 10000

// DropEndpoints deletes templates at which nothing waits any more; it looks at
// up to limit from cursor on and returns where to go on, "" at the end.
//
// If: no bookmark of its hash, which the key decides. This can become true again,
// and does no harm then: a bookmark is put together with its template, so the
// template of one that waits is always there, and one that nobody waits at may
// go at any time.
func (s *Store) DropEndpoints(ctx context.Context, cursor string, limit int64) (next string, err error) {
	kvs, next, err := s.page(ctx, "read endpoints", s.keys.root+"endpoint/", cursor, limit)
	if err != nil {
		return "", err
	}
	for _, kv := range kvs {
		var e store.RouteEntry
		if err := Decode(kv.Value, &e); err != nil {
			return "", err
		}
		key := string(kv.Key)
		_, err := s.txn(ctx, "drop endpoint", []clientv3.Cmp{noneNewer(s.keys.bookmarks(e.Hash), 0)}, []clientv3.Op{clientv3.OpDelete(key)}, nil)
		if err != nil {
			return "", fmt.Errorf("drop endpoint %s: %w", e.Template, err)
		}
	}
	return next, nil
}
