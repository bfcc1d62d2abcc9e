package instances

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
)

// variableChanges is how variables differ between two commits.
type variableChanges struct {
	From, To, First, Last, Revision int64
	Changes                         []variableChange
	Complete                        bool
}

type variableChange struct {
	Name          string
	ActivityID    *string
	Before, After *shape.Variable
}

// What says what became of the variable.
func (c variableChange) What() string {
	switch {
	case c.Before == nil || c.Before.None():
		if c.After == nil || c.After.None() {
			return "as before"
		}
		return "added"
	case c.After == nil || c.After.None():
		return "removed"
	case c.Before.Hidden || c.After.Hidden || c.Before.Clipped && c.After.Clipped && bytes.Equal(c.Before.Value, c.After.Value):
		return "set"
	case bytes.Equal(c.Before.Value, c.After.Value):
		return "as before"
	}
	return "changed"
}

// readVariables reads the variables of an instance after a commit, or how they differ between two.
func readVariables(v *page.Visit, id string, view *instanceView) error {
	query := v.Request.URL.Query()
	ask := url.Values{}
	if text := query.Get("at"); text != "" {
		ask.Set("at", text)
	}
	vars, err := page.Get[shape.Variables](v, page.At("instances", id, "variables"), ask)
	if err != nil {
		return err
	}
	view.Variables = &vars
	from, to := query.Get("from"), query.Get("to")
	if from == "" && to == "" {
		return nil
	}
	ask = url.Values{}
	a, errA := strconv.ParseInt(from, 10, 64)
	b, errB := strconv.ParseInt(to, 10, 64)
	if errA == nil && errB == nil && a > b { // whichever way round somebody says it
		from, to = to, from
	}
	for name, text := range map[string]string{"from": from, "to": to} {
		if text != "" {
			ask.Set(name, text)
		}
	}
	changes, err := page.Get[variableChanges](v, page.At("instances", id, "variables", "changes"), ask)
	var p *page.Problem
	if errors.As(err, &p) && p.Status == http.StatusUnprocessableEntity {
		view.Wrong = p
		return nil
	}
	view.Changes = &changes
	return err
}
