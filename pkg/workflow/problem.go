package workflow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Place says where something was written: a file with line and column (both from 1; YAML), or a JSON pointer (RFC 6901).
// Zero fields are unknown.
type Place struct {
	File         string `json:"file,omitempty"`
	Line, Column int    `json:"-"`
	Pointer      string `json:"-"`
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// PointerToken is a name as a JSON pointer has it behind a slash.
func PointerToken(name string) string { return pointerEscapes.Replace(name) }

// String gives file:line:column or the pointer; "" when nothing is known.
func (p Place) String() string {
	var parts []string
	if p.File != "" {
		parts = append(parts, p.File)
	}
	if p.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d, column %d", p.Line, p.Column))
	}
	if p.Pointer != "" {
		parts = append(parts, p.Pointer)
	}
	return strings.Join(parts, ": ")
}

// Problem is one thing that is wrong with a definition, in words for its author.
type Problem struct {
	Code    string // stable, such as unknown-activity-type
	Detail  string // what is wrong and what to do
	Warning bool   // it may be meant: it is told, and is in the way of nothing
	Meant   string // what was probably meant, where that is one word; else ""
	Place   Place
	Within  Within // where in the expression that begins at Place; [Problems.WithExcerpts] makes it the place
	// Excerpt is the source line with a caret below it, if there is one.
	Excerpt string
}

// Severity is error or warning.
func (p Problem) Severity() string {
	if p.Warning {
		return "warning"
	}
	return "error"
}

// Within is a place in a text that stands in a source, quoted and folded as the notation has it; zero: its beginning.
type Within struct {
	Text   string
	Offset int // in bytes
}

// Problems is every problem of one definition; as an error it lists them all.
type Problems []Problem //nolint:errname // a list that is also an error: callers speak of problems

// Error lists the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Detail
		if at := p.Place.String(); at != "" {
			lines[i] = at + ": " + p.Detail
		}
	}
	return strings.Join(lines, "\n")
}

// Err returns ps as an error, nil if there are none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Split gives those that are errors, and those that are warnings.
func (ps Problems) Split() (errors, warnings Problems) {
	for _, p := range ps {
		if p.Warning {
			warnings = append(warnings, p)
		} else {
			errors = append(errors, p)
		}
	}
	return errors, warnings
}

// Translated is the code of a warning that says what runs in the place of what is written: it is no mistake.
const Translated = "translated"

// Strict makes errors of warnings, but of those that are no mistakes.
func (ps Problems) Strict() Problems {
	out := slices.Clone(ps)
	for i, p := range out {
		out[i].Warning = p.Warning && p.Code == Translated
	}
	return out
}

// Sort puts them in the order of their places.
func (ps Problems) Sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Place.Column, b.Place.Column))
	})
}

// Join adds the problems of checking to those of reading, each place once: what
// could not be read is reported again by the check that misses it.
func (ps Problems) Join(more Problems) Problems {
	seen, values := map[Place]bool{}, false
	for i := range ps {
		seen[ps[i].Place] = true
		values = values || ps[i].Code == "bad-value"
	}
	out := ps
	for i := range more {
		if !seen[more[i].Place] && !(values && more[i].Code == "bad-option") { // the place of an option is known to the reader
			out = append(out, more[i])
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
