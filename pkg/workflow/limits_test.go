package workflow

import (
	"testing"
)

func TestOversizeNamesTheActivityThatIsTooMuch(t *testing.T) {
	t.Parallel()
	oversize := func(root *Activity) Problem {
		r := NewReport(nil, "")
		r.Oversize(root)
		if r.Empty() {
			return Problem{}
		}
		return r.Problems()[0]
	}
	root := &Activity{ID: "root"}
	if p := oversize(root); p.Code != "" {
		t.Errorf("one activity is not too much: %+v", p)
	}
	if p := oversize(nil); p.Code != "" {
		t.Errorf("none is not too much: %+v", p)
	}
	for at, n := root, 0; n < MaxNesting; n++ {
		at.Ports = map[string]*Activity{"body": {ID: "inner", Place: Place{Line: n}}}
		at = at.Ports["body"]
	}
	if p := oversize(root); p.Code != "too-deep" || p.Place.Line != MaxNesting-1 {
		t.Errorf("%+v", p)
	}
	wide := &Activity{Activities: make([]*Activity, MaxActivities)}
	for i := range wide.Activities {
		wide.Activities[i] = &Activity{}
	}
	if p := oversize(wide); p.Code != "too-many-activities" {
		t.Errorf("%+v", p)
	}
}
