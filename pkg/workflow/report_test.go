package workflow

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestExcerptShowsTheLineAndTheColumn(t *testing.T) {
	t.Parallel()
	src := []byte("a: 1\r\n\té: zwei\nlast")
	for _, c := range []struct {
		line, column int
		want         string
	}{
		{1, 4, "1 | a: 1\n       ^"},
		{2, 2, "2 |  é: zwei\n     ^"},
		{3, 5, "3 | last\n        ^"},
		{3, 99, "3 | last\n        ^"},
		{4, 1, ""},
		{0, 1, ""},
	} {
		if got := newSource(src).excerpt(c.line, c.column); got != c.want {
			t.Errorf("%d:%d: got\n%s\nwant\n%s", c.line, c.column, got, c.want)
		}
	}
}

func TestExcerptCutsLongLinesAroundTheColumn(t *testing.T) {
	t.Parallel()
	src := []byte(strings.Repeat("é", 1000) + "X" + strings.Repeat("b", 1000))
	got := newSource(src).excerpt(1, 1001)
	line, caret, _ := strings.Cut(got, "\n")
	if n := utf8.RuneCountInString(line); n > excerptWidth+10 {
		t.Errorf("%d characters", n)
	}
	if at := utf8.RuneCountInString(caret) - 1; []rune(line)[at] != 'X' {
		t.Errorf("the caret is not below X:\n%s", got)
	}
}

func TestProblemsGetExcerptsOnce(t *testing.T) {
	t.Parallel()
	ps := Problems{{Place: Place{Line: 1, Column: 1}}, {Place: Place{Line: 1, Column: 1}, Excerpt: "kept"}, {}}
	got := ps.WithExcerpts([]byte("text"))
	if got[0].Excerpt != "1 | text\n    ^" || got[1].Excerpt != "kept" || got[2].Excerpt != "" || ps[0].Excerpt != "" {
		t.Errorf("%+v", got)
	}
}

func TestReportFindsPlacesOfBytes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 3000)
	src := "\ufeffa\r\nbé: x\n\n" + long + "\nend"
	r := NewReport([]byte(src), "f.json")
	text := strings.TrimPrefix(src, "\ufeff")
	for _, c := range []struct {
		before       string
		line, column int
	}{
		{"a", 1, 1}, {"\r", 1, 2}, {"b", 2, 1}, {"é:", 2, 2}, {": x", 2, 3}, {"\n\né", 2, 6}, {"\né", 3, 1}, {"éé", 4, 1}, {"\nend", 4, 3001}, {"nd", 5, 2},
	} {
		if at := r.AtByte(strings.Index(text, c.before), "/p"); at != (Place{File: "f.json", Pointer: "/p", Line: c.line, Column: c.column}) {
			t.Errorf("%q: %+v, want %d:%d", c.before, at, c.line, c.column)
		}
	}
	for _, beyond := range []int{len(text), len(text) + 1, 1 << 30} {
		if at := r.AtByte(beyond, ""); at.Line != 5 || at.Column != 4 {
			t.Errorf("byte %d: %+v", beyond, at)
		}
	}
	for _, size := range []int{0, 1, 1023, 1024, 1025, 2048} {
		if at := NewReport([]byte(strings.Repeat("x", size)), "").AtByte(size, ""); at.Line != 1 || at.Column != size+1 {
			t.Errorf("the end of %d bytes: %+v", size, at)
		}
	}
}

func TestReportIsInOrderAndBounded(t *testing.T) {
	t.Parallel()
	r := NewReport([]byte("one\ntwo\n"), "f")
	if !r.Empty() || r.Problems() != nil {
		t.Error("an empty report is nothing")
	}
	r.Problem("b", r.At(2, 2), "%d%%", 5)
	r.WrongShape(r.At(2, 1), "it", "a text", "a list")
	r.UnknownKey(r.At(0, 0), "a thing", strings.Repeat("k", 100), []string{"key", "key"})
	r.UnknownKey(r.At(1, 1), "a thing", "kye", []string{"key"})
	want := []string{
		"f: line 1, column 1: a thing has no key " + strings.Repeat("k", 40) + "…; it has key",
		"f: line 1, column 1: a thing has no key kye (did you mean key?)",
		"f: line 2, column 1: it must be a text, not a list",
		"f: line 2, column 2: 5%",
	}
	got := r.Problems()
	if got.Error() != strings.Join(want, "\n") || got[3].Excerpt != "2 | two\n     ^" {
		t.Errorf("got\n%v\n%q", got, got[3].Excerpt)
	}
	for range 1000 {
		r.Problem("c", r.At(1, 1), "more")
		r.UnknownKey(r.At(1, 1), "a thing", "x", nil)
	}
	if n := len(r.Problems()); n != MaxProblems || !r.Full() {
		t.Errorf("%d problems", n)
	}
}
