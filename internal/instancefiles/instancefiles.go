package instancefiles

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Of is the files of one instance.
type Of struct {
	Store    *etcdstore.Contents
	Instance string
	Parent   string // "": it has none
	Known    bool   // the instance is in the store
}

var _ files.Store = Of{}

// Keep keeps a file, as often as it takes to know that it is kept.
func (o Of) Keep(ctx context.Context, data []byte) (files.Content, error) {
	var kept files.Content
	err := untilKnown(ctx, func() (err error) {
		kept, err = o.Store.Put(ctx, o.Instance, o.Known, data)
		return err
	})
	return kept, err
}

// untilKnown does again what may be done twice, while it is not known what became of it.
func untilKnown(ctx context.Context, do func() error) error {
	return pace.Repeat(ctx, pace.Doubling(50*time.Millisecond).UpTo(time.Second).Spread(20).Times(5), func() (again bool, err error) {
		err = do()
		return errors.Is(err, etcdstore.ErrUnknown), err
	})
}

// Read reads a file.
func (o Of) Read(ctx context.Context, ref files.Ref) ([]byte, error) {
	if err := o.mine(ctx, ref); err != nil {
		return nil, err
	}
	return o.Store.Get(ctx, ref.Instance, ref.Hash, ref.Bytes)
}

// Check is the error of Read.
func (o Of) Check(ctx context.Context, ref files.Ref) error {
	if err := o.mine(ctx, ref); err != nil {
		return err
	}
	return o.Store.Stands(ctx, ref.Instance, ref.Hash, ref.Bytes)
}

// mine refuses files of strangers, in the words of those that are not there.
func (o Of) mine(ctx context.Context, ref files.Ref) error {
	if ref.Instance == o.Instance || o.Parent != "" && ref.Instance == o.Parent {
		return nil
	}
	if workflow.CheckID("the instance of a file", ref.Instance) == nil {
		parent, err := o.Store.ParentOf(ctx, ref.Instance)
		if err != nil || parent == o.Instance {
			return err
		}
	}
	return workflow.Fail(workflow.CodeContentNotFound, fmt.Sprintf("the file %s is none of instance %s, of its parent or of a child that is there: pass what is in it, not the reference", ref.Hash, o.Instance))
}
