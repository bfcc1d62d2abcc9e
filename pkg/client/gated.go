package client

import (
	"context"
	"slices"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// gate is that of the instance after the burst: the one it has, unless it is of another definition or version
// by now, or an import gave it another correlation, and these want another.
func (x *burst) gate(ctx context.Context, before *store.Record, is *workflow.Instance) (*store.Gate, error) {
	if before == nil {
		if x.replaced == nil || is.Status == workflow.StatusFinished {
			return nil, nil // who starts it has looked, or has made it
		}
		return x.handle.n.cfg.Definitions.Gate(ctx, &workflow.Start{DefinitionID: is.DefinitionID, Version: is.Version, CorrelationID: is.CorrelationID})
	}
	was := &before.Header
	moved := was.DefinitionID != is.DefinitionID || was.Version != is.Version
	if is.Status == workflow.StatusFinished || !moved && (x.replaced == nil || was.CorrelationID == is.CorrelationID) {
		return before.Gate, nil
	}
	gate, err := x.handle.n.cfg.Definitions.Gate(ctx, &workflow.Start{DefinitionID: is.DefinitionID, Version: is.Version, CorrelationID: is.CorrelationID})
	switch {
	case err != nil || gate == nil:
		return before.Gate, err
	case x.replaced == nil && before.Gate != nil && before.Gate.Definition == gate.Definition && (before.Gate.Correlation == "") == (gate.Correlation == ""):
		return before.Gate, nil // that of the correlation which it was started with
	}
	return gate, nil
}

// mayTakeGate tells whether something of the batch may take a gate for the instance: nothing of it
// runs before that is committed.
func (o *owner) mayTakeGate(b *batch) bool {
	if o.base == nil {
		return false
	}
	ended := o.base.Header.Status == workflow.StatusFinished && o.base.Gate != nil
	takes := func(c *workflow.Command) bool {
		return returns(c.Kind) && (ended || c.Alter != nil && slices.ContainsFunc(c.Alter.Alterations, func(a workflow.Alteration) bool { return a.Type == workflow.AlterMigrate }))
	}
	return slices.ContainsFunc(b.mail, func(m store.Mail) bool { return takes(&m.Command) }) ||
		slices.ContainsFunc(b.hands, func(w *waiter) bool { return takes(&w.cmd) })
}
