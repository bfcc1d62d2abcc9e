package compare_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/compare"
	"github.com/weft-run/weft/pkg/apiclient"
)

func portrait(change func(*apiclient.Instance, *apiclient.Variables)) compare.Portrait {
	in := &apiclient.Instance{InstanceID: "a", DefinitionID: "order", Version: 1, SubStatus: "Suspended", Input: map[string]any{"amount": json.Number("12345678901234567890")}}
	vars := &apiclient.Variables{Complete: true, Variables: []apiclient.VariableState{
		{Name: "total", Value: json.Number("1")}, {Name: "text", Value: "beg", Clipped: true}, {Name: "round", Execution: 7, Value: 3},
	}}
	if change != nil {
		change(in, vars)
	}
	return compare.Of(in, vars)
}

func TestWhatDiffersIsTold(t *testing.T) {
	t.Parallel()
	name := "rush"
	for what, c := range map[string]struct {
		change func(*apiclient.Instance, *apiclient.Variables)
		want   []compare.Difference
	}{
		"nothing": {nil, []compare.Difference{}},
		"ids": {func(in *apiclient.Instance, v *apiclient.Variables) {
			in.InstanceID = "b"
			v.Variables[2].Execution = 9
			v.Variables[2].Value = 4
		}, []compare.Difference{}},
		"version": {func(in *apiclient.Instance, _ *apiclient.Variables) { in.Version = 2 }, []compare.Difference{{"definition", "order v1", "order v2"}}},
		"a long number": {func(in *apiclient.Instance, _ *apiclient.Variables) {
			in.Input["amount"] = json.Number("12345678901234567891")
		}, []compare.Difference{{"input.amount", "12345678901234567890", "12345678901234567891"}}},
		"no input": {func(in *apiclient.Instance, _ *apiclient.Variables) { in.Input = nil }, []compare.Difference{{"input.amount", "12345678901234567890", ""}}},
		"name, label": {func(in *apiclient.Instance, _ *apiclient.Variables) {
			in.Name, in.Labels = &name, map[string]string{"team": "a"}
		}, []compare.Difference{{"label.team", "", "a"}, {"name", "", "rush"}}},
		"incident": {func(in *apiclient.Instance, _ *apiclient.Variables) {
			in.Incidents = []apiclient.Incident{{ActivityID: "charge", Message: "no"}}
		}, []compare.Difference{{"incident.1", "", "charge: no"}}},
		"variable": {func(_ *apiclient.Instance, v *apiclient.Variables) { v.Variables[0].Value = "<1>" }, []compare.Difference{{"variable.total", "1", `"<1>"`}}},
	} {
		if got := portrait(nil).Differences(portrait(c.change)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	if got := portrait(nil).Alike(portrait(nil)); !reflect.DeepEqual(got, []string{"variable.text"}) {
		t.Errorf("compared by their beginnings: %v", got)
	}
}

// What a journal that lost entries does not tell is neither the same nor different; what it tells is
// compared, and so is all that is no variable.
func TestWhatAJournalForgotIsNotCompared(t *testing.T) {
	t.Parallel()
	forgets := func(_ *apiclient.Instance, v *apiclient.Variables) { v.Complete, v.Variables = false, nil }
	part := func(in *apiclient.Instance, v *apiclient.Variables) {
		v.Complete, v.Variables, in.Input = false, []apiclient.VariableState{{Name: "total", Value: json.Number("2")}}, nil
	}
	input := compare.Difference{What: "input.amount", A: "12345678901234567890"}
	for what, c := range map[string]struct {
		a, b    func(*apiclient.Instance, *apiclient.Variables)
		unknown []string
		differs []compare.Difference
		partial bool
	}{
		"none":  {nil, nil, nil, []compare.Difference{}, false},
		"a":     {forgets, nil, []string{"variable.text", "variable.total"}, []compare.Difference{}, true},
		"b":     {nil, forgets, []string{"variable.text", "variable.total"}, []compare.Difference{}, true},
		"both":  {forgets, forgets, nil, []compare.Difference{}, true},
		"a few": {nil, part, []string{"variable.text"}, []compare.Difference{input, {What: "variable.total", A: "1", B: "2"}}, true},
	} {
		a, b := portrait(c.a), portrait(c.b)
		if got := a.Unknown(b); !reflect.DeepEqual(got, c.unknown) {
			t.Errorf("%s: unknown are %v, want %v", what, got, c.unknown)
		}
		if got := a.Differences(b); !reflect.DeepEqual(got, c.differs) {
			t.Errorf("%s: different are %v, want %v", what, got, c.differs)
		}
		if got := a.Partial() || b.Partial(); got != c.partial {
			t.Errorf("%s: in part: %t", what, got)
		}
	}
	hides := func(_ *apiclient.Instance, v *apiclient.Variables) {
		v.Variables[0].Value, v.Variables[0].Hidden = nil, true
	}
	if a, b := portrait(hides), portrait(forgets); !reflect.DeepEqual(a.Unknown(b), []string{"variable.text"}) || !reflect.DeepEqual(a.Uncompared(b), []string{"variable.total"}) {
		t.Errorf("unknown are %v, not compared %v", a.Unknown(b), a.Uncompared(b))
	}
}

// What an instance hides is neither the same nor different, whichever of the two hides it and
// whatever the other one has.
func TestWhatIsHiddenIsNotCompared(t *testing.T) {
	t.Parallel()
	hides := func(_ *apiclient.Instance, v *apiclient.Variables) {
		v.Variables[0].Value, v.Variables[0].Hidden = nil, true
	}
	lacks := func(_ *apiclient.Instance, v *apiclient.Variables) { v.Variables = v.Variables[1:] }
	for what, c := range map[string]struct {
		a, b func(*apiclient.Instance, *apiclient.Variables)
		want []string
	}{
		"none": {nil, nil, nil}, "both": {hides, hides, []string{"variable.total"}}, "a": {hides, nil, []string{"variable.total"}},
		"b": {nil, hides, []string{"variable.total"}}, "the only one that has it": {hides, lacks, []string{"variable.total"}},
	} {
		a, b := portrait(c.a), portrait(c.b)
		if got := a.Uncompared(b); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: not compared are %v, want %v", what, got, c.want)
		}
		if got := a.Differences(b); len(got) != 0 {
			t.Errorf("%s: %v differ", what, got)
		}
	}
}

func TestADifferenceIsSeen(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 1000)
	for _, c := range [][4]string{
		{"a", "b", "a", "b"}, {"", "b", "", "b"}, {long[:40] + "a", long[:40] + "b", long[:40] + "a", long[:40] + "b"},
		{long + "a", long + "b", "…" + long[:40] + "a", "…" + long[:40] + "b"}, {long, long + "b", "…" + long[:40], "…" + long[:40] + "b"},
	} {
		if a, b := (compare.Difference{What: "x", A: c[0], B: c[1]}).Shown(); a != c[2] || b != c[3] {
			t.Errorf("%q and %q, want %q and %q", a, b, c[2], c[3])
		}
	}
}

// entries is a journal of so many lines, of which one may be another.
func entries(n, other int) iter.Seq2[apiclient.Journal, error] {
	return func(yield func(apiclient.Journal, error) bool) {
		for i := 1; i <= n; i++ {
			text := fmt.Sprint("line ", i)
			if i == other {
				text = "another line"
			}
			if !yield(apiclient.Journal{Sequence: int64(i), ActivityID: "say", Event: "WriteLine", Text: text}, nil) {
				return
			}
		}
	}
}

func TestWaysAreFollowedUntilTheyPart(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		a, b    iter.Seq2[apiclient.Journal, error]
		entries int
		want    [6]int // parted, looked, ended, same, a, b
	}{
		"none":          {entries(0, 0), entries(0, 0), 0, [6]int{0, 0, 1, 0, 0, 0}},
		"the same":      {entries(50, 0), entries(50, 0), 0, [6]int{0, 50, 1, 3, 0, 0}},
		"at the first":  {entries(50, 1), entries(50, 0), 0, [6]int{1, 1, 0, 0, 4, 4}},
		"in the middle": {entries(50, 0), entries(50, 20), 0, [6]int{20, 20, 0, 3, 4, 4}},
		"near the end":  {entries(21, 0), entries(50, 20), 0, [6]int{20, 20, 0, 3, 2, 4}},
		"a ends":        {entries(10, 0), entries(50, 0), 0, [6]int{11, 11, 0, 3, 0, 4}},
		"b ends":        {entries(12, 0), entries(10, 0), 0, [6]int{11, 11, 0, 3, 2, 0}},
		"a bound":       {entries(50, 0), entries(50, 20), 19, [6]int{0, 19, 0, 3, 0, 0}},
		"at the bound":  {entries(50, 0), entries(50, 20), 20, [6]int{20, 20, 0, 3, 4, 4}},
	} {
		w, err := compare.Follow(c.a, c.b, compare.Bounds{Entries: c.entries, Before: 3, After: 4})
		ended := 0
		if w.Ended {
			ended = 1
		}
		if got := [6]int{w.Parted, w.Looked, ended, len(w.Same), len(w.A), len(w.B)}; err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", what, got, err, c.want)
		}
		if n := len(w.Same); n > 0 && w.Parted > 0 && w.Same[n-1].Sequence != int64(w.Parted-1) {
			t.Errorf("%s: %d stands before entry %d", what, w.Same[n-1].Sequence, w.Parted)
		}
	}
	fails := func(yield func(apiclient.Journal, error) bool) { yield(apiclient.Journal{}, errors.New("no answer")) }
	for i, both := range [][2]iter.Seq2[apiclient.Journal, error]{{fails, entries(1, 0)}, {entries(1, 0), fails}} {
		if w, err := compare.Follow(both[0], both[1], compare.Bounds{}); err == nil {
			t.Errorf("%d: %+v without an error", i, w)
		}
	}
}
