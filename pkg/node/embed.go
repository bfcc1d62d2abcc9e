package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// This file is what a program that embeds a node uses beside [New], [Node.Start]
// and [Node.Stop].

// registry has the built-in activities and those of the program.
func (c Config) registry(current func() *secrets.Set) (*engine.Registry, error) {
	r := activities.Default()
	if err := c.mails(r, current); err != nil {
		return nil, err
	}
	if c.Activities == nil {
		return r, nil
	}
	if err := c.Activities(r); err != nil {
		return nil, fmt.Errorf("the program's own activities: %w", err)
	}
	return r, nil
}

// declared are the activity types that the files of a directory declare.
func (c Config) declared() ([]*declared.Declaration, error) {
	if c.ActivityTypes == "" {
		return nil, nil
	}
	all, problems, err := declared.ReadFolder(c.ActivityTypes)
	if err != nil {
		return nil, err
	}
	return all, problems.Err()
}

// publishWorkflows publishes those of the program's definitions whose content is
// new. One may use another that comes later: go round as long as that gets
// further. Unlike a file, a definition that is not valid ends the start: it is a
// mistake in the program.
func (n *Node) publishWorkflows(ctx context.Context) error {
	todo := n.cfg.Workflows
	for len(todo) > 0 {
		var left []*workflow.Definition
		var errs []error
		for _, def := range todo {
			err := n.publishWorkflow(ctx, def)
			switch {
			case ctx.Err() != nil:
				return fmt.Errorf("publish the program's workflows: %w", context.Cause(ctx))
			case err != nil:
				left, errs = append(left, def), append(errs, err)
			}
		}
		if len(left) == len(todo) {
			return fmt.Errorf("publish the program's workflows: %w", errors.Join(errs...))
		}
		todo = left
	}
	return nil
}

func (n *Node) publishWorkflow(ctx context.Context, def *workflow.Definition) error {
	req, err := n.catalog.Write(def)
	if err != nil {
		return told(err)
	}
	res, err := n.catalog.Publish(ctx, req)
	if err != nil {
		return told(err)
	}
	if res.Created {
		n.log.InfoContext(ctx, "workflow of the program published", slog.String("definition", res.ID), slog.Int("version", res.Version))
	}
	if len(res.Warnings) > 0 {
		n.log.WarnContext(ctx, "workflow of the program may have mistakes", slog.String("definition", res.ID), slog.String("warnings", res.Warnings.Error()))
	}
	return nil
}

// told is err with every problem of a definition.
func told(err error) error {
	var e *workflow.Error
	if !errors.As(err, &e) || len(e.Problems) < 2 {
		return err
	}
	return fmt.Errorf("%w:\n%w", err, e.Problems)
}

// Execute starts an instance of a definition and returns it after its first burst
// is committed, also when it faulted. With wait, Execute waits up to that long for
// the end. If the first burst takes long, the start is durable and Execute returns
// the instance as it is.
//
// Errors are of type *[workflow.Error] as in the HTTP API: definition-not-found,
// invalid-request for input that the definition does not take, draining, …
func (n *Node) Execute(ctx context.Context, s workflow.Start, wait time.Duration) (workflow.Instance, error) {
	var err error
	if s.Input, err = asJSON("input", s.Input); err != nil {
		return workflow.Instance{}, err
	}
	if s.Properties, err = asJSON("properties", s.Properties); err != nil {
		return workflow.Instance{}, err
	}
	res, err := n.runtime.Starts.Execute(ctx, runtime.StartRequest{
		DefinitionID: s.DefinitionID, Version: s.Version, Input: s.Input, Name: s.Name,
		CorrelationID: s.CorrelationID, Properties: s.Properties,
	})
	if err != nil || wait <= 0 || res.Instance.Status == workflow.StatusFinished {
		return res.Instance, err
	}
	return n.Instance(ctx, res.Instance.ID, wait)
}

// Send gives a stimulus, such as [workflow.EventStimulus], to all that waits for
// it on any node. When Send returns nil the stimulus is durable: applied, on its
// way, or queued until something waits for it.
func (n *Node) Send(ctx context.Context, st workflow.Stimulus) error {
	var err error
	if st.Input, err = asJSON("input", st.Input); err != nil {
		return err
	}
	_, err = n.runtime.Events.Send(ctx, st, nil)
	return err
}

// asJSON is what Go code gave, as it is stored: see [engine.Normalize].
func asJSON(what string, m map[string]any) (map[string]any, error) {
	if m == nil {
		return nil, nil
	}
	v, err := engine.Normalize(m)
	if err != nil {
		return nil, &workflow.Error{Code: workflow.CodeInvalid, Detail: what + ": " + err.Error(), Err: err}
	}
	return v.(map[string]any), nil
}

// Instance reads an instance; with wait, it waits up to that long for its end.
func (n *Node) Instance(ctx context.Context, id string, wait time.Duration) (workflow.Instance, error) {
	if wait <= 0 {
		return n.runtime.Inspector.Instance(ctx, id)
	}
	return n.runtime.Inspector.WaitInstance(ctx, id, wait)
}

// Runtime is the front of the node, for what [Node.Execute], [Node.Send] and
// [Node.Instance] do not say and the HTTP API does: keys, cancels, retries, tasks,
// lists. It works between Start and Stop. Its methods may change in any version.
func (n *Node) Runtime() *runtime.Runtime { return n.runtime }

// Publish publishes a definition that was built in Go while the node runs, if
// its content was never published before; see [Config].Workflows.
func (n *Node) Publish(ctx context.Context, def *workflow.Definition) error {
	return n.publishWorkflow(ctx, def)
}
