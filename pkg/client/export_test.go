package client

import (
	"time"

	"github.com/weft-run/weft/pkg/client/admission"
)

// InHand is how many commands wait in this node's hands for the next burst of an
// instance.
func (n *Node) InHand(id string) int {
	h := n.ownerOf(id)
	if h == nil {
		return 0
	}
	h.inbox.mu.Lock()
	defer h.inbox.mu.Unlock()
	return len(h.inbox.waiting)
}

// Asked is how many commands of an instance are asked to be made durable, as soon as
// its burst runs.
func (n *Node) Asked(id string) int {
	h := n.ownerOf(id)
	if h == nil {
		return 0
	}
	h.desk.mu.Lock()
	defer h.desk.mu.Unlock()
	return len(h.desk.requests)
}

// PersistsFor lets a caller wait so long until its command is durable. Nothing may be asked of the node yet.
func (n *Node) PersistsFor(d time.Duration) { n.persistFor = d }

// WaitsInHand lets a command in hand wait for a place for so long. Nothing may be asked of the node yet.
func (n *Node) WaitsInHand(patience time.Duration) {
	n.slots = admission.New(n.cfg.Limits, patience, n.cfg.Wakeups)
}

func (n *Node) ownerOf(id string) *handle {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.owners[id]
}
