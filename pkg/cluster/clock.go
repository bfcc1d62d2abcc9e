package cluster

import "time"

// ClockCompared reports whether this node has had something to compare its clock
// with: it has seen two heartbeats of another node, which takes two thirds of the TTL,
// or was alone when two heartbeats had passed since it joined. So of several that
// start together none goes by its own clock because it was the first. Until then
// [Session.ClockSkew] says nothing, also of a clock that is years off. A local node is
// always alone, and [Config.OneMachine] has no other clock.
func (s *Session) ClockCompared() bool {
	settled := s.cfg.Mode == ModeLocal || time.Since(s.joined) >= 2*heartbeatEvery(s.cfg.TTL)
	return s.members.Compared(s.cfg.NodeID, s.cfg.OneMachine, settled)
}

// ClockSkew is this node's wall clock minus the median of the clocks of all live
// nodes, this one included, or 0 if it may be right: when alone, before two
// heartbeats of another node were seen, and while these take so long that the
// difference may be none.
//
// While etcd answers at once it is good to milliseconds; otherwise it is too small
// by up to the time that a heartbeat takes to be written and to come back. It is up
// to five heartbeats, 15 s at most, behind a clock that is set forward. With two
// nodes each sees half of the difference: nobody can tell which one is right. So does
// a node of more that has heard of one other only, until the next beats of the rest.
func (s *Session) ClockSkew() time.Duration { return s.ClockSkews()[s.cfg.NodeID] }

// ClockSkews is the same for each live node, by its id, as this node sees it. Nodes of
// which two heartbeats were not seen yet are not in it; this one always is.
func (s *Session) ClockSkews() map[string]time.Duration { return s.members.Skews(s.cfg.NodeID) }
