package commands

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/pkg/workflow"
)

// RetryFilter selects faulted instances; zero fields do not restrict.
type RetryFilter struct {
	DefinitionID, CorrelationID string
	Limit                       int    // 1..500, default 50
	Cursor                      string // from the result before
}

// RetryResult tells what became of a page of faulted instances. Retried are
// those whose retry is applied, also if they faulted again, or durably accepted.
type RetryResult struct {
	Retried []string
	Refused []RetryRefusal
	Next    string // of the next page; "" at the end
}

// RetryRefusal is an instance that was faulted when it was listed, and was not
// retried.
type RetryRefusal struct {
	InstanceID string
	Code       workflow.Code
}

// retriesAtOnce bounds the bursts that one call starts at the same time.
const retriesAtOnce = 8

// RetryFaulted retries a page of faulted instances. An instance that faults
// again stays before the cursor, so that following Next comes to an end. An
// error means that the page could not be read: nothing was retried.
func (c *Commander) RetryFaulted(ctx context.Context, f RetryFilter) (RetryResult, error) {
	if err := c.intake.Accepts(intake.GoesOn); err != nil {
		return RetryResult{}, err
	}
	page, err := c.inspector.Instances(ctx, find.Filter{
		DefinitionID: f.DefinitionID, CorrelationID: f.CorrelationID, SubStatus: workflow.Faulted,
	}, inspect.Paging{Limit: f.Limit, Cursor: f.Cursor})
	if err != nil {
		return RetryResult{}, err
	}
	codes := make([]workflow.Code, len(page.Items))
	var retries errgroup.Group
	retries.SetLimit(retriesAtOnce)
	for i := range page.Items {
		retries.Go(func() error {
			codes[i] = c.retryOne(ctx, page.Items[i].ID)
			return nil
		})
	}
	_ = retries.Wait() // each keeps its own outcome
	res := RetryResult{Retried: []string{}, Next: page.Next}
	for i, in := range page.Items {
		if codes[i] == "" {
			res.Retried = append(res.Retried, in.ID)
		} else {
			res.Refused = append(res.Refused, RetryRefusal{in.ID, codes[i]})
		}
	}
	return res, nil
}

// retryOne tells why an instance was not retried; "" if it was.
func (c *Commander) retryOne(ctx context.Context, id string) workflow.Code {
	_, err := c.Retry(ctx, id)
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil:
		return workflow.CodeUnknownOutcome // the caller's time is over; repeating is harmless
	}
	c.cfg.Log.DebugContext(ctx, "instance not retried", "instance", id, "error", err)
	return cmp.Or(workflow.CodeOf(err), workflow.CodeInternal)
}
