package client

// InHand is how many commands wait in this node's hands for the next burst of an
// instance.
func (n *Node) InHand(id string) int {
	n.mu.Lock()
	h := n.holdings[id]
	n.mu.Unlock()
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.inbox)
}
