package chaos

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// history follows every change of every key, in etcd's order, and checks what
// must hold at each revision. It is one goroutine's while it follows.
type history struct {
	root      string
	instances map[string]*life
	locks     map[string]map[string]int64 // instance → key → create revision
	nodes     map[string]bool             // that have a session
	timers    map[string]timerValue       // by key
	fired     map[string]int              // timers that became commands, by bookmark
	singles   map[string]bool             // running instances of the definition that runs once at a time
	beats     map[string]int              // occurrences of the schedule that were replaced, by due time
	problems  []string
	revision  int64
	commits   int
	purged    int64            // instances that were deleted after their end
	widened   int64            // changes that were written in several transactions
	widenedOn int64            // those of them that another owner than who decided them wrote on
	numbered  map[string]int64 // numbers that were seen beside a token, by the kind of the key
	trail     trail

	unwritten chan string // instances of which something was decided and is not written yet; those that nobody takes are dropped

	seen atomic.Int64 // revision, for those who compact

	mu     sync.Mutex
	marks  map[string]bool // sentinels seen; guarded by mu
	marked chan struct{}   // capacity 1
}

// life is all that happened to one instance id.
type life struct {
	definition string
	exists     bool
	deleted    int
	deletedAt  int64 // revision
	killed     bool  // it was deleted before it had ended
	last       store.Record
	seq        int64
	fence      int64
	decidedBy  int64            // the fence of who decided what is not written yet
	commands   map[string]int64 // consumed → sequence
	lines      []string
	tokens     map[string]int
	resumes    int
}

// cutShort: a cancel or a deletion came between an event and its line.
func (l *life) cutShort() bool {
	lines := 0
	for _, n := range l.tokens {
		lines += n
	}
	return (l.last.Header.SubStatus == workflow.Cancelled || l.killed) && l.resumes > lines
}

type timerValue struct {
	Instance string    `json:"instance"`
	Bookmark string    `json:"bookmark"`
	Due      time.Time `json:"due"`
	wrong    bool      // no clock that is right set it
}

func newHistory(root string) *history {
	return &history{root: root, instances: map[string]*life{}, nodes: map[string]bool{}, locks: map[string]map[string]int64{}, timers: map[string]timerValue{}, fired: map[string]int{},
		numbered: map[string]int64{}, singles: map[string]bool{}, beats: map[string]int{}, marks: map[string]bool{}, trail: trail{at: map[string][]string{}, taken: map[string][]taking{}}, marked: make(chan struct{}, 1), unwritten: make(chan string, 8)}
}

func (h *history) problem(rule, format string, args ...any) {
	if len(h.problems) < 200 {
		h.problems = append(h.problems, fmt.Sprintf("%s at revision %d: %s", rule, h.revision, fmt.Sprintf(format, args...)))
	}
}

func (h *history) of(id string) *life {
	l := h.instances[id]
	if l == nil {
		l = &life{commands: map[string]int64{}, tokens: map[string]int{}}
		h.instances[id] = l
	}
	return l
}

// follow reads all changes from the first one on, until ctx ends.
func (h *history) follow(ctx context.Context, c *clientv3.Client) {
	for resp := range c.Watch(ctx, h.root, clientv3.WithPrefix(), clientv3.WithRev(1)) {
		if err := resp.Err(); err != nil {
			if ctx.Err() == nil {
				h.problem("harness", "the watch broke: %v", err)
			}
			return
		}
		events := resp.Events
		for len(events) > 0 {
			n := 1
			for n < len(events) && events[n].Kv.ModRevision == events[0].Kv.ModRevision {
				n++
			}
			h.step(events[0].Kv.ModRevision, events[:n])
			events = events[n:]
		}
	}
}

// step is one transaction.
func (h *history) step(revision int64, events []*clientv3.Event) {
	h.revision = revision
	h.seen.Store(revision)
	b := &batch{mail: map[string]workflow.Command{}, journal: map[string]bool{}}
	for _, ev := range events {
		name := strings.TrimPrefix(string(ev.Kv.Key), h.root)
		kind, rest, _ := strings.Cut(name, "/")
		put := ev.Type == mvccpb.PUT
		var raw []byte
		if put && slices.Contains([]string{"instance", "mailbox", "queue", "send", "dead", "journal"}, kind) {
			raw = plain(ev.Kv.Value)
			h.numbers(kind, name, raw)
		}
		if !put {
			h.forgotten(kind, name)
		}
		h.trail.note(name, ev, raw)
		switch kind {
		case "nodes":
			h.nodes[rest] = put
		case "lock":
			h.lock(rest, string(ev.Kv.Key), ev, put)
		case "journal":
			if put {
				h.journal(b, rest, ev)
			}
		case "instance":
			h.instance(b, rest, ev, put)
		case "timer":
			h.timer(b, name, ev, put)
		case "mailbox":
			if put {
				h.mail(b, rest, ev)
			}
		case "cron":
			if !put {
				b.crons = append(b.crons, rest)
			}
		case "sentinel":
			h.mark(rest)
		}
	}
	for _, do := range b.decided {
		do()
	}
	h.settle(b)
}

// batch is what one transaction did, as far as its parts belong together.
type batch struct {
	mail    map[string]workflow.Command // by command id
	journal map[string]bool             // instances with an entry
	due     []timerValue                // timers that were deleted
	crons   []string
	created []string // instances
	decided []func() // once the fence of the commit is known
}

func (h *history) lock(rest, key string, ev *clientv3.Event, put bool) {
	parts := strings.Split(rest, "/")
	if parts[0] != "instance" || len(parts) != 3 {
		return
	}
	id := parts[1]
	switch {
	case !put:
		delete(h.locks[id], key)
		if len(h.locks[id]) == 0 {
			delete(h.locks, id)
		}
	case ev.IsCreate():
		if h.locks[id] == nil {
			h.locks[id] = map[string]int64{}
		}
		h.locks[id][key] = ev.Kv.CreateRevision
	}
}

// journal checks the chain: one entry a sequence number, by the holder of the
// lock, or by a node that has a session while nobody has the lock; fences never falling,
// no command twice.
func (h *history) journal(b *batch, rest string, ev *clientv3.Event) {
	id, number, _ := strings.Cut(rest, "/")
	seq, _ := strconv.ParseInt(number, 10, 64)
	var e journalEntry
	if err := etcdstore.Decode(ev.Kv.Value, &e); err != nil {
		h.problem("journal", "%s: %v", rest, err)
		return
	}
	l := h.of(id)
	b.journal[id] = true
	h.commits++
	switch {
	case !ev.IsCreate():
		h.problem("chain-fork", "entry %s was written again, by commit %s", rest, e.Commit)
	case seq != l.seq+1 || e.Seq != seq:
		h.problem("chain-gap", "%s follows entry %d", rest, l.seq)
	}
	if e.Fence != 0 && e.Fence < l.fence {
		h.problem("fence-fell", "%s has fence %d after %d", rest, e.Fence, l.fence)
	}
	oldest := int64(0)
	for _, created := range h.locks[id] {
		if oldest == 0 || created < oldest {
			oldest = created
		}
	}
	if oldest != e.Fence {
		h.problem("zombie-commit", "%s has fence %d while the oldest lock key is of %d", rest, e.Fence, oldest)
	}
	if e.Fence == 0 && !h.nodes[e.Node] {
		h.problem("zombie-commit", "%s has no fence, and node %q that made it has no session", rest, e.Node)
	}
	l.seq, l.fence = seq, max(l.fence, e.Fence)
	for _, cmd := range e.Commands {
		if was, twice := l.commands[cmd]; twice && cmd != workflow.ContinueID {
			h.problem("command-twice", "%s consumes %s, as did entry %d", rest, cmd, was)
		}
		l.commands[cmd] = seq
	}
	for _, it := range e.Items {
		if it.Event == engine.EventResumed {
			l.resumes++
		}
		if it.Event != "WriteLine" {
			continue
		}
		l.lines = append(l.lines, it.Text)
		if token, is := tokenIn(it.Text); is {
			l.tokens[token]++
			if it.Text != line(token) {
				h.problem("number", "%s wrote %q, not %q", rest, it.Text, line(token))
			}
		}
	}
}

func (h *history) instance(b *batch, id string, ev *clientv3.Event, put bool) {
	l := h.of(id)
	if !put {
		l.exists, l.seq, l.deleted, l.deletedAt = false, 0, l.deleted+1, ev.Kv.ModRevision
		if l.last.Header.Status == workflow.StatusFinished {
			h.purged++
		} else {
			l.killed = true
		}
		delete(h.singles, id)
		return
	}
	var r store.Record
	if err := etcdstore.Decode(ev.Kv.Value, &r); err != nil {
		h.problem("instance", "%s: %v", id, err)
		return
	}
	if ev.IsCreate() {
		b.created = append(b.created, id)
		if l.deleted > 0 {
			h.problem("resurrected", "%s was deleted and is there again", id)
		}
	}
	if was := l.last.Unwritten != nil; was != (r.Unwritten != nil) {
		b.decided = append(b.decided, func() { h.decided(id, l, was, !was) })
	}
	l.definition, l.exists, l.last = r.Header.DefinitionID, true, r
	if r.Header.DefinitionID == "single" {
		if delete(h.singles, id); r.Header.Status == workflow.StatusRunning {
			h.singles[id] = true
		}
	}
}

func (h *history) timer(b *batch, name string, ev *clientv3.Event, put bool) {
	if !put {
		if t := h.timers[name]; t.Bookmark != "" {
			b.due = append(b.due, t)
		}
		delete(h.timers, name)
		return
	}
	var t timerValue
	if err := etcdstore.Decode(ev.Kv.Value, &t); err != nil {
		h.problem("timer", "%s: %v", name, err)
	}
	t.wrong = time.Until(t.Due) > longestDelay+clockBound
	h.timers[name] = t
}

func (h *history) mail(b *batch, rest string, ev *clientv3.Event) {
	var cmd workflow.Command
	if err := etcdstore.Decode(ev.Kv.Value, &cmd); err != nil {
		h.problem("mail", "%s: %v", rest, err)
	}
	parts := strings.Split(rest, "/")
	if l := h.of(parts[1]); ev.IsCreate() && cmd.ID != workflow.ContinueID && !strings.HasPrefix(cmd.ID, "cancel-") {
		if seq, twice := l.commands[cmd.ID]; twice {
			h.problem("command-back", "%s was consumed by entry %d and is in the mailbox again", rest, seq)
		}
	}
	b.mail[cmd.ID] = cmd
}

func (h *history) mark(name string) {
	h.mu.Lock()
	h.marks[name] = true
	h.mu.Unlock()
	select {
	case h.marked <- struct{}{}:
	default:
	}
}

// catchUp waits until everything that has been written by now was seen.
func (h *history) catchUp(ctx context.Context, c *clientv3.Client, name string) error {
	if _, err := c.Put(ctx, h.root+"sentinel/"+name, ""); err != nil {
		return err
	}
	for {
		h.mu.Lock()
		seen := h.marks[name]
		h.mu.Unlock()
		if seen { // fsck knows no such key
			_, err := c.Delete(ctx, h.root+"sentinel/"+name)
			return err
		}
		select {
		case <-h.marked:
		case <-ctx.Done():
			return fmt.Errorf("the history did not catch up: %w", ctx.Err())
		}
	}
}
