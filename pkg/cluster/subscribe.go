package cluster

import "sync"

// Subscription tells about changes of the members. It coalesces: many changes
// may give one token, and a token may be about a change already seen. It is a
// hint that hastens work; have a slow sweep behind it.
type Subscription struct {
	m *members
	c chan struct{}

	mu       sync.Mutex
	vanished []Node // guarded by mu
}

// Subscribe starts a subscription. End it with Close.
func (s *Session) Subscribe() *Subscription {
	sub := &Subscription{m: &s.members, c: make(chan struct{}, 1)}
	s.members.mu.Lock()
	defer s.members.mu.Unlock()
	if !s.members.closed {
		s.members.subs[sub] = true
	}
	return sub
}

// MembersChanged is a [Session.Subscribe] for those who only want the signal:
// the channel gets a token after a node has joined, left or changed what it says
// about itself (heartbeats aside). It is never closed.
func (s *Session) MembersChanged() (changed <-chan struct{}, cancel func()) {
	sub := s.Subscribe()
	return sub.C(), sub.Close
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

func (m *members) closeSubscriptions() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	clear(m.subs)
}
