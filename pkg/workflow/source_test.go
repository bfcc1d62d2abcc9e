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
		if got := Excerpt(src, c.line, c.column); got != c.want {
			t.Errorf("%d:%d: got\n%s\nwant\n%s", c.line, c.column, got, c.want)
		}
	}
}

func TestExcerptCutsLongLinesAroundTheColumn(t *testing.T) {
	t.Parallel()
	src := []byte(strings.Repeat("é", 1000) + "X" + strings.Repeat("b", 1000))
	got := Excerpt(src, 1, 1001)
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

func TestNearestFindsSlipsOnly(t *testing.T) {
	t.Parallel()
	names := []string{"writeLine", "while", "fork", "for", "if", "sendHttpRequest"}
	for word, want := range map[string]string{
		"writeLin": "writeLine", "WriteLine": "writeLine", "wrietLine": "writeLine", "sendHTTPrequst": "sendHttpRequest",
		"fro": "for", "xyz": "", "": "", "somethingElse": "", "forkk": "fork", strings.Repeat("x", 10_000): "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := DidYouMean("iff", names); got != " (did you mean if?)" {
		t.Errorf("%q", got)
	}
}

func TestOversizeNamesTheActivityThatIsTooMuch(t *testing.T) {
	t.Parallel()
	root := &Activity{ID: "root"}
	if _, over := Oversize(root); over {
		t.Error("one activity is not too much")
	}
	if _, over := Oversize(nil); over {
		t.Error("none is not too much")
	}
	for at, n := root, 0; n < MaxNesting; n++ {
		at.Ports = map[string]*Activity{"body": {ID: "inner", Place: Place{Line: n}}}
		at = at.Ports["body"]
	}
	if p, over := Oversize(root); !over || p.Code != "too-deep" || p.Place.Line != MaxNesting-1 {
		t.Errorf("%+v %v", p, over)
	}
	wide := &Activity{Activities: make([]*Activity, MaxActivities)}
	for i := range wide.Activities {
		wide.Activities[i] = &Activity{}
	}
	if p, over := Oversize(wide); !over || p.Code != "too-many-activities" {
		t.Errorf("%+v %v", p, over)
	}
}

func TestDescriptorsAreFoundByBothNames(t *testing.T) {
	t.Parallel()
	ds := Descriptors{{Type: "acme.Ship"}, {Type: "Elsa.WriteLine"}}
	if ds.ByType("Elsa.WriteLine") == nil || ds.ByShortName("writeLine") == nil || ds.ByShortName("acme.Ship") == nil || ds.ByType("x") != nil || ds.ByShortName("x") != nil {
		t.Error("not found, or too much found")
	}
	if all := ds.All(); len(all) != 2 || all[0].Type != "Elsa.WriteLine" {
		t.Error(all)
	}
}
