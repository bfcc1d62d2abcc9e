package client

// InHand is how many commands wait in this node's hands for the next burst of an
// instance.
func (n *Node) InHand(id string) int {
	n.mu.Lock()
	h := n.owners[id]
	n.mu.Unlock()
	if h == nil {
		return 0
	}
	h.inbox.mu.Lock()
	defer h.inbox.mu.Unlock()
	return len(h.inbox.waiting)
}
