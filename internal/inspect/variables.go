package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Variables are those of an instance as a commit left them, as far as the journal tells.
type Variables struct {
	At     int64      // the commit; 0: before the first
	Values []Variable // the workflow's first, then by execution; by name
	Gaps   Gaps
}

// Variable is one that had a value at a commit, or was set to null, and who set it.
type Variable struct {
	workflow.VariableChange
	ScopeActivity, ByActivity string    // activity ids of the two executions; "": the workflow, or not known
	Commit                    int64     // that set it
	Time                      time.Time // of that commit; zero: not known
	Node                      string    // that made it; "": not known
}

// Gaps are what the journal does not tell of variables. Without any, what is not
// among the variables is null.
type Gaps struct {
	Before     int64 // what was set last by a commit before this one is not known; 0: nothing is missing
	Unlisted   int   // so many that were set are not told by name: at most so many are missing
	Unreadable int   // commits that cannot be read
	More       int   // variables that are known and left out, for want of room
}

// Whole tells whether nothing is missing.
func (g Gaps) Whole() bool { return g == Gaps{} }

// With are the gaps of a comparison.
func (g Gaps) With(o Gaps) Gaps {
	return Gaps{max(g.Before, o.Before), max(g.Unlisted, o.Unlisted), max(g.Unreadable, o.Unreadable), max(g.More, o.More)}
}

// VariablesPart is what was asked of variables, and of which journal.
type VariablesPart struct {
	Of                    []Variables // as many as commits were asked for
	First, Last, Revision int64       // what the journal has: the oldest commit that is kept, and the newest
}

// mostVariables is how many variables are told of one commit.
const mostVariables = 5000

// Newest is the newest commit of an instance; one less is the one before it.
const Newest int64 = -1

// Variables tells the variables of an instance as they were after each of these commits:
// numbers, 0 for before the first, or counted back from [Newest]. It reads the journal back to where all is known, and no more of it
// than a page holds. A commit that was never made, or is no longer kept, is
// [workflow.CodeInvalid].
func (i *Inspector) Variables(ctx context.Context, id string, at ...int64) (VariablesPart, error) {
	var part VariablesPart
	var views []*lookback
	from := slices.Max(at)
	if slices.Min(at) < 0 {
		from = 0 // from the end
	}
	names := map[int64]string{} // of activities, by execution
	journal, err := i.scanJournal(ctx, id, etcdstore.JournalScan{From: from, Back: true}, func(e *workflow.JournalEntry) (enough bool) {
		if views == nil {
			views = lookbacks(at, e.Sequence)
		}
		for n := range e.Items {
			if it := &e.Items[n]; it.Execution > 0 {
				names[it.Execution] = it.ActivityID
			}
		}
		enough = true
		for _, v := range views {
			v.take(e)
			enough = enough && v.whole
		}
		return enough
	})
	if err := unread(id, journal != nil, err); err != nil {
		return part, err
	}
	for _, want := range at {
		if want > journal.Last {
			return part, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("instance %q has no commit %d: the newest is %d", id, want, journal.Last))
		}
		if want > 0 && want < journal.First && (len(at) == 1 || want+1 < journal.First) { // what the oldest changed is told
			return part, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("commit %d of instance %q is no longer kept: the oldest is %d", want, id, journal.First))
		}
	}
	if views == nil { // no commit, or none that is kept
		views = lookbacks(at, journal.Last)
	}
	part.First, part.Last, part.Revision = journal.First, journal.Last, journal.Revision
	for _, v := range views {
		part.Of = append(part.Of, v.variables(names))
	}
	return part, nil
}

func lookbacks(at []int64, newest int64) []*lookback {
	views := make([]*lookback, len(at))
	for i, seq := range at {
		if seq < 0 {
			seq = max(0, newest+1+seq)
		}
		views[i] = &lookback{at: seq, oldest: seq + 1, whole: seq == 0, closed: map[int64]bool{}, known: map[variablePlace]bool{}}
	}
	return views
}

// variablePlace is a variable of a scope.
type variablePlace struct {
	execution int64
	name      string
}

// lookback finds the variables at a commit from the commits up to it, the newest first:
// what was set last in a scope that has not been closed since.
type lookback struct {
	at     int64
	oldest int64 // that was taken
	closed map[int64]bool
	known  map[variablePlace]bool
	found  []Variable
	gaps   Gaps
	whole  bool // nothing before counts
}

func (l *lookback) take(e *workflow.JournalEntry) {
	if l.whole || e.Sequence > l.at {
		return
	}
	l.oldest = e.Sequence
	if len(e.Items) == 1 && e.Items[0].Event == workflow.DamagedEvent {
		l.gaps.Unreadable++
	}
	for _, set := range e.Variables.Set {
		place := variablePlace{set.Execution, set.Name}
		if l.closed[set.Execution] || l.known[place] {
			continue
		}
		l.known[place] = true
		l.found = append(l.found, Variable{VariableChange: set, Commit: e.Sequence, Time: e.Ended, Node: e.Node})
	}
	l.gaps.Unlisted += e.Variables.Left
	for _, scope := range e.Variables.Gone {
		l.closed[scope] = true
	}
	l.whole = e.Variables.Reset || e.Sequence == 1
}

func (l *lookback) variables(names map[int64]string) Variables {
	out := Variables{At: l.at, Values: l.found, Gaps: l.gaps}
	if !l.whole {
		out.Gaps.Before = l.oldest
	}
	slices.SortFunc(out.Values, func(a, b Variable) int {
		return cmp.Or(cmp.Compare(a.Execution, b.Execution), cmp.Compare(a.Name, b.Name))
	})
	if more := len(out.Values) - mostVariables; more > 0 {
		out.Values, out.Gaps.More = out.Values[:mostVariables], more
	}
	for i := range out.Values {
		v := &out.Values[i]
		v.ScopeActivity, v.ByActivity = names[v.Execution], names[v.By]
	}
	return out
}

// VariableDifference is a variable that is not the same at two commits.
type VariableDifference struct {
	Before, After *Variable // nil: it was null, or not there
}

// Differences are the variables that were set between two commits, or went with their
// scopes: also those that were set to what they were.
func Differences(before, after Variables) []VariableDifference {
	was := make(map[variablePlace]*Variable, len(before.Values))
	for i := range before.Values {
		v := &before.Values[i]
		was[variablePlace{v.Execution, v.Name}] = v
	}
	var out []VariableDifference
	for i := range after.Values {
		v := &after.Values[i]
		place := variablePlace{v.Execution, v.Name}
		old := was[place]
		delete(was, place)
		if old == nil || old.Commit != v.Commit {
			out = append(out, VariableDifference{old, v})
		}
	}
	for i := range before.Values {
		v := &before.Values[i]
		if was[variablePlace{v.Execution, v.Name}] != nil {
			out = append(out, VariableDifference{Before: v})
		}
	}
	return out
}
