package node

import (
	"context"

	"github.com/weft-run/weft/internal/etcd"
	"github.com/weft-run/weft/pkg/cluster/groupcommit"
)

// The values of [Config.GroupCommit].
const (
	GroupCommitOn  = "on"
	GroupCommitOff = "off"
)

// fold puts group commit in front of everything that the node asks etcd for, but
// the session's lease, which has a client of its own.
func (n *Node) fold(clients etcd.Clients) {
	if n.cfg.GroupCommit == GroupCommitOff {
		return
	}
	group := groupcommit.New(groupcommit.Config{KV: clients.Main.KV, Metrics: n.metrics})
	clients.Main.KV = group
	n.undo.Add("group commit", func(context.Context) error {
		group.Close()
		return nil
	})
}
