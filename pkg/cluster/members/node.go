package members

import (
	"encoding/json"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// Node is the record of a live node, kept as JSON under nodes/<id> on the lease
// of the node's session.
type Node struct {
	ID        string    `json:"id"`
	Process   string    `json:"process,omitempty"` // see Process of a session
	Address   string    `json:"address"`
	Version   string    `json:"version"`
	Program   string    `json:"program,omitempty"` // a digest of what its program can run; see Able of a session
	Mode      string    `json:"mode"`
	Epoch     int64     `json:"epoch"`
	StartedAt time.Time `json:"startedAt"`
	// Clock is the node's wall clock when it wrote the record; see
	// [List.Skews].
	Clock   time.Time `json:"clock"`
	Last    Written   `json:"last,omitzero"`
	LeaseID string    `json:"leaseId"` // hexadecimal, as in the keys of locks

	Draining        bool  `json:"draining,omitempty"`
	Paused          bool  `json:"paused,omitempty"`
	PauseRevision   int64 `json:"pauseRevision,omitempty"` // of the pause flag that Paused was taken from
	CatalogRevision int64 `json:"catalogRevision,omitempty"`

	// Reads is the newest form of records that its program reads; see [List.AllRead].
	Reads int `json:"reads,omitempty"`
}

// Written is what a node tells of its last heartbeat with the next one: which it
// was, and how long etcd took to answer. So those who saw the heartbeat know when it
// was written, by the clock of the node: between its Clock and so much later.
type Written struct {
	Revision int64         `json:"revision"`
	Took     time.Duration `json:"took"` // nanoseconds, by the monotonic clock
}

// Decode reads the record of a node. It never fails: a record that cannot be read still counts as a node.
func Decode(kv *mvccpb.KeyValue) Node {
	var n Node
	if err := json.Unmarshal(kv.Value, &n); err != nil || n.ID == "" {
		key := string(kv.Key)
		n.ID = key[strings.LastIndexByte(key, '/')+1:]
	}
	return n
}
