package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// How long a resume link is good for.
const (
	DefaultLinkLife = 7 * 24 * time.Hour
	MaxLinkLife     = 366 * 24 * time.Hour
)

// ResumeURL makes a link that resumes what waits at an activity, given by its id or
// name: the wait that is nearest to the activity that asks. life 0 means
// [DefaultLinkLife]. Anyone who has the link may resume, so the link is hidden in the
// journal like a secret.
func (s *scope) ResumeURL(activity, outcome string, life time.Duration) (string, error) {
	b := s.b
	b.secrets++
	if life == 0 {
		life = DefaultLinkLife
	}
	switch {
	case b.env.Link == nil:
		return "", errors.New("this node makes no links")
	case life < 0 || life > MaxLinkLife:
		return "", fmt.Errorf("a link is good for up to %d days; it was asked for %v", MaxLinkLife/(24*time.Hour), life)
	case len(outcome) > workflow.MaxNameLength:
		return "", fmt.Errorf("the outcome of a link has up to %d bytes; this one has %d", workflow.MaxNameLength, len(outcome))
	}
	m, err := s.waiting(activity)
	if err != nil {
		return "", err
	}
	now := s.Now()
	return b.env.Link(resumelink.Link{Bookmark: m.ID, Outcome: outcome, Made: now, Expires: now.Add(life)})
}

// waiting finds the wait of an activity, in the smallest execution around the
// asking one that has it.
func (s *scope) waiting(activity string) (*mark, error) {
	for e := s.x; e != nil; e = e.parent {
		var found *mark
		for _, m := range s.b.marks {
			if m.x.node.unit != s.x.node.unit || m.x.node.local != activity && (activity == "" || m.x.node.activity.Name != activity) || !m.x.within(e) {
				continue
			}
			if found != nil && found.x != m.x {
				return nil, fmt.Errorf("activity %s waits in several places; ask for the link beside the one that it is for", activity)
			}
			found = m
		}
		if found != nil {
			return found, nil
		}
	}
	return nil, fmt.Errorf("nothing waits at activity %q; ask for the link while it waits, in another branch of a parallel or a fork, after the one that waits", activity)
}

// within reports whether x is e or below it.
func (x *Execution) within(e *Execution) bool {
	for ; x != nil; x = x.parent {
		if x == e {
			return true
		}
	}
	return false
}
