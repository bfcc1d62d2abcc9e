package members

import "time"

// Gone tells for how long no live node has been this process, as far as was seen since it was first
// asked about; 0 while one is.
func (m *List) Gone(process string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mb := range m.byKey {
		if mb.node.Process == process {
			return 0
		}
	}
	since, known := m.absent[process]
	if !known {
		if len(m.absent) >= maxAbsent {
			clear(m.absent)
		}
		since = time.Now()
		m.absent[process] = since
	}
	return max(time.Since(since), 1)
}

// maxAbsent bounds the processes that are remembered as gone. Forgetting them makes
// them gone for a shorter time.
const maxAbsent = 10_000

// ForgetAbsent is for a new epoch: before it, this node may have seen nothing.
func (m *List) ForgetAbsent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.absent)
}
