package catalog

import (
	"errors"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// explain turns an error of the store into one for the caller.
func explain(err error) error {
	switch {
	case err == nil, workflow.CodeOf(err) != "":
		return err
	case errors.Is(err, store.ErrHeadMoved):
		return &workflow.Error{Code: workflow.CodeDefinitionMoved, Detail: "the definition was changed by others at the same time, again and again; repeat", RetryAfter: time.Second, Err: err}
	case errors.Is(err, etcdstore.ErrTooLarge):
		return &workflow.Error{Code: workflow.CodeTooLarge, Detail: "the definition does not fit into one transaction; split it", Err: err}
	case errors.Is(err, etcdstore.ErrUnknown):
		return &workflow.Error{Code: workflow.CodeUnknownOutcome, Detail: "it is not known whether the change was applied; repeat it", RetryAfter: time.Second, Err: err}
	}
	return &workflow.Error{Code: workflow.CodeUnavailable, Detail: "the store of the definitions does not answer", RetryAfter: time.Second, Err: err}
}
