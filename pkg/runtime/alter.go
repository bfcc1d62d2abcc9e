package runtime

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Alter makes alterations of an instance in one commit, all or none. accepted: the
// command is durable, not applied yet. Alterations that do not fit are an error with a
// problem for each.
func (c *commander) Alter(ctx context.Context, id string, alter *workflow.Alter, key *Key) (accepted bool, err error) {
	if err := c.alterable(ctx, id, alter); err != nil {
		return false, err
	}
	return c.command(ctx, id, workflow.Command{Kind: workflow.CommandAlter, Alter: alter, Key: key.Command()})
}

// AlterPreview is what alterations would do to an instance as it was committed last.
type AlterPreview struct {
	Sequence int64             // of that commit
	Code     workflow.Code     // why they would be refused; "": they would not
	Problems workflow.Problems // each thing that does not fit
	Did      []string          // a sentence for each change
	Next     []string          // ids of the activities that would run then
	Instance workflow.Instance // before these run; as it is, if nothing would be changed
}

// PreviewAlter tells what alterations would do, and does nothing.
func (c *commander) PreviewAlter(ctx context.Context, id string, alter *workflow.Alter) (AlterPreview, error) {
	if err := c.alterable(ctx, id, alter); err != nil {
		return AlterPreview{}, err
	}
	rec, err := inspect.Record(ctx, c.cfg.Reader, id)
	if err != nil {
		return AlterPreview{}, err
	}
	h := rec.Header
	program := func(version int) (*engine.Program, error) {
		prog, _, err := c.cfg.Catalog.Program(ctx, h.DefinitionID, version)
		return prog, err
	}
	if len(rec.State) == 0 {
		return AlterPreview{}, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("instance %q has not begun: there is nothing to alter yet", id))
	}
	prog, err := program(h.Version)
	if err != nil {
		return AlterPreview{}, err
	}
	env := c.cfg.Node.Env()
	env.Metrics, env.Lines, env.Log, env.Version = nil, nil, nil, program
	b, err := engine.Load(prog, h, rec.State, env)
	if err != nil {
		return AlterPreview{}, &workflow.Error{Code: workflow.CodeNotRunnable, Err: err, Detail: fmt.Sprintf("the program of this node cannot read the state of instance %s", id)}
	}
	p, err := engine.PreviewOf(ctx, b, alter)
	if err != nil {
		return AlterPreview{}, err
	}
	out := AlterPreview{Sequence: rec.Seq, Problems: p.Problems, Did: p.Did, Next: p.Next, Instance: h}
	switch p.Outcome {
	case engine.Applied:
		out.Instance = p.Instance
	case engine.NotRunning:
		out.Code = workflow.CodeInstanceFinished
	case engine.NotFaulted:
		out.Code = workflow.CodeInstanceNotFaulted
	default:
		out.Code = workflow.CodeInvalid
	}
	return out, nil
}

// alterable refuses what fits no instance.
func (c *commander) alterable(ctx context.Context, id string, alter *workflow.Alter) error {
	if problems := alter.Check(); len(problems) > 0 {
		return &workflow.Error{Code: workflow.CodeInvalid, Detail: "the alterations are not valid", Problems: problems}
	}
	for i, alt := range alter.Alterations {
		if alt.Type != workflow.AlterMigrate {
			continue
		}
		rec, err := inspect.Record(ctx, c.cfg.Reader, id)
		if err != nil {
			return err
		}
		alter.Definition = rec.Header.DefinitionID
		leaving, err := c.cfg.Catalog.Leaving(ctx, rec.Header.DefinitionID, alt.Version)
		switch {
		case err != nil:
			return etcdstore.Unavailable("the definition could not be read", err)
		case leaving:
			return &workflow.Error{Code: workflow.CodeInvalid, Detail: fmt.Sprintf("instance %q was not altered: %s", id, howMany(1)), Problems: workflow.Problems{{
				Code: "unknown-version", Detail: fmt.Sprintf("definition %s has no version %d", rec.Header.DefinitionID, alt.Version),
				Place: workflow.Place{Pointer: fmt.Sprintf("/alterations/%d/version", i)}}}}
		}
	}
	return nil
}
