package engine

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// TakeResponse gives what WriteHttpResponse wrote since the last call for the command that ran, so that a
// burst of several commands answers each with its own; nil if there is nothing, and later tells whether it may come
// with a later commit.
func (b *Burst) TakeResponse() (r *workflow.Response, later bool) {
	r, b.response = b.response, nil
	return r, b.callers.Now != nil && b.callers.Await(b.callers.Now.Key)
}

// Respond sets what the caller of an HTTP endpoint gets after the commit. A later response of the same
// burst replaces it. Of several callers it is for the one whose endpoint stands nearest in the definition, and
// of those for the last. That nobody waits any more is an incident, and the instance goes on. Callers wait beyond the
// burst of their request for activities only whose type says that it may do this ([workflow.Descriptor].Responds).
func (x *Execution) Respond(r workflow.Response) {
	b := x.b
	r = b.env.redactResponse(r)
	cs := &b.callers
	c, err := cs.Nearest(b.env.Now(), around(x.node), func(at string) []string { return around(b.prog.nodes[at]) })
	if err != nil {
		b.incident(x, err)
		return
	}
	b.weight += len(r.Body)
	if c != nil {
		c.Answer(&r)
	}
	if c == cs.Now || c != nil && cs.Now == nil && c == cs.Last() { // the others are told by their own records
		b.response = &r
	}
}

// Answers tells whether an instance of this program may answer an HTTP request, also one that its parent had.
func (p *Program) Answers() bool { return p.responds || p.starts }

// around are the ids of a node and of all in which it stands, from within to without.
func around(n *Node) (ids []string) {
	for ; n != nil; n = n.parent {
		ids = append(ids, n.id)
	}
	return ids
}

// mayAnswer tells whether what comes of a wait may answer a caller, who goes at a time. Another request to an
// endpoint has its own answer. own: something in the definition may; child: something in that of a child.
func (m *mark) mayAnswer(by time.Time, own bool, child func(definitionID string) bool) bool {
	if m.child != "" {
		return own || child != nil && child(m.Name)
	}
	return own && m.ActivityType != workflow.EndpointType && (m.DueAt == nil || !m.DueAt.After(by))
}

// Waiting finds a bookmark at which the instance waits for a stimulus of this
// hash. correlation restricts it to instances of that correlation; "" does not.
func (b *Burst) Waiting(hash, correlation string) (bookmarkID string, ok bool) {
	if b.halted || correlation != "" && correlation != b.header.CorrelationID {
		return "", false
	}
	for _, m := range b.marks {
		if m.Bookmark.Hash == hash {
			return m.Bookmark.ID, true
		}
	}
	return "", false
}
