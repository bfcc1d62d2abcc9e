package undo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/engine"
)

// Failure is why a scope failed, as it is kept while that is undone: with what a retry around it looks at.
type Failure struct {
	Activity string `json:"activity"`
	Message  string `json:"message"`
	Code     string `json:"code,omitempty"`
	Category string `json:"category,omitempty"`
	Type     string `json:"type,omitempty"`
	Final    bool   `json:"final,omitempty"`
	retry.Kept
}

func failureOf(x *engine.Execution, sig engine.Signal) *Failure {
	f := &Failure{Activity: sig.Sender.Node().ID(), Message: x.Redact(sig.Err.Error())}
	var raised *engine.FaultError
	if errors.As(sig.Err, &raised) {
		f.Code, f.Category, f.Type = x.Redact(raised.Code), x.Redact(raised.Category), x.Redact(raised.Type)
	}
	f.Final = sig.Name == engine.SignalFinal
	f.Kept = retry.Keep(sig.Err, x.Redact)
	f.RetryAfter = 0 // it is over when all is undone
	return f
}

// error is the failure, behind which stands what was undone. To a retry around the scope it is of the kind that it was.
func (f *Failure) error(undone []string) error {
	text := fmt.Sprintf("%s: %s (undone: %s)", f.Activity, f.Message, strings.Join(undone, ", "))
	return f.As(text, &engine.FaultError{Code: f.Code, Category: f.Category, Type: f.Type, Message: f.Message, Final: f.Final})
}
