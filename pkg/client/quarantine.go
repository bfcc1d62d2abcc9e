package client

import (
	"context"
	"slices"

	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/workflow"
)

// After a death others take over all that the process ran: the command that it died
// of, and its neighbours. All of them are marked when the next one dies. So a command
// whose next death makes it poison is a suspect, and begins only while no other suspect
// runs in this process: a death then decides about one of them, in the end about the
// one that is the cause. Commands with fewer marks do not wait, nor does what ends an
// instance.

// decides tells whether a command becomes poison if this process ends while it runs
// it. Marks count here whether or not their process is gone: it may be about to.
func (n *Node) decides(cmd *workflow.Command) bool {
	if ends(cmd.Kind) {
		return false
	}
	others := slices.DeleteFunc(n.recent(cmd.Begun), func(b workflow.Begun) bool { return b.Process == n.cfg.Process })
	return len(others) > 0 && len(others) >= n.cfg.Deaths-1
}

// isolate takes the quarantine for the one command of a batch that is counted, if it
// needs it.
func (o *owner) isolate(ctx context.Context, cmd *workflow.Command) bool {
	n := o.n
	if !n.decides(cmd) {
		return true
	}
	if !n.quarantine.Enter(o.handle, admission.Suspect{Instance: o.id, Command: cmd.ID}) {
		return false
	}
	n.cfg.Metrics.Suspect()
	n.cfg.Log.WarnContext(ctx, "a command runs again that processes ended with; if this one does, it is not run any more. No other such command runs here until then",
		"instanceId", o.id, "commandId", cmd.ID, "kind", cmd.Kind, "attempt", cmd.Attempts+1, "ended", n.ended(cmd))
	return true
}
