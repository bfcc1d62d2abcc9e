package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/call"
)

// abilities is the value of ability/<node>, on the lease of the node's session:
// what its program can run. It is apart from the node record, which is written with
// each heartbeat and read by all.
type abilities struct {
	Can []string `json:"can"`
}

const abilityDir = "ability/"

func (s *Session) abilityKey() string { return s.root + abilityDir + encodeSegment(s.cfg.NodeID) }

// putAbilities registers what this node's program can run.
func (s *Session) putAbilities(e *Epoch) (clientv3.Op, error) {
	raw, err := json.Marshal(abilities{Can: s.cfg.Abilities})
	return clientv3.OpPut(s.abilityKey(), string(raw), clientv3.WithLease(e.Lease)), err
}

// Able are the ids of the other live nodes that may run what needs these
// abilities, sorted; draining ones are left out. If this node has all of them, and
// cannot run it none the less, those are meant whose program is another one.
func (s *Session) Able(ctx context.Context, needs []string) ([]string, error) {
	cctx, cancel := call.WithTimeout(ctx)
	defer cancel()
	resp, err := s.cfg.Client.Get(cctx, s.root+abilityDir, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("read what the live nodes can run: %w", err)
	}
	can := make(map[string][]string, len(resp.Kvs))
	for _, kv := range resp.Kvs {
		var a abilities
		if json.Unmarshal(kv.Value, &a) == nil {
			can[string(kv.Key)] = a.Can
		}
	}
	var able []string
	for _, n := range s.members.Nodes() {
		if n.ID == s.cfg.NodeID || n.Draining || n.Program == s.cfg.Program {
			continue
		}
		if all, known := can[s.root+abilityDir+encodeSegment(n.ID)]; !known || has(all, needs) {
			able = append(able, n.ID)
		}
	}
	return able, nil
}

func has(all, needs []string) bool {
	return !slices.ContainsFunc(needs, func(n string) bool { return !slices.Contains(all, n) })
}
