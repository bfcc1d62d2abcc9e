package cluster

import "github.com/weft-run/weft/pkg/cluster/members"

// Subscription tells about changes of the members; see [members.Subscription].
type Subscription = members.Subscription

// Subscribe starts a subscription. End it with Close.
func (s *Session) Subscribe() *Subscription { return s.members.Subscribe() }

// MembersChanged is a [Session.Subscribe] for those who only want the signal:
// the channel gets a token after a node has joined, left or changed what it says
// about itself (heartbeats aside). It is never closed.
func (s *Session) MembersChanged() (changed <-chan struct{}, cancel func()) {
	sub := s.Subscribe()
	return sub.C(), sub.Close
}
