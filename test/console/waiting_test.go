package console

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/auth"
)

// A person sees what is asked, all of it as text, fills in the form, is told what is wrong beside what was typed, and decides
// once; who is no candidate sees nothing.
func TestAPersonDecidesOnAPage(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	s.publish(fmt.Sprintf(`
id: approval
variables: {answer: object}
outputs: {answer: "${{ variables.answer }}"}
root:
  - userTask:
      title: %[1]q
      instructions: "**First**.\n<b>Then</b> this [way](javascript:alert(7))."
      reference: %[1]q
      taskData: {amount: 12.5, %[1]q: %[1]q, lines: [1, 2]}
      candidateUsers: [the-viewer]
      priority: 90
      outcomes: [Approve, {key: Reject, label: %[2]q}]
      form:
        required: [reason]
        order: [reason]
        properties:
          reason: {type: string, title: %[2]q, widget: textarea, default: %[2]q, maxLength: 60}
          limit: {type: integer, maximum: 10, description: %[2]q}
          kind: {type: string, enum: [a, %[2]q]}
          sure: {type: boolean, default: true}
          pin: {type: string, masked: true}
    id: approve
    result: answer
`, hostile, `<i>"no"</i>`))
	id := s.starts("approval", "Suspended", nil)

	v := s.as(auth.Viewer)
	p := v.check("/console/waiting", http.StatusOK)
	v.shows(p, "<h1>Waiting for me</h1>", "<strong>First</strong>.", " this way.", "12.5", "urgent", ">Approve</button>", `value="Reject"`, "&lt;i&gt;&#34;no&#34;&lt;/i&gt;</button>", `type="password"`, `<option value="true" selected>yes`)
	for _, never := range []string{"<i>", "<img", "<b>Then", "alert(7)"} {
		if strings.Contains(p.text, never) {
			t.Errorf("the page has %s", never)
		}
	}
	v.post("/console/do/commentUserTask", url.Values{"p.id": {regexp.MustCompile(`name="p.id" value="([^"]+)"`).FindStringSubmatch(p.text)[1]}, "key": {"kc"}, "back": {"/console/waiting"}, "b.text": {"<i>why</i> so?"}})
	if p = v.check("/console/waiting", http.StatusOK); !strings.Contains(p.text, "&lt;i&gt;why&lt;/i&gt; so?") {
		t.Errorf("the page has no comment: %s", p.text)
	}
	if got := s.as(auth.Designer).check("/console/waiting", http.StatusOK); !strings.Contains(got.text, "Nothing waits for you.") {
		t.Errorf("who is no candidate sees %s", got.text)
	}

	task := regexp.MustCompile(`name="p.id" value="([^"]+)"`).FindStringSubmatch(p.text)
	if task == nil {
		t.Fatal(p.text)
	}
	form := url.Values{"p.id": {task[1]}, "key": {"k1"}, "back": {"/console/waiting"}, "i.text:reason": {"too <u>much</u>"}, "i.number:limit": {"11"}, "i.boolean:sure": {"false"}, "i.masked:text:pin": {"98765"}, "b.outcome": {"Reject"}}
	p = v.post("/console/do/completeUserTask", form)
	if p.status != http.StatusUnprocessableEntity || strings.Contains(p.text, "98765") {
		t.Errorf("%d %s", p.status, p.text)
	}
	v.shows(p, "limit has to be 10 or less", "/data/limit", "too &lt;u&gt;much&lt;/u&gt;", `name="i.masked:text:pin"`)
	form.Set("key", "k2")
	v.post("/console/do/claimUserTask", url.Values{"p.id": {task[1]}, "key": {"k0"}, "back": {"/console/waiting"}})
	v.shows(v.check("/console/waiting", http.StatusOK), ">yours<", "Give back")
	v.shows(s.as(auth.Operator).check("/console/waiting?others=true", http.StatusOK), "taken by key:the-viewer", "Take it away")

	form.Set("i.number:limit", "10")
	if p = v.post("/console/do/completeUserTask", form); p.status != http.StatusOK && p.status != http.StatusSeeOther {
		t.Errorf("%d %s", p.status, p.text)
	}
	await(t, s, id, "Finished")
	_, in := s.api(http.MethodGet, "/instances/"+id, nil)
	if got := fmt.Sprint(in["output"]); !strings.Contains(got, "outcome:Reject") || !strings.Contains(got, "sure:false") || !strings.Contains(got, "limit:10") || strings.Contains(got, "98765") {
		t.Errorf("%s", got)
	}
	if p = v.check("/console/waiting", http.StatusOK); !strings.Contains(p.text, "Nothing waits for you.") {
		t.Errorf("%s", p.text)
	}
	form.Set("key", "k3")
	if p = v.post("/console/do/completeUserTask", form); p.status != http.StatusNotFound || !strings.Contains(p.text, "key:the-viewer completed it at ") {
		t.Errorf("%d %s", p.status, p.text)
	}
}

// What is masked is shown nowhere, of each type and form of input, also when the page refuses it.
func TestWhatIsMaskedIsNotShownAgain(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	s.publish(`
id: masked
root:
  - userTask:
      title: Say it
      candidateUsers: [the-viewer]
      form:
        properties:
          code: {type: integer, masked: true, maximum: 10}
          long: {type: string, masked: true, widget: textarea}
          one: {type: string, masked: true, enum: [secret-one, two]}
          sure: {type: boolean, masked: true}
    id: ask
`)
	s.starts("masked", "Suspended", nil)
	v := s.as(auth.Viewer)
	p := v.check("/console/waiting", http.StatusOK)
	v.shows(p, `<input name="i.masked:number:code" type="password"`, `<textarea name="i.masked:text:long"`, `<select name="i.masked:text:one"`, `<select name="i.masked:boolean:sure"`)
	task := regexp.MustCompile(`name="p.id" value="([^"]+)"`).FindStringSubmatch(p.text)
	if task == nil {
		t.Fatal(p.text)
	}
	for i, code := range []string{"98765", "seven-98765"} {
		form := url.Values{"p.id": {task[1]}, "key": {fmt.Sprint("k", i)}, "back": {"/console/waiting"}, "i.masked:number:code": {code},
			"i.masked:text:long": {"secret-long"}, "i.masked:text:one": {"secret-one"}, "i.masked:boolean:sure": {"true"}, "b.outcome": {"Complete"}}
		p = v.post("/console/do/completeUserTask", form)
		if p.status != http.StatusUnprocessableEntity || strings.Contains(p.text, "98765") || strings.Contains(p.text, "secret-") {
			t.Errorf("%d %s", p.status, p.text)
		}
	}
}
