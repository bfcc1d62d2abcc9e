package find

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// term is one word with its value.
type term struct {
	label  string // of label.<name>
	op     byte   // one of : < >
	value  string
	prefix bool // the value is what it begins with
}

// word is one of those that a line may have.
type word struct {
	name     string
	others   []string // names that mean the same
	ops      string   // those that it takes
	prefixes bool     // whether its value may be what something begins with
	always   bool     // no - may stand before it
	take     func(*Filter, term) error
	terms    func(*Filter) []term // that say what the filter has of it
}

// errTwice: nothing can be both.
var errTwice = errors.New("said twice")

// words are all of them, in the order in which a line is written.
func words() []word {
	return []word{
		idWord(), statusWord(), subStatusWord(),
		text("def", []string{"definition", "definitionId"}, func(f *Filter) *string { return &f.DefinitionID }, workflow.CheckID),
		versionWord(),
		orBeginning(text("name", nil, func(f *Filter) *string { return &f.Name }, workflow.CheckName), func(f *Filter) *string { return &f.NamePrefix }),
		orBeginning(text("corr", []string{"correlation", "correlationId"}, func(f *Filter) *string { return &f.CorrelationID }, workflow.CheckName), func(f *Filter) *string { return &f.CorrelationPrefix }),
		text("parent", []string{"parentInstanceId"}, func(f *Filter) *string { return &f.Parent }, workflow.CheckID),
		labelWord(),
		timeWord("created", func(f *Filter) *Span { return &f.Created }),
		timeWord("updated", func(f *Filter) *Span { return &f.Updated }),
		timeWord("finished", func(f *Filter) *Span { return &f.Finished }),
		waitsWord(), hasWord(),
		text("incident", nil, func(f *Filter) *string { return &f.Incident }, workflow.CheckName),
		sortWord(),
	}
}

// wordNamed finds a word, and the name of the label if it is of one; nil: there is none.
func wordNamed(name string) (*word, string) {
	label, isLabel := strings.CutPrefix(name, labelPrefix)
	all := words()
	for i, w := range all {
		if isLabel && w.name == labelPrefix {
			return &all[i], label
		}
		if w.name == name || slices.Contains(w.others, name) {
			return &all[i], ""
		}
	}
	return nil, ""
}

func (w *word) shown(t term) string {
	value := t.value
	if needsQuotes(value) {
		value = quoted(value)
	}
	if t.prefix {
		value += "*"
	}
	return w.name + t.label + string(t.op) + value
}

// set puts a value where there is none yet.
func set[T comparable](field *T, value T) error {
	var none T
	if *field != none && *field != value {
		return errTwice
	}
	*field = value
	return nil
}

// text is a word whose value is a field as it is.
func text(name string, others []string, field func(*Filter) *string, check func(what, value string) error) word {
	return word{
		name: name, others: others, ops: ":",
		take: func(f *Filter, t term) error {
			if t.value == "" {
				return fmt.Errorf("%s has no value", name)
			}
			if err := check(name, t.value); err != nil {
				return err
			}
			return set(field(f), t.value)
		},
		terms: func(f *Filter) []term { return textTerm(*field(f), false) },
	}
}

func textTerm(value string, prefix bool) []term {
	if value == "" {
		return nil
	}
	return []term{{op: ':', value: value, prefix: prefix}}
}

// orBeginning lets a word's value be what the text begins with.
func orBeginning(w word, field func(*Filter) *string) word {
	exact, exactly := w.take, w.terms
	w.prefixes = true
	w.take = func(f *Filter, t term) error {
		if !t.prefix {
			return exact(f, t)
		}
		if t.value == "" {
			return fmt.Errorf("%s:* says nothing: it is what the text begins with that stands before *", w.name)
		}
		if err := workflow.CheckName(w.name, t.value); err != nil {
			return err
		}
		return set(field(f), t.value)
	}
	w.terms = func(f *Filter) []term { return append(exactly(f), textTerm(*field(f), true)...) }
	return w
}

// MaxIDs is how many instances a line may name.
const MaxIDs = 100

// idWord names instances one by one. No id has a comma in it.
func idWord() word {
	return word{
		name: "id", others: []string{"instanceId"}, ops: ":",
		take: func(f *Filter, t term) error {
			ids := strings.Split(t.value, ",")
			for _, id := range ids {
				if err := workflow.CheckID("id", id); err != nil {
					return fmt.Errorf("%w; several stand apart by commas, as in id:a,b", err)
				}
			}
			slices.Sort(ids)
			if ids = slices.Compact(ids); len(ids) > MaxIDs {
				return fmt.Errorf("id names %d instances, and may name %d", len(ids), MaxIDs)
			}
			if f.IDs != nil && !slices.Equal(f.IDs, ids) {
				return errTwice
			}
			f.IDs = ids
			return nil
		},
		terms: func(f *Filter) []term { return textTerm(strings.Join(f.IDs, ","), false) },
	}
}

// The values of status: beside the two statuses each sub-status but Finished, which is a status too.
var statuses = map[string]Filter{
	"running": {Status: workflow.StatusRunning}, "finished": {Status: workflow.StatusFinished},
	"pending": {SubStatus: workflow.Pending}, "executing": {SubStatus: workflow.Executing}, "suspended": {SubStatus: workflow.Suspended},
	"cancelled": {SubStatus: workflow.Cancelled}, "faulted": {SubStatus: workflow.Faulted},
}

func statusWord() word {
	return word{
		name: "status", others: []string{"is"}, ops: ":",
		take: func(f *Filter, t term) error {
			s, ok := statuses[strings.ToLower(t.value)]
			if !ok {
				return oneOf("status", t.value, slices.Collect(maps.Keys(statuses)))
			}
			if s.Status != "" {
				return set(&f.Status, s.Status)
			}
			return set(&f.SubStatus, s.SubStatus)
		},
		terms: func(f *Filter) []term {
			out := textTerm(strings.ToLower(string(f.Status)), false)
			if f.SubStatus != workflow.Finished {
				out = append(out, textTerm(strings.ToLower(string(f.SubStatus)), false)...)
			}
			return out
		},
	}
}

var subStatuses = map[string]workflow.SubStatus{
	"pending": workflow.Pending, "executing": workflow.Executing, "suspended": workflow.Suspended,
	"finished": workflow.Finished, "cancelled": workflow.Cancelled, "faulted": workflow.Faulted,
}

func subStatusWord() word {
	return word{
		name: "sub", others: []string{"subStatus"}, ops: ":",
		take: func(f *Filter, t term) error {
			s, ok := subStatuses[strings.ToLower(t.value)]
			if !ok {
				return oneOf("sub", t.value, slices.Collect(maps.Keys(subStatuses)))
			}
			return set(&f.SubStatus, s)
		},
		terms: func(f *Filter) []term {
			if f.SubStatus != workflow.Finished {
				return nil
			}
			return textTerm("finished", false)
		},
	}
}

func oneOf(name, value string, known []string) error {
	slices.Sort(known)
	return fmt.Errorf("%s is one of %s, and not %q%s", name, strings.Join(known, ", "), value, workflow.DidYouMean(value, known))
}

func versionWord() word {
	return word{
		name: "version", others: []string{"v"}, ops: ":",
		take: func(f *Filter, t term) error {
			n, err := strconv.Atoi(t.value)
			if err != nil || n < 1 || strconv.Itoa(n) != t.value {
				return fmt.Errorf("version is a whole number from 1 on, and not %q", t.value)
			}
			return set(&f.Version, n)
		},
		terms: func(f *Filter) []term {
			if f.Version == 0 {
				return nil
			}
			return textTerm(strconv.Itoa(f.Version), false)
		},
	}
}

// labelPrefix begins the word of a label; its name follows.
const labelPrefix = "label."

func labelWord() word {
	return word{
		name: labelPrefix, ops: ":",
		take: func(f *Filter, t term) error {
			if err := workflow.CheckLabel(t.label, t.value); err != nil {
				return err
			}
			if t.value == "" {
				return fmt.Errorf("label %s has no value: an instance has one value of a label", t.label)
			}
			value := f.Labels[t.label]
			if err := set(&value, t.value); err != nil {
				return err
			}
			if f.Labels == nil {
				f.Labels = map[string]string{}
			}
			f.Labels[t.label] = value
			if len(f.Labels) > workflow.MaxLabels {
				return fmt.Errorf("no instance has more than %d labels", workflow.MaxLabels)
			}
			return nil
		},
		terms: func(f *Filter) (out []term) {
			for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
				out = append(out, term{label: name, op: ':', value: f.Labels[name]})
			}
			return out
		},
	}
}

func timeWord(name string, span func(*Filter) *Span) word {
	return word{
		name: name, ops: "<>",
		take: func(f *Filter, t term) error {
			m, err := parseMoment(t.value)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			s := span(f)
			// A time is compared as a time, a duration as an age.
			if (t.op == '>') == (m.Ago == 0) {
				return set(&s.After, m)
			}
			return set(&s.Before, m)
		},
		terms: func(f *Filter) (out []term) {
			s := span(f)
			for _, end := range []struct {
				m         Moment
				time, age byte
			}{{s.After, '>', '<'}, {s.Before, '<', '>'}} {
				switch {
				case end.m.IsZero():
				case end.m.Ago > 0:
					out = append(out, term{op: end.age, value: writeAgo(end.m.Ago)})
				default:
					out = append(out, term{op: end.time, value: end.m.At.Format(time.RFC3339Nano)})
				}
			}
			return out
		},
	}
}

func waitsWord() word {
	return word{
		name: "waits", others: []string{"waitsFor"}, ops: ":",
		take: func(f *Filter, t term) error {
			w, err := parseWait(t.value)
			if err != nil {
				return err
			}
			return set(&f.WaitsFor, w)
		},
		terms: func(f *Filter) []term { return textTerm(f.WaitsFor.String(), false) },
	}
}

// String gives kind/name, or the kind alone.
func (w Wait) String() string {
	if w.Name == "" {
		return w.Kind
	}
	return w.Kind + "/" + w.Name
}

func parseWait(value string) (Wait, error) {
	kind, name, _ := strings.Cut(value, "/")
	if short := strings.ToLower(kind); slices.Contains(Kinds(), short) {
		kind = short
	} else if !strings.Contains(kind, ".") || strings.ContainsFunc(kind, func(r rune) bool { return r <= ' ' || r > '~' }) || len(kind) > workflow.MaxIDLength {
		kinds := strings.Join(Kinds(), ", ")
		return Wait{}, fmt.Errorf("waits is a kind and perhaps a name, such as event/approved; the kind is one of %s, or an activity type such as Elsa.Event, and not %q%s", kinds, kind, workflow.DidYouMean(kind, Kinds()))
	}
	return Wait{kind, name}, workflow.CheckName("waits", name)
}

func hasWord() word {
	return word{
		name: "has", ops: ":",
		take: func(f *Filter, t term) error {
			if !strings.EqualFold(t.value, "incidents") {
				return oneOf("has", t.value, []string{"incidents"})
			}
			return set(&f.HasIncidents, true)
		},
		terms: func(f *Filter) []term {
			if !f.HasIncidents {
				return nil
			}
			return textTerm("incidents", false)
		},
	}
}

const sortName = "sort"

func sortWord() word {
	return word{
		name: sortName, others: []string{"order"}, ops: ":", always: true,
		take: func(f *Filter, t term) error {
			if o := Order(t.value); o != OldestFirst && o != NewestFirst {
				return fmt.Errorf("sort is created (the oldest first) or -created (the newest first), and not %q: no list is kept by anything else", t.value)
			}
			return set(&f.Order, Order(t.value))
		},
		terms: func(f *Filter) []term { return textTerm(string(f.Order), false) },
	}
}
