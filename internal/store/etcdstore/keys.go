package etcdstore

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Shards is the fixed number of slices of mailboxes and send records, and
// timerShards that of timers and cron occurrences. Both are part of the format
// (meta/format): changing one needs a migration.
const (
	Shards      = 64
	timerShards = 16
)

// FinishedShards is the fixed number of slices of the finished instances in the
// order of their ends.
const FinishedShards = timerShards

// noCorrelation is the slice of bookmarks and queue items without a
// correlation. Encoded correlations have at least two characters.
const noCorrelation = "-"

// keys builds every key of one cluster, and is the only place that does.
// Instance, definition and activity ids match [A-Za-z0-9._:-]+ and stand as
// they are; everything else is encoded so that it holds no slash.
type keys struct {
	root string
	timerKeys
	definitionKeys
	jobKeys
	webhookKeys
	signOutKeys
}

func keysBelow(root string) keys {
	return keys{root, timerKeys{root}, definitionKeys{root}, jobKeys{root}, webhookKeys{root}, signOutKeys{root}}
}

func (k keys) instance(id string) string   { return k.root + "instance/" + id }
func (k keys) partsOf(id string) string    { return k.root + "part/" + id + "/" }
func (k keys) part(id, part string) string { return k.partsOf(id) + part }
func (k keys) journal(id string, seq int64) string {
	return fmt.Sprintf("%sjournal/%s/%012d", k.root, id, seq)
}
func (k keys) journalOf(id string) string { return k.root + "journal/" + id + "/" }

func (k keys) mailboxes() string            { return k.root + "mailbox/" }
func (k keys) mailbox(id string) string     { return k.mailboxes() + shardOf(id) + "/" + id + "/" }
func (k keys) mail(id, cmd string) string   { return k.mailbox(id) + encode(cmd) }
func (k keys) cancels() string              { return k.root + "cancel/" }
func (k keys) cancel(id string) string      { return k.cancels() + id }
func (k keys) sends() string                { return k.root + "send/" }
func (k keys) send(id string) string        { return k.sends() + shardOf(id) + "/" + id }
func (k keys) sent(id string) string        { return k.root + "sent/" + shardOf(id) + "/" + id }
func (k keys) deads() string                { return k.root + "dead/" }
func (k keys) dead(id string) string        { return k.deads() + encode(id) }
func (k keys) bookmarks(hash string) string { return k.root + "bookmark/" + hash + "/" }
func (k keys) bookmarkSlice(hash, correlation string) string {
	return k.bookmarks(hash) + slice(correlation) + "/"
}
func (k keys) bookmark(hash, correlation, bookmarkID string) string {
	id, local := workflow.SplitBookmarkID(bookmarkID)
	return k.bookmarkSlice(hash, correlation) + id + "/" + encode(local)
}
func (k keys) queues() string                       { return k.root + "queue/" }
func (k keys) queue(hash string) string             { return k.queues() + hash + "/" }
func (k keys) queueSlice(hash, slice string) string { return k.queue(hash) + slice + "/" }

// marksOf says that something may lie in a slice of the queue. They stand for the
// slice where only emptiness counts: of a range, etcd loads every value to compare
// it, and these are few and empty. They are some, and not one, so that several items
// of one slice may share a proposal.
func (k keys) marksOf(slice string) string {
	return k.marks() + strings.TrimPrefix(slice, k.queues())
}
func (k keys) mark(slice, item string) string {
	return fmt.Sprintf("%s%x", k.marksOf(slice), shard(item, sliceMarks))
}
func (k keys) marks() string { return k.root + "queue-mark/" }

// sliceMarks is how many marks a slice has at most.
const sliceMarks = 16

// gatedQueue is where the items lie whose starts wait behind a gate, in the order
// of their arrival. No hash begins with ~.
func (k keys) gatedQueues() string { return k.queues() + "~gated/" }
func (k keys) gatedQueue(g store.Gate) string {
	return k.gatedQueues() + cmp.Or(g.Definition, "*") + "/" + slice(g.Correlation) + "/"
}

// addressed is the queue slice of items for one instance.
func addressed(instanceID string) string { return "@" + instanceID }

func (k keys) gate(definition, correlation string) string {
	return k.root + "gate/" + definition + "/" + slice(correlation)
}

// gateOf is the key of an activation gate; * stands for any definition.
func (k keys) gateOf(g store.Gate) string { return k.gate(cmp.Or(g.Definition, "*"), g.Correlation) }

// commandRecord proves that a command took effect on an instance.
func (k keys) commandRecord(instance, cmd string) string {
	return k.commandRecords() + instance + "/" + encode(cmd)
}

// commandRecords are all of them.
func (k keys) commandRecords() string { return k.root + "idem/c/" }

// doneRecords are those of send records and queue items that went as all of it was done before.
const doneRecords = "~done"

// keyRecord holds the answer to a caller's Idempotency-Key.
func (k keys) keyRecord(name string) string { return k.root + "idem/k/" + encode(name) }
func (k keys) expiries() string             { return k.root + "idem-expiry/" }
func (k keys) expiry(age int64, record string) string {
	return k.expiries() + ageKey(age) + "/" + encode(strings.TrimPrefix(record, k.root))
}

// keyExpiries are the records of callers' keys in the order of their writing, apart
// from our own, which never go before their time. It comes after all ages.
func (k keys) keyExpiries() string { return k.expiries() + "k/" }
func (k keys) keyExpiry(age int64, record string) string {
	return k.keyExpiries() + ageKey(age) + "/" + encode(strings.TrimPrefix(record, k.root))
}

// ageKey is an age of the cluster, in milliseconds, as part of a key.
func ageKey(age int64) string { return fmt.Sprintf("%013d", age) }

// index lists the instances of one sub-status, by definition and version. What
// follows that in an entry is the same in all lists of instances ([keys.place]), so that
// several merge.
func (k keys) indexes() string                     { return k.root + "index/" }
func (k keys) index(sub workflow.SubStatus) string { return k.indexes() + string(sub) + "/" }
func (k keys) indexOf(sub workflow.SubStatus, definition string) string {
	return k.index(sub) + definition + "/"
}
func (k keys) indexOfVersion(sub workflow.SubStatus, definition string, version int) string {
	return k.indexOf(sub, definition) + strconv.Itoa(version) + "/"
}
func (k keys) indexEntry(h *workflow.Instance) string {
	return k.indexOfVersion(h.SubStatus, h.DefinitionID, h.Version) + place(h)
}

// children lists the instances that one has started.
func (k keys) children(parent string) string { return k.root + "by-parent/" + encode(parent) + "/" }

// labelled lists the instances with a label.
func (k keys) labels() string { return k.root + "label/" }
func (k keys) labelled(name, value string) string {
	return k.labels() + encode(name) + "/" + encode(value) + "/"
}

// place is where an instance stands in every list of instances for as long as it is
// there: the newest comes first. etcd gives the first keys of a range, and sorts
// the other way round only a range that it reads whole.
func place(h *workflow.Instance) string { return newest(h.CreatedAt) + "/" + h.ID }

// PlaceOf is where an instance stands in a list: as the cursor of a page it is what stands before it.
func PlaceOf(h *workflow.Instance) string { return place(h) }

// tasks of one name; "": of all.
func (k keys) tasks(name string) string {
	if name == "" {
		return k.root + "task/"
	}
	if len(name) > maxTaskName {
		name = name[:maxTaskName]
	}
	return k.root + "task/" + encode(name) + "/"
}

// task is the entry of a task, which is a bookmark. The oldest comes first.
func (k keys) task(b *workflow.Bookmark) string {
	id, local := workflow.SplitBookmarkID(b.ID)
	name := k.tasks(b.Name)
	if b.Name == "" {
		name += encode("") + "/"
	}
	return name + millis(b.CreatedAt) + "/" + id + "/" + encode(local)
}

// maxTaskName is how many bytes of a task's name its key holds.
const maxTaskName = 200

func (k keys) correlation(correlation string) string {
	return k.root + "by-correlation/" + slice(correlation) + "/"
}
func (k keys) finishedIn(shard int) string { return fmt.Sprintf("%sfinished/%02x/", k.root, shard) }

// finished orders the finished instances of a shard by their end.
func (k keys) finished(h *workflow.Instance) string {
	at := h.UpdatedAt
	if h.FinishedAt != nil {
		at = *h.FinishedAt
	}
	return k.finishedIn(shard(h.ID, FinishedShards)) + millis(at) + "/" + h.ID
}
func (k keys) pause() string   { return k.root + "meta/pause" }
func (k keys) format() string  { return k.root + "meta/format" }
func (k keys) age() string     { return k.root + "meta/age" }
func (k keys) balance() string { return k.root + "meta/balance" }
func (k keys) links() string   { return k.root + "meta/link-key" }

// encode makes any text safe as one part of a key, and keeps plain ids
// readable.
func encode(s string) string {
	if s == "" {
		return "%"
	}
	return url.QueryEscape(s)
}

func decode(s string) string {
	if s == "%" {
		return ""
	}
	out, err := url.QueryUnescape(s)
	if err != nil {
		return s
	}
	return out
}

// slice encodes a correlation id as a part of a key.
func slice(correlation string) string {
	if correlation == "" {
		return noCorrelation
	}
	return base64.RawURLEncoding.EncodeToString([]byte(correlation))
}

func shardOf(id string) string { return fmt.Sprintf("%02x", shard(id, Shards)) }

func timerShard(subject string) int { return shard(subject, timerShards) }

func shard(id string, n uint32) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32() % n)
}
