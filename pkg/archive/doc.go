// Package archive keeps finished instances in a SQL database when they leave etcd: what people see of them, their
// state and their journals.
//
// Guaranteed: when [Archive.Put] returns, what was put is durable; putting it again, by any node, changes nothing,
// and what is older of one life never takes the place of what is newer. A list reads no state and no journal, counts nothing, and
// goes through an index, but for filters by name and texts, which look at one instance after the other.
// An archive belongs to one cluster: a node of another refuses it.
//
// Not guaranteed: that an instance is in etcd or in the archive only. It is put before it is purged, so for a while, or
// for long if something came for it in between, it is in both, and etcd has the truth. Files that lie beside an
// instance are not archived; they go with it.
//
// Two databases are supported: SQLite, for nodes of one machine, and PostgreSQL, where instances of one month of creation
// are a partition. What is old goes by partitions there, and a thousand rows at a time in SQLite.
package archive

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Item is an instance with all that is kept of it.
type Item struct {
	Instance workflow.Instance
	Sequence int64 // of its last commit
	Life     int64 // of several that an id had, each of which begins with 1 when it is imported: the revision of etcd at which this one began; 0: not known
	State    json.RawMessage
	Journal  []workflow.JournalEntry // what was left of it, the oldest commit first
}

// Query selects instances by what is indexed, and is a part of what is wanted: callers look at what they get. Zero fields
// do not restrict.
type Query struct {
	IDs           []string // at most [MaxIDs]
	DefinitionID  string
	CorrelationID string
	SubStatus     workflow.SubStatus
	Parent        string            // id of the instance that started it
	Labels        map[string]string // all of them
	After, Before time.Time         // of their creation, without these ends
	OldestFirst   bool              // by creation; else the newest first
	From          *Place            // behind which it begins; nil: at the beginning
	Limit         int
}

// MaxIDs is how many ids a query may name.
const MaxIDs = 500

// Place is where an instance stands in a list.
type Place struct {
	Created int64 // milliseconds since 1970
	ID      string
}

// PlaceOf is the place of an instance.
func PlaceOf(in *workflow.Instance) Place { return Place{in.CreatedAt.UnixMilli(), in.ID} }

// ErrRefused says that a database is there and not one that this cluster can have as its archive. To ask again does not
// help: somebody has to change something.
var ErrRefused = errors.New("it cannot be the archive of this cluster")
