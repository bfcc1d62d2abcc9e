package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow/value"
)

// AlterationType says what an [Alteration] does.
type AlterationType string

// The types of alterations.
const (
	AlterRetry       AlterationType = "retry"       // execute an activity again
	AlterSkip        AlterationType = "skip"        // end an activity as if it had completed
	AlterSetVariable AlterationType = "setVariable" // give a variable a value
	AlterMigrate     AlterationType = "migrate"     // go on with another version of the definition
	AlterReschedule  AlterationType = "reschedule"  // let a timer be due at another time
	AlterCancel      AlterationType = "cancel"      // end an activity, or the instance, without what comes after it
)

// Alteration is one change that an operator makes to an instance that has not ended, or
// is Faulted. Which fields it may have depends on its type.
type Alteration struct {
	Type      AlterationType `json:"type"`
	Activity  string         `json:"activity,omitempty"`  // the id of the activity; of setVariable: whose scope has the variable
	Execution int64          `json:"execution,omitempty"` // which of its executions, by its number in the journal; 0: there is one

	Again      bool              `json:"again,omitempty"`      // retry: also what a branch may have undone since it failed
	NewKey     bool              `json:"newKey,omitempty"`     // retry: with another idempotency key than the call before
	Outcomes   []string          `json:"outcomes,omitempty"`   // skip: what it completes with; none: Done
	Variable   string            `json:"variable,omitempty"`   // setVariable: name or id
	Value      any               `json:"value,omitempty"`      // setVariable
	Version    int               `json:"version,omitempty"`    // migrate
	Activities map[string]string `json:"activities,omitempty"` // migrate: ids of activities that have another one in that version
	Bookmark   string            `json:"bookmark,omitempty"`   // reschedule: its id; "": there is one timer, of the activity if it is given
	DueAt      *time.Time        `json:"dueAt,omitempty"`      // reschedule
}

// Alter is a list of alterations that are made together, all or none.
type Alter struct {
	Alterations []Alteration `json:"alterations"`
	By          string       `json:"by,omitempty"`         // who asked for it, for the journal
	Reason      string       `json:"reason,omitempty"`     // why, for the journal
	Definition  string       `json:"definition,omitempty"` // of the instance, if it is to migrate: the version is needed
}

// Limits of what one command alters.
const (
	MaxAlterations  = 100
	MaxRenamed      = 1000 // activities of a migration
	maxReason       = 256  // bytes
	maxAlteredNames = 256  // bytes of a name
)

// alterationFields are the fields that each type may have, beside type.
var alterationFields = map[AlterationType][]string{
	AlterRetry:       {"activity", "execution", "keepKey", "again"},
	AlterSkip:        {"activity", "execution", "outcomes"},
	AlterSetVariable: {"activity", "execution", "variable", "value"},
	AlterMigrate:     {"version", "activities"},
	AlterReschedule:  {"activity", "execution", "bookmark", "dueAt"},
	AlterCancel:      {"activity", "execution"},
}

// AlterationTypes lists the types of alterations.
func AlterationTypes() []string {
	var out []string
	for t := range alterationFields {
		out = append(out, string(t))
	}
	slices.Sort(out)
	return out
}

// Check tells what is wrong with alterations before any instance is looked at; each
// problem has its place.
func (a *Alter) Check() Problems {
	var ps Problems
	problem := func(code, pointer, format string, args ...any) {
		ps = append(ps, Problem{Code: code, Detail: fmt.Sprintf(format, args...), Place: Place{Pointer: pointer}})
	}
	switch n := len(a.Alterations); {
	case n == 0:
		problem("missing-field", "/alterations", "say what to alter: at least one alteration")
	case n > MaxAlterations:
		problem("too-many-alterations", "/alterations", "there are %d alterations; up to %d are made together", n, MaxAlterations)
		return ps
	}
	if len(a.Reason) > maxReason {
		problem("too-long", "/reason", "the reason has %d bytes; up to %d are kept", len(a.Reason), maxReason)
	}
	for i := range a.Alterations {
		alt, at := &a.Alterations[i], fmt.Sprintf("/alterations/%d", i)
		may, known := alterationFields[alt.Type]
		if !known {
			problem("unknown-alteration", at+"/type", "there is no alteration %q%s; those that there are: %s",
				value.CutBytes(string(alt.Type), maxAlteredNames), DidYouMean(string(alt.Type), AlterationTypes()), strings.Join(AlterationTypes(), ", "))
			continue
		}
		for _, field := range alt.given() {
			if !slices.Contains(may, field) {
				problem("unknown-field", at+"/"+field, "%s is no field of %s, which has %s", field, alt.Type, strings.Join(may, ", "))
			}
		}
		alt.check(func(code, field, format string, args ...any) { problem(code, at+"/"+field, format, args...) })
	}
	return ps
}

func (alt *Alteration) check(problem func(code, field, format string, args ...any)) {
	missing := func(field string, is bool) {
		if is {
			problem("missing-field", field, "%s needs %s", alt.Type, field)
		}
	}
	for _, f := range [][2]string{{"activity", alt.Activity}, {"variable", alt.Variable}, {"bookmark", alt.Bookmark}} {
		if len(f[1]) > 4*maxAlteredNames {
			problem("too-long", f[0], "%s has %d bytes", f[0], len(f[1]))
		}
	}
	if alt.Execution < 0 {
		problem("bad-execution", "execution", "an execution has a number from 1 on, as the journal shows it")
	}
	switch alt.Type {
	case AlterSkip:
		missing("activity", alt.Activity == "" && alt.Execution == 0)
	case AlterSetVariable:
		missing("variable", alt.Variable == "")
	case AlterMigrate:
		if alt.Version < 1 {
			problem("bad-version", "version", "migrate needs the version to go on with, from 1 on")
		}
		alt.checkRenamed(problem)
	case AlterReschedule:
		missing("dueAt", alt.DueAt == nil)
		if alt.DueAt != nil && !KeepsTime(*alt.DueAt) {
			problem("bad-time", "dueAt", "dueAt must be a time of the years %d to %d, in UTC", FirstYear, LastYear)
		}
	case AlterRetry, AlterCancel:
	}
}

func (alt *Alteration) checkRenamed(problem func(code, field, format string, args ...any)) {
	if n := len(alt.Activities); n > MaxRenamed {
		problem("too-many-activities", "activities", "%d activities are renamed; up to %d may be", n, MaxRenamed)
		return
	}
	from := map[string]string{}
	for _, old := range slices.Sorted(maps.Keys(alt.Activities)) {
		now := alt.Activities[old]
		if other, twice := from[now]; twice {
			problem("ambiguous-activity", "activities", "%s and %s cannot both become %s", other, old, now)
		}
		from[now] = old
	}
}

// given lists the fields that the alteration has.
func (alt *Alteration) given() []string {
	var out []string
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"activity", alt.Activity != ""}, {"execution", alt.Execution != 0}, {"keepKey", alt.NewKey}, {"again", alt.Again}, {"outcomes", alt.Outcomes != nil},
		{"variable", alt.Variable != ""}, {"value", alt.Value != nil}, {"version", alt.Version != 0}, {"activities", alt.Activities != nil},
		{"bookmark", alt.Bookmark != ""}, {"dueAt", alt.DueAt != nil},
	} {
		if f.is {
			out = append(out, f.name)
		}
	}
	return out
}
