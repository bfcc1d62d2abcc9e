package etcdstore

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// format is the value of meta/format: what every node of a cluster has to agree
// on.
type format struct {
	Version     int `json:"version"`
	Shards      int `json:"shards"`
	TimerShards int `json:"timerShards"`
}

var thisFormat = format{Version: 1, Shards: Shards, TimerShards: timerShards}

// CheckFormat writes the format of this program into a fresh cluster, and
// refuses a cluster with another one: its keys would be misread.
//
// If: there is none yet. A repeat finds its own.
func (s *Store) CheckFormat(ctx context.Context) error {
	raw, err := Encode(thisFormat)
	if err != nil {
		return err
	}
	resp, err := s.txn(ctx, "check the format", []clientv3.Cmp{absent(s.keys.format())},
		[]clientv3.Op{clientv3.OpPut(s.keys.format(), string(raw))}, []clientv3.Op{clientv3.OpGet(s.keys.format())})
	if err != nil || resp.Succeeded {
		return err
	}
	var f format
	if err := Decode(resp.Responses[0].GetResponseRange().Kvs[0].Value, &f); err != nil {
		return err
	}
	if f != thisFormat {
		return fmt.Errorf("the data under %s is of format %d (%d shards, %d timer shards) and this program reads format %d (%d, %d): run the version that wrote it, or use another --cluster",
			s.keys.root, f.Version, f.Shards, f.TimerShards, thisFormat.Version, thisFormat.Shards, thisFormat.TimerShards)
	}
	return nil
}
