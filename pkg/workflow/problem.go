package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Place says where something was written: a file with line and column (both
// from 1; YAML), or a JSON pointer (RFC 6901). Zero fields are unknown.
type Place struct {
	File         string `json:"file,omitempty"`
	Line, Column int    `json:"-"`
	Pointer      string `json:"-"`
}

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
	Code   string // stable, such as unknown-activity-type
	Detail string // what is wrong and what to do
	Place  Place
	// Excerpt is the source line with a caret below it, if there is one.
	Excerpt string
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
