package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// Mismatch is one difference between what was expected and what is.
type Mismatch struct {
	Field  string // of what is compared, in the spelling of test files: lines, output.total, calls.ship.0.order
	Detail string // may have several lines
}

// String gives field and detail.
func (m Mismatch) String() string { return m.Field + ": " + m.Detail }

// Seen is what an instance did, as far as two runs are compared: a run of a test, or one that was
// recorded elsewhere.
type Seen struct {
	Status    workflow.SubStatus
	Lines     []SeenLine
	Output    map[string]any
	Incidents int
	Completed map[string]int // how often each activity completed, by its id within its definition
	Children  []Seen         // that really ran, in the order in which they began; nil: not known
}

// SeenLine is a text that WriteLine wrote.
type SeenLine struct {
	Text  string
	Known bool   // false: it was not kept
	Place string // for people: which activity wrote it, and where that stands
}

// Differences are where s is not as other, which is called name: lines, ends, outputs, how often activities completed.
// An activity that only one of them has is named if it ran.
func (s *Seen) Differences(other *Seen, name string) []Mismatch {
	var found []Mismatch
	differ := func(field, format string, args ...any) {
		found = append(found, Mismatch{field, fmt.Sprintf(format, args...)})
	}
	if s.Status != other.Status {
		differ("status", "here %s, %s %s", s.Status, name, other.Status)
	}
	if s.Incidents != other.Incidents {
		differ("incidents", "here %d, %s %d", s.Incidents, name, other.Incidents)
	}
	s.differentLines(other, name, differ)
	for _, key := range union(s.Output, other.Output) {
		mine, here := s.Output[key]
		its, there := other.Output[key]
		switch {
		case !here && its != nil:
			differ("output."+key, "not set here, %s %s", name, Show(its))
		case !there && mine != nil:
			differ("output."+key, "here %s, %s not set", Show(mine), name)
		case here && there && !Equal(mine, its):
			differ("output."+key, "here %s, %s %s", Show(mine), name, Show(its))
		}
	}
	for _, id := range union(s.Completed, other.Completed) {
		if s.Completed[id] != other.Completed[id] {
			differ("completed."+id, "here %d times, %s %d times", s.Completed[id], name, other.Completed[id])
		}
	}
	if s.Children != nil && other.Children != nil {
		if len(s.Children) != len(other.Children) {
			differ("children", "here %d began, %s %d", len(s.Children), name, len(other.Children))
		}
		for i := range min(len(s.Children), len(other.Children)) {
			for _, m := range s.Children[i].Differences(&other.Children[i], name) {
				differ(fmt.Sprintf("children.%d.%s", i, m.Field), "%s", m.Detail)
			}
		}
	}
	return found
}

// differentLines tells the first line that differs, with both places, and the whole lists.
func (s *Seen) differentLines(other *Seen, name string, differ func(field, format string, args ...any)) {
	same := func(a, b SeenLine) bool { return a.Text == b.Text || !a.Known || !b.Known }
	if slices.EqualFunc(s.Lines, other.Lines, same) {
		return
	}
	first := 0
	for first < min(len(s.Lines), len(other.Lines)) && same(s.Lines[first], other.Lines[first]) {
		first++
	}
	at := func(lines []SeenLine) string {
		if first < len(lines) {
			return fmt.Sprintf("%s (%s)", Show(lines[first].Text), lines[first].Place)
		}
		return "no line"
	}
	texts := func(lines []SeenLine) (out []string) {
		for _, l := range lines {
			out = append(out, l.Text)
		}
		return out
	}
	differ("lines", "line %d: here %s, %s %s\nall of them, - %s, + here:\n%s", first+1, at(s.Lines), name, at(other.Lines), name,
		workflow.CutBytes(strings.TrimSuffix(Lines(texts(other.Lines), texts(s.Lines)), "\n"), 4*MaxShown))
}

// union are the names that one of two has.
func union[V any](a, b map[string]V) []string {
	both := map[string]bool{}
	for name := range a {
		both[name] = true
	}
	for name := range b {
		both[name] = true
	}
	return slices.Sorted(maps.Keys(both))
}
