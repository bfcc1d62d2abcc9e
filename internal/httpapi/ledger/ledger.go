// Package ledger remembers the last lines of a node's audit log, and bounds those about strangers.
//
// All of it may be used by many goroutines at once.
package ledger

import (
	"slices"
	"sync"
	"time"
)

// AuditLine is a line of the audit log: who asked for what, and what came of it.
type AuditLine struct {
	NodeID     string    `json:"nodeId" doc:"The node whose line it is."`
	Time       time.Time `json:"time" doc:"By its clock."`
	Who        string    `json:"who" doc:"key: and the name of an API key, oidc: and the subject of a token, anyone, or unknown."`
	Role       string    `json:"role"`
	Operation  string    `json:"operation"`
	Method     string    `json:"method"`
	Route      string    `json:"route"`
	Target     string    `json:"target"`
	Result     string    `json:"result" enum:"done,accepted,checked,denied,failed"`
	Status     int       `json:"status"`
	Code       string    `json:"code"`
	Location   string    `json:"location"`
	RequestID  string    `json:"requestId"`
	Remote     string    `json:"remote"`
	RelayedBy  string    `json:"relayedBy"`
	Via        string    `json:"via"`
	Suppressed int64     `json:"suppressed"`
}

// How much of the audit log a node remembers and tells.
const (
	// auditRemembered is how many lines a node remembers, and auditShown how many are told.
	auditRemembered = 1000
	AuditShown      = 500
)

// Ledger is the end of a node's audit log. The zero value has none.
type Ledger struct {
	mu   sync.Mutex
	ring []AuditLine // guarded by mu
	next int         // the oldest, once the ring is full; guarded by mu
}

// Note keeps a line, in the place of the oldest.
func (l *Ledger) Note(line *AuditLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < auditRemembered {
		l.ring = append(l.ring, *line)
		return
	}
	l.ring[l.next] = *line
	l.next = (l.next + 1) % auditRemembered
}

// Newest gives the lines that fit a filter, the newest first, and when the oldest of all was.
func (l *Ledger) Newest(fits func(*AuditLine) bool) (lines []AuditLine, more bool, from *time.Time) {
	l.mu.Lock()
	all := slices.Concat(l.ring[l.next:], l.ring[:l.next])
	l.mu.Unlock()
	if len(all) > 0 {
		from = &all[0].Time
	}
	lines = []AuditLine{}
	for i := len(all) - 1; i >= 0; i-- {
		switch line := &all[i]; {
		case !fits(line):
		case len(lines) == AuditShown:
			return lines, true, from
		default:
			lines = append(lines, *line)
		}
	}
	return lines, false, from
}

// Strangers bounds the lines about callers who are not known and were refused: they
// cost the caller nothing. What a caller of ours did, and what was done, is always
// written. The zero value has all of its lines.
type Strangers struct {
	mu      sync.Mutex
	used    float64 // lines, of strangerLines
	at      time.Time
	dropped int64
}

// Lines about strangers that may come at once, and each second.
const (
	strangerLines = 100
	strangerRate  = 10
)

// Line tells whether a line may be written, and how many were not since the last.
func (s *Strangers) Line(now time.Time, stranger bool) (suppressed int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stranger {
		s.used, s.at = max(0, s.used-max(0, now.Sub(s.at).Seconds())*strangerRate), now
		if s.used+1 > strangerLines {
			s.dropped++
			return 0, false
		}
		s.used++
	}
	suppressed, s.dropped = s.dropped, 0
	return suppressed, true
}
