package engine

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// led is the activity beside an execution whose outcome led to it, along a way that is
// taken only for that outcome: in a flowchart, the call behind "Failed to connect".
type led struct {
	Node string `json:"node"`
	Key  string `json:"key"`            // its idempotency key
	Told int64  `json:"told,omitempty"` // the time that it was told; 0: none
}

// leads is what led to what x schedules now; nil: nothing that is known to have failed.
func (x *Execution) leads() *led {
	done := x.b.told
	switch {
	case done == nil || x.b.calling != x:
		return nil
	case done.Node.desc.NoEffect && slices.Equal(done.Outcomes, doneOutcomes):
		return done.led // a step on the way
	case done.Node.desc.NoEffect, slices.Equal(done.Outcomes, doneOutcomes):
		return nil
	}
	return &led{done.Node.id, done.key, done.told}
}

// savedKey is the key where it is not the id.
func (c *Completed) savedKey() string {
	if c.key == c.ID {
		return ""
	}
	return c.key
}

// wraps tells whether n is the retry, the limit or the timeout of the activity in it.
func (n *Node) wraps() bool {
	return n.desc.Type == workflow.RetryType || n.desc.Type == workflow.LimitType || strings.HasSuffix(n.local, workflow.TimeoutSuffix)
}

// whole is x with its timeout and its retry.
func (x *Execution) whole() *Execution {
	for p := x.parent; p != nil; p = p.parent {
		body := (p.node.desc.Type == workflow.RetryType || p.node.desc.Type == workflow.ScopeType) && p.node.ports[p.node.desc.MainPort] == x.node
		if !body && p.node.local != x.node.local+workflow.TimeoutSuffix {
			break
		}
		x = p
	}
	return x
}

// origin is what a retry of x has to run again, if x only told of a failure (a Fault
// activity): the execution in one of whose branches it stands, or the activity beside it
// that led to it. Without one it is x itself.
func origin(x *Execution) (*Execution, *led) {
	if x.broken == nil || !x.broken.Raised {
		return x, nil
	}
	for e := x; e.parent != nil && e.node.inner == nil; e = e.parent {
		d := e.node.desc
		switch {
		case e == x:
		case e.node.wraps(), !d.NoEffect && !d.Container:
			return e, nil
		}
		if e.led != nil {
			return e, e.led
		}
		if e.node.isUndo() {
			break // it goes on where it failed
		}
	}
	return x, nil
}
