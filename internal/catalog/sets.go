package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Sets are definitions that are published together, each by the name that it was last published
// with of those who gave one: so it can be told which of them their directory has no more.
type Sets struct{ c *Catalog }

// SetsOf are the sets of a catalog.
func SetsOf(c *Catalog) Sets { return Sets{c} }

// Deletion is of a definition as its caller knows it.
type Deletion struct {
	Set   string // that it is of; "": any, or none
	Over  *int   // the published version, or the latest if none is published; nil: any
	Force bool   // also while instances run
}

// Delete is [Catalog.Delete] of a definition that is as it was known, or only followed what it
// uses since. If it is not, the error is definition-moved: it was published, or by others, in the
// meantime.
func (s Sets) Delete(ctx context.Context, id string, d Deletion) error {
	_, err := s.c.change(ctx, id, func(st *store.DefinitionState) (*store.DefinitionHead, error) {
		is, same := standing(st), true
		if d.Over != nil && *d.Over != is {
			var err error
			if same, err = followed(ctx, s.c, st, *d.Over); err != nil {
				return nil, err
			}
		}
		switch {
		case d.Set != "" && st.Head.Set != d.Set:
			return nil, workflow.Fail(workflow.CodeDefinitionMoved, fmt.Sprintf("definition %s is not of the set %q any more", id, d.Set))
		case !same:
			return nil, workflow.Fail(workflow.CodeDefinitionMoved, fmt.Sprintf("definition %s has version %d now, and version %d was to be deleted", id, is, *d.Over))
		}
		return s.c.store.DeleteDefinition(ctx, st, d.Force, s.c.now())
	})
	return err
}

// join makes what is published already be of the set that is named.
func (s Sets) join(ctx context.Context, req PublishRequest, st *store.DefinitionState, res PublishResult) (PublishResult, error) {
	res.WasOf = setOf(st)
	if req.Set == "" || req.Set == res.WasOf || req.DryRun || !res.Published {
		return res, nil
	}
	head, err := s.c.publishStored(ctx, st, res.Version, req.Set)
	if err != nil {
		return PublishResult{}, err
	}
	s.c.learn(head)
	res.Revision = head.Modified
	return res, nil
}

// setOf is the set that a definition is of, "" if it is of none.
func setOf(st *store.DefinitionState) string {
	if !st.Exists() {
		return ""
	}
	return st.Head.Set
}

// checkSet refuses the name of a set that is none, and a draft of a set: it is of one as it is
// published.
func (req *PublishRequest) checkSet(d *document) error {
	if req.Set == "" {
		return nil
	}
	err := workflow.CheckID("the name of a set", req.Set)
	if err == nil && !d.publish {
		err = errors.New("a draft is of no set; publish it, or name none")
	}
	if err != nil {
		return &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
	}
	return nil
}
