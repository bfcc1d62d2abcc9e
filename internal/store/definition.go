package store

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// LastListedMilli is the latest time of a list of instances that begins with the newest: in November of 2286.
const LastListedMilli = 9_999_999_999_999

// LastMilli is the latest time that keys keep in order, in milliseconds since 1970: the end of the year
// 9999. No later one can be written as JSON either.
const LastMilli = 253_402_300_799_999

// ErrHeadMoved says that a definition's head is not as it was read: another
// change came between. Nothing was written; read again.
var ErrHeadMoved = errors.New("the definition's head moved")

// DefinitionHead is what is known of one definition beside the bodies of its
// versions. It is written by every change of the definition, and never deleted:
// a deleted definition keeps a head that says so, so that a late copy of an
// older write cannot bring it back and no version number is used twice.
type DefinitionHead struct {
	ID          string    `json:"id"`
	Name        string    `json:"name,omitempty"`
	Description string    `json:"description,omitempty"`
	Latest      int       `json:"latest"`              // the highest version number given so far
	LatestHash  string    `json:"latestHash"`          // of that version's content
	Published   int       `json:"published,omitempty"` // 0: none
	Hash        string    `json:"hash,omitempty"`      // content hash of the published version
	PublishedAt time.Time `json:"publishedAt,omitzero"`
	UpdatedAt   time.Time `json:"updatedAt"`
	Activation  string    `json:"activation,omitempty"` // the published version's activation strategy
	AutoUpdate  bool      `json:"autoUpdate,omitempty"` // consumers follow a new version
	Usable      bool      `json:"usable,omitempty"`     // as an activity of other definitions
	VersionID   string    `json:"versionId,omitempty"`  // the notation's name of the published version
	Uses        []Use     `json:"uses,omitempty"`       // definitions that the published version runs as activities
	Set         string    `json:"set,omitempty"`        // the set of definitions that it was last published with, of those who named one

	// Generation counts the changes of the trigger, cron and route keys. Only a
	// cron key of the current generation may fire; see [DefinitionHead.Fires].
	Generation int64      `json:"generation"`
	Deleted    *time.Time `json:"deleted,omitempty"`
	Purged     bool       `json:"purged,omitempty"` // the bodies of a deleted definition are gone too

	Damaged string `json:"-"` // why a listed one cannot be read, and only its id is known; "": it can

	// Writes are the ids of the last few writes, newest first: proof for a writer
	// whose answer was lost.
	Writes []string `json:"writes"`

	Modified int64 `json:"-"` // its key's mod revision
}

// Fires reports whether the occurrence that c stands for may start an instance.
// The transaction that starts it compares the head's mod revision.
func (h *DefinitionHead) Fires(c *CronEntry) bool {
	return h != nil && h.Published != 0 && h.Published == c.Version && h.Generation == c.Generation
}

// Wrote reports whether id is among the last few writes.
func (h *DefinitionHead) Wrote(id string) bool { return h != nil && slices.Contains(h.Writes, id) }

// DefinitionVersion is one immutable version of a definition, as its author
// wrote it.
type DefinitionVersion struct {
	ID        string   `json:"id"`
	Version   int      `json:"version"`
	VersionID string   `json:"versionId,omitempty"` // Elsa's id of this version
	Hash      string   `json:"hash"`                // of the content
	Notation  string   `json:"notation"`            // yaml or json
	Source    string   `json:"source"`              // the bytes that were published
	Uses      []Use    `json:"uses,omitempty"`
	Needs     []string `json:"needs,omitempty"` // what a program must have to compile it
	// Types are the declarations of the activity types of files that it uses, by type, as they were when it was made; it runs by these.
	Types     map[string]json.RawMessage `json:"types,omitempty"`
	CreatedAt time.Time                  `json:"createdAt"`
}

// Use is a reference to a definition that is used as an activity, and what it
// meant when the version was made. It stays that, so that running instances
// never change under way.
type Use struct {
	RefID        string `json:"refId,omitempty"`
	RefVersionID string `json:"refVersionId,omitempty"`
	RefVersion   int    `json:"refVersion,omitempty"`
	ID           string `json:"id"`
	Version      int    `json:"version"`
}

// DefinitionIndex is what a published version waits for.
type DefinitionIndex struct {
	Triggers  []TriggerEntry `json:"triggers,omitempty"`
	Schedules []CronEntry    `json:"schedules,omitempty"` // Due is the first occurrence, zero if there is none any more
	Routes    []RouteEntry   `json:"routes,omitempty"`
}

// TriggerEntry is the value of trigger/<hash>/<definition>/<activity>: all that
// a stimulus needs to start an instance.
type TriggerEntry struct {
	DefinitionID string `json:"definitionId"`
	Version      int    `json:"version"`
	ActivityID   string `json:"activityId"`
	ActivityType string `json:"activityType"`
	Hash         string `json:"hash"`
	Name         string `json:"name,omitempty"`
	Activation   string `json:"activation,omitempty"` // the definition's activation strategy
	Modified     int64  `json:"-"`                    // its key's mod revision
}

// RouteEntry is the value of route/<method>/<template>.
type RouteEntry struct {
	DefinitionID string `json:"definitionId"`
	Version      int    `json:"version"`
	ActivityID   string `json:"activityId"`
	Hash         string `json:"hash"`
	Method       string `json:"method"`
	Template     string `json:"template"` // as written, such as orders/{id}
	Activation   string `json:"activation,omitempty"`
	workflow.EndpointLimits
	Modified int64 `json:"-"`
}

// Endpoint is the endpoint that the route leads to.
func (e *RouteEntry) Endpoint() *workflow.Endpoint {
	return &workflow.Endpoint{Method: e.Method, Template: e.Template, EndpointLimits: e.EndpointLimits}
}

// CronEntry is the value of cron/<shard>/<due>/<definition>/<activity>: one
// occurrence to come.
type CronEntry struct {
	DefinitionID string        `json:"definitionId"`
	Version      int           `json:"version"`
	Generation   int64         `json:"generation"`
	ActivityID   string        `json:"activityId"`
	ActivityType string        `json:"activityType"`
	Kind         ScheduleKind  `json:"kind"`
	Expression   string        `json:"expression,omitempty"` // cron: six fields, UTC
	Interval     time.Duration `json:"interval,omitempty"`   // timer, in nanoseconds
	At           *time.Time    `json:"at,omitempty"`         // startAt
	Due          time.Time     `json:"due"`
	CatchUp      string        `json:"catchUp,omitempty"` // skip (also if empty), one, all
	Activation   string        `json:"activation,omitempty"`
	Gated        int64         `json:"gated,omitempty"`  // occurrences of it that started nothing, as an instance held the gate
	GatedAt      time.Time     `json:"gatedAt,omitzero"` // when that happened last

	Damaged string `json:"-"` // why a listed one cannot be read, and only what its key says is known; "": it can
	Created int64  `json:"-"` // its key's create revision
	// Modified is its key's mod revision. A publication that keeps the occurrence puts the same
	// key again: then this moves, and Created does not.
	Modified int64  `json:"-"`
	Key      string `json:"-"`
}

// ScheduleKind tells what kind of trigger made a [CronEntry].
type ScheduleKind string

// The kinds of schedules.
const (
	ScheduleCron    ScheduleKind = "cron"
	ScheduleTimer   ScheduleKind = "timer"
	ScheduleStartAt ScheduleKind = "startAt"
)

// SameSchedule reports whether c and o stand for the same schedule of the same
// activity, with any occurrence.
func (c *CronEntry) SameSchedule(o *CronEntry) bool {
	sameAt := c.At == nil && o.At == nil || c.At != nil && o.At != nil && c.At.Equal(*o.At)
	return c.ActivityID == o.ActivityID && c.Kind == o.Kind && c.Expression == o.Expression && c.Interval == o.Interval && sameAt
}

// DefinitionState is everything that a change of a definition starts from, read
// at one revision.
type DefinitionState struct {
	ID       string
	Head     *DefinitionHead // nil: there never was one
	Indexed  IndexedKeys     // what the last indexing wrote
	Crons    []CronEntry     // the definition's cron keys as they stand, also outdated ones
	Retired  []int           // the versions with which nothing may begin any more, while their bodies are there
	Seen     int             // the version under which the content that was asked for was first published; 0: never
	Revision int64
}

// Exists reports whether the definition is there and not deleted.
func (s *DefinitionState) Exists() bool { return s.Head != nil && s.Head.Deleted == nil }

// IndexedKeys is what the last indexing of a definition wrote, so that the next
// one knows what to delete.
type IndexedKeys struct {
	Triggers []TriggerKey `json:"triggers,omitempty"`
	Routes   []RouteKey   `json:"routes,omitempty"`
	Crons    bool         `json:"crons,omitempty"` // there are cron keys; where they are now changes with each firing
}

// TriggerKey and RouteKey name a trigger and a route of a definition.
type TriggerKey struct {
	Hash       string `json:"hash"`
	ActivityID string `json:"activityId"`
}

// RouteKey names a route.
type RouteKey struct {
	Method   string `json:"method"`
	Template string `json:"template"`
}

// Limits of one definition's index, so that publishing stays one transaction.
const (
	MaxTriggers  = 1000
	MaxSchedules = 100
	MaxRoutes    = 60
)

// HeadChanges is what a watch or a sweep of the heads found.
type HeadChanges struct {
	Heads    []DefinitionHead
	Revision int64 // all changes up to here are known
	Err      error // the watch ended; load again
}
