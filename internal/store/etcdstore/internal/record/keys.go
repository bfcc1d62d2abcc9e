package record

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Dated is what lies in shards in the order in which it is due.
type Dated int

// What there is of it.
const (
	Timers Dated = iota
	Schedules
	TaskLeases
)

// String says what it is.
func (d Dated) String() string {
	return [...]string{Timers: "timers", Schedules: "schedules", TaskLeases: "leases"}[d]
}

// Dated is where they lie in a shard.
func (k Keys) Dated(of Dated, shard int) string {
	switch of {
	case Schedules:
		return k.Crons(shard)
	case TaskLeases:
		return k.Taken.Leases(shard)
	}
	return k.Timers(shard)
}

// HTTP endpoints in the middle of a workflow are bookmarks, and as triggers routes;
// both are found by the pattern of their template, which their hash is made of.
// Which patterns may match a path tell the shapes (workflow.RouteShape) that any
// template ever had: a key for each, put with every bookmark and route, so that the
// shape of what waits is always there. Shapes are few however many wait, and stay:
// one that nothing has any more costs a request one look, and there is no moment at
// which it could be missed. Who may call is not read there: those that wait at one
// pattern may be of definitions that say different things about it.

// Shapes is what the shapes begin with that match so many segments. A shape lies by how many segments it matches: that many, or any number from some on.
func (k Keys) Shapes(method, segments string) string {
	return k.Root + "endpoint/" + method + "/" + segments + "/"
}

// Shape is where the shape of a template lies.
func (k Keys) Shape(method, template string) string {
	shape := workflow.RouteShape(workflow.RoutePattern(template))
	if strings.HasSuffix(shape, "r") {
		return k.Shapes(method, AnySegments) + shape
	}
	return k.Shapes(method, SegmentsIn(len(shape))) + shape
}

// AnySegments is where shapes lie that match any number of segments from some on.
const AnySegments = "any"

// SegmentsIn is where shapes lie that match so many segments.
func SegmentsIn(n int) string { return fmt.Sprintf("%02d", n) }

// Shards is the fixed number of slices of mailboxes and send records, and
// TimerShards that of timers and cron occurrences. Both are part of the format
// (meta/format): changing one needs a migration.
const (
	Shards      = 64
	TimerShards = 16
)

// FinishedShards is the fixed number of slices of the finished instances in the
// order of their ends.
const FinishedShards = TimerShards

// NoCorrelation is the slice of bookmarks and queue items without a
// correlation. Encoded correlations have at least two characters.
const NoCorrelation = "-"

// Keys builds every key of one cluster, and is the only place that does.
// Instance, definition and activity ids match [A-Za-z0-9._:-]+ and stand as
// they are; everything else is encoded so that it holds no slash.
type Keys struct {
	Root string
	timerKeys
	Taken  TakenKeys
	Limits LimitKeys
	People PeopleKeys
	definitionKeys
	JobKeys
	webhookKeys
	signOutKeys
}

// KeysBelow makes the keys of the cluster whose keys begin with root.
func KeysBelow(root string) Keys {
	return Keys{root, timerKeys{root}, TakenKeys{root}, LimitKeys{root}, PeopleKeys{root}, definitionKeys{root}, JobKeys{root}, webhookKeys{root}, signOutKeys{root}}
}

// Instance holds an instance's record.
func (k Keys) Instance(id string) string { return k.Root + "instance/" + id }

// PartsOf is what the parts of a record begin with.
func (k Keys) PartsOf(id string) string { return k.Root + "part/" + id + "/" }

// Part holds a part of a record.
func (k Keys) Part(id, part string) string { return k.PartsOf(id) + part }

// Journal holds an entry of an instance's journal.
func (k Keys) Journal(id string, seq int64) string {
	return fmt.Sprintf("%sjournal/%s/%012d", k.Root, id, seq)
}

// JournalOf is what the entries of a journal begin with.
func (k Keys) JournalOf(id string) string { return k.Root + "journal/" + id + "/" }

// Mailboxes is what all mail begins with.
func (k Keys) Mailboxes() string { return k.Root + "mailbox/" }

// Mailbox is what the mail of an instance begins with.
func (k Keys) Mailbox(id string) string { return k.Mailboxes() + ShardOf(id) + "/" + id + "/" }

// Mail holds a command.
func (k Keys) Mail(id, cmd string) string { return k.Mailbox(id) + Encode(cmd) }

// Cancels is what the keys begin with that say which instances are to end.
func (k Keys) Cancels() string { return k.Root + "cancel/" }

// Cancel holds the id of the command that ends an instance.
func (k Keys) Cancel(id string) string { return k.Cancels() + id }

// Sends is what send records begin with.
func (k Keys) Sends() string { return k.Root + "send/" }

// Send holds a send record.
func (k Keys) Send(id string) string { return k.Sends() + ShardOf(id) + "/" + id }

// Sent holds how many an instance has sent.
func (k Keys) Sent(id string) string { return k.Root + "sent/" + ShardOf(id) + "/" + id }

// Deads is what dead letters begin with.
func (k Keys) Deads() string { return k.Root + "dead/" }

// Dead holds a dead letter.
func (k Keys) Dead(id string) string { return k.Deads() + Encode(id) }

// Bookmarks is what the bookmarks of a hash begin with.
func (k Keys) Bookmarks(hash string) string { return k.Root + "bookmark/" + hash + "/" }

// BookmarkSlice is what those of one correlation begin with.
func (k Keys) BookmarkSlice(hash, correlation string) string {
	return k.Bookmarks(hash) + Slice(correlation) + "/"
}

// Bookmark holds a bookmark.
func (k Keys) Bookmark(hash, correlation, bookmarkID string) string {
	id, local := workflow.SplitBookmarkID(bookmarkID)
	return k.BookmarkSlice(hash, correlation) + id + "/" + Encode(local)
}

// Queues is what queue items begin with.
func (k Keys) Queues() string { return k.Root + "queue/" }

// Queue is what those of a hash begin with.
func (k Keys) Queue(hash string) string { return k.Queues() + hash + "/" }

// QueueSlice is what those of a slice begin with.
func (k Keys) QueueSlice(hash, slice string) string { return k.Queue(hash) + slice + "/" }

// MarksOf says that something may lie in a slice of the queue. They stand for the
// slice where only emptiness counts: of a range, etcd loads every value to compare
// it, and these are few and empty. They are some, and not one, so that several items
// of one slice may share a proposal.
func (k Keys) MarksOf(slice string) string {
	return k.Marks() + strings.TrimPrefix(slice, k.Queues())
}

// Mark is the mark that an item of a slice has.
func (k Keys) Mark(slice, item string) string {
	return fmt.Sprintf("%s%x", k.MarksOf(slice), Shard(item, SliceMarks))
}

// Marks is what marks begin with.
func (k Keys) Marks() string { return k.Root + "queue-mark/" }

// SliceMarks is how many marks a slice has at most.
const SliceMarks = 16

// GatedQueues is what the items behind gates begin with, and [Keys.GatedQueue] where the items lie whose starts wait behind a gate, in the order
// of their arrival. No hash begins with ~.
func (k Keys) GatedQueues() string { return k.Queues() + "~gated/" }

// GatedQueue is what the items behind a gate begin with.
func (k Keys) GatedQueue(g store.Gate) string {
	return k.GatedQueues() + cmp.Or(g.Definition, "*") + "/" + Slice(g.Correlation) + "/"
}

// Addressed is the queue slice of items for one instance.
func Addressed(instanceID string) string { return "@" + instanceID }

// Gate holds who has an activation gate.
func (k Keys) Gate(definition, correlation string) string {
	return k.Root + "gate/" + definition + "/" + Slice(correlation)
}

// GateOf is the key of an activation gate; * stands for any definition.
func (k Keys) GateOf(g store.Gate) string { return k.Gate(cmp.Or(g.Definition, "*"), g.Correlation) }

// CommandRecord proves that a command took effect on an instance.
func (k Keys) CommandRecord(instance, cmd string) string {
	return k.CommandRecords() + instance + "/" + Encode(cmd)
}

// CommandRecords are all of them.
func (k Keys) CommandRecords() string { return k.Root + "idem/c/" }

// KeyRecord holds the answer to a caller's Idempotency-Key.
func (k Keys) KeyRecord(name string) string { return k.Root + "idem/k/" + Encode(name) }

// Expiries is what expiries begin with.
func (k Keys) Expiries() string { return k.Root + "idem-expiry/" }

// Expiry says since which age of the cluster a record is there.
func (k Keys) Expiry(age int64, record string) string {
	return k.Expiries() + AgeKey(age) + "/" + Encode(strings.TrimPrefix(record, k.Root))
}

// KeyExpiries are the records of callers' keys in the order of their writing, apart
// from our own, which never go before their time. It comes after all ages.
func (k Keys) KeyExpiries() string { return k.Expiries() + "k/" }

// KeyExpiry says since which age of the cluster the record of a caller's key is there.
func (k Keys) KeyExpiry(age int64, record string) string {
	return k.KeyExpiries() + AgeKey(age) + "/" + Encode(strings.TrimPrefix(record, k.Root))
}

// AgeKey is an age of the cluster, in milliseconds, as part of a key.
func AgeKey(age int64) string { return fmt.Sprintf("%013d", age) }

// Indexes is what the indexes begin with. [Keys.Index] lists the instances of one sub-status, by definition and version. What
// follows that in an entry is the same in all lists of instances ([Place]), so that
// several merge.
func (k Keys) Indexes() string { return k.Root + indexes }

const indexes = "index/"

// Index is what the entries of a sub-status begin with.
func (k Keys) Index(sub workflow.SubStatus) string { return k.Indexes() + string(sub) + "/" }

// IndexOf is what those of a definition begin with.
func (k Keys) IndexOf(sub workflow.SubStatus, definition string) string {
	return k.Index(sub) + definition + "/"
}

// IndexOfVersion is what those of a version begin with.
func (k Keys) IndexOfVersion(sub workflow.SubStatus, definition string, version int) string {
	return k.IndexOf(sub, definition) + strconv.Itoa(version) + "/"
}

// IndexEntry is where an instance stands: what [Keys.IndexOfVersion] and [Place] give, made at once, as each commit has it.
func (k Keys) IndexEntry(h *workflow.Instance) string {
	var room [usualKey]byte
	return string(appendIndexEntry(room[:0], k, h))
}

// Children lists the instances that one has started.
func (k Keys) Children(parent string) string { return k.Root + "by-parent/" + Encode(parent) + "/" }

// Labels is what the entries of labels begin with.
func (k Keys) Labels() string { return k.Root + "label/" }

// Labelled is what the entries of a label with a value begin with.
func (k Keys) Labelled(name, value string) string {
	return k.Labels() + Encode(name) + "/" + Encode(value) + "/"
}

// Place is where an instance stands in every list of instances for as long as it is
// there: the newest comes first. etcd gives the first keys of a range, and sorts
// the other way round only a range that it reads whole.
func Place(h *workflow.Instance) string { return Newest(h.CreatedAt) + "/" + h.ID }

// Correlation lists the instances with a correlation id.
func (k Keys) Correlation(correlation string) string {
	return k.Root + "by-correlation/" + Slice(correlation) + "/"
}

// FinishedIn is what the finished instances of a shard begin with.
func (k Keys) FinishedIn(shard int) string { return fmt.Sprintf("%sfinished/%02x/", k.Root, shard) }

// Finished orders the finished instances of a shard by their end.
func (k Keys) Finished(h *workflow.Instance) string {
	at := h.UpdatedAt
	if h.FinishedAt != nil {
		at = *h.FinishedAt
	}
	return k.FinishedIn(Shard(h.ID, FinishedShards)) + Millis(at) + "/" + h.ID
}

// Pause says whether the cluster is paused.
func (k Keys) Pause() string { return k.Root + "meta/pause" }

// Format holds the format of the data.
func (k Keys) Format() string { return k.Root + "meta/format" }

// Age holds how old the cluster is.
func (k Keys) Age() string { return k.Root + "meta/age" }

// Balance holds the balance of accepted work.
func (k Keys) Balance() string { return k.Root + "meta/balance" }

// Links holds the key that signs resume links.
func (k Keys) Links() string { return k.Root + "meta/link-key" }

// Encode makes any text safe as one part of a key, and keeps plain ids
// readable.
func Encode(s string) string {
	if s == "" {
		return "%"
	}
	return url.QueryEscape(s)
}

// Decode is the opposite of [Encode].
func Decode(s string) string {
	if s == "%" {
		return ""
	}
	out, err := url.QueryUnescape(s)
	if err != nil {
		return s
	}
	return out
}

// Slice encodes a correlation id as a part of a key.
func Slice(correlation string) string {
	if correlation == "" {
		return NoCorrelation
	}
	return base64.RawURLEncoding.EncodeToString([]byte(correlation))
}

// ShardOf is the shard of an id, as a part of a key.
func ShardOf(id string) string { return fmt.Sprintf("%02x", Shard(id, Shards)) }

// TimerShard is the shard of what is due.
func TimerShard(subject string) int { return Shard(subject, TimerShards) }

// Shard is the shard of an id, of n.
func Shard(id string, n uint32) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32() % n)
}

// SubStatuses are all that an instance may have, each with an index of its own.
var SubStatuses = []workflow.SubStatus{workflow.Pending, workflow.Executing, workflow.Suspended, workflow.Finished, workflow.Cancelled, workflow.Faulted}

// Owned are the lists that an instance has an entry in for something of its own, each of
// which has all that fits.
func (k Keys) Owned(f *find.Filter) (lists [][]string) {
	if f.Parent != "" {
		lists = append(lists, []string{k.Children(f.Parent)})
	}
	if f.CorrelationID != "" {
		lists = append(lists, []string{k.Correlation(f.CorrelationID)})
	}
	for name, value := range f.Labels {
		lists = append(lists, []string{k.Labelled(name, value)})
	}
	return lists
}

// ListOf is the list that an entry of index/ stands in; "": it is no such entry.
func (k Keys) ListOf(key string) string {
	parts := strings.SplitN(strings.TrimPrefix(key, k.Indexes()), "/", 4) // sub-status, definition, version, place
	if len(parts) < 4 {
		return ""
	}
	return strings.TrimSuffix(key, parts[3])
}

const (
	// AsideDir is what keys of what was set aside begin with, below the root.
	AsideDir = "damaged/"
	// AsidePart is how many bytes of a value one key below damaged/ has: a value of
	// others may be as large as etcd takes, and has to fit beside the rest.
	AsidePart = 1 << 20
)

// Aside is where a record is kept that was damaged at a revision; its further parts
// have a number.
func (k Keys) Aside(key string, modified int64, part int) string {
	at := fmt.Sprintf("%s%s%s@%d", k.Root, AsideDir, strings.TrimPrefix(key, k.Root), modified)
	if part > 0 {
		at += fmt.Sprintf(".%d", part)
	}
	return at
}
