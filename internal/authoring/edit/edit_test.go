package edit_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/edit"
	"github.com/weft-run/weft/pkg/activities"
)

func text(s string) *string { return &s }

// TestAnEditIsWhatAPersonWouldWrite holds the text after each kind of edit, byte by byte.
func TestAnEditIsWhatAPersonWouldWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		before       string
		edits        []edit.Edit
		after, focus string
	}{
		{
			"behind, under a comment", "id: x\nroot:\n  - writeLine: a # said\n\n  # about b\n  - writeLine: b\n",
			[]edit.Edit{{Op: edit.Insert, Activity: "writeLine1", Type: "event", Inputs: map[string]any{"eventName": "paid"}}},
			"id: x\nroot:\n  - writeLine: a # said\n  - event: paid\n\n  # about b\n  - writeLine: b\n", "event1",
		},
		{
			"before, above its comment", "id: x\nroot:\n  # about a\n  - writeLine: a\n",
			[]edit.Edit{{Op: edit.Insert, Activity: "writeLine1", Where: edit.Before, Type: "break"}},
			"id: x\nroot:\n  - break:\n  # about a\n  - writeLine: a\n", "break1",
		},
		{
			"behind the last, without a line end", "id: x\nroot:\n- writeLine: a",
			[]edit.Edit{{Op: edit.Insert, Activity: "writeLine1", Type: "sendHttpRequest", ID: "call", Inputs: map[string]any{"url": "https://a.example", "method": "POST"}}},
			"id: x\nroot:\n- writeLine: a\n- id: call\n  sendHttpRequest:\n    method: POST\n    url: https://a.example", "call",
		},
		{
			"between brackets", "id: x\nroot: [{writeLine: a}, {writeLine: b}]\n",
			[]edit.Edit{{Op: edit.Insert, Activity: "writeLine1", Type: "delay", Inputs: map[string]any{"timeSpan": "5s"}}},
			"id: x\nroot: [{writeLine: a}, {delay: 5s}, {writeLine: b}]\n", "delay1",
		},
		{
			"beside one that stands alone", "id: x\nroot:\n  - if: ${{ true }}\n    then: {writeLine: a} # said\n",
			[]edit.Edit{{Op: edit.Insert, Activity: "if1.then.writeLine1", Type: "finish"}},
			"id: x\nroot:\n  - if: ${{ true }}\n    then:\n      - {writeLine: a} # said\n      - finish:\n", "if1.then.finish1",
		},
		{
			"behind one of several side by side", "id: x\nroot:\n  - parallel:\n      - writeLine: a\n        name: first\n      # other\n      - writeLine: b\n",
			[]edit.Edit{{Op: edit.Insert, Activity: "parallel1.writeLine1", Type: "delay", Inputs: map[string]any{"timeSpan": "5s"}}},
			"id: x\nroot:\n  - parallel:\n      - - writeLine: a\n          name: first\n        - delay: 5s\n      # other\n      - writeLine: b\n", "parallel1.sequence1.delay1",
		},
		{
			"into a branch that is not there", "id: x\nroot:\n  - if: ${{ true }}\n    then:\n      - writeLine: a\n  # end\n  - finish:\n",
			[]edit.Edit{{Op: edit.Insert, Activity: "if1", Where: edit.Into, Branch: "else", Type: "writeLine", Inputs: map[string]any{"text": "b: c"}}},
			"id: x\nroot:\n  - if: ${{ true }}\n    then:\n      - writeLine: a\n    else:\n      - writeLine: 'b: c'\n  # end\n  - finish:\n", "if1.else.writeLine1",
		},
		{
			"into nothing", "id: x\nroot: []\n",
			[]edit.Edit{{Op: edit.Insert, Activity: "root", Where: edit.Into, Type: "writeLine"}},
			"id: x\nroot:\n  - writeLine:\n", "writeLine1",
		},
		{
			"an activity with its comment goes", "id: x\nroot:\n  - writeLine: a\n\n  # about b\n  - writeLine: b # said\n    # more of b\n  # end\n",
			[]edit.Edit{{Op: edit.Delete, Activity: "writeLine2"}},
			"id: x\nroot:\n  - writeLine: a\n\n  # end\n", "root",
		},
		{
			"the only one of a branch", "id: x\nroot:\n  - if: ${{ true }}\n    then:\n      - writeLine: a\n    # no\n    else:\n      - writeLine: b\n",
			[]edit.Edit{{Op: edit.Delete, Activity: "if1.then.writeLine1"}},
			"id: x\nroot:\n  - if: ${{ true }}\n    # no\n    else:\n      - writeLine: b\n", "if1",
		},
		{
			"the only one of all", "id: x\nroot: # all\n  - writeLine: a\n",
			[]edit.Edit{{Op: edit.Delete, Activity: "writeLine1"}},
			"id: x\nroot: [] # all\n", "root",
		},
		{
			"up, with what is above it", "id: x\nroot:\n  # a\n  - writeLine: a\n  # b\n  - writeLine: |\n      b\n        c\n    name: two\n",
			[]edit.Edit{{Op: edit.Move, Activity: "writeLine2", Where: edit.Up}},
			"id: x\nroot:\n  # b\n  - writeLine: |\n      b\n        c\n    name: two\n  # a\n  - writeLine: a\n", "writeLine1",
		},
		{
			"into another branch", "id: x\nroot:\n  - if: ${{ true }}\n    then:\n      - writeLine: a\n  # b\n  - writeLine: b # c\n    name: two\n",
			[]edit.Edit{{Op: edit.Move, Activity: "writeLine1", To: "if1", Where: edit.Into, Branch: "then"}},
			"id: x\nroot:\n  - if: ${{ true }}\n    then:\n      - writeLine: a\n      # b\n      - writeLine: b # c\n        name: two\n", "if1.then.writeLine2",
		},
		{
			"wrapped in if", "id: x\nroot:\n  # say it\n  - id: say\n    writeLine: | # lines\n      a\n      # no comment\n    # end\n  - finish:\n",
			[]edit.Edit{{Op: edit.Wrap, Activity: "say", Type: "if", Inputs: map[string]any{"condition": "${{ inputs.loud }}"}}},
			"id: x\nroot:\n  # say it\n  - if: ${{ inputs.loud }}\n    then:\n      - id: say\n        writeLine: | # lines\n          a\n          # no comment\n        # end\n  - finish:\n", "if1",
		},
		{
			"wrapped in parallel", "id: x\nroot: [{writeLine: a}, {writeLine: b}]\n",
			[]edit.Edit{{Op: edit.Wrap, Activity: "writeLine2", Type: "parallel"}},
			"id: x\nroot: [{writeLine: a}, {parallel: [{writeLine: b}]}]\n", "parallel1",
		},
		{
			"retried, with a time", "id: x\nroot:\n  - sendHttpRequest: {url: https://a.example} # call\n",
			[]edit.Edit{{Op: edit.Wrap, Activity: "sendHttpRequest1", Type: edit.Retry, Inputs: map[string]any{"attempts": 5, "delay": "10s"}}},
			"id: x\nroot:\n  - sendHttpRequest: {url: https://a.example} # call\n    retry: {attempts: 5, delay: 10s}\n", "sendHttpRequest1",
		},
		{
			"the main input", "id: x\nroot:\n  - writeLine: 'a'   # said\n",
			[]edit.Edit{{Op: edit.Set, Activity: "writeLine1", Key: "text", Text: text("Hello ${{ inputs.who }}")}},
			"id: x\nroot:\n  - writeLine: Hello ${{ inputs.who }}   # said\n", "writeLine1",
		},
		{
			"an input in a mapping, one beside, one that was not there", "id: x\nroot:\n  - sendHttpRequest:\n      url: https://a.example # where\n      method: GET\n  - if: true\n    then: []\n",
			[]edit.Edit{
				{Op: edit.Set, Activity: "sendHttpRequest1", Key: "method", Text: text("POST")},
				{Op: edit.Set, Activity: "sendHttpRequest1", Key: "content", Text: text("{a: 1}")},
				{Op: edit.Set, Activity: "if1", Key: "condition", Text: text("${{ inputs.n > 1 }}")},
			},
			"id: x\nroot:\n  - sendHttpRequest:\n      url: https://a.example # where\n      method: POST\n      content: {a: 1}\n  - if: ${{ inputs.n > 1 }}\n    then: []\n", "if1",
		},
		{
			"several lines, and none", "id: x\nroot:\n  - runJavaScript: |\n      return 1\n    name: one\n  - writeLine:\n",
			[]edit.Edit{
				{Op: edit.Set, Activity: "runJavaScript1", Key: "script", Text: text("var a = 1\nreturn a")},
				{Op: edit.Set, Activity: "runJavaScript1", Key: "name"},
				{Op: edit.Set, Activity: "writeLine1", Key: "text", Text: text("007")},
			},
			"id: x\nroot:\n  - runJavaScript: |-\n      var a = 1\n      return a\n  - writeLine: '007'\n", "writeLine1",
		},
		{
			"an input with the name of a key", "id: x\nroot:\n  - setLabel:\n",
			[]edit.Edit{
				{Op: edit.Set, Activity: "setLabel1", Key: "name", Text: text("customer")},
				{Op: edit.Set, Activity: "setLabel1", Key: "value", Text: text("acme")},
			},
			"id: x\nroot:\n  - setLabel: {name: customer, value: acme}\n", "setLabel1",
		},
		{
			"a bare name", "id: x\nroot:\n  - writeLine\n  - while: true\n    body: break\n",
			[]edit.Edit{
				{Op: edit.Set, Activity: "writeLine1", Key: "text", Text: text("true")},
				{Op: edit.Set, Activity: "while1.body.break1", Key: "name", Text: text("out")},
			},
			"id: x\nroot:\n  - writeLine: 'true'\n  - while: true\n    body:\n      break:\n      name: out\n", "while1.body.break1",
		},
		{
			"in a flowchart", "id: x\nroot:\n  flowchart:\n    activities:\n      # asks\n      ask: {flowDecision: true}\n      yes: {writeLine: y}\n      no: {writeLine: n}\n    connections: # ways\n      - ask.True -> yes # good\n      - ask.False -> no\n",
			[]edit.Edit{
				{Op: edit.Insert, Activity: "ask", Port: "True", Type: "delay", ID: "wait", Inputs: map[string]any{"timeSpan": "5s"}},
				{Op: edit.Connect, Activity: "wait", To: "no", Port: ""},
				{Op: edit.Disconnect, Activity: "ask", To: "no", Port: "False"},
			},
			"id: x\nroot:\n  flowchart:\n    activities:\n      # asks\n      ask: {flowDecision: true}\n      wait: {delay: 5s}\n      yes: {writeLine: y}\n      no: {writeLine: n}\n    connections: # ways\n      - ask.True -> wait -> yes # good\n      - wait -> no\n", "ask",
		},
		{
			"out of a flowchart", "id: x\nroot:\n  flowchart:\n    activities: {a: {writeLine: a}, b: {writeLine: b}, c: {writeLine: c}}\n    connections: [a -> b -> c, b -> a]\n",
			[]edit.Edit{{Op: edit.Delete, Activity: "b"}},
			"id: x\nroot:\n  flowchart:\n    activities: {a: {writeLine: a}, c: {writeLine: c}}\n    connections: [a -> c]\n", "root",
		},
		{
			"the last, without a line end, behind lines", "id: x\nroot:\n  - writeLine: |\n      a\n  - writeLine: b",
			[]edit.Edit{{Op: edit.Delete, Activity: "writeLine2"}},
			"id: x\nroot:\n  - writeLine: |\n      a\n", "root",
		},
		{
			"Windows' line ends", "id: x\r\nroot:\r\n  - writeLine: a\r\n",
			[]edit.Edit{{Op: edit.Insert, Activity: "writeLine1", Type: "sendHttpRequest", Inputs: map[string]any{"url": "u", "method": "GET"}}},
			"id: x\r\nroot:\r\n  - writeLine: a\r\n  - sendHttpRequest:\r\n      method: GET\r\n      url: u\r\n", "sendHttpRequest1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res, problems := edit.Apply(t.Context(), []byte(c.before), false, c.edits, activities.Default())
			if len(problems) > 0 {
				t.Fatalf("refused: %v\n%s", problems, problems[0].Excerpt)
			}
			if string(res.Text) != c.after || res.Activity != c.focus {
				t.Errorf("got\n%s\nwant\n%s\nabout %q, want %q", res.Text, c.after, res.Activity, c.focus)
			}
		})
	}
}

// TestABrokenReferenceIsTold holds that an edit that takes the activity of a reference away says so.
func TestABrokenReferenceIsTold(t *testing.T) {
	t.Parallel()
	src := "id: x\nroot:\n  - writeLine: a\n  - runJavaScript: return 1\n    id: calc\n  - writeLine: ${{ outputs(\"calc\") }} ${{ outputs('writeLine1') }}\n"
	for _, c := range []struct {
		edit edit.Edit
		want []string
	}{
		{edit.Edit{Op: edit.Delete, Activity: "calc"}, []string{`"calc", which is not there`}},
		{edit.Edit{Op: edit.Insert, Activity: "writeLine1", Where: edit.Before, Type: "writeLine"}, []string{`"writeLine1", which is another activity now`}},
		{edit.Edit{Op: edit.Insert, Activity: "writeLine1", Where: edit.After, Type: "finish"}, nil},
		{edit.Edit{Op: edit.Set, Activity: "calc", Key: "id", Text: text("sum")}, []string{`"calc", which is not there`}},
	} {
		res, problems := edit.Apply(t.Context(), []byte(src), false, []edit.Edit{c.edit}, activities.Default())
		if len(problems) > 0 {
			t.Fatalf("%+v: %v", c.edit, problems)
		}
		if len(res.Problems) != len(c.want) {
			t.Errorf("%+v: %v, want %q", c.edit, res.Problems, c.want)
		}
		for i, p := range res.Problems {
			if !p.Warning || p.Place.Line == 0 || !strings.Contains(p.Detail, c.want[i]) {
				t.Errorf("%+v: %v, want %q", c.edit, p, c.want[i])
			}
		}
	}
}

// TestAnEditChangesOnePlace holds that an edit of what an alias repeats is refused with its
// place, and that one beside it, or of all that names it, is made.
func TestAnEditChangesOnePlace(t *testing.T) {
	t.Parallel()
	requests := "id: x\nroot:\n  - sendHttpRequest: &r\n      url: a\n      method: GET\n  - sendHttpRequest: *r\n  - writeLine: b\n"
	branches := "id: x\nroot:\n  - if: ${{ true }}\n    then: &s\n      - writeLine: a\n    else: *s\n"
	merged := "id: x\nroot:\n  - &a\n    writeLine: a\n    name: n\n  - <<: *a\n    writeLine: b\n"
	for name, c := range map[string]struct {
		src   string
		edit  edit.Edit
		line  int // of the refusal; 0: it is made
		after string
	}{
		"an input":             {requests, edit.Edit{Op: edit.Set, Activity: "sendHttpRequest1", Key: "url", Text: text("c")}, 3, ""},
		"one more input":       {requests, edit.Edit{Op: edit.Set, Activity: "sendHttpRequest1", Key: "content", Text: text("c")}, 3, ""},
		"an input taken away":  {requests, edit.Edit{Op: edit.Set, Activity: "sendHttpRequest1", Key: "method", Text: text("")}, 3, ""},
		"into a branch":        {branches, edit.Edit{Op: edit.Insert, Activity: "if1", Where: edit.Into, Branch: "then", Type: "finish"}, 4, ""},
		"into the other one":   {branches, edit.Edit{Op: edit.Insert, Activity: "if1", Where: edit.Into, Branch: "else", Type: "finish"}, 4, ""},
		"what is merged":       {merged, edit.Edit{Op: edit.Set, Activity: "writeLine1", Key: "name", Text: text("c")}, 3, ""},
		"another meaning":      {"id: x\nroot:\n  - name: &n a\n    writeLine: c\n  - name: &n b\n    writeLine: d\n  - name: *n\n    writeLine: e\n", edit.Edit{Op: edit.Move, Activity: "writeLine2", Where: edit.Up}, 5, ""},
		"beside":               {requests, edit.Edit{Op: edit.Set, Activity: "writeLine1", Key: "text", Text: text("c")}, 0, strings.Replace(requests, ": b", ": c", 1)},
		"a key beside":         {requests, edit.Edit{Op: edit.Set, Activity: "sendHttpRequest1", Key: "name", Text: text("c")}, 0, strings.Replace(requests, "  - sendHttpRequest: *r", "    name: c\n  - sendHttpRequest: *r", 1)},
		"all that name it":     {branches + "  - finish:\n", edit.Edit{Op: edit.Delete, Activity: "if1"}, 0, "id: x\nroot:\n  - finish:\n"},
		"nobody repeats it":    {strings.Replace(requests, "*r", "{url: z}", 1), edit.Edit{Op: edit.Set, Activity: "sendHttpRequest1", Key: "url", Text: text("c")}, 0, strings.Replace(strings.Replace(requests, "*r", "{url: z}", 1), "url: a", "url: c", 1)},
		"the alias is another": {requests, edit.Edit{Op: edit.Delete, Activity: "sendHttpRequest2"}, 0, strings.Replace(requests, "  - sendHttpRequest: *r\n", "", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, problems := edit.Apply(t.Context(), []byte(c.src), false, []edit.Edit{c.edit}, activities.Default())
			switch {
			case c.line == 0 && (len(problems) > 0 || string(res.Text) != c.after):
				t.Errorf("%v\n%s\nwant\n%s", problems, res.Text, c.after)
			case c.line > 0 && (len(problems) != 1 || problems[0].Code != "edit-refused" || problems[0].Place.Line != c.line):
				t.Errorf("%v, want a refusal in line %d\n%s", problems, c.line, res.Text)
			}
		})
	}
}
