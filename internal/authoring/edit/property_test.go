package edit_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/authoring/edit"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// checks is how often each property is tried: each kind of edit often enough that some of its tries
// find a place to go to.
const checks = 600

func TestMain(m *testing.M) {
	testsize.Checks(checks, checks/6)
	os.Exit(m.Run())
}

// eachWasDone holds that each kind of edit was made, and not only refused.
func eachWasDone(t *testing.T, ops []string, done, refused map[string]int) {
	t.Helper()
	t.Logf("done %v, refused %v", done, refused)
	for _, op := range ops {
		if done[op] < 5 && testsize.Whole() {
			t.Errorf("%s was done %d times, and refused %d times", op, done[op], refused[op])
		}
	}
}

// author writes definitions as people do: with comments, blank lines and any style.
type author struct {
	t     *rapid.T
	n     int
	out   strings.Builder
	dense bool // lists at the column of their key
}

func (a *author) pick(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(a.t, label)
}
func (a *author) chance(label string) bool { return rapid.IntRange(0, 3).Draw(a.t, label) == 0 }

func (a *author) next() int { a.n++; return a.n }

func (a *author) line(indent int, text string) {
	a.out.WriteString(strings.Repeat(" ", indent) + text)
	if a.chance("said") && !strings.HasSuffix(text, "|") {
		fmt.Fprintf(&a.out, "  # c%d", a.next())
	}
	a.out.WriteString("\n")
}

func (a *author) between(indent int) {
	switch a.pick("between", "", "", "", "blank", "own", "deep", "far") {
	case "blank":
		a.out.WriteString("\n")
	case "own":
		fmt.Fprintf(&a.out, "%s# c%d\n", strings.Repeat(" ", indent), a.next())
	case "deep":
		fmt.Fprintf(&a.out, "%s  # c%d\n", strings.Repeat(" ", indent), a.next())
	case "far":
		fmt.Fprintf(&a.out, "# c%d\n", a.next())
	}
}

// steps writes a list of activities below a key at a column.
func (a *author) steps(key, depth int) {
	at := key + 2
	if a.dense {
		at = key
	}
	for range rapid.IntRange(1, 3).Draw(a.t, "steps") {
		a.between(at)
		a.activity(at, "- ", depth)
	}
}

// activity writes one behind a dash, or a dash and another dash.
func (a *author) activity(at int, before string, depth int) {
	pad := at + len(before)
	first := func(text string) { a.line(at, before+text) }
	forms := []string{"plain", "named", "block", "flow", "quoted", "inputs", "long"}
	if depth > 0 {
		forms = append(forms, "if", "parallel", "nested", "flowlist", "single", "timeout")
	}
	text := fmt.Sprintf("t%d", a.next())
	switch a.pick("form", forms...) {
	case "plain":
		first("writeLine: " + text)
	case "named":
		first("name: n")
		a.between(pad)
		a.line(pad, "writeLine: "+text)
	case "block":
		first("writeLine: |")
		a.out.WriteString(strings.Repeat(" ", pad+2) + text + "\n\n" + strings.Repeat(" ", pad+4) + "# no comment\n")
	case "flow":
		first("{writeLine: " + text + ", name: \"a # b\"}")
	case "quoted":
		first("writeLine: '" + text + " it''s # no comment'")
	case "inputs":
		first("writeLine:")
		a.line(pad+2, "text: "+text)
	case "long":
		first("writeLine: \"" + text + " ends\n" + strings.Repeat(" ", a.n%3) + "  here\"")
	case "if":
		first("if: ${{ true }}")
		a.line(pad, "then:")
		a.steps(pad, depth-1)
		if a.chance("else") {
			a.between(pad)
			a.line(pad, "else:")
			a.steps(pad, depth-1)
		}
	case "parallel":
		first("parallel:")
		a.steps(pad, depth-1)
	case "nested":
		a.activity(at, before+"- ", depth-1)
		a.activity(pad, "- ", depth-1)
	case "flowlist":
		first(fmt.Sprintf("sequence: [{writeLine: %s}, {writeLine: t%d}]", text, a.next()))
	case "single":
		first("while: ${{ false }}")
		a.line(pad, "body: {writeLine: "+text+"}")
	case "timeout":
		first("writeLine: " + text)
		a.line(pad, "timeout: 5s")
		a.line(pad, "onTimeout:")
		a.steps(pad, depth-1)
	}
}

func definition(t *rapid.T) []byte {
	a := &author{t: t, dense: rapid.Bool().Draw(t, "dense")}
	a.line(0, "id: made")
	a.line(0, "root:")
	a.steps(0, 3)
	a.between(0)
	src := a.out.String()
	if rapid.Bool().Draw(t, "no last line end") && !strings.HasSuffix(strings.TrimRight(src, "\n"), "no comment") { // of a text behind | it is a part
		src = strings.TrimRight(src, "\n")
	}
	if rapid.Bool().Draw(t, "CRLF") {
		src = strings.ReplaceAll(src, "\n", "\r\n")
	}
	return []byte(src)
}

var said = regexp.MustCompile(`# c\d+`)

func sayings(src []byte) []string {
	all := said.FindAllString(string(src), -1)
	sort.Strings(all)
	return all
}

// written are the texts of the lines that are written, in the order of the tree.
func written(t *rapid.T, src []byte) (texts, ids []string) {
	def, problems := yaml.Read(src, "", activities.Default())
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, src)
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		if a.Type == "Elsa.WriteLine" {
			texts, ids = append(texts, fmt.Sprint(a.Inputs["text"].Value)), append(ids, a.ID)
		}
		return true
	})
	return texts, ids
}

// among tells whether some lines are among others, in their order, but for their indentation and
// those with brackets.
func among(some, others []byte) bool {
	rows := strings.Split(string(others), "\n")
	at := 0
	for row := range strings.SplitSeq(string(some), "\n") {
		if row = strings.Trim(row, " -\r"); strings.Contains(row, "{w") {
			continue
		}
		for at < len(rows) && !strings.HasSuffix(strings.Trim(rows[at], " -\r"), row) {
			at++
		}
		if at == len(rows) {
			return false
		}
		at++
	}
	return true
}

// TestEditsOfAnyText holds, for texts as people write them: an edit does to the tree what it says
// and nothing else, each comment stays, no line but those of the edit changes, and what was
// inserted can be deleted again, to the byte.
func TestEditsOfAnyText(t *testing.T) {
	t.Parallel()
	types := activities.Default()
	done, refused := map[string]int{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		src := definition(t)
		texts, ids := written(t, src)
		i := rapid.IntRange(0, len(ids)-1).Draw(t, "which")
		op := rapid.SampledFrom([]string{"before", "after", "delete", "up", "down", "down", "beside", "if", "parallel", "retry", "set", "name"}).Draw(t, "edit")
		e := edit.Edit{Activity: ids[i]}
		fresh := map[string]any{"text": "new"}
		switch op {
		case "before", "after":
			e.Op, e.Where, e.Type, e.Inputs = edit.Insert, op, "writeLine", fresh
		case "delete":
			e.Op = edit.Delete
		case "up", "down":
			e.Op, e.Where = edit.Move, op
		case "beside":
			e.Op, e.Where, e.To = edit.Move, rapid.SampledFrom([]string{edit.Before, edit.After}).Draw(t, "side"), ids[rapid.IntRange(0, len(ids)-1).Draw(t, "to")]
		case "if", "parallel", "retry":
			e.Op, e.Type = edit.Wrap, op
		case "set":
			v := rapid.SampledFrom([]string{"new", "a: b # c", "two\nlines", " edge ", "${{ 1 + 1 }}", "'", "true", "[x]", "- x", "é…\t", "\\"}).Draw(t, "value")
			e.Op, e.Key, e.Value = edit.Set, "text", v
		case "name":
			e.Op, e.Key, e.Value = edit.Set, "name", "new"
		}
		before := bytes.Clone(src)
		res, problems := edit.Apply(t.Context(), src, false, []edit.Edit{e}, types)
		if !bytes.Equal(before, src) {
			t.Fatal("the source was changed in its place")
		}
		if len(problems) > 0 {
			refused[op]++
			if op == "up" || op == "down" || op == "beside" {
				return // there may be nothing above it, and others
			}
			if problems[0].Code == "comment-lost" && op == "delete" {
				return
			}
			t.Fatalf("%+v is refused: %v\n%s", e, problems, src)
		}
		done[op]++
		now, nowIDs := written(t, res.Text)
		want := slices.Clone(texts)
		switch op {
		case "before":
			want = slices.Insert(want, i, "new")
		case "after":
			want = slices.Insert(want, i+1, "new")
		case "delete":
			want = slices.Delete(want, i, i+1)
		case "set":
			want[i] = fmt.Sprint(e.Value)
		}
		got := slices.Clone(now)
		switch op {
		case "up", "down", "beside":
			sort.Strings(want)
			sort.Strings(got)
		case "after", "delete", "set": // an activity with a timeout has others behind it
			sort.Strings(want)
			sort.Strings(got)
		}
		if op == "delete" && strings.Contains(string(src), "timeout") { // what was to run late went with it
			want = slices.DeleteFunc(want, func(s string) bool { return !slices.Contains(got, s) })
		}
		if !slices.Equal(want, got) {
			t.Fatalf("%+v: the texts are %q, want %q\n%s\nbecame\n%s", e, got, want, src, res.Text)
		}
		if op != "delete" && !slices.Equal(sayings(src), sayings(res.Text)) && !strings.Contains(fmt.Sprint(e.Value), "#") {
			t.Fatalf("%+v: a comment is lost\n%s\nbecame\n%s", e, src, res.Text)
		}
		switch op {
		case "before", "after", "if", "retry":
			if !among(src, res.Text) {
				t.Fatalf("%+v: other lines changed\n%s\nbecame\n%s", e, src, res.Text)
			}
		case "delete":
			if !among(res.Text, src) && !strings.Contains(string(res.Text), "[]") && !strings.Contains(string(res.Text), "[{") {
				t.Fatalf("%+v: other lines changed\n%s\nbecame\n%s", e, src, res.Text)
			}
		}
		if op != "before" && op != "after" || strings.HasSuffix(res.Activity, ".sequence1.writeLine1") || len(nowIDs) == 0 {
			return
		}
		if !strings.Contains(string(before), "parallel") && !strings.Contains(string(before), "while") { // there it became a list
			back, problems := edit.Apply(t.Context(), res.Text, false, []edit.Edit{{Op: edit.Delete, Activity: res.Activity}}, types)
			if len(problems) > 0 || !bytes.Equal(back.Text, before) {
				t.Fatalf("%+v: what was inserted cannot be deleted: %v\n%s\nbecame\n%s\nand then\n%s", e, problems, src, res.Text, back.Text)
			}
		}
	})
	eachWasDone(t, []string{"before", "after", "delete", "up", "down", "beside", "if", "parallel", "retry", "set", "name"}, done, refused)
}

// TestHostileSources are refused with their place, or edited right.
func TestHostileSources(t *testing.T) {
	t.Parallel()
	deep := "id: x\nroot: " + strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	for name, c := range map[string]struct {
		src      string
		activity string
		code     string // "": it is edited
		line     int
	}{
		"20 MB":             {src: "id: x\nroot:\n" + strings.Repeat("  - writeLine: a\n", 20<<20/17), activity: "writeLine1", code: "too-large"},
		"deep":              {src: deep, activity: "x", code: "too-deep"},
		"no UTF-8":          {src: "id: x\nroot:\n  - writeLine: \xff\n", activity: "writeLine1", code: "bad-yaml", line: 1},
		"no YAML":           {src: "id: [", activity: "x", code: "bad-yaml"},
		"nothing":           {src: "", activity: "x", code: "bad-yaml"},
		"no root":           {src: "id: x\n", activity: "x", code: "missing-root"},
		"an alias":          {src: "id: x\nroot:\n  - &a {writeLine: a}\n  - *a\n", activity: "writeLine1", code: "edit-refused", line: 3},
		"beside an alias":   {src: "id: x\nroot:\n  - writeLine: &t a\n  - writeLine: *t\n  - finish: # c\n", activity: "writeLine2"},
		"what is an anchor": {src: "id: x\nroot:\n  - writeLine: &t a\n  - writeLine: *t\n", activity: "writeLine1", code: "edit-refused"},
		"a bomb":            {src: "a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nroot: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n", activity: "x", code: "too-large"},
		"tabs":              {src: "id: x\nroot:\n  - writeLine:\ta\t# c\n  - writeLine: b\t\n", activity: "writeLine2"},
		"a lone CR":         {src: "id: x\rroot: [{writeLine: a}]\r", activity: "writeLine1", code: "odd-line-break", line: 1},
		"NEL":               {src: "id: x\nroot:\n  - writeLine: \"a\u0085b\"\n", activity: "writeLine1", code: "odd-line-break", line: 3},
		"two of one id":     {src: "id: x\nroot:\n  - {id: a, writeLine: a}\n  - {id: a, writeLine: b}\n", activity: "a", code: "edit-refused", line: 4},
		"a mark":            {src: "\ufeffid: x\nroot:\n  - writeLine: a\n", activity: "writeLine1"},
		"wide letters":      {src: "id: x\nname: 名前 # 名\nroot: [{name: 漢字, writeLine: é}, {writeLine: b}]\n", activity: "writeLine1"},
		"explicit keys":     {src: "id: x\n? root\n: - writeLine: a\n", activity: "writeLine1", code: "edit-refused"},
		"a merge":           {src: "id: x\nroot:\n  - &a\n    writeLine: a\n    name: n\n  - <<: *a\n    writeLine: b\n", activity: "writeLine2"},
		"a tag":             {src: "id: x\nroot: !!seq\n  - !!map\n    writeLine: !!str a\n", activity: "writeLine1"},
		"a directive":       {src: "%YAML 1.1\n---\nid: x\nroot:\n  - writeLine: a\n...\n", activity: "writeLine1"},
		"kept line ends":    {src: "id: x\nroot:\n  - writeLine: |+\n      a\n\n\n  - finish:\n", activity: "writeLine1"},
		"odd quotes":        {src: "id: x\nroot:\n  - writeLine: \"a\nb # no\n\"\n  - finish:\n", activity: "writeLine1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, e := range []edit.Edit{{Op: edit.Insert, Activity: c.activity, Type: "writeLine"}, {Op: edit.Delete, Activity: c.activity}, {Op: edit.Wrap, Activity: c.activity, Type: "if"}} {
				if c.activity == "writeLine1" && name == "what is an anchor" && e.Op != edit.Delete {
					continue
				}
				res, problems := edit.Apply(t.Context(), []byte(c.src), false, []edit.Edit{e}, activities.Default())
				if c.code == "" {
					if len(problems) > 0 {
						t.Errorf("%s is refused: %v", e.Op, problems)
					} else if _, wrong := yaml.Read(res.Text, "", activities.Default()); len(wrong) > 0 {
						t.Errorf("%s: %v\n%s", e.Op, wrong, res.Text)
					}
					continue
				}
				if len(problems) == 0 || problems[0].Code != c.code || c.line > 0 && problems[0].Place.Line != c.line {
					t.Errorf("%s: %v, want %s in line %d\n%s", e.Op, problems, c.code, c.line, res.Text)
				}
			}
		})
	}
}

// TestOneLongLine holds that a text of one long line costs what its size does: as much as one of
// many lines, within what a busy machine may add. It was many times as much as long as each
// value counted its line from the start.
func TestOneLongLine(t *testing.T) {
	for name, each := range map[string]string{"numbers": "1,", "wide letters": "é,", "lists and mappings": "[],{a: é},"} {
		t.Run(name, func(t *testing.T) {
			took := func(each string) time.Duration {
				src := "{id: x, root: [{writeLine: a}], x: [" + strings.Repeat(each, workflow.MaxSource/4/len(each)) + "1]}\n"
				began := time.Now()
				res, problems := edit.Apply(t.Context(), []byte(src), false, []edit.Edit{{Op: edit.Set, Activity: "writeLine1", Key: "text", Value: "b"}}, activities.Default())
				if took := time.Since(began); len(problems) == 0 && strings.HasPrefix(string(res.Text), "{id: x, root: [{writeLine: b}]") {
					return took
				}
				t.Fatalf("%v", problems)
				return 0
			}
			lines := took(each + "\n")
			if line := took(each); line > 8*lines+2*time.Second {
				t.Errorf("in one line it takes %v, in many %v", line, lines)
			}
		})
	}
}

// source is a definition of about n bytes as people write them; what gives one line of it.
func source(n int, what func(i int) string) []byte {
	var b bytes.Buffer
	b.WriteString("id: x\nroot:\n  - writeLine: a\n")
	for i := 0; b.Len() < n; i++ {
		b.WriteString(what(i))
	}
	return b.Bytes()
}

// BenchmarkEdit measures one edit with what is told about its activity, as a request makes them,
// beside texts of three sizes: as people write them, and of one line of numbers, the most values
// that a text can have.
func BenchmarkEdit(b *testing.B) {
	types := activities.Default()
	for _, size := range []struct {
		name string
		n    int
	}{{"1KiB", 1 << 10}, {"10KiB", 10 << 10}, {"100KiB", 100 << 10}, {"1MiB", 1<<20 - 1<<10}} {
		for name, src := range map[string][]byte{
			"steps": source(size.n, func(i int) string {
				return fmt.Sprintf("  # step %d\n  - sendHttpRequest:\n      url: https://a.example/%d\n      method: POST\n      content: ${{ inputs.order }} and more\n    result: r%d\n", i, i, i)
			}),
			"numbers": []byte("{id: x, root: [{writeLine: a}], x: [" + strings.Repeat("1,", size.n/2) + "1]}\n"),
		} {
			b.Run(name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					res, problems := edit.Apply(b.Context(), src, false, []edit.Edit{{Op: edit.Set, Activity: "writeLine1", Key: "text", Value: "b"}}, types)
					if len(problems) > 0 {
						b.Fatal(problems)
					}
					if a, problems := res.Tell(res.Activity, res.Line); len(problems) > 0 || a.Fields[0].Text != "b" {
						b.Fatal(problems, a)
					}
				}
			})
		}
	}
}

// TestAnEditEndsWithItsRequest holds that an edit that nobody waits for any more is given up, also
// within the reading of its text.
func TestAnEditEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"yaml": "{id: x, root: [{writeLine: a}], x: [" + strings.Repeat("1,", 1000) + "1]}\n",
		"json": `{"definitionId":"x","root":{"id":"writeLine1","type":"Elsa.WriteLine"}}`,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if res, problems := edit.Apply(ctx, []byte(src), name == "json", []edit.Edit{{Op: edit.Set, Activity: "writeLine1", Key: "text", Value: "b"}}, activities.Default()); len(problems) != 1 || problems[0].Code != "given-up" || res.Text != nil {
			t.Errorf("%s: %v %s", name, problems, res.Text)
		}
		if _, problems := edit.Tell(ctx, []byte(src), name == "json", "writeLine1", 0, activities.Default()); len(problems) != 1 || problems[0].Code != "given-up" {
			t.Errorf("%s: told, %v", name, problems)
		}
	}
}

// FuzzApply holds that no text and no edit makes it panic, and that what is made can be read.
func FuzzApply(f *testing.F) {
	f.Add("id: x\nroot:\n  - writeLine: a # b\n", "insert", "writeLine1", "after", "if", "text", "v", false)
	f.Add("id: x\nroot:\n  flowchart:\n    activities: {a: {finish: }, b: break}\n    connections: [a -> b, 'b → a']\n", "delete", "a", "", "", "", "", false)
	f.Add(`{"definitionId":"x","root":{"id":"r","type":"Elsa.Sequence","activities":[{"id":"a","type":"Elsa.WriteLine"}]}}`, "set", "a", "into", "writeLine", "text", "v", true)
	types := activities.Default()
	f.Fuzz(func(t *testing.T, src, op, id, where, typ, key, value string, json bool) {
		res, problems := edit.Apply(t.Context(), []byte(src), json, []edit.Edit{{Op: op, Activity: id, Where: where, To: key, Type: typ, Key: key, Text: &value}}, types)
		if len(problems) == 0 && len(res.Text) == 0 {
			t.Errorf("nothing is left of %q", src)
		}
	})
}
