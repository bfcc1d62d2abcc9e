// Package format says of which format the data in etcd is that this program reads and writes.
//
// Guaranteed: data of another format is told from this one. Not guaranteed: that it can be read.
package format

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Format is the value of meta/format: what every node of a cluster has to agree
// on.
type Format struct {
	Version     int `json:"version"`
	Shards      int `json:"shards"`
	TimerShards int `json:"timerShards"`
}

// StoredAs is what errors call it.
func (Format) StoredAs() string { return "etcdstore.format" }

// DataFormat is the version of what this program reads and writes in etcd. It goes up by one when a
// program of before and this one cannot work beside each other on the same data:
// keys that lie elsewhere, compares that the other does not make, values that mean
// something else. It stays for what an older program can leave alone
// ([db.DecodeWhole]): a field, an activity, a kind of command, a state.
//
// 1 was the first. 2: whole numbers of any size, starts that wait behind gates,
// indexes of tasks and sub-statuses, endpoints by shape, dead letters of one copy,
// marks of the queue, ages. 3: lists of instances by version and parent, the newest first,
// journal entries that say once what their items share. 4: the names of callers' keys begin
// with what the key alone tells.
const DataFormat = 4

// ThisFormat is that of this program.
var ThisFormat = Format{Version: DataFormat, Shards: record.Shards, TimerShards: record.TimerShards}

// ErrFormat marks data of another format than this program's.
var ErrFormat = errors.New("another format of the data")

// Foreign is the error for a format that is not this program's.
func Foreign(s *record.Conn, kvs []*mvccpb.KeyValue) error {
	if len(kvs) == 0 {
		return fmt.Errorf("%w: the data under %s says no more of which format it is: %s is gone", ErrFormat, s.Keys.Root, s.Keys.Format())
	}
	var f Format
	if err := db.Decode(kvs[0].Value, &f); err != nil {
		return fmt.Errorf("%w: %s cannot be read; weft fsck tells whether it can be made again, weft fsck --repair does it: %w", ErrFormat, s.Keys.Format(), err)
	}
	if f != ThisFormat {
		return fmt.Errorf("%w: the data under %s is of format %d (%d shards, %d timer shards) and this program reads format %d (%d, %d): run a version for that format, or use another --cluster",
			ErrFormat, s.Keys.Root, f.Version, f.Shards, f.TimerShards, ThisFormat.Version, ThisFormat.Shards, ThisFormat.TimerShards)
	}
	return nil
}
