package lookup

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

// MatchPage is how many of them one request reads.
const MatchPage = 500

var matchOp = clientv3.OpGet("", clientv3.WithLimit(MatchPage))

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

	Stimulus workflow.Stimulus
	Send     *store.Send
	Followed bool // what waits was not read, but is followed
}

// Match finds what a stimulus of this hash is for; key names the caller's record, "" if there is none.
func (s *Conn) Match(ctx context.Context, st workflow.Stimulus, hash, key string) (*Match, error) {
	m := &Match{Hash: hash, Stimulus: st}
	var ask db.Reads
	var instance, waiting, starting, answer db.Read
	if st.InstanceID != "" {
		instance = ask.Value(s.Keys.Instance(st.InstanceID))
	} else {
		starting = ask.Add(db.Below(matchOp, s.Keys.Triggers(hash)))
		if m.Followed = s.Waiting.Has(m.Range(s.Keys)); !m.Followed {
			waiting = ask.Add(db.Below(matchOp, m.Range(s.Keys)))
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
		return m, m.findAddressed(ctx, s, instance.One(resp))
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
func (m *Match) findWaiting(ctx context.Context, s *Conn, resp *etcdserverpb.TxnResponse, waiting db.Read) error {
	prefix := m.Range(s.Keys)
	var bookmarks []*mvccpb.KeyValue
	var err error
	if m.Followed {
		bookmarks, _, _, m.Followed = s.Waiting.At(ctx, prefix, m.Revision, MaxFollowed)
		if !m.Followed {
			var all *clientv3.GetResponse
			if all, err = s.Get(ctx, "look up stimulus of "+m.Stimulus.ActivityType, prefix, clientv3.WithPrefix(), clientv3.WithLimit(MatchPage), clientv3.WithRev(m.Revision)); err != nil {
				return err
			}
			bookmarks, err = s.rest(ctx, (*etcdserverpb.RangeResponse)(all), prefix, m)
		}
	} else {
		first := waiting.In(resp)
		s.Waiting.Looked(prefix, first.Count)
		bookmarks, err = s.rest(ctx, first, prefix, m)
	}
	if err != nil {
		return err
	}
	for _, kv := range bookmarks {
		var e record.BookmarkEntry
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
	st := &m.Stimulus
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
func (s *Conn) rest(ctx context.Context, first *etcdserverpb.RangeResponse, prefix string, m *Match) ([]*mvccpb.KeyValue, error) {
	kvs := first.Kvs
	if first.Count > MaxTargets { // to be refused, and not read
		m.More = true
		return kvs, nil
	}
	for more := first.More; more; {
		page, err := s.Get(ctx, "look up stimulus of "+m.Stimulus.ActivityType, string(kvs[len(kvs)-1].Key)+"\x00",
			clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(MatchPage), clientv3.WithRev(m.Revision))
		if err != nil {
			return nil, err
		}
		kvs, more = append(kvs, page.Kvs...), page.More
	}
	return kvs, nil
}

// Range is where the bookmarks lie that the match may meet.
func (m *Match) Range(k record.Keys) string {
	if m.Stimulus.CorrelationID == "" {
		return k.Bookmarks(m.Hash)
	}
	return k.BookmarkSlice(m.Hash, m.Stimulus.CorrelationID)
}

func (m *Match) findAddressed(ctx context.Context, s *Conn, kv *mvccpb.KeyValue) error {
	if kv == nil {
		return nil
	}
	var err error
	if m.Instance, err = PartsOf(s).Places(ctx, kv, m.Revision); err != nil {
		return err
	}
	h := &m.Instance.Header
	if h.Status != workflow.StatusRunning || m.Stimulus.CorrelationID != "" && m.Stimulus.CorrelationID != h.CorrelationID {
		return nil
	}
	for _, b := range h.Bookmarks {
		if b.Hash == m.Hash && (m.Stimulus.BookmarkID == "" || m.Stimulus.BookmarkID == b.ID) {
			m.Bookmarks = append(m.Bookmarks, store.BookmarkRef{ID: b.ID, InstanceID: h.ID, Hash: b.Hash, CorrelationID: h.CorrelationID, Moved: m.Instance.Modified, Unindexed: m.Instance.Unwritten != nil})
		}
	}
	return nil
}

// Guard holds as long as nothing appeared that the look would have met, but bookmarks in a
// range that is followed: there a look follows (Stimuli.missed).
func (m *Match) Guard(s *Conn) []clientv3.Cmp {
	if id := m.Stimulus.InstanceID; id != "" {
		if m.Instance == nil {
			return []clientv3.Cmp{db.Absent(s.Keys.Instance(id))}
		}
		return []clientv3.Cmp{db.ModifiedAt(s.Keys.Instance(id), m.Instance.Modified)}
	}
	cmps := []clientv3.Cmp{db.NoneNewer(s.Keys.Triggers(m.Hash), m.Revision)}
	if !m.Followed {
		cmps = append(cmps, db.NoneNewer(m.Range(s.Keys), m.Revision))
	}
	return cmps
}
