package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// Checker is implemented by evaluators that find mistakes in expressions which compile:
// names that nothing has, operands that do not go together. It gives the type of the
// result too, as an alias such as Boolean; "" if it is not known.
type Checker interface {
	Check(e workflow.Expression, names *Names) (mistakes []Mistake, result string)
}

// Mistake is what a [Checker] finds.
type Mistake struct {
	Code    string
	Detail  string
	Meant   string // what was probably meant; "" if nothing is near
	Warning bool   // it may be meant
	Text    string // of the expression; in a tree, the one text at fault
	Offset  int    // in bytes, of what is at fault in Text
}

// At gives the mistake with its place.
func (m Mistake) At(text string, offset int) Mistake {
	m.Text, m.Offset = text, offset
	return m
}

// Names are what an expression may name at its place in a definition.
type Names struct {
	Inputs        map[string]string               // by name, with the type alias; "" is anything
	MoreInputs    bool                            // a start may bring others
	Undeclared    bool                            // MoreInputs, but nobody said so: nothing is declared, as Elsa's JSON need not
	Variables     map[string]string               // in scope, by name and by id, with the type alias; "" is anything
	Made          map[string]bool                 // variables that scripts make as they run; a Checker adds those that it sees
	MoreVariables bool                            // scripts make others, whose names are known only then
	Activities    map[string]*workflow.Descriptor // by id and by name; nil: nobody knows what it gives

	MoreActivities bool // there are others, whose ids are not known

	Outputs   map[string]bool // that the definition declares; nil: none are declared, and any may be set
	Given     map[string]bool // outputs that scripts set; a Checker adds those that it sees
	MoreGiven bool            // scripts set others, whose names are known only then
}

// Input says what is wrong with the name of an input; nil if nothing is. exact tells
// that capitals matter to the language.
func (n *Names) Input(name string, exact bool) *Mistake {
	if _, ok := n.Inputs[name]; ok || n.MoreInputs || name == "ParentInstanceId" {
		return nil
	}
	if len(n.Inputs) == 0 { // a start may bring all that it likes
		return &Mistake{Code: "undeclared-input", Warning: true, Detail: fmt.Sprintf("the definition declares no inputs; declare %s, so that a start without it is refused", workflow.Shorten(name))}
	}
	if !exact {
		for k := range n.Inputs {
			if strings.EqualFold(k, name) {
				return nil
			}
		}
	}
	return unknownName("undeclared-input", fmt.Sprintf("the definition declares no input %q", workflow.Shorten(name)), name, named(n.Inputs))
}

// Variable says what is wrong with the name of a variable; nil if nothing is.
func (n *Names) Variable(name string) *Mistake {
	if _, ok := n.Variables[name]; ok || n.MoreVariables || n.Made[name] {
		return nil
	}
	var known []string
	if len(n.Variables)+len(n.Made) <= maxCandidates {
		known = append(named(n.Variables), named(n.Made)...)
	}
	return unknownName("undeclared-variable", fmt.Sprintf("there is no variable %q here", workflow.Shorten(name)), name, known)
}

// Output says what is wrong with an activity, and with one of its outputs if one is
// named; nil if nothing is.
func (n *Names) Output(activity, output string) *Mistake {
	d, ok := n.Activities[activity]
	if !ok && n.MoreActivities {
		return nil
	}
	if !ok {
		return unknownName("unknown-activity", fmt.Sprintf("there is no activity %q", workflow.Shorten(activity)), activity, named(n.Activities))
	}
	if d == nil {
		return nil
	}
	var known []string
	for _, o := range d.Outputs {
		if strings.EqualFold(o.Name, output) {
			return nil
		}
		known = append(known, o.Name)
	}
	if output == "" && len(known) > 0 {
		return nil
	}
	if len(known) == 0 {
		return &Mistake{Code: "unknown-output", Detail: fmt.Sprintf("activity %s is a %s, which has no outputs", activity, d.ShortName())}
	}
	return unknownName("unknown-output", fmt.Sprintf("activity %s has no output %q", activity, workflow.Shorten(output)), output, known)
}

// Field says what is wrong with the name of a field of what an activity gave as an output, its
// first one if output is ""; nil if nothing is.
func (n *Names) Field(activity, output, field string) *Mistake {
	d := n.Activities[activity]
	if d == nil || len(d.Outputs) == 0 {
		return nil
	}
	i := slices.IndexFunc(d.Outputs, func(o workflow.OutputDescriptor) bool { return output == "" || strings.EqualFold(o.Name, output) })
	if i < 0 || len(d.Outputs[i].Fields) == 0 || slices.Contains(d.Outputs[i].Fields, field) {
		return nil
	}
	o := d.Outputs[i]
	return unknownName("unknown-field", fmt.Sprintf("output %s of activity %s has no field %q", o.Name, activity, workflow.Shorten(field)), field, o.Fields)
}

// Result says what is wrong with the name of an output of the workflow that is set; nil if
// nothing is. One that is not declared is kept all the same, so it may be meant.
func (n *Names) Result(name string) *Mistake {
	if len(n.Outputs) == 0 || n.Outputs[name] {
		return nil
	}
	m := unknownName("undeclared-output", fmt.Sprintf("the definition declares no output %q", workflow.Shorten(name)), name, named(n.Outputs))
	m.Warning = true
	return m
}

// named lists names, but not so many that no suggestion looks at them.
func named[V any](names map[string]V) []string {
	if len(names) > maxCandidates {
		return nil
	}
	return slices.Collect(maps.Keys(names))
}

func unknownName(code, detail, name string, known []string) *Mistake {
	m := &Mistake{Code: code, Detail: detail}
	if len(known) <= maxCandidates {
		m.Meant = workflow.Nearest(name, known)
	}
	if m.Meant != "" {
		m.Detail += " (did you mean " + m.Meant + "?)"
	} else if len(known) > 0 && len(known) <= 8 {
		slices.Sort(known)
		m.Detail += "; there are " + strings.Join(slices.Compact(known), ", ")
	}
	return m
}

// maxCandidates bounds the names that one suggestion looks at: a hostile definition has many bad names.
const maxCandidates = 500

// suggest gives " (did you mean x?)" for the candidate nearest to name, what Elsa's activity of that name is here, or "".
func suggest(name string, candidates []string) string {
	if way := names.InsteadOf(name); way != "" || len(candidates) > maxCandidates {
		return way
	}
	return workflow.DidYouMean(name, candidates)
}
