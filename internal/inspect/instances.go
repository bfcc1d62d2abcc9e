package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// Instance reads one instance.
func (i *Inspector) Instance(ctx context.Context, id string) (workflow.Instance, error) {
	rec, err := Record(ctx, i.cfg.Reader, id)
	if err != nil {
		return workflow.Instance{}, err
	}
	return rec.Header, nil
}

// Record reads an instance with its state, or gives the error for the caller.
func Record(ctx context.Context, r *etcdstore.Reader, id string) (*store.Record, error) {
	rec, err := r.Instance(ctx, id)
	if err := unread(id, rec != nil, err); err != nil {
		return nil, err
	}
	return rec, nil
}

// unread is the error for the caller of an instance that could not be read, or is not
// there.
func unread(id string, found bool, err error) error {
	switch {
	case errors.Is(err, etcdstore.ErrDamaged):
		return etcdstore.Damaged(fmt.Sprintf("instance %q", id), err)
	case err != nil:
		return etcdstore.Unavailable("instance "+id+" could not be read", err)
	case !found:
		return workflow.Fail(workflow.CodeInstanceNotFound, fmt.Sprintf("there is no instance %q", id))
	}
	return nil
}

// WaitInstance waits up to wait for the instance's end and gives it as it then
// is.
func (i *Inspector) WaitInstance(ctx context.Context, id string, wait time.Duration) (workflow.Instance, error) {
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	until = tracing.Quiet(until)
	ctx = tracing.Quiet(ctx)
	hint := i.cfg.Reader.WatchInstance(until, id)
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for {
		rec, err := Record(ctx, i.cfg.Reader, id)
		if err != nil || rec.Header.Status == workflow.StatusFinished {
			if err != nil {
				return workflow.Instance{}, err
			}
			return rec.Header, nil
		}
		select {
		case <-until.Done():
			return rec.Header, nil
		case _, ok := <-hint:
			if !ok {
				hint = nil
			}
		case <-poll.C:
		}
	}
}

// InstanceFilter selects instances; zero fields do not restrict.
type InstanceFilter struct {
	DefinitionID, CorrelationID string
	Version                     int
	Parent                      string            // the instance that started it
	Labels                      map[string]string // all of them
	Status                      workflow.Status
	SubStatus                   workflow.SubStatus
	Limit                       int    // 1..500, default 50
	Cursor                      string // from the page before
}

// emptyFor is how long a list looks for something that fits before it gives an empty
// page with a cursor.
const emptyFor = 2 * time.Second

// Instances lists instances, the newest first. A page may be shorter than its limit,
// and even empty, and still have a next one.
func (i *Inspector) Instances(ctx context.Context, f InstanceFilter) (Page[workflow.Instance], error) {
	if f.SubStatus != "" {
		if f.Status == "" {
			f.Status = f.SubStatus.Status()
		} else if f.Status != f.SubStatus.Status() {
			return Page[workflow.Instance]{}, nil
		}
	}
	sf := etcdstore.InstanceFilter{Status: f.Status, SubStatus: f.SubStatus, DefinitionID: f.DefinitionID, Version: f.Version, CorrelationID: f.CorrelationID, Parent: f.Parent, Labels: f.Labels}
	read := func(ctx context.Context, cursor string, limit int64) (items []workflow.Instance, next string, err error) {
		began := time.Now()
		for items, next, err = i.cfg.Reader.Instances(ctx, sf, cursor, limit); err == nil && len(items) == 0 && next != "" && time.Since(began) < emptyFor; {
			items, next, err = i.cfg.Reader.Instances(ctx, sf, next, limit)
		}
		return items, next, err
	}
	return list(ctx, "instances", f.Cursor, f.Limit, read, func(in workflow.Instance) workflow.Instance { return in })
}

// StateExport is an instance as it is exported and imported.
type StateExport struct {
	Sequence int64             `json:"sequence"` // the ETag
	Instance workflow.Instance `json:"instance"`
	State    json.RawMessage   `json:"state"`
}

// Export gives an instance with its state.
func (i *Inspector) Export(ctx context.Context, id string) (StateExport, error) {
	rec, err := Record(ctx, i.cfg.Reader, id)
	if err != nil {
		return StateExport{}, err
	}
	return StateExport{Sequence: rec.Seq, Instance: rec.Header, State: rec.State}, nil
}
