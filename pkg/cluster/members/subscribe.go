package members

import "sync"

// Subscription tells about changes of the members. It coalesces: many changes
// may give one token, and a token may be about a change already seen. It is a
// hint that hastens work; have a slow sweep behind it.
type Subscription struct {
	m *List
	c chan struct{}

	mu       sync.Mutex
	vanished []Node // guarded by mu
}

// Subscribe starts a subscription. End it with Close.
func (m *List) Subscribe() *Subscription {
	sub := &Subscription{m: m, c: make(chan struct{}, 1)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.subs[sub] = true
	}
	return sub
}

// C gets a token after a change. It is never closed.
func (sub *Subscription) C() <-chan struct{} { return sub.c }

// Vanished returns the epochs of nodes that have ended since the last call: the
// node died or left, or came back with a new epoch. Their locks are free or will
// be at once.
func (sub *Subscription) Vanished() []Node {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	v := sub.vanished
	sub.vanished = nil
	return v
}

// Close ends the subscription. It may be called more than once.
func (sub *Subscription) Close() {
	sub.m.mu.Lock()
	defer sub.m.mu.Unlock()
	delete(sub.m.subs, sub)
}

// notify never blocks.
func (sub *Subscription) notify(vanished []Node) {
	const most = 1000 // for a subscriber who never asks
	sub.mu.Lock()
	if len(sub.vanished) < most {
		sub.vanished = append(sub.vanished, vanished...)
	}
	sub.mu.Unlock()
	select {
	case sub.c <- struct{}{}:
	default:
	}
}

// CloseSubscriptions ends those that there are. A later one gets no tokens.
func (m *List) CloseSubscriptions() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	clear(m.subs)
}
