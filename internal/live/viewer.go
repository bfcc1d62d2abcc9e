package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// Topic is what somebody looks at.
type Topic struct {
	Kind Kind
	ID   string // of the instance; of a list its line, as it was given
}

// Kind is a kind of topic.
type Kind string

// The kinds.
const (
	Instance    Kind = "instance"
	Instances   Kind = "instances"
	Cluster     Kind = "cluster"
	Definitions Kind = "definitions"
)

func (t Topic) String() string {
	if t.ID == "" && t.Kind != Instances {
		return string(t.Kind)
	}
	return string(t.Kind) + ":" + t.ID
}

// ParseTopic reads what [Topic.String] writes.
func ParseTopic(text string) (Topic, error) {
	kind, id, has := strings.Cut(text, ":")
	t := Topic{Kind(kind), id}
	switch {
	case t.Kind == Instance && has:
		return t, workflow.CheckID("instance id", id)
	case t.Kind == Instances && has:
		_, err := find.Parse(id, "/topics")
		return t, err
	case (t.Kind == Cluster || t.Kind == Definitions) && !has:
		return t, nil
	}
	return t, fmt.Errorf("there is no topic %q; the topics are instance:ID, instances:LINE, cluster and definitions", workflow.CutChars(text, 80))
}

// Position says what somebody was told. The zero Position is nothing.
type Position struct {
	At   []int64 // a revision for each topic, in their order
	Etcd string  // whose revisions these are; "": of the one that there is
}

func (p Position) String() string {
	texts := make([]string, len(p.At))
	for i, at := range p.At {
		texts[i] = strconv.FormatInt(at, 10)
	}
	return strings.Join(texts, ".") + "@" + p.Etcd
}

// ParsePosition reads a position for so many topics. One revision alone stands for all, and
// may be without its etcd.
func ParsePosition(text string, topics int) (Position, error) {
	revisions, etcd, _ := strings.Cut(text, "@")
	parts := strings.SplitN(revisions, ".", topics+1)
	if len(parts) == 1 {
		parts = slices.Repeat(parts, topics)
	}
	p := Position{Etcd: etcd}
	for _, part := range parts {
		at, err := strconv.ParseInt(part, 10, 64)
		if err != nil || at < 0 {
			break
		}
		p.At = append(p.At, at)
	}
	if len(p.At) != topics || len(parts) != topics {
		return Position{}, fmt.Errorf("%q is no position in a stream of %d topics", workflow.CutChars(text, 80), topics)
	}
	return p, nil
}

// etcdName tells an etcd from those that it was restored from. It stands in each position,
// so it is short.
func etcdName(id uint64) string { return fmt.Sprintf("%08x", uint32(id^id>>32)) }

// Event is one topic as it is. Of the last group one is set, by the topic.
type Event struct {
	Topic    Topic
	Revision int64
	Reset    bool // what was told before may be wrong; nothing else is set

	Instance    *workflow.Instance // nil: there is none
	Sequence    int64              // of its last commit
	List        *List
	Nodes       []cluster.Node
	Definitions []catalog.Change // that changed after what was told before
}

// Viewer looks at some topics. Make it with [Hub.Look] and end it with Close.
type Viewer struct {
	hub    *Hub
	looks  []look
	etcd   string
	wake   chan struct{} // an instance or a list changed
	more   <-chan struct{}
	nodes  <-chan struct{}
	cancel func()
}

// look is a viewer's view of one topic.
type look struct {
	topic Topic
	at    int64 // what was told
	reset bool  // is to be told first
	feed  *feed // of an instance or a list
	told  []cluster.Node
	list  *List // that was told
	first bool  // nothing was told to this viewer
}

// Caller is who looks.
type Caller struct {
	Name string // for whom places are counted
	// Sight names what they may see: those with the same see the same.
	Sight string
	// Show gives a text as they may see it; nil: as it is. It outlives the caller, as long as
	// others look at the same.
	Show func(string) string
}

// follow enters what a topic is about; nil, as [Hub.enter].
func (h *Hub) follow(t Topic, caller *Caller, v *Viewer) (*feed, error) {
	if t.Kind == Instance {
		return h.enter(t.String(), caller.Name, 1, v, func(f *feed) followed { return &instance{feed: f, id: t.ID} }), nil
	}
	filter, err := find.Parse(t.ID, "/topics")
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s:%s:%s", Instances, caller.Sight, filter.String())
	return h.enter(key, caller.Name, listWeight, v, func(f *feed) followed {
		return &list{feed: f, filter: filter, show: caller.Show, turn: make(chan struct{}, 1)}
	}), nil
}

// Look begins to look, for a caller. after is what was told before, maybe by another node.
// [ErrTooMany] says that no more instances may be followed here.
func (h *Hub) Look(ctx context.Context, caller Caller, topics []Topic, after Position) (*Viewer, error) {
	v := &Viewer{hub: h, wake: make(chan struct{}, 1), cancel: func() {}}
	for i, t := range topics {
		l := look{topic: t, first: true}
		if after.At != nil {
			l.at = after.At[i]
		}
		switch t.Kind {
		case Instance, Instances:
			var err error
			if l.feed, err = h.follow(t, &caller, v); l.feed == nil {
				v.Close()
				return nil, cmp.Or(err, ErrTooMany)
			}
		case Cluster:
			v.nodes, v.cancel = h.cfg.Session.MembersChanged()
		}
		v.looks = append(v.looks, l)
	}
	now, etcd, err := h.cfg.Reader.Revision(ctx)
	v.etcd = etcdName(etcd)
	for i := 0; i < len(v.looks) && err == nil; i++ {
		err = v.looks[i].resume(ctx, now, cmp.Or(after.Etcd, v.etcd) != v.etcd)
	}
	if err != nil {
		v.Close()
		return nil, etcdstore.ReadFailed("what is looked at", err)
	}
	return v, nil
}

// resume finds out what a position means now. Of another etcd it means nothing: one that was
// restored from a backup with its revision moved on may know less than was told, and be far
// ahead. Without the other's name only a revision that is not there yet tells that.
func (l *look) resume(ctx context.Context, now int64, another bool) error {
	if another || l.at > now {
		l.at, l.reset = 0, true
	}
	if l.feed == nil {
		return nil
	}
	if of, is := l.feed.of.(*list); is {
		return of.atLeast(ctx, l.at)
	}
	if err := l.feed.of.look(ctx); err != nil { // what was seen before may be older than the position
		return err
	}
	in, is := l.feed.of.(*instance)
	if !is {
		return nil
	}
	st := in.current()
	if st.Modified > 0 || l.at == 0 || l.at >= st.since {
		return nil
	}
	had, known, err := l.feed.hub.cfg.Reader.HadInstance(ctx, l.topic.ID, l.at)
	switch {
	case err != nil:
		return err
	case !known:
		l.at, l.reset = 0, true
	case !had:
		l.at = st.since // that it is gone was told
	}
	return nil
}

// Close ends the look. What nobody looks at any more is not followed when it returns.
func (v *Viewer) Close() {
	v.cancel()
	for i := range v.looks {
		if f := v.looks[i].feed; f != nil {
			v.hub.leave(f, v)
		}
	}
}

// nudge never blocks.
func (v *Viewer) nudge() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// Wait waits until there may be news, for at most so long, or until ctx ends.
func (v *Viewer) Wait(ctx context.Context, most time.Duration) {
	enough := time.NewTimer(most)
	defer enough.Stop()
	select {
	case <-ctx.Done():
	case <-enough.C:
	case <-v.wake:
	case <-v.more:
	case <-v.nodes:
	}
}

// Position is what was told up to now: what [Viewer.News] has given counts as told.
func (v *Viewer) Position() Position {
	p := Position{At: make([]int64, len(v.looks)), Etcd: v.etcd}
	for i := range v.looks {
		p.At[i] = v.looks[i].at
	}
	return p
}

// Next gives one topic of which there is something to tell, as it is now. False: there is
// none.
func (v *Viewer) Next() (Event, bool) {
	for i := range v.looks {
		l := &v.looks[i]
		if l.reset {
			l.reset = false
			return Event{Topic: l.topic, Reset: true}, true
		}
		if e, ok := v.news(l); ok {
			return e, true
		}
	}
	return Event{}, false
}

func (v *Viewer) news(l *look) (Event, bool) {
	e := Event{Topic: l.topic}
	first := l.first
	l.first = false
	switch l.topic.Kind {
	case Instance:
		st := l.feed.of.(*instance).current()
		if st.since <= l.at {
			return e, false
		}
		l.at = st.since
		switch {
		case st.Record != nil:
			e.Instance, e.Sequence = &st.Record.Header, st.Record.Seq
		case st.Damage != nil:
			e.Instance = &workflow.Instance{ID: l.topic.ID, Damaged: st.Damage.Error()}
		}
	case Instances:
		is := l.feed.of.(*list).current()
		if is == l.list {
			return e, false
		}
		e.List, l.list, l.at = is.since(l.list), is, max(l.at, is.Revision)
	case Cluster:
		nodes, revision := v.hub.cfg.Session.MembersAt()
		for i := range nodes {
			nodes[i].Clock, nodes[i].Last = time.Time{}, cluster.Node{}.Last // a heartbeat is no news
		}
		if !first && slices.Equal(nodes, l.told) {
			return e, false
		}
		l.told, l.at, e.Nodes = nodes, max(l.at, revision), nodes
	case Definitions:
		news := v.hub.cfg.Catalog.Since(l.at)
		v.more = news.More
		begins := first && l.at == 0 // of what was before, the list tells
		if len(news.Changes) == 0 && !begins {
			return e, false
		}
		if l.at = news.Revision; !begins {
			e.Definitions = news.Changes
		}
	}
	e.Revision = l.at
	return e, true
}
