package client

// InHand is how many commands wait in this node's hands for the next burst of an
// instance.
func (n *Node) InHand(id string) int {
	return n.counted(id, func(in *inbox) int { return len(in.waiting) })
}

// Asked is how many commands of an instance are asked to be made durable, as soon as
// its burst runs.
func (n *Node) Asked(id string) int {
	return n.counted(id, func(in *inbox) int { return len(in.requests) })
}

func (n *Node) counted(id string, count func(*inbox) int) int {
	n.mu.Lock()
	h := n.owners[id]
	n.mu.Unlock()
	if h == nil {
		return 0
	}
	h.inbox.mu.Lock()
	defer h.inbox.mu.Unlock()
	return count(&h.inbox)
}
