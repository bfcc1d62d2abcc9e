package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// BookmarkEntry is the value of a bookmark.
type BookmarkEntry struct {
	Instance    string    `json:"instance"`
	Type        string    `json:"type"`
	Name        string    `json:"name,omitempty"`
	Correlation string    `json:"correlation,omitempty"`
	Created     time.Time `json:"created"`
}

// StoredAs is what errors call it.
func (BookmarkEntry) StoredAs() string { return "etcdstore.bookmarkEntry" }

// DecodeCron reads a cron key.
func DecodeCron(kv *mvccpb.KeyValue) (*store.CronEntry, error) {
	e := CronAt(kv)
	return e, db.DecodeWhole(kv.Value, e)
}

// CronAt is a cron key without what its value says.
func CronAt(kv *mvccpb.KeyValue) *store.CronEntry {
	return &store.CronEntry{Created: kv.CreateRevision, Modified: kv.ModRevision, Key: string(kv.Key)}
}

// VersionRef names a version of a definition.
type VersionRef struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// StoredAs is what errors call it.
func (VersionRef) StoredAs() string { return "etcdstore.VersionRef" }

func (r VersionRef) String() string { return fmt.Sprintf("version %d of %s", r.Version, r.ID) }

// VersionIn reads <id>/<version> behind a prefix of a key.
func VersionIn(key, prefix string) (VersionRef, bool) {
	id, number, ok := strings.Cut(strings.TrimPrefix(key, prefix), "/")
	number, _, _ = strings.Cut(number, "/")
	n, err := strconv.Atoi(number)
	return VersionRef{id, n}, ok && err == nil
}

// SentCount is how many targets of a fixed list are done, in its order.
type SentCount struct {
	Done int `json:"done"`
}

// StoredAs is what errors call it.
func (SentCount) StoredAs() string { return "etcdstore.sentCount" }

// IncidentNote says what one commit added to the incidents of its instance. What they say
// stands in the instance only.
type IncidentNote struct {
	New int       `json:"new"` // how many, of those that the instance remembers
	At  time.Time `json:"at"`  // when the last of them was
	// Made is when the instance was: another one of its id has the same numbers of commits. Zero: an older program wrote the note.
	Made time.Time `json:"made,omitzero"`
}

// StoredAs is what errors call it.
func (IncidentNote) StoredAs() string { return "etcdstore.IncidentNote" }

// TimerEntry is the value of a timer.
type TimerEntry struct {
	Instance string    `json:"instance,omitempty"`
	Bookmark string    `json:"bookmark,omitempty"`
	Hash     string    `json:"hash,omitempty"`
	Due      time.Time `json:"due"`
	Trace    string    `json:"trace,omitempty"` // W3C traceparent of the burst that set it
	Set      time.Time `json:"set,omitzero"`    // when that was; absent without Trace
}

// StoredAs is what errors call it.
func (TimerEntry) StoredAs() string { return "etcdstore.timerEntry" }
