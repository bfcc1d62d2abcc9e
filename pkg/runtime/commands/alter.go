package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// Alter makes alterations of an instance in one commit, all or none. accepted: the
// command is durable, not applied yet. Alterations that do not fit are an error with a
// problem for each.
func (c *Commander) Alter(ctx context.Context, id string, alter *workflow.Alter, key *front.Key) (accepted bool, err error) {
	if err := InvalidAlter(alter.Check()); err != nil {
		return false, err
	}
	if migrates(alter) {
		rec, err := inspect.Brief(ctx, c.cfg.Reader, id)
		if err != nil {
			return false, err
		}
		if err := c.alterable(ctx, rec.Header.DefinitionID, alter); err != nil {
			return false, err
		}
	}
	return c.command(ctx, id, workflow.Command{Kind: workflow.CommandAlter, Alter: alter, Key: key.Command()})
}

// InvalidAlter is the refusal of alterations that fit no instance; nil: they have no problems.
func InvalidAlter(problems workflow.Problems) error {
	if len(problems) == 0 {
		return nil
	}
	return &workflow.Error{Code: workflow.CodeInvalid, Detail: "the alterations are not valid", Problems: problems}
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
func (c *Commander) PreviewAlter(ctx context.Context, id string, alter *workflow.Alter) (AlterPreview, error) {
	if err := InvalidAlter(alter.Check()); err != nil {
		return AlterPreview{}, err
	}
	rec, err := inspect.Record(ctx, c.cfg.Reader, id)
	if err != nil {
		return AlterPreview{}, err
	}
	h := rec.Header
	if err := c.alterable(ctx, h.DefinitionID, alter); err != nil {
		return AlterPreview{}, err
	}
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
	env.Metrics, env.Lines, env.LogLines, env.Log, env.Version = nil, nil, false, nil, program
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
		if err := c.gated(ctx, &rec.Header, rec.Gate, &p.Instance); err != nil {
			var gated *store.GatedError
			if !errors.As(err, &gated) {
				return AlterPreview{}, err
			}
			out.Code, out.Instance, out.Did, out.Next = workflow.CodeInstanceGated, h, nil, nil
			out.Problems = workflow.Problems{{Code: string(workflow.CodeInstanceGated), Detail: gated.Error(), Place: workflow.Place{Pointer: "/alterations"}}}
		}
	case engine.NotRunning:
		out.Code = workflow.CodeInstanceFinished
	case engine.NotFaulted:
		out.Code = workflow.CodeInstanceNotFaulted
	case engine.Undone:
		out.Code = workflow.CodeInstanceUndone
	default:
		out.Code = workflow.CodeInvalid
	}
	return out, nil
}

// WhyNoRetry tells why a retry of a faulted instance would be refused, as another has its gate or as it would make
// a call again that may have been undone; "" if it would not, or that is not known.
func (c *Commander) WhyNoRetry(ctx context.Context, id string) string {
	p, err := c.PreviewAlter(ctx, id, &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterRetry}}})
	if err != nil || len(p.Problems) == 0 || p.Code != workflow.CodeInstanceUndone && p.Code != workflow.CodeInstanceGated {
		return ""
	}
	return p.Problems[0].Detail
}

// gated is the error if the instance would take a gate to be as it is to be, and another has it.
func (c *Commander) gated(ctx context.Context, was *workflow.Instance, gate *store.Gate, is *workflow.Instance) error {
	if is.Status == workflow.StatusFinished {
		return nil
	}
	if was.Version != is.Version {
		other, err := front.Definitions{Catalog: c.cfg.Catalog}.Gate(ctx, &workflow.Start{DefinitionID: is.DefinitionID, Version: is.Version, CorrelationID: is.CorrelationID})
		if err != nil {
			return err
		}
		if gate == nil {
			gate = other
		}
	}
	if gate == nil {
		return nil
	}
	holders, err := c.cfg.Reader.Gates(ctx, []store.Gate{*gate}, 0)
	if err != nil {
		return etcdstore.Unavailable("who holds the gate of the instance could not be read", err)
	}
	if holders[0] != "" && holders[0] != is.ID {
		return &store.GatedError{Gate: *gate, Holder: holders[0]}
	}
	return nil
}

func migrates(alter *workflow.Alter) bool {
	return slices.ContainsFunc(alter.Alterations, func(alt workflow.Alteration) bool { return alt.Type == workflow.AlterMigrate })
}

// alterable refuses versions that the definition has not, and those that no live node's
// program can run: the command would be in the way of all that comes behind it.
func (c *Commander) alterable(ctx context.Context, definition string, alter *workflow.Alter) error {
	var problems workflow.Problems
	for i, alt := range alter.Alterations {
		if alt.Type != workflow.AlterMigrate {
			continue
		}
		alter.Definition = definition
		problem, err := c.UnknownVersion(ctx, definition, alt.Version, fmt.Sprintf("/alterations/%d/version", i))
		if err != nil {
			return err
		}
		problems = append(problems, problem...)
	}
	return InvalidAlter(problems)
}

// UnknownVersion is the problem of a version that a definition has not. The error is of one that
// no live node can run, or that could not be looked up.
func (c *Commander) UnknownVersion(ctx context.Context, definition string, version int, pointer string) (workflow.Problems, error) {
	leaving, err := c.cfg.Catalog.Leaving(ctx, definition, version)
	if err != nil {
		return nil, etcdstore.Unavailable("the definition could not be read", err)
	}
	if !leaving {
		_, _, err = c.cfg.Catalog.Program(ctx, definition, version)
		if workflow.CodeOf(err) != workflow.CodeDefinitionNotFound {
			if err != nil {
				err = front.Elsewhere(ctx, c.cfg.Session, err)
			}
			return nil, err
		}
	}
	return workflow.Problems{{Code: "unknown-version", Detail: fmt.Sprintf("definition %s has no version %d", definition, version), Place: workflow.Place{Pointer: pointer}}}, nil
}
