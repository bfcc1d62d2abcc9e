package elsajson

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
)

// cur is a value with its JSON pointer.
type cur struct {
	*jsontree.Node
	ptr string
}

// at gives the cursor of the i-th item.
func (c cur) at(i int) cur { return cur{c.Items[i], jsontree.Below(c.ptr, strconv.Itoa(i))} }

// in gives the cursor of a member.
func (c cur) in(m jsontree.Member) cur { return cur{m.Val, jsontree.Below(c.ptr, m.Name)} }

// reader turns nodes into the domain's types and reports problems.
type reader struct {
	src        []byte
	file       string
	types      workflow.Types
	report     *workflow.Report
	activities int
	full       bool // over a limit: stop descending
	shallow    bool // reads an activity without its children again: connections cannot be checked
}

func newReader(src []byte, file string, types workflow.Types) *reader {
	return &reader{src: src, file: file, types: types, report: workflow.NewReport(src, file)}
}

func (r *reader) place(c cur) workflow.Place { return r.report.AtByte(c.Off, c.ptr) }

func (r *reader) problem(code string, c cur, format string, args ...any) {
	r.report.Problem(code, r.place(c), format, args...)
}

// twice reports a field that repeats a name of its object.
func (r *reader) twice(off int, ptr, name string) {
	r.report.Problem("duplicate-key", r.report.AtByte(off, ptr), "the field %s is there twice", workflow.Shorten(name))
}

// shape reports that c is not what is wanted; what names the field.
func (r *reader) shape(c cur, what, want string) {
	r.report.WrongShape(r.place(c), what, want, c.Kind.String())
}

func (r *reader) descriptor(typ string) *workflow.Descriptor {
	if r.types == nil || typ == "" {
		return nil
	}
	return r.types.ByType(typ)
}

// fields gives the members of an object by their camelCase names. It reports
// names that differ by case only. Elsa's reference ids are left out.
func (r *reader) fields(c cur) []field {
	out := make([]field, 0, len(c.Members))
	seen := make(map[string]bool, len(c.Members))
	for _, m := range c.Members {
		name := workflow.LowerFirst(m.Name)
		if name == "$id" {
			continue
		}
		if seen[name] {
			r.twice(m.Off, c.in(m).ptr, m.Name)
			continue
		}
		seen[name] = true
		out = append(out, field{name: name, cur: c.in(m)})
	}
	return out
}

// field is one field of an object that is being read.
type field struct {
	name string
	cur
}

// list gives the items of an array in any of its forms: an array, an object
// with $values, or one value that stands for itself.
func (r *reader) list(c cur) []cur {
	switch c.Kind {
	case jsontree.Null:
		return nil
	case jsontree.Object:
		for _, m := range c.Members {
			if m.Name == "$values" {
				return r.list(c.in(m))
			}
		}
		return []cur{c}
	case jsontree.Array:
		out := make([]cur, 0, len(c.Items))
		for i := range c.Items {
			if it := c.at(i); it.Kind != jsontree.Null {
				out = append(out, it)
			}
		}
		return out
	}
	return []cur{c}
}

// str reads a text; numbers and booleans give their spelling.
func (r *reader) str(f field) string {
	switch f.Kind {
	case jsontree.Null:
		return ""
	case jsontree.String:
		return f.Text
	case jsontree.Number:
		return f.Text
	case jsontree.Boolean:
		return strconv.FormatBool(f.Yes)
	}
	r.shape(f.cur, f.name, "a text")
	return ""
}

// truth reads a boolean, also one that is written as text.
func (r *reader) truth(f field) bool {
	switch f.Kind {
	case jsontree.Boolean:
		return f.Yes
	case jsontree.String:
		if b, err := strconv.ParseBool(strings.ToLower(f.Text)); err == nil {
			return b
		}
	case jsontree.Null:
		return false
	}
	r.shape(f.cur, f.name, "true or false")
	return false
}

// whole reads a whole number, also one that is written as text.
func (r *reader) whole(f field) int {
	if f.Kind == jsontree.Null {
		return 0
	}
	if f.Kind == jsontree.Number || f.Kind == jsontree.String {
		if x, ok := jsontree.ParseNumber(f.Text).(float64); ok && x == float64(int32(x)) {
			return int(x)
		}
	}
	r.shape(f.cur, f.name, "a whole number")
	return 0
}

// dict reads an object with free keys; nil for null.
func (r *reader) dict(f field) map[string]any {
	if f.Kind == jsontree.Null {
		return nil
	}
	m, ok := bag(f.cur.Value()).(map[string]any)
	if !ok {
		r.shape(f.cur, f.name, "an object")
	}
	delete(m, "$id")
	return m
}

// keep stores the source of every field that the canonical form does not
// reproduce, by its name. skip names fields that hold activities, which keep
// their own forms.
func (r *reader) keep(fs []field, canonical fields, skip map[string]bool) map[string]json.RawMessage {
	var extra map[string]json.RawMessage
	for _, f := range fs {
		if skip[f.name] {
			continue
		}
		if raw := canonical.get(f.name); raw != nil {
			if n, _, err := jsontree.Parse(raw); err == nil && n.Same(f.Node) {
				continue
			}
		}
		if extra == nil {
			extra = map[string]json.RawMessage{}
		}
		extra[f.name] = compact(r.src[f.Off:f.End])
	}
	return extra
}
