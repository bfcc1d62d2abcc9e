package format_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/authoring/format"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
)

// writer writes YAML as badly as one may.
type writer struct {
	*rapid.T
	b        strings.Builder
	comments int
	anchors  int
}

func (w *writer) chance(n int) bool { return rapid.IntRange(0, n-1).Draw(w.T, "chance") == 0 }

func (w *writer) upTo(n int) int { return rapid.IntRange(0, n).Draw(w.T, "n") }

func (w *writer) pad(n int) { w.b.WriteString(strings.Repeat(" ", n)) }

// comment gives a comment that is there once.
func (w *writer) comment() string {
	w.comments++
	return fmt.Sprintf("#%s=%d=", rapid.SampledFrom([]string{" a: ", "", " \"", " 'x' ", " [ {", " | ", "# ", " - é "}).Draw(w.T, "comment"), w.comments)
}

// between writes what may stand between two parts.
func (w *writer) between(indent int) {
	for w.chance(4) {
		switch w.upTo(2) {
		case 0:
			w.pad(w.upTo(3))
			w.b.WriteString("\n")
		default:
			w.pad(rapid.SampledFrom([]int{indent, indent, 0, max(indent-1, 0), indent + 1, indent + 4}).Draw(w.T, "column"))
			w.b.WriteString(w.comment() + "\n")
		}
	}
}

func (w *writer) end() {
	if w.chance(4) {
		w.pad(1 + w.upTo(3))
		w.b.WriteString(w.comment())
	}
	w.pad(w.upTo(1))
	w.b.WriteString("\n")
}

var keys = []string{
	"id", "name", "root", "inputs", "variables", "if", "then", "else", "writeLine", "event", "result", "timeout", "onTimeout", "retry", "sequence", "switch", "when",
	"default", "workflow", "outputs", "labels", "options", "\"a b\"", "'c'", "x y", "é", "a:b", "a#b", "1", "true",
}

func (w *writer) mapping(indent, depth int, inline bool) {
	for i, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 4, rapid.ID).Draw(w.T, "keys") {
		if i > 0 || !inline {
			w.between(indent)
			w.pad(indent)
		}
		w.b.WriteString(key)
		w.pad(max(0, w.upTo(8)-7))
		w.b.WriteString(":")
		w.value(indent, depth, false)
	}
}

func (w *writer) list(indent, depth int, inline bool) {
	for i := range 1 + w.upTo(2) {
		if i > 0 || !inline {
			w.between(indent)
			w.pad(indent)
		}
		w.b.WriteString("-")
		w.value(indent, depth, true)
	}
}

// value writes what stands behind a colon or a dash, and its end.
func (w *writer) value(indent, depth int, dash bool) {
	kind := w.upTo(13)
	if depth == 0 {
		kind = w.upTo(9)
	}
	if kind > 0 && w.chance(12) {
		w.anchors++
		fmt.Fprintf(&w.b, " &a%d", w.anchors)
		if dash && kind > 9 {
			kind = 1
		}
	}
	inner := indent + 1 + w.upTo(3)
	switch {
	case kind == 0:
		w.end()
	case kind < 4:
		w.pad(1 + w.upTo(2))
		w.b.WriteString(rapid.SampledFrom([]string{
			"a", "1.10", "${{ inputs.x }}", "'it''s # no'", "\"say \\\"# no\\\" \"", "true", "~", "a#b", "x: y"[:1], "- x"[2:], "https://a.example/b", "\"a\\\\\"", "!!str 12", "[]", "{}", "{a: 1, b: [x, \"y # no\"]}", "{a: 'it''s', \"b\": *x}"[:14] + "}",
		}).Draw(w.T, "scalar"))
		w.end()
	case kind == 4:
		w.b.WriteString(" plain\n")
		for range w.upTo(2) {
			if w.chance(3) {
				w.b.WriteString("\n")
			}
			w.pad(inner)
			w.b.WriteString("more of it\n")
		}
		w.pad(inner)
		w.b.WriteString("last")
		w.end()
	case kind == 5:
		mark := rapid.SampledFrom([]string{"\"", "'"}).Draw(w.T, "quote")
		w.b.WriteString(" " + mark + "one # no\n\n")
		w.pad(inner)
		w.b.WriteString("two " + mark + mark[:0])
		w.end()
	case kind == 6:
		w.b.WriteString(" \"one\\ \n")
		w.pad(inner)
		w.b.WriteString("\\  two\\\n")
		w.pad(inner)
		w.b.WriteString("three\"")
		w.end()
	case kind < 9:
		w.text(indent)
	case kind == 9:
		w.b.WriteString(" [a, # " + strings.TrimLeft(w.comment(), "# ") + "\n")
		w.pad(inner)
		w.b.WriteString("{b: \"c ] # no\",\n")
		w.pad(inner + w.upTo(2))
		w.b.WriteString("'d': e}, x: y\n")
		w.pad(indent + w.upTo(3))
		if dash || indent > 0 {
			w.pad(1)
		}
		w.b.WriteString("]")
		w.end()
	case dash && kind < 12:
		w.pad(1 + w.upTo(2))
		at := w.b.String()
		inner = len(at) - strings.LastIndexByte(at, '\n') - 1
		if kind == 10 {
			w.mapping(inner, depth-1, true)
		} else {
			w.list(inner, depth-1, true)
		}
	case kind%2 == 0:
		w.end()
		w.mapping(inner, depth-1, false)
	default:
		w.end()
		if !dash && w.chance(3) {
			inner = indent
		}
		w.list(inner, depth-1, false)
	}
}

// text writes a text that begins with | or >.
func (w *writer) text(indent int) {
	inner := indent + 1 + w.upTo(4)
	w.b.WriteString(rapid.SampledFrom([]string{" |", " >", "  |"}).Draw(w.T, "mark"))
	lead := ""
	if w.chance(3) {
		fmt.Fprint(&w.b, inner-indent)
		lead = rapid.SampledFrom([]string{"", " "}).Draw(w.T, "lead")
	}
	w.b.WriteString(rapid.SampledFrom([]string{"", "-", "+"}).Draw(w.T, "chomp"))
	w.end()
	for i := range 1 + w.upTo(2) {
		if w.chance(3) {
			w.pad(w.upTo(inner))
			w.b.WriteString("\n")
		}
		w.pad(inner)
		if i == 0 {
			w.b.WriteString(lead)
		}
		w.b.WriteString(rapid.SampledFrom([]string{"text # no", "# no", "a: b", "- c", "\"", "x  "}).Draw(w.T, "line") + "\n")
	}
	for w.chance(3) {
		w.b.WriteString("\n")
	}
}

var marks = regexp.MustCompile(`=\d+=`)

// However badly a source is written: its values stay, each comment is there once, and it is
// not changed again.
func TestWhatIsFormattedStaysTheSame(t *testing.T) {
	t.Parallel()
	types := activities.Default()
	tried, read := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{T: t}
		w.between(0)
		w.mapping(rapid.SampledFrom([]int{0, 0, 0, 2}).Draw(t, "indent"), 4, false)
		w.between(0)
		src := []byte(w.b.String())
		tried++
		before, err := format.Parse(src)
		if err != nil {
			return
		}
		read++
		out, err := format.Source(src, "x.yaml", types)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		after, err := format.Parse(out)
		if err != nil || !format.Same(before, after) {
			t.Fatalf("the values are others (%v):\n%s\n--- from\n%s", err, out, src)
		}
		if had, has := marks.FindAllString(string(src), -1), marks.FindAllString(string(out), -1); !format.SameTexts(had, has) || len(had) != w.comments {
			t.Fatalf("%d comments were written, %d read, %d are there:\n%s\n--- from\n%s", w.comments, len(had), len(has), out, src)
		}
		again, err := format.Source(out, "x.yaml", types)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("formatted again (%v) it is\n%s\n--- and was\n%s\n--- from\n%s", err, again, out, src)
		}
		for i, line := range strings.Split(string(out), "\n") {
			if strings.Contains(line, "\t") || strings.HasPrefix(strings.TrimSpace(line), "#") && strings.HasSuffix(line, " ") && !strings.Contains(line, "# no") {
				t.Fatalf("line %d: %q", i+1, line)
			}
		}
	})
	if read < tried/2 {
		t.Errorf("of %d sources only %d could be read", tried, read)
	}
}

// FuzzSource: nothing panics, and what is formatted is not changed again.
func FuzzSource(f *testing.F) {
	for _, src := range []string{
		"id: x\nroot:\n- writeLine: a # b\n", "a: |2\n    x\nb: >+\n  y\n\n", "a: &x [1, # c\n  2]\nb: *x\n", "- - a\n  - b: c\n", "{a: 1}", "? a\n: b\n", "a: \"x\\ \n  y\"\n",
		"---\n# c\na: b\n...\n", "a:\n- b\n# c\n- d\n", "a: 'x\n\n  y' # c\n", "!!map\na: b\n", "a: !!str\n  b\n", "a:\n  # c\n  b\n", "- # c\n  a: b\n", "0: >+\n   \n",
	} {
		f.Add([]byte(src))
	}
	types := activities.Default()
	f.Fuzz(func(t *testing.T, src []byte) {
		out, err := format.Source(src, "x.yaml", types)
		var problems workflow.Problems
		if err != nil {
			if !errors.As(err, &problems) || strings.Contains(err.Error(), "a mistake of weft fmt") {
				t.Fatalf("%v\n%q", err, src)
			}
			return
		}
		again, err := format.Source(out, "x.yaml", types)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("formatted again (%v) it is\n%q\nand was\n%q", err, again, out)
		}
	})
}
