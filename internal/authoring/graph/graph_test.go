package graph_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/authoring/graph"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

var types = activities.Default()

// read reads a definition in either notation.
func read(t testing.TB, path string) *workflow.Definition {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) == ".json" {
		def, problems := elsajson.Read(src, path, types)
		if def == nil {
			t.Fatal(problems)
		}
		return def
	}
	return parse(t, string(src))
}

func parse(t testing.TB, src string) *workflow.Definition {
	t.Helper()
	def, problems := yaml.Read([]byte(src), "test.yaml", types)
	if problems != nil {
		t.Fatal(problems)
	}
	return def
}

// check holds what the package promises of every picture.
func check(t interface {
	Helper()
	Errorf(string, ...any)
}, g *graph.Graph) {
	t.Helper()
	for i, n := range g.Nodes {
		if n.X < 0 || n.Y < 0 || n.X+n.W > g.Width || n.Y+n.H > g.Height || math.IsNaN(n.X+n.Y+n.W+n.H) {
			t.Errorf("%s %q is outside of the picture: %v %v %v %v of %v × %v", n.Type, n.ID, n.X, n.Y, n.W, n.H, g.Width, g.Height)
		}
		for _, m := range g.Nodes[i+1:] {
			if n.X < m.X+m.W && m.X < n.X+n.W && n.Y < m.Y+m.H && m.Y < n.Y+n.H && !holds(n, m) && !holds(m, n) {
				t.Errorf("%s %q and %s %q overlap", n.Type, n.ID, m.Type, m.ID)
			}
		}
	}
	for _, e := range g.Edges {
		if len(e.Points) < 2 {
			t.Errorf("the way from %q to %q has %d points", g.Nodes[e.From].ID, g.Nodes[e.To].ID, len(e.Points))
			continue
		}
		if last := e.Points[len(e.Points)-1]; !touches(g.Nodes[e.To], last) {
			t.Errorf("the way to %s %q ends at %v, which is not at its border: %v %v %v %v", g.Nodes[e.To].Type, g.Nodes[e.To].ID, last, g.Nodes[e.To].X, g.Nodes[e.To].Y, g.Nodes[e.To].W, g.Nodes[e.To].H)
		}
		for _, p := range e.Points {
			if p.X < 0 || p.Y < 0 || p.X > g.Width || p.Y > g.Height {
				t.Errorf("the way from %q to %q leaves the picture", g.Nodes[e.From].ID, g.Nodes[e.To].ID)
			}
		}
	}
}

func holds(frame, n graph.Node) bool {
	return frame.Kind == graph.Frame && frame.X <= n.X && frame.Y <= n.Y && n.X+n.W <= frame.X+frame.W && n.Y+n.H <= frame.Y+frame.H
}

// touches tells whether a point is in a box or on its border.
func touches(n graph.Node, p graph.Point) bool {
	const slack = 1
	return p.X >= n.X-slack && p.X <= n.X+n.W+slack && p.Y >= n.Y-slack && p.Y <= n.Y+n.H+slack
}

// crossings counts the straight parts of ways that pass through a box that is
// neither their source nor their target.
func crossings(g *graph.Graph) []string {
	var out []string
	for _, e := range g.Edges {
		for i := 1; i < len(e.Points); i++ {
			a, b := e.Points[i-1], e.Points[i]
			for at, n := range g.Nodes {
				if at == e.From || at == e.To || n.Kind == graph.Frame || n.Kind == graph.Join {
					continue
				}
				for s := 1; s < 20; s++ {
					f := float64(s) / 20
					p := graph.Point{X: a.X + (b.X-a.X)*f, Y: a.Y + (b.Y-a.Y)*f}
					if p.X > n.X+1 && p.X < n.X+n.W-1 && p.Y > n.Y+1 && p.Y < n.Y+n.H-1 {
						out = append(out, fmt.Sprintf("from %q to %q through %q", g.Nodes[e.From].ID, g.Nodes[e.To].ID, n.ID))
						break
					}
				}
			}
		}
	}
	return out
}

func TestExamplesAreDrawn(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("../../../examples/*.yaml")
	exports, _ := filepath.Glob("../../../pkg/workflow/elsajson/testdata/*.json")
	drawn := 0
	for _, path := range append(files, exports...) {
		if strings.HasSuffix(path, ".test.yaml") {
			continue
		}
		drawn++
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			g := graph.New(read(t, path), graph.Options{Types: types})
			check(t, g)
			if through := crossings(g); len(through) > 0 && filepath.Ext(path) == ".yaml" {
				t.Errorf("ways pass through boxes: %v", through)
			}
			wellFormed(t, g)
			throughJSON(t, g)
		})
	}
	if drawn < 8 {
		t.Fatalf("%d definitions were found", drawn)
	}
}

// wellFormed writes a picture in each form, and parses the SVG.
func wellFormed(t testing.TB, g *graph.Graph) {
	t.Helper()
	for _, alone := range []bool{false, true} {
		var b bytes.Buffer
		if err := g.WriteSVG(&b, graph.SVG{Alone: alone, Link: func(id string) string { return "#" + id }}); err != nil {
			t.Fatal(err)
		}
		dec := xml.NewDecoder(&b)
		for {
			tok, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("the SVG is not XML: %v", err)
			}
			if el, ok := tok.(xml.StartElement); ok {
				for _, a := range el.Attr {
					if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
						t.Fatalf("%s has the attribute %s", el.Name.Local, a.Name.Local)
					}
				}
				if !alone && (el.Name.Local == "script" || el.Name.Local == "style") || el.Name.Local == "script" {
					t.Fatalf("the SVG holds %s", el.Name.Local)
				}
			}
		}
	}
	for _, write := range []func(io.Writer) error{g.WriteMermaid, g.WriteDOT, func(w io.Writer) error { return g.WriteText(w, 0) }} {
		if err := write(io.Discard); err != nil {
			t.Fatal(err)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	g := graph.New(read(t, "../../../examples/order-approval.yaml"), graph.Options{Types: types})
	g.Apply(map[string]graph.Mark{
		"correlate1": {Status: graph.Done, Count: 1}, "writeLine1": {Status: graph.Done, Count: 1},
		"if1": {Status: graph.Running, Count: 1}, "if1.then.event1": {Status: graph.Waiting, Count: 1},
	})
	var b strings.Builder
	if err := g.WriteText(&b, 0); err != nil {
		t.Fatal(err)
	}
	want := `Order approval
├─ ✓ correlate ${{ inputs.orderId }}
├─ ✓ writeLine Order ${{ inputs.orderId }} over ${{ inputs.amount }}
├─ ▶ if ${{ inputs.amount > 1000 }}
│  ├─ then:
│  │  └─ … event approved (48h) [if1.then.event1]
│  │     └─ after 48h:
│  │        └─ fail not approved in time [if1.then.event1.onTimeout.fail1]
│  └─ else:
├─ sendHttpRequest POST https://pay.internal/charges (retry 5) [pay]
│  └─ undo:
│     └─ sendHttpRequest POST https://pay.internal/refunds (retry 10) [refund]
└─ sendHttpRequest POST https://ship.internal/orders (retry 5) [ship]
   ├─ 409:
   │  ├─ compensate [ship.case1.compensate1]
   │  └─ fail order ${{ inputs.orderId }} is sold out, and paid back [ship.case1.fail1]
   └─ else:
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

// What undoes an activity stands beside it, and leads nowhere.
func TestUndosAreDrawn(t *testing.T) {
	t.Parallel()
	g := graph.New(parse(t, `id: x
root:
  - writeLine: pay
    undo: {writeLine: refund}
    retry: 3
  - scope:
      - sequence: [{writeLine: a}]
        id: block
        undo: [{writeLine: b}, {writeLine: c}]
    onUndone: {writeLine: so}
  - scope: [{writeLine: z}]
`), graph.Options{Types: types})
	g.Apply(map[string]graph.Mark{"writeLine1": {Status: graph.Undone, Count: 1}, "writeLine1.undo.writeLine1": {Status: graph.Done, Count: 1}})
	var b strings.Builder
	if err := g.WriteText(&b, 0); err != nil {
		t.Fatal(err)
	}
	const want = `x
├─ ↶ writeLine pay (retry 3)
│  └─ undo:
│     └─ ✓ writeLine refund
├─ scope
│  ├─ sequence
│  │  └─ sequence [block]
│  │     ├─ sequence
│  │     │  └─ writeLine a [block.writeLine1]
│  │     └─ undo:
│  │        ├─ writeLine b [block.undo.writeLine1]
│  │        └─ writeLine c [block.undo.writeLine2]
│  └─ when undone:
│     └─ writeLine so [scope1.onUndone.writeLine1]
└─ scope
   └─ writeLine z [scope2.body.writeLine1]
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	for _, e := range g.Edges {
		if from := g.Nodes[e.From].Detail; from == "refund" || from == "c" {
			t.Errorf("a way leads out of %s", from)
		} else if e.Port == workflow.UndoPort && e.Taken != (from == "pay") {
			t.Errorf("the way to what undoes %s was taken: %t", from, e.Taken)
		}
	}
}

func TestWaysThatWereTaken(t *testing.T) {
	t.Parallel()
	const src = `id: x
root:
  - if: ${{ inputs.a }}
    then: {writeLine: yes}
    else: {writeLine: no}
  - event: e
    timeout: 1h
    onTimeout: {writeLine: late}
  - writeLine: over
`
	def := parse(t, src)
	done := graph.Mark{Status: graph.Done, Count: 1}
	for _, c := range []struct {
		name  string
		marks map[string]graph.Mark
		want  []string
	}{
		{"nothing ran", nil, []string{" - if1"}},
		{"else, and it waits", map[string]graph.Mark{
			"if1": {Status: graph.Done, Count: 1, Outcomes: []string{"False"}}, "if1.else.writeLine1": done, "event1": {Status: graph.Waiting, Count: 1},
		}, []string{" - if1", "if1 else if1.else.writeLine1", "if1.else.writeLine1 - ", " - event1"}},
		{"in time", map[string]graph.Mark{
			"if1": done, "if1.then.writeLine1": done, "event1": done, "event1.timeout.delay": {Status: graph.Cancelled}, "writeLine1": done,
		}, []string{" - if1", "if1 then if1.then.writeLine1", "if1.then.writeLine1 - ", " - event1", "event1 Done ", " - writeLine1", "writeLine1 - "}},
		{"too late", map[string]graph.Mark{
			"if1": done, "if1.then.writeLine1": done, "event1": {Status: graph.Cancelled}, "event1.timeout.delay": done,
			"event1.onTimeout.writeLine1": done, "writeLine1": done,
		}, []string{" - if1", "if1 then if1.then.writeLine1", "if1.then.writeLine1 - ", " - event1", "event1 timeout event1.onTimeout.writeLine1",
			"event1.onTimeout.writeLine1 - ", " - writeLine1", "writeLine1 - "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := graph.New(def, graph.Options{Types: types})
			g.Apply(c.marks)
			var got []string
			for _, e := range g.Edges {
				if e.Taken {
					port := e.Port
					if port == "" {
						port = "-"
					}
					got = append(got, g.Nodes[e.From].ID+" "+port+" "+g.Nodes[e.To].ID)
				}
			}
			want := slices.Clone(c.want)
			if c.marks == nil {
				want = nil // the first one has not run
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("taken\n%q, want\n%q", got, want)
			}
		})
	}
}

// drawer makes trees of activities.
type drawer struct {
	t *rapid.T
	n int
}

func (d *drawer) activity(depth int) *workflow.Activity {
	d.n++
	id := fmt.Sprintf("a%d", d.n)
	kinds := []string{"WriteLine", "SendHttpRequest", "Fault", "Event", "Strange"}
	if depth > 0 {
		kinds = append(kinds, "Sequence", "If", "Fork", "Parallel", "Switch", "ForEach", "While", "Flowchart", "StateMachine", "Composite", "FlowNode", "Scope", "ParallelForEach", "timeout", "retry")
	}
	if depth > 0 && rapid.IntRange(0, 5).Draw(d.t, "undo") == 0 {
		if a := d.activity(depth - 1); a.Ports[workflow.UndoPort] == nil {
			a.Ports = maps.Clone(a.Ports)
			if a.Ports == nil {
				a.Ports = map[string]*workflow.Activity{}
			}
			a.Ports[workflow.UndoPort] = d.activity(0)
			return a
		}
	}
	kind := rapid.SampledFrom(kinds).Draw(d.t, "kind")
	a := &workflow.Activity{ID: id, Type: "Elsa." + kind, Inputs: map[string]workflow.Expression{"text": workflow.Lit(rapid.StringN(0, 40, -1).Draw(d.t, "text"))}}
	child := func(what string) *workflow.Activity {
		if rapid.IntRange(0, 3).Draw(d.t, what) == 0 {
			return nil
		}
		return d.activity(depth - 1)
	}
	switch kind {
	case "Strange":
		a.Type = rapid.SampledFrom([]string{"", "acme.Ship", "<b>", "日本語の活動"}).Draw(d.t, "type")
	case "Sequence", "Fork", "Parallel":
		for range rapid.IntRange(0, 4).Draw(d.t, "children") {
			a.Activities = append(a.Activities, d.activity(depth-1))
		}
	case "If":
		a.Ports = map[string]*workflow.Activity{"then": child("then"), "else": child("else")}
	case "SendHttpRequest":
		if depth > 0 {
			a.Ports = map[string]*workflow.Activity{"failedToConnect": child("failed")}
		}
	case "Switch":
		for i := range rapid.IntRange(0, 3).Draw(d.t, "cases") {
			a.Cases = append(a.Cases, workflow.Case{Label: fmt.Sprint("case", i), Activity: child("case")})
		}
	case "ForEach", "While", "FlowNode", "ParallelForEach":
		a.Ports = map[string]*workflow.Activity{"body": child("body")}
	case "Scope":
		a.Ports = map[string]*workflow.Activity{"body": child("body"), "onUndone": child("undone")}
	case "Composite":
		a.Ports = map[string]*workflow.Activity{"root": child("root")}
	case "Flowchart":
		d.chart(a, depth)
	case "StateMachine":
		for i := range rapid.IntRange(0, 4).Draw(d.t, "states") {
			s := workflow.State{Name: fmt.Sprint("s", i), Entry: child("entry")}
			for range rapid.IntRange(0, 2).Draw(d.t, "transitions") {
				s.Transitions = append(s.Transitions, workflow.Transition{To: fmt.Sprint("s", rapid.IntRange(0, 4).Draw(d.t, "to")), Trigger: child("trigger"), Action: child("action")})
			}
			a.States = append(a.States, s)
		}
	case "retry":
		inner := d.activity(depth - 1)
		return &workflow.Activity{ID: inner.ID + workflow.RetrySuffix, Type: workflow.RetryType, Inputs: map[string]workflow.Expression{"attempts": workflow.Lit(3)},
			Ports: map[string]*workflow.Activity{"body": inner, "onGiveUp": child("give up")}}
	case "timeout":
		inner := d.activity(depth - 1)
		late := []*workflow.Activity{{ID: inner.ID + ".timeout.delay", Type: "Elsa.Delay", Inputs: map[string]workflow.Expression{"timeSpan": workflow.Lit("1h")}}}
		if c := child("late"); c != nil {
			late = append(late, c)
		}
		return &workflow.Activity{ID: inner.ID + workflow.TimeoutSuffix, Type: "Elsa.Fork", Activities: []*workflow.Activity{
			inner, {ID: inner.ID + ".onTimeout", Type: "Elsa.Sequence", Activities: late},
		}}
	}
	return a
}

// chart gives a flowchart activities and any connections, circles among them, and
// sometimes places.
func (d *drawer) chart(a *workflow.Activity, depth int) {
	places := rapid.Bool().Draw(d.t, "places")
	for i := range rapid.IntRange(0, 7).Draw(d.t, "activities") {
		c := d.activity(depth - 1)
		if places {
			c.Metadata = map[string]any{"designer": map[string]any{"position": map[string]any{"x": float64(i * 300), "y": rapid.Float64Range(-500, 500).Draw(d.t, "y")}}}
		}
		a.Activities = append(a.Activities, c)
	}
	for n := len(a.Activities); n > 0 && len(a.Connections) < 2*n; {
		pick := func(what string) string { return a.Activities[rapid.IntRange(0, n-1).Draw(d.t, what)].ID }
		a.Connections = append(a.Connections, workflow.Connection{Source: pick("from"), Target: pick("to"), SourcePort: rapid.SampledFrom([]string{"", "True", "a long name of a port"}).Draw(d.t, "port")})
		if rapid.IntRange(0, 3).Draw(d.t, "enough") == 0 {
			break
		}
	}
}

func TestNothingOverlaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := &drawer{t: t}
		def := &workflow.Definition{ID: "x", Root: d.activity(rapid.IntRange(0, 4).Draw(t, "depth"))}
		limit := rapid.SampledFrom([]int{0, 1, 5, 20}).Draw(t, "limit")
		g := graph.New(def, graph.Options{Types: types, Limit: limit})
		check(t, g)
		var first, again bytes.Buffer
		_ = g.WriteSVG(&first, graph.SVG{})
		_ = graph.New(def, graph.Options{Types: types, Limit: limit}).WriteSVG(&again, graph.SVG{})
		if !bytes.Equal(first.Bytes(), again.Bytes()) {
			t.Fatal("two pictures of one definition differ")
		}
	})
}

// Every activity is in the picture or counted in a fold; an activity with a timeout is four in one box.
func TestNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := &drawer{t: t}
		def := &workflow.Definition{ID: "x", Root: d.activity(4)}
		g := graph.New(def, graph.Options{Types: types, Limit: 100_000})
		drawn := map[string]bool{}
		for _, n := range g.Nodes {
			drawn[n.ID], drawn[n.ClockID] = true, true
			if n.Kind == graph.Folded {
				t.Fatalf("%q is folded", n.ID)
			}
		}
		workflow.Walk(def.Root, func(a, parent *workflow.Activity, _ int) bool {
			bare := parent == nil && (a.Type == "Elsa.Flowchart" || a.Type == "Elsa.StateMachine") // drawn without a frame
			unseen := bare || a.Type == "Elsa.Sequence" || strings.HasSuffix(a.ID, workflow.TimeoutSuffix) || a.Type == workflow.RetryType
			if !unseen && !drawn[a.ID] {
				t.Fatalf("%s %s is not drawn", a.Type, a.ID)
			}
			return true
		})
	})
}

func TestWhatIsOpenIsDrawn(t *testing.T) {
	t.Parallel()
	root := &workflow.Activity{ID: "root", Type: "Elsa.Sequence"}
	for i := range 3000 {
		root.Activities = append(root.Activities, &workflow.Activity{ID: fmt.Sprint("if", i), Type: "Elsa.If", Ports: map[string]*workflow.Activity{
			"then": {ID: fmt.Sprint("w", i), Type: "Elsa.WriteLine"},
		}})
	}
	g := graph.New(&workflow.Definition{ID: "x", Root: root}, graph.Options{Limit: 100, Open: func(id string) bool { return id == "w1500" }})
	check(t, g)
	if len(g.Nodes) > 400 {
		t.Errorf("%d nodes are drawn", len(g.Nodes))
	}
	hidden, open := 0, false
	for _, n := range g.Nodes {
		hidden += n.Hidden
		open = open || n.ID == "w1500"
	}
	if !open {
		t.Error("where it waits is not drawn")
	}
	if hidden < 5500 {
		t.Errorf("the folds say that they hide %d activities", hidden)
	}
}

// Large pictures are drawn in time that grows with their size: the test would take
// minutes if it grew with its square.
func TestLarge(t *testing.T) {
	t.Parallel()
	const n = 10_000
	chain := &workflow.Activity{ID: "chain", Type: "Elsa.Flowchart"}
	random := &workflow.Activity{ID: "random", Type: "Elsa.Flowchart"}
	flat := &workflow.Activity{ID: "flat", Type: "Elsa.Sequence"}
	for i := range n {
		a := &workflow.Activity{ID: fmt.Sprint("a", i), Type: "Elsa.WriteLine"}
		chain.Activities, random.Activities, flat.Activities = append(chain.Activities, a), append(random.Activities, a), append(flat.Activities, a)
		if i > 0 {
			chain.Connections = append(chain.Connections, workflow.Connection{Source: fmt.Sprint("a", i-1), Target: a.ID})
			random.Connections = append(random.Connections,
				workflow.Connection{Source: fmt.Sprint("a", (i*7919)%i), Target: a.ID}, workflow.Connection{Source: a.ID, Target: fmt.Sprint("a", (i*104729)%n)})
		}
	}
	deep := &workflow.Activity{ID: "deepest", Type: "Elsa.WriteLine"}
	for i := range n {
		deep = &workflow.Activity{ID: fmt.Sprint("d", i), Type: "Elsa.If", Ports: map[string]*workflow.Activity{"then": deep}}
	}
	for _, root := range []*workflow.Activity{chain, random, flat, deep} {
		t.Run(root.ID[:4], func(t *testing.T) {
			t.Parallel()
			g := graph.New(&workflow.Definition{ID: "x", Root: root}, graph.Options{Limit: 2 * n})
			if len(g.Nodes) == 0 || g.Width <= 0 || g.Height <= 0 {
				t.Error("there is no picture")
			}
			g.Apply(map[string]graph.Mark{"a0": {Status: graph.Done}, "a1": {Status: graph.Waiting}})
			if err := g.WriteSVG(io.Discard, graph.SVG{}); err != nil {
				t.Error(err)
			}
			if err := g.WriteText(io.Discard, 100); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHostileTexts(t *testing.T) {
	t.Parallel()
	const evil = "</title><script>alert(1)</script>\u202e\u0000\"'&]]>\n-->"
	def := &workflow.Definition{ID: "x", Name: evil, Root: &workflow.Activity{ID: evil, Name: evil, Type: evil,
		Inputs: map[string]workflow.Expression{"a": workflow.Lit(strings.Repeat(evil, 50))}, Cases: []workflow.Case{{Label: evil, Activity: &workflow.Activity{ID: "b", Type: "Elsa.WriteLine"}}}}}
	g := graph.New(def, graph.Options{})
	check(t, g)
	wellFormed(t, g)
	for _, write := range []func(io.Writer) error{g.WriteMermaid, g.WriteDOT, func(w io.Writer) error { return g.WriteSVG(w, graph.SVG{}) }, func(w io.Writer) error { return g.WriteText(w, 0) }} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\u202e\x00") {
			t.Errorf("control characters come through:\n%q", b.String())
		}
	}
	var b strings.Builder
	_ = g.WriteSVG(&b, graph.SVG{})
	if strings.Contains(b.String(), "<script") {
		t.Error("markup of a definition is markup of the picture")
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	for _, root := range []*workflow.Activity{nil, {}, {Type: "Elsa.Sequence"}, {Type: "Elsa.Flowchart"}, {Type: "Elsa.StateMachine"}, {Type: "Elsa.If"}, {Type: "Elsa.Fork"},
		{Type: "Elsa.Flowchart", Activities: []*workflow.Activity{nil, {}}}, {Type: "Elsa.Sequence", Activities: []*workflow.Activity{nil}}} {
		g := graph.New(&workflow.Definition{ID: "x", Root: root}, graph.Options{})
		check(t, g)
		wellFormed(t, g)
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{10, 50, 200, 1000, 10_000} {
		root := &workflow.Activity{ID: "root", Type: "Elsa.Flowchart"}
		for i := range n {
			root.Activities = append(root.Activities, &workflow.Activity{ID: fmt.Sprint("a", i), Type: "Elsa.WriteLine"})
			if i > 0 {
				root.Connections = append(root.Connections, workflow.Connection{Source: fmt.Sprint("a", (i-1)/2), Target: fmt.Sprint("a", i)})
			}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				graph.New(&workflow.Definition{ID: "x", Root: root}, graph.Options{Limit: 2 * n})
			}
		})
	}
}

// throughJSON holds that a picture which went through JSON is drawn as before.
func throughJSON(t *testing.T, g *graph.Graph) {
	t.Helper()
	marks := map[string]graph.Mark{}
	for i, n := range g.Nodes {
		if n.ID != "" {
			marks[n.ID] = graph.Mark{Status: []graph.Status{graph.Done, graph.Waiting, graph.Faulted, graph.NotRun}[i%4], Count: i % 3, Since: time.Date(2026, 11, 23, 11, 2, i%60, 0, time.UTC), Outcomes: []string{"Done"}}
		}
	}
	g.Apply(marks)
	var wire bytes.Buffer
	if err := g.WriteJSON(&wire); err != nil {
		t.Fatal(err)
	}
	var back graph.Graph
	if err := json.Unmarshal(wire.Bytes(), &back); err != nil {
		t.Fatalf("%v\n%s", err, wire.Bytes())
	}
	for _, o := range []graph.SVG{{}, {Alone: true}, {Link: func(id string) string { return "#" + id }}} {
		var was, is bytes.Buffer
		if err := errors.Join(g.WriteSVG(&was, o), back.WriteSVG(&is, o)); err != nil {
			t.Fatal(err)
		}
		if was.String() != is.String() {
			t.Errorf("drawn from JSON it is another picture:\n%s\n%s", was.String(), is.String())
		}
	}
}

// TestTheNextAreBehindAJoin holds that ways lead from activity to activity.
func TestTheNextAreBehindAJoin(t *testing.T) {
	t.Parallel()
	g := graph.New(parse(t, "id: x\nroot:\n  - if: true\n    then: {writeLine: much}\n    else: {writeLine: little}\n  - event: paid\n"), graph.Options{Types: types})
	at := func(detail string) int {
		return slices.IndexFunc(g.Nodes, func(n graph.Node) bool { return n.Detail == detail })
	}
	next := g.Next()
	for from, want := range map[string][]string{"true": {"much", "little"}, "much": {"paid"}, "little": {"paid"}} {
		var got []string
		for _, to := range next[at(from)] {
			got = append(got, g.Nodes[to].Detail)
		}
		if !slices.Equal(got, want) {
			t.Errorf("from %s ways lead to %q, want %q", from, got, want)
		}
	}
	var svg bytes.Buffer
	if err := g.WriteSVG(&svg, graph.SVG{Link: func(id string) string { return "/i?activity=" + id }}); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(`data-n="%d" data-to="%d"`, at("much"), at("paid")); !strings.Contains(svg.String(), want) {
		t.Errorf("no %s in\n%s", want, svg.String())
	}
	if want := `<title>event, paid, event1</title>`; !strings.Contains(svg.String(), want) {
		t.Errorf("no %s in\n%s", want, svg.String())
	}
}
