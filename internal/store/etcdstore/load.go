package etcdstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// mailBatch is how many commands one burst takes at most.
const mailBatch = 50

// Loading are the reads of [Instances.Load], which may ride in the transaction that
// takes the instance's lock.
type Loading struct {
	reads
	record, mail, answer, head read
}

// Loading makes the reads. key names the record of a caller's Idempotency-Key,
// definition a head to confirm; "" if there is none.
func (s *Instances) Loading(id, key, definition string) *Loading {
	q := &Loading{}
	q.record, q.mail = q.value(s.keys.instance(id)), q.add(s.getMail(id))
	if key != "" || definition != "" {
		q.answer, q.head = q.value(s.keys.keyRecord(key)), q.key(s.keys.head(definition))
	}
	return q
}

// Ops are the operations to be sent, in this order.
func (q *Loading) Ops() []clientv3.Op { return q.ops }

// Load reads an instance with its mailbox at one revision.
func (s *Instances) Load(ctx context.Context, id, key, definition string) (*store.Loaded, error) {
	q := s.Loading(id, key, definition)
	resp, err := s.read(ctx, "load instance "+id, q.ops...)
	if err != nil {
		return nil, err
	}
	return q.decode(resp)
}

// Decode reads the answers to [Loading.Ops], which were read at one revision.
func (q *Loading) Decode(responses []*pb.ResponseOp, revision int64) (*store.Loaded, error) {
	return q.decode(&pb.TxnResponse{Header: &pb.ResponseHeader{Revision: revision}, Responses: responses})
}

func (q *Loading) decode(resp *pb.TxnResponse) (*store.Loaded, error) {
	l := &store.Loaded{Revision: resp.Header.Revision}
	var err error
	if kv := q.record.one(resp); kv != nil {
		if l.Record, err = wholeRecord(kv); err != nil {
			return nil, err
		}
		l.Bytes += decodedBytes(kv.Value)
	}
	box := q.mail.in(resp)
	l.Mail = decodeMail(box.Kvs)
	for _, kv := range box.Kvs {
		l.Bytes += decodedBytes(kv.Value)
	}
	if len(l.Mail) > mailBatch {
		l.Mail, l.More = l.Mail[:mailBatch], true
	}
	if q.head == 0 { // it was not asked for
		return l, nil
	}
	if kv := q.answer.one(resp); kv != nil {
		l.Answer = new(store.Answer)
		if err := Decode(kv.Value, l.Answer); err != nil {
			return nil, err
		}
	}
	if kv := q.head.one(resp); kv != nil {
		l.Head = kv.ModRevision
	}
	return l, nil
}

func decodeRecord(kv *mvccpb.KeyValue) (*store.Record, error) {
	r := &store.Record{Modified: kv.ModRevision}
	return r, Decode(kv.Value, r)
}

// wholeRecord is decodeRecord for whoever writes it again.
func wholeRecord(kv *mvccpb.KeyValue) (*store.Record, error) {
	r := &store.Record{Modified: kv.ModRevision}
	return r, DecodeWhole(kv.Value, r)
}

// decodeMail reads a mailbox. Of a command that it cannot read it gives the id:
// it has its place in the order.
func decodeMail(kvs []*mvccpb.KeyValue) []store.Mail {
	mail := make([]store.Mail, len(kvs))
	for i, kv := range kvs {
		m := &mail[i]
		m.Created, m.Modified = kv.CreateRevision, kv.ModRevision
		if m.Unreadable = DecodeWhole(kv.Value, &m.Command); m.Unreadable != nil {
			key := string(kv.Key)
			m.Command = workflow.Command{ID: decode(key[strings.LastIndexByte(key, '/')+1:])}
		}
		whole(&mail[i].Command)
	}
	return mail
}

// Mail reads one command of a mailbox; nil if it is not there.
func (s *Instances) Mail(ctx context.Context, id, command string) (*store.Mail, error) {
	resp, err := s.get(ctx, "read mail of "+id, s.keys.mail(id, command))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return &decodeMail(resp.Kvs)[0], nil
}

// Instance reads one record; nil if there is none.
func (s *Reader) Instance(ctx context.Context, id string) (*store.Record, error) {
	resp, err := s.get(ctx, "read instance "+id, s.keys.instance(id))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	return decodeRecord(resp.Kvs[0])
}

// Answer reads the record of a caller's Idempotency-Key; nil if there is none.
func (s *Stimuli) Answer(ctx context.Context, key string) (*store.Answer, error) {
	return s.keptAnswer(ctx, key)
}

// Answer reads the record of a caller's Idempotency-Key; nil if there is none.
func (s *Instances) Answer(ctx context.Context, key string) (*store.Answer, error) {
	return s.keptAnswer(ctx, key)
}

func (s *conn) keptAnswer(ctx context.Context, key string) (*store.Answer, error) {
	resp, err := s.get(ctx, "read idempotency key", s.keys.keyRecord(key))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	a := new(store.Answer)
	return a, Decode(resp.Kvs[0].Value, a)
}

// Effect reads what a command did; nil if it did nothing yet, or so long ago
// that its record expired.
func (s *Stimuli) Effect(ctx context.Context, instance, command string) (*store.Effect, error) {
	resp, err := s.get(ctx, "read command record", s.keys.commandRecord(instance, command))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	e := new(store.Effect)
	return e, Decode(resp.Kvs[0].Value, e)
}

// Effects reads what several commands did, each named by its instance and its id;
// nil as for [Stimuli.Effect].
func (s *Stimuli) Effects(ctx context.Context, of []store.Effect) ([]*store.Effect, error) {
	var out []*store.Effect
	for chunk := range slices.Chunk(of, maxLevel) {
		reads := make([]clientv3.Op, len(chunk))
		for i, e := range chunk {
			reads[i] = get(s.keys.commandRecord(e.InstanceID, e.Command))
		}
		resp, err := s.read(ctx, "read command records", reads...)
		if err != nil {
			return nil, err
		}
		for _, r := range resp.Responses {
			var e *store.Effect
			if kvs := r.GetResponseRange().Kvs; len(kvs) > 0 {
				e = new(store.Effect)
				if err := Decode(kvs[0].Value, e); err != nil {
					s.left(kvs[0].Key, err)
					e = nil
				}
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// WatchInstance gives a hint when an instance was written, until ctx ends or the
// watch breaks; then the channel closes.
func (s *Reader) WatchInstance(ctx context.Context, id string) <-chan struct{} {
	return s.hints(ctx, s.keys.instance(id))
}

// WatchAnswer gives a hint when the answer to a caller's key was written, as
// [Stimuli.WatchEffect] does.
func (s *Stimuli) WatchAnswer(ctx context.Context, key string) <-chan struct{} {
	return s.hints(ctx, s.keys.keyRecord(key))
}

// WatchEffect watches for the record of one command; the channel gives a value
// when it may be there, and closes when ctx ends or the watch breaks. It is a
// hint: look with [Stimuli.Effect], also without it.
func (s *Stimuli) WatchEffect(ctx context.Context, instance, command string) <-chan struct{} {
	return s.hints(ctx, s.keys.commandRecord(instance, command))
}

// watchBegins is how long a look waits at most for the watch that goes before it.
const watchBegins = 200 * time.Millisecond

// begin makes watches by open, and then follows them, on a goroutine that ends with
// follow. It waits until they have begun, so that a look that comes after it misses
// nothing. It does not wait long: etcd's client gives a watch only when a member has
// begun it, and one that hangs keeps nobody from looking. follow hears whether they
// began late: they do not tell of what was put before, so one more look has to follow.
func begin(open func(), follow func(late bool)) {
	began, late := make(chan struct{}), make(chan struct{})
	go func() {
		open()
		select {
		case began <- struct{}{}:
			follow(false)
		case <-late:
			follow(true)
		}
	}()
	patience := time.NewTimer(watchBegins)
	defer patience.Stop()
	select {
	case <-began:
	case <-patience.C:
		close(late)
	}
}

// hints coalesces the puts of one key into tokens. Its goroutine ends with ctx, which
// the caller must end. A watch that begins late gives a hint at once.
func (s *conn) hints(ctx context.Context, key string) <-chan struct{} {
	hint, events := make(chan struct{}, 1), clientv3.WatchChan(nil)
	begin(func() {
		events = s.client.Watch(clientv3.WithRequireLeader(ctx), key, clientv3.WithFilterDelete())
	}, func(late bool) {
		defer close(hint)
		if late {
			hint <- struct{}{}
		}
		for resp := range events {
			if resp.Err() != nil {
				return
			}
			select {
			case hint <- struct{}{}:
			default:
			}
		}
	})
	return hint
}

// Pending is one mailbox entry as a sweep sees it.
type Pending struct {
	InstanceID string
	CommandID  string
	Key        string
	Created    int64
}

// Sweep lists up to limit mailbox entries, keys only, from cursor on; next is ""
// at the end.
func (s *Upkeep) Sweep(ctx context.Context, cursor string, limit int64) (entries []Pending, next string, err error) {
	from := s.keys.mailboxes()
	if cursor != "" {
		from = cursor
	}
	resp, err := s.get(ctx, "sweep mailboxes", from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(s.keys.mailboxes())),
		clientv3.WithKeysOnly(), clientv3.WithLimit(limit))
	if err != nil {
		return nil, "", err
	}
	for _, kv := range resp.Kvs {
		parts := strings.Split(strings.TrimPrefix(string(kv.Key), s.keys.mailboxes()), "/")
		if len(parts) != 3 {
			continue
		}
		entries = append(entries, Pending{InstanceID: parts[1], CommandID: decode(parts[2]), Key: string(kv.Key), Created: kv.CreateRevision})
	}
	if resp.More && len(resp.Kvs) > 0 {
		next = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
	return entries, next, nil
}

// Journal reads the journal of an instance, from the commit after seq on; it
// returns the items of up to limit commits and the last commit's number, 0 at
// the end.
func (s *Reader) Journal(ctx context.Context, id string, after int64, limit int64) (items []workflow.JournalItem, last int64, err error) {
	prefix := s.keys.journalOf(id)
	cursor := strings.TrimPrefix(s.keys.journal(id, after), prefix)
	next, err := s.values(ctx, "read journal of "+id, prefix, cursor, limit, func(kv *mvccpb.KeyValue) error {
		var e journalEntry
		damage := Decode(kv.Value, &e)
		if damage == nil {
			items, last = append(items, e.journal()...), e.Seq
		} else {
			key := string(kv.Key)
			last, _ = strconv.ParseInt(key[strings.LastIndexByte(key, '/')+1:], 10, 64)
			items = append(items, workflow.JournalItem{Event: "Damaged", Text: damage.Error()})
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	if next == "" {
		last = 0
	}
	return items, last, nil
}
