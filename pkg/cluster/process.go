package cluster

import "time"

// Process is the id of this process in its node's record: made at random when the
// session is opened, the same in all its epochs. A node that is started again is
// another process under the same node id.
func (s *Session) Process() string { return s.process }

// Gone tells for how long no live node has been this process, as far as this node
// has seen: since it was first asked about it, at most. It is 0 while a node is. A
// process without a session is gone, and may be back: one that is paused, or cut
// off, or all of them while etcd is restarted. A caller that
// concludes from Gone that a process has ended must wait for as long as that may
// take.
func (s *Session) Gone(process string) time.Duration {
	if process == s.process {
		return 0
	}
	return s.members.Gone(process)
}
