package asking

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// members reads an input that is an object with some members; nil: it is not given.
func members(input string, v any, known ...string) (map[string]any, error) {
	if v == nil {
		return nil, nil
	}
	all, ok := v.(map[string]any)
	if !ok || len(all) == 0 {
		return nil, fmt.Errorf("%s is no object with one of %s", input, strings.Join(known, ", "))
	}
	for name := range all {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%s has %s, and may have %s%s", input, workflow.Shorten(name), strings.Join(known, ", "), workflow.DidYouMean(name, known))
		}
	}
	return all, nil
}

// span is a duration among the members of an input; 0: it is not given.
func span(input string, all map[string]any, name string) (time.Duration, error) {
	v, given := all[name]
	if !given || v == nil {
		return 0, nil
	}
	text, _ := v.(string)
	d, err := value.ParseDuration(text)
	if err == nil && d <= 0 {
		err = errors.New("it is none, or goes back")
	}
	if err != nil {
		return 0, fmt.Errorf("%s.%s: %w", input, name, err)
	}
	return d, nil
}

func remindOf(v any) (*usertask.Remind, error) {
	all, err := members("remind", v, "before", "every", "times")
	if all == nil || err != nil {
		return nil, err
	}
	r := &usertask.Remind{Times: 1}
	if r.Before, err = span("remind", all, "before"); err != nil {
		return nil, err
	}
	if r.Every, err = span("remind", all, "every"); err != nil {
		return nil, err
	}
	if n, given := all["times"]; given {
		times, ok := n.(int64)
		if !ok {
			return nil, errors.New("remind.times is no whole number")
		}
		r.Times = int(min(times, usertask.MostReminders+1))
	}
	return r, r.Check()
}

func escalateOf(v any) (*usertask.Escalate, error) {
	all, err := members("escalate", v, "before", "after", "users", "groups", "priority")
	if all == nil || err != nil {
		return nil, err
	}
	e := &usertask.Escalate{}
	if e.Before, err = span("escalate", all, "before"); err != nil {
		return nil, err
	}
	if e.After, err = span("escalate", all, "after"); err != nil {
		return nil, err
	}
	if e.Users, err = namesOf("candidateUsers", all["users"]); err != nil {
		return nil, fmt.Errorf("escalate: %w", err)
	}
	if e.Groups, err = namesOf("candidateGroups", all["groups"]); err != nil {
		return nil, fmt.Errorf("escalate: %w", err)
	}
	if n, given := all["priority"]; given && n != nil {
		p, ok := n.(int64)
		if !ok {
			return nil, errors.New("escalate.priority is no whole number")
		}
		e.Priority = &p
	}
	return e, e.Check()
}
