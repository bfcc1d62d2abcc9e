package runtime

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// Pauser sets the flag that stops the whole cluster from taking up work.
type Pauser struct{ cfg *front.Config }

// Pause stops the whole cluster from taking up work, and answers when every
// node record shows it. What runs goes on to its next wait.
func (p *Pauser) Pause(ctx context.Context) error { return p.setPaused(ctx, true) }

// Unpause lets the cluster go on, and answers when every node record shows it.
func (p *Pauser) Unpause(ctx context.Context) error { return p.setPaused(ctx, false) }

func (p *Pauser) setPaused(ctx context.Context, paused bool) error {
	var revision int64
	err := front.RetryUnknown(ctx, func() (err error) {
		revision, err = p.cfg.Stimuli.SetPaused(ctx, paused)
		return err
	})
	if err != nil {
		return etcdstore.ReadFailed("pause flag", err)
	}
	changed, cancel := p.cfg.Session.MembersChanged()
	defer cancel()
	for {
		if everyNode(p.cfg.Session.Members(), revision) {
			return nil
		}
		select {
		case <-ctx.Done():
			return &workflow.Error{Code: workflow.CodeBusy, Detail: "it is set, and not every node shows it yet", RetryAfter: time.Second}
		case <-changed:
		case <-time.After(500 * time.Millisecond): // the watch is a hint
		}
	}
}

// everyNode reports whether all nodes have seen the flag of this revision.
func everyNode(nodes []cluster.Node, revision int64) bool {
	for _, n := range nodes {
		if n.PauseRevision < revision {
			return false
		}
	}
	return true
}
