package trace

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Trace reads what became of one thing: of a request, of a command, of an instance.
type Trace struct {
	conn     *lookup.Conn
	keepKeys time.Duration // records of callers' keys
}

// New is who traces over a connection; records of callers' keys are kept for so long.
func New(c *lookup.Conn, keepKeys time.Duration) *Trace { return &Trace{c, keepKeys} }

// Bounds of what is looked at for one key.
const (
	mostReceipts  = 10     // requests
	mostFates     = 100    // targets of one of them
	mostSearched  = 10     // journals in which a command is looked for
	searchedFar   = 500    // commits of each
	mostGatedKeys = 10_000 // keys of what waits behind gates
)

// Receipts tells what became of the requests with a caller's Idempotency-Key: from the answer
// that is kept for it on to the mailbox, the outbox, the queue, the dead letter or the journal
// entry where it is now.
func (s *Trace) Receipts(ctx context.Context, value string) (*store.Receipts, error) {
	prefix := s.conn.Keys.KeyRecord(store.KeyPrefix(value))
	resp, err := s.conn.Get(ctx, "read receipts", prefix, clientv3.WithPrefix(), clientv3.WithLimit(mostReceipts))
	if err != nil {
		return nil, err
	}
	out := &store.Receipts{More: resp.More, Revision: resp.Header.Revision, Kept: s.keepKeys}
	f := &pursuit{s: s, revision: out.Revision, journals: mostSearched}
	for _, kv := range resp.Kvs {
		key := string(kv.Key)
		f.name = record.Decode(key[strings.LastIndexByte(key, '/')+1:])
		r := store.Receipt{Modified: kv.ModRevision}
		var a store.Answer
		if err := db.Decode(kv.Value, &a); err != nil {
			r.Damage = err.Error()
		} else if err := f.pursue(ctx, &a, kv.CreateRevision, &r); err != nil {
			return nil, err
		}
		out.Of = append(out.Of, r)
	}
	return out, nil
}

// pursuit looks for what became of one request, at one revision.
type pursuit struct {
	s        *Trace
	revision int64
	journals int    // in how many of them commands are looked for
	name     string // of the key, and id of what was made of the request

	sent   string          // id of the stimulus, if it is one
	buried string          // dead letter of the stimulus, for all that it was not delivered to; ""
	gated  map[string]bool // ids of what waits behind gates; nil: not read yet
}

func (f *pursuit) read(ctx context.Context, ask *db.Reads) (*pb.TxnResponse, error) {
	return f.s.conn.Read(ctx, "read receipts", ask.Ops...)
}

// at makes an operation one of the pursuit's revision.
func (f *pursuit) at(key string, opts ...clientv3.OpOption) clientv3.Op {
	return clientv3.OpGet(key, append(opts, clientv3.WithRev(f.revision))...)
}

func (f *pursuit) there(ask *db.Reads, key string) db.Read {
	return ask.Add(f.at(key, clientv3.WithKeysOnly()))
}

// letter reads the dead letter of a stimulus, whose id has a time that is not known here.
func (f *pursuit) letter(ask *db.Reads, stimulus string) db.Read {
	return ask.Add(f.at(f.s.conn.Keys.Dead(stimulus+"@"), clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
}

func (f *pursuit) letterID(resp *pb.TxnResponse, r db.Read) string {
	if kv := r.One(resp); kv != nil {
		return record.Decode(strings.TrimPrefix(string(kv.Key), f.s.conn.Keys.Deads()))
	}
	return ""
}

// pursue looks for what became of a request that was answered first at a revision.
func (f *pursuit) pursue(ctx context.Context, a *store.Answer, since int64, r *store.Receipt) error {
	r.Request, r.Caller, r.At = a.Request, a.Caller, a.At
	f.sent, f.buried = cmp.Or(a.Queued, f.name), ""
	if a.Response != nil {
		r.Status = cmp.Or(a.Response.Status, 200)
	}
	if a.Began != "" {
		r.UnderWay = a.Reply == nil
		if a.Reply != nil {
			r.Status = a.Reply.Status
		}
		return nil
	}
	if a.Job != "" {
		return f.job(ctx, a.Job, r)
	}
	if len(a.Targets) == 0 {
		fate, err := f.item(ctx, a)
		r.Fates = []store.Fate{fate}
		return err
	}
	targets := a.Targets[:min(len(a.Targets), mostFates)]
	r.Unlisted = len(a.Targets) - len(targets)
	r.Fates = make([]store.Fate, len(targets))
	if err := f.targets(ctx, targets, r.Fates); err != nil {
		return err
	}
	if err := f.search(ctx, since, r.Fates); err != nil {
		return err
	}
	return f.letters(ctx, r.Fates)
}

// job is how far a job is.
func (f *pursuit) job(ctx context.Context, id string, r *store.Receipt) error {
	r.Job = &store.Job{ID: id}
	resp, err := f.s.conn.Get(ctx, "read job", record.JobKeys{Root: f.s.conn.Keys.Root}.Job(id), clientv3.WithRev(f.revision))
	if err != nil || len(resp.Kvs) == 0 {
		return err
	}
	var job store.Job
	if db.Decode(resp.Kvs[0].Value, &job) == nil {
		r.Job = &job
	}
	return nil
}

// CommandFates tells where commands of instances are, and what became of them, all at one
// revision. Those that nothing else tells of are looked for in the journals, in what was
// committed after a revision (0: that is not known, and they are not looked for). Absent are those
// that no commit after it has taken up, of instances that were there by then: nobody's clock counts.
func (s *Trace) CommandFates(ctx context.Context, commands []store.Effect, after int64) ([]store.Fate, error) {
	at, _, err := s.conn.RevisionNow(ctx)
	if err != nil {
		return nil, err
	}
	f, fates := &pursuit{s: s, revision: at, journals: len(commands)}, make([]store.Fate, len(commands))
	if err := f.targets(ctx, commands, fates); err != nil {
		return nil, err
	}
	var since int64
	if after > 0 {
		since = after + 1
	}
	return fates, f.search(ctx, since, fates)
}

// item is where a stimulus is that had met nothing when it was answered.
func (f *pursuit) item(ctx context.Context, a *store.Answer) (store.Fate, error) {
	k := f.s.conn.Keys
	fate := store.Fate{Item: a.Queued, Command: a.Queued, Outcome: workflow.OutcomeAccepted}
	var ask db.Reads
	queued := f.there(&ask, k.Queues()+a.Slot+"/"+record.Encode(a.Queued))
	sending, letter := f.there(&ask, k.Send(a.Queued)), f.letter(&ask, a.Queued)
	done := ask.Add(f.at(k.CommandRecord(record.DoneRecords, a.Queued)))
	resp, err := f.read(ctx, &ask)
	if err != nil {
		return fate, err
	}
	fate.Letter = f.letterID(resp, letter)
	switch {
	case queued.One(resp) != nil:
		fate.State = store.FateQueued
	case sending.One(resp) != nil:
		fate.State = store.FateSending
	case fate.Letter != "":
		fate.State = store.FateDead
	case done.One(resp) != nil:
		fate.State = store.FateDropped
	case a.Dead != "":
		fate.State, fate.Letter, fate.LetterGone = store.FateDead, a.Dead, true
	default:
		fate.State, fate.Detail = store.FateUnknown, "it has left the queue, and neither its key nor a dead letter says how: somebody deleted it, edited it and sent it again, or replayed or deleted its dead letter"
	}
	return fate, nil
}

// targets fills in what records, mailboxes and the outbox say of targets.
func (f *pursuit) targets(ctx context.Context, targets []store.Effect, fates []store.Fate) error {
	const opsEach, opsBeside = 3, 3
	k := f.s.conn.Keys
	for from := 0; from < len(targets); from += (db.MaxLevel - opsBeside) / opsEach {
		to := min(len(targets), from+(db.MaxLevel-opsBeside)/opsEach)
		var ask db.Reads
		sending, counted, letter := f.there(&ask, k.Send(f.sent)), ask.Add(f.at(k.Sent(f.sent))), f.letter(&ask, f.sent)
		of := make([][opsEach]db.Read, to-from)
		for i := range of {
			e := &targets[from+i]
			command := cmp.Or(e.Command, f.name)
			of[i] = [opsEach]db.Read{ask.Add(f.at(k.CommandRecord(e.InstanceID, command))), f.there(&ask, k.Mail(e.InstanceID, command)), f.there(&ask, k.Instance(e.InstanceID))}
		}
		resp, err := f.read(ctx, &ask)
		if err != nil {
			return err
		}
		f.buried = f.letterID(resp, letter)
		var count record.SentCount
		if kv := counted.One(resp); kv != nil {
			_ = db.Decode(kv.Value, &count) // of a damaged one: none is known to be done
		}
		for i, reads := range of {
			e := targets[from+i]
			if kv := reads[0].One(resp); kv != nil && e.Outcome == workflow.OutcomeAccepted {
				id, command := e.InstanceID, e.Command
				var known store.Effect
				if db.Decode(kv.Value, &known) == nil {
					e = known
				}
				e.InstanceID, e.Command = id, command
			}
			fate := &fates[from+i]
			*fate = store.Fate{InstanceID: e.InstanceID, Command: cmp.Or(e.Command, f.name), Outcome: e.Outcome, Code: e.Code, Detail: e.Detail, Letter: e.Dead}
			if e.Seq > 0 {
				fate.Commit = &store.FateCommit{Seq: e.Seq}
			}
			switch {
			case reads[1].One(resp) != nil:
				fate.State = store.FateMailbox
			case e.Outcome == workflow.OutcomeAccepted && sending.One(resp) != nil && from+i >= count.Done:
				fate.State = store.FateSending
			case e.Outcome == workflow.OutcomeAccepted && reads[2].One(resp) == nil:
				fate.State, fate.Detail = store.FateUnknown, "its instance is gone"
			case e.Outcome == workflow.OutcomeAccepted:
				fate.State, fate.Detail = store.FateUnknown, "its record was kept for 10 minutes"
			default:
				fate.State = fateOf(&e)
				fate.Item = itemOf(&e)
			}
		}
	}
	return nil
}

func fateOf(e *store.Effect) store.FateState {
	switch {
	case e.Dead != "":
		return store.FateDead
	case e.Outcome == workflow.OutcomeRequeued:
		return store.FateRequeued
	case e.Outcome == workflow.OutcomeDropped:
		return store.FateDropped
	case e.Outcome == workflow.OutcomeRefused, e.Outcome == workflow.OutcomeGone:
		return store.FateRefused
	}
	return store.FateApplied
}

// itemOf is the stimulus that a command became whose bookmark was gone.
func itemOf(e *store.Effect) string {
	if e.Outcome == workflow.OutcomeRequeued {
		return e.Code
	}
	return ""
}

// search looks behind gates, and through journals, for what nothing else tells of; and for the
// commits that are known by their numbers. since is the first revision of a commit that can have
// taken them up; 0: it is not known.
func (f *pursuit) search(ctx context.Context, since int64, fates []store.Fate) error {
	searched := 0
	for i := range fates {
		fate := &fates[i]
		var err error
		switch {
		case fate.Commit != nil:
			fate.Commit, err = f.commit(ctx, fate)
		case fate.State == store.FateUnknown:
			if f.sent != "" {
				err = f.behindGate(ctx, fate)
			}
			if err == nil && fate.State == store.FateUnknown && searched < f.journals && since > 0 {
				searched++
				err = f.inJournal(ctx, since, fate)
			}
			if fate.State == store.FateUnknown && f.buried != "" {
				fate.State, fate.Letter, fate.Detail = store.FateDead, f.buried, ""
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commit reads the commit of a number; nil if it is not kept, or is another's: an instance of
// the same id may have come since.
func (f *pursuit) commit(ctx context.Context, fate *store.Fate) (*store.FateCommit, error) {
	e, _, err := f.entry(ctx, fate.InstanceID, fate.Commit.Seq)
	if err != nil || e == nil || !slices.Contains(e.Commands, fate.Command) {
		return nil, err
	}
	return fateCommit(e), nil
}

func fateCommit(e *workflow.JournalEntry) *store.FateCommit {
	return &store.FateCommit{Seq: e.Sequence, Fence: e.Fence, Node: e.Node, At: e.Ended}
}

// entry reads the head of a commit, and the revision at which it was made; nil: it is not kept.
func (f *pursuit) entry(ctx context.Context, id string, seq int64) (*workflow.JournalEntry, int64, error) {
	resp, err := f.s.conn.Get(ctx, "read journal of "+id, f.s.conn.Keys.Journal(id, seq), clientv3.WithRev(f.revision))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, 0, err
	}
	e := record.ReadHead(seq, resp.Kvs[0].Value)
	return &e, resp.Kvs[0].CreateRevision, nil
}

// behindGate looks whether the start that a stimulus means waits there.
func (f *pursuit) behindGate(ctx context.Context, fate *store.Fate) error {
	if f.gated == nil {
		f.gated = map[string]bool{}
		prefix := f.s.conn.Keys.GatedQueues()
		for cursor := ""; len(f.gated) < mostGatedKeys; {
			kvs, next, err := f.s.conn.Page(ctx, "look behind gates", prefix, cursor, 1000, clientv3.WithKeysOnly(), clientv3.WithRev(f.revision))
			if err != nil {
				return err
			}
			for _, kv := range kvs {
				f.gated[gatedItem(string(kv.Key))] = true
			}
			if cursor = next; next == "" {
				break
			}
		}
	}
	for _, id := range []string{f.sent, store.GatedItem(fate.InstanceID)} {
		if f.gated[id] {
			fate.State, fate.Item, fate.Detail = store.FateQueued, id, "its start waits until no other instance runs"
		}
	}
	return nil
}

// inJournal looks for the commit that took a command up, among those that were made since it came.
func (f *pursuit) inJournal(ctx context.Context, since int64, fate *store.Fate) error {
	resp, err := f.s.conn.Get(ctx, "read instance "+fate.InstanceID, f.s.conn.Keys.Instance(fate.InstanceID), clientv3.WithRev(f.revision))
	if err != nil || len(resp.Kvs) == 0 {
		return err
	}
	made := resp.Kvs[0].CreateRevision
	rec, damage := record.DecodeRecord(resp.Kvs[0])
	if damage != nil {
		return nil //nolint:nilerr // then nothing is known
	}
	j := &JournalSpan{First: record.JournalFrom(rec), Last: rec.Seq, Revision: f.revision}
	from, to := j.First, j.Last+1
	for from < to { // the first commit that is not older
		middle := from + (to-from)/2
		e, at, err := f.entry(ctx, fate.InstanceID, middle)
		if err != nil {
			return err
		}
		if e == nil || at < since {
			from = middle + 1
		} else {
			to = middle
		}
	}
	n, whole := 0, true
	err = f.s.scanJournal(ctx, fate.InstanceID, from, &JournalScan{Heads: true}, j, func(e *workflow.JournalEntry) bool {
		whole = whole && e.Commit != "" // else it cannot be read
		if n++; slices.Contains(e.Commands, fate.Command) {
			fate.State, fate.Commit, fate.Detail = store.FateApplied, fateCommit(e), "a commit took it up; what came of it was recorded for 10 minutes"
		}
		return fate.Commit != nil || n == searchedFar
	})
	if err != nil || fate.Commit != nil || !whole || int64(n) != rec.Seq+1-to || made >= since { // one that was made since is another instance
		return err
	}
	fate.Absent, err = f.begins(ctx, fate.InstanceID, to)
	return err
}

// begins tells whether the journal reaches back to before a commit.
func (f *pursuit) begins(ctx context.Context, id string, commit int64) (bool, error) {
	if commit == 1 {
		return true, nil
	}
	before, _, err := f.entry(ctx, id, commit-1)
	return err == nil && before != nil && before.Commit != "", err
}

// letters looks whether the dead letters are there.
func (f *pursuit) letters(ctx context.Context, fates []store.Fate) error {
	var dead []*store.Fate
	var ask db.Reads
	for i := range fates {
		if fates[i].Letter != "" {
			dead = append(dead, &fates[i])
			f.there(&ask, f.s.conn.Keys.Dead(fates[i].Letter))
		}
	}
	if len(dead) == 0 {
		return nil
	}
	resp, err := f.read(ctx, &ask)
	if err != nil {
		return err
	}
	for i, fate := range dead {
		fate.LetterGone = db.Read(i).One(resp) == nil
	}
	return nil
}
