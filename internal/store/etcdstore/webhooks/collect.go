package webhooks

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

const (
	// webhookPage is how many keys are listed at once of a range whose changes etcd has compacted.
	webhookPage = 10_000
	// webhookQuiet is how long it waits for more once there is something.
	webhookQuiet = 20 * time.Millisecond
	// listingShare is how many times as long as it took to list a page it rests: etcd counts
	// the range while nothing is written.
	listingShare = 10
)

// Collect waits for what there is to tell of a webhook after a position, for so long at most,
// and gives it with the position behind it. It ends early when it has most events, a
// revision's worth more at most. Nothing is told between two calls: so what is not taken
// stays in etcd, and not in this process.
//
// Each change of the keys is told by etcd's log, also one that was undone since. Where etcd
// has compacted the log, as nobody told this webhook for long, the range is listed: what is
// there with a later mod revision is told, and what has gone is not.
func (s *Webhooks) Collect(ctx context.Context, w *store.Webhook, at *store.WebhookPosition, most int, wait time.Duration) ([]store.WebhookEvent, *store.WebhookPosition, error) {
	c := &collection{s: s, w: w, most: most, to: store.WebhookPosition{At: maps.Clone(at.At), Until: maps.Clone(at.Until), Behind: maps.Clone(at.Behind), Modified: at.Modified, Foreign: at.Foreign}}
	for r := range at.Behind {
		if err := c.list(ctx, r); err != nil || len(c.events) >= most {
			return c.events, &c.to, err
		}
	}
	if len(at.Behind) > 0 {
		return c.events, &c.to, nil
	}
	err := c.watch(ctx, wait)
	return c.events, &c.to, err
}

type collection struct {
	s      *Webhooks
	w      *store.Webhook
	most   int
	events []store.WebhookEvent
	to     store.WebhookPosition
}

// toldOf is what the watch of one range tells.
type toldOf struct {
	of   string
	resp clientv3.WatchResponse
}

// watch follows all ranges on a stream of their own, so that all are told how far etcd is.
func (c *collection) watch(ctx context.Context, wait time.Duration) error {
	if len(c.to.At) == 0 { // it tells what only newer programs know
		pace.Pause(ctx, wait)
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	own := clientv3.WithRequireLeader(metadata.AppendToOutgoingContext(ctx, "weft-watch", "webhook/"+c.w.Name))
	told := make(chan toldOf)
	var followers sync.WaitGroup
	defer followers.Wait()
	defer cancel()
	for r, at := range c.to.At {
		followers.Go(func() {
			events := c.s.conn.Client.Watch(own, c.s.conn.Keys.Root+r, clientv3.WithPrefix(), clientv3.WithRev(at+1), clientv3.WithFilterDelete())
			handOn(ctx, r, events, told)
		})
	}
	enough := time.NewTimer(wait)
	defer enough.Stop()
	asked := false
	var began time.Time // when the first event came
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-enough.C:
			if len(c.events) > 0 || asked {
				return nil
			}
			// Nothing came: it is asked how far that is true, so that the position does not
			// stay behind what etcd compacts.
			asked = true
			enough.Reset(webhookQuiet * 10)
			if err := c.s.conn.Client.RequestProgress(own); err != nil && ctx.Err() == nil {
				return err
			}
		case t := <-told:
			if err := c.take(t); err != nil {
				return err
			}
			if len(c.events) >= c.most || len(c.to.Behind) > 0 {
				return nil
			}
			if len(c.events) > 0 {
				if began.IsZero() {
					began = time.Now()
				}
				enough.Reset(max(0, min(webhookQuiet, webhookQuiet*10-time.Since(began)))) // they may never stop
			}
		}
	}
}

// handOn gives what a watch tells to who collects it, until ctx ends or the watch has.
func handOn(ctx context.Context, of string, events clientv3.WatchChan, to chan<- toldOf) {
	for {
		select {
		case resp, ok := <-events:
			if !ok {
				resp.Canceled = true
			}
			select {
			case to <- toldOf{of, resp}:
			case <-ctx.Done():
				return
			}
			if resp.Canceled {
				return
			}
		case <-ctx.Done(): // etcd's client may take its time to close the channel
			return
		}
	}
}

func (c *collection) take(t toldOf) error {
	err := t.resp.Err()
	switch {
	case errors.Is(err, db.ErrCompacted):
		if c.to.Behind == nil {
			c.to.Behind = map[string]store.WebhookListing{}
		}
		c.to.Behind[t.of] = store.WebhookListing{}
		c.s.conn.Log.Warn("etcd has compacted what a webhook was not told of yet: what is there is listed, and what has gone is not told", "webhook", c.w.Name, "keys", t.of, "after", c.to.At[t.of])
		return nil
	case err != nil:
		return err
	case t.resp.Canceled:
		return errors.New("the watch of what a webhook tells has ended")
	}
	if len(t.resp.Events) == 0 {
		if t.resp.IsProgressNotify() {
			c.reached(t.of, t.resp.Header.Revision)
		}
		return nil
	}
	last := int64(0)
	for _, ev := range t.resp.Events {
		if e, ok := c.s.EventOf(c.w, ev.Kv); ok && c.tells(t.of, ev.Kv.ModRevision) {
			c.events = append(c.events, e)
		}
		last = max(last, ev.Kv.ModRevision)
	}
	c.reached(t.of, last) // after all of them: one revision may have several
	return nil
}

// tells reports whether a range is told at a revision: one that a change took away is until then.
func (c *collection) tells(of string, revision int64) bool {
	_, has := c.to.At[of]
	until, ends := c.to.Until[of]
	return has && (!ends || revision <= until)
}

// reached notes that a range is told up to a revision.
func (c *collection) reached(of string, revision int64) {
	at, has := c.to.At[of]
	if !has {
		return
	}
	c.to.At[of] = max(at, revision)
	if until, ends := c.to.Until[of]; ends && revision >= until {
		delete(c.to.At, of)
		delete(c.to.Until, of)
	}
}

// list goes on with a range that is listed, page by page, and, but for what has short values, keys only. What is put while
// it lists has a revision after that at which it began, and is watched for then.
func (c *collection) list(ctx context.Context, of string) error {
	l, prefix := c.to.Behind[of], c.s.conn.Keys.Root+of
	opts := []clientv3.OpOption{clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(webhookPage)}
	if strings.HasPrefix(of, "dead/") {
		opts = append(opts, clientv3.WithKeysOnly())
	}
	for len(c.events) < c.most {
		began := time.Now()
		resp, err := c.s.conn.Get(ctx, "list what a webhook tells", db.PageFrom(prefix, l.Cursor), opts...)
		if err != nil {
			return err
		}
		if l.Revision == 0 {
			l.Revision = resp.Header.Revision
		}
		for _, kv := range resp.Kvs {
			l.Cursor = strings.TrimPrefix(string(kv.Key), prefix)
			if kv.ModRevision > c.to.At[of] && kv.ModRevision <= l.Revision && c.tells(of, kv.ModRevision) {
				if e, ok := c.s.EventOf(c.w, kv); ok {
					c.events = append(c.events, e)
				}
			}
		}
		if !resp.More {
			c.reached(of, l.Revision)
			delete(c.to.Behind, of)
			return nil
		}
		c.to.Behind[of] = l
		if !pace.Pause(ctx, listingShare*time.Since(began)) {
			return ctx.Err()
		}
	}
	return nil
}
