package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// MaxTargets is how many bookmarks, and how many triggers, one stimulus may meet:
// as many as a send record holds.
const MaxTargets = 10_000

// TooMany refuses a stimulus that meets more.
func TooMany() *workflow.Error {
	return workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("more than %d places wait for this; send it with a correlationId, or to an instance", MaxTargets))
}

// matchPage is how many of them one request reads.
const matchPage = 500

var matchOp = clientv3.OpGet("", clientv3.WithLimit(matchPage))

// Match is what a stimulus meets, read at one revision.
type Match struct {
	Hash      string
	Bookmarks []store.BookmarkRef
	Triggers  []store.TriggerRef
	More      bool          // there are more than MaxTargets
	Instance  *store.Record // of an addressed stimulus; nil: there is none
	Answer    *store.Answer // of the caller's key
	Revision  int64
	SentOn    bool // it was put into the queue, and is a send record by now: wake who works these

	stimulus workflow.Stimulus
	send     *store.Send
	followed bool // what waits was not read, but is followed
}

// Match finds the bookmarks and triggers that st is for. A stimulus with a
// correlation meets only bookmarks of that correlation; one without meets all;
// an addressed one only its instance's, and no trigger. key names the caller's
// record; "" if there is none.
func (s *Stimuli) Match(ctx context.Context, st workflow.Stimulus, hash, key string) (*Match, error) {
	return s.conn.match(ctx, st, hash, key)
}

// Match is [Stimuli.Match], for what waits in the queue.
func (s *Upkeep) Match(ctx context.Context, st workflow.Stimulus, hash string) (*Match, error) {
	return s.conn.match(ctx, st, hash, "")
}

func (s *conn) match(ctx context.Context, st workflow.Stimulus, hash, key string) (*Match, error) {
	m := &Match{Hash: hash, stimulus: st}
	var ask db.Reads
	var instance, waiting, starting, answer db.Read
	if st.InstanceID != "" {
		instance = ask.Value(s.Keys.Instance(st.InstanceID))
	} else {
		starting = ask.Add(db.Below(matchOp, s.Keys.Triggers(hash)))
		if m.followed = s.waiting.has(s.bookmarkRange(m)); !m.followed {
			waiting = ask.Add(db.Below(matchOp, s.bookmarkRange(m)))
		}
	}
	if key != "" {
		answer = ask.Value(s.Keys.KeyRecord(key))
	}
	resp, err := s.Read(ctx, "look up stimulus of "+st.ActivityType, ask.Ops...)
	if err != nil {
		return nil, err
	}
	m.Revision = resp.Header.Revision
	if key != "" {
		if kv := answer.One(resp); kv != nil {
			m.Answer = new(store.Answer)
			if err := db.Decode(kv.Value, m.Answer); err != nil {
				return nil, err
			}
		}
	}
	if st.InstanceID != "" {
		return m, s.matchAddressed(ctx, m, instance.One(resp))
	}
	if err := m.findWaiting(ctx, s, resp, waiting); err != nil {
		return nil, err
	}
	triggers, err := s.rest(ctx, starting.In(resp), s.Keys.Triggers(hash), m)
	if err != nil {
		return nil, err
	}
	for _, kv := range triggers {
		ref, err := s.DecodeTrigger(kv)
		if errors.Is(err, db.ErrDamaged) {
			s.Left(kv.Key, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		m.Triggers = append(m.Triggers, ref)
	}
	return m, nil
}

// findWaiting finds the bookmarks, at the look's revision or later.
func (m *Match) findWaiting(ctx context.Context, s *conn, resp *etcdserverpb.TxnResponse, waiting db.Read) error {
	prefix := s.bookmarkRange(m)
	var bookmarks []*mvccpb.KeyValue
	var err error
	if m.followed {
		bookmarks, _, _, m.followed = s.waiting.at(ctx, prefix, m.Revision, maxFollowed)
		if !m.followed {
			var all *clientv3.GetResponse
			if all, err = s.Get(ctx, "look up stimulus of "+m.stimulus.ActivityType, prefix, clientv3.WithPrefix(), clientv3.WithLimit(matchPage), clientv3.WithRev(m.Revision)); err != nil {
				return err
			}
			bookmarks, err = s.rest(ctx, (*etcdserverpb.RangeResponse)(all), prefix, m)
		}
	} else {
		first := waiting.In(resp)
		s.waiting.looked(prefix, first.Count)
		bookmarks, err = s.rest(ctx, first, prefix, m)
	}
	if err != nil {
		return err
	}
	for _, kv := range bookmarks {
		var e bookmarkEntry
		if err := db.DecodeWhole(kv.Value, &e); errors.Is(err, db.ErrDamaged) {
			s.Left(kv.Key, err) // it is no reason to keep the stimulus from the others
			continue
		} else if err != nil {
			return err
		}
		local := string(kv.Key[strings.LastIndexByte(string(kv.Key), '/')+1:])
		m.Bookmarks = append(m.Bookmarks, store.BookmarkRef{ID: workflow.BookmarkID(e.Instance, record.Decode(local)), InstanceID: e.Instance,
			Hash: m.Hash, CorrelationID: e.Correlation, Created: kv.CreateRevision})
	}
	return nil
}

// Addressable is why an addressed stimulus cannot be sent; nil: it can, also where nothing waits for it yet.
func (m *Match) Addressable() error {
	st := &m.stimulus
	switch {
	case m.Instance == nil, m.Instance.Unwritten != nil && m.Instance.Unwritten.Delete:
		return workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", st.InstanceID))
	case m.Instance.Header.Status == workflow.StatusFinished:
		return workflow.Fail(workflow.CodeInstanceFinished, fmt.Sprintf("instance %q is finished (%s); nothing waits there any more", st.InstanceID, m.Instance.Header.SubStatus))
	case st.BookmarkID != "" && len(m.Bookmarks) == 0:
		return workflow.Fail(workflow.CodeBookmarkNotFound, fmt.Sprintf("instance %q does not wait at bookmark %q (any more)", st.InstanceID, st.BookmarkID))
	}
	return nil
}

// rest reads on after the first page of a range, at the look's revision: a
// stimulus is for all that waits at one moment. Of too many it reads no more.
func (s *conn) rest(ctx context.Context, first *etcdserverpb.RangeResponse, prefix string, m *Match) ([]*mvccpb.KeyValue, error) {
	kvs := first.Kvs
	if first.Count > MaxTargets { // to be refused, and not read
		m.More = true
		return kvs, nil
	}
	for more := first.More; more; {
		page, err := s.Get(ctx, "look up stimulus of "+m.stimulus.ActivityType, string(kvs[len(kvs)-1].Key)+"\x00",
			clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(matchPage), clientv3.WithRev(m.Revision))
		if err != nil {
			return nil, err
		}
		kvs, more = append(kvs, page.Kvs...), page.More
	}
	return kvs, nil
}

func (s *conn) bookmarkRange(m *Match) string {
	if m.stimulus.CorrelationID == "" {
		return s.Keys.Bookmarks(m.Hash)
	}
	return s.Keys.BookmarkSlice(m.Hash, m.stimulus.CorrelationID)
}

func (s *conn) matchAddressed(ctx context.Context, m *Match, kv *mvccpb.KeyValue) error {
	if kv == nil {
		return nil
	}
	var err error
	if m.Instance, err = partsOf(s).places(ctx, kv, m.Revision); err != nil {
		return err
	}
	h := &m.Instance.Header
	if h.Status != workflow.StatusRunning || m.stimulus.CorrelationID != "" && m.stimulus.CorrelationID != h.CorrelationID {
		return nil
	}
	for _, b := range h.Bookmarks {
		if b.Hash == m.Hash && (m.stimulus.BookmarkID == "" || m.stimulus.BookmarkID == b.ID) {
			m.Bookmarks = append(m.Bookmarks, store.BookmarkRef{ID: b.ID, InstanceID: h.ID, Hash: b.Hash, CorrelationID: h.CorrelationID, Moved: m.Instance.Modified, Unindexed: m.Instance.Unwritten != nil})
		}
	}
	return nil
}

// guard holds as long as nothing appeared that the look would have met, but bookmarks in a
// range that is followed: there a look follows ([Stimuli.missed]).
func (m *Match) guard(s *conn) []clientv3.Cmp {
	if id := m.stimulus.InstanceID; id != "" {
		if m.Instance == nil {
			return []clientv3.Cmp{db.Absent(s.Keys.Instance(id))}
		}
		return []clientv3.Cmp{db.ModifiedAt(s.Keys.Instance(id), m.Instance.Modified)}
	}
	cmps := []clientv3.Cmp{db.NoneNewer(s.Keys.Triggers(m.Hash), m.Revision)}
	if !m.followed {
		cmps = append(cmps, db.NoneNewer(s.bookmarkRange(m), m.Revision))
	}
	return cmps
}
