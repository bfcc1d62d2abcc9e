package client

// InHand is how many commands wait in this node's hands for the next burst of an
// instance.
func (n *Node) InHand(id string) int {
	n.mu.Lock()
	o := n.owners[id]
	n.mu.Unlock()
	if o == nil {
		return 0
	}
	o.inbox.mu.Lock()
	defer o.inbox.mu.Unlock()
	return len(o.inbox.waiting)
}
