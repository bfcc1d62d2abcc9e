package console

import (
	"html"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/find"
)

// Faults are of one kind if their messages differ in words with digits only, and a line that finds
// them can be read, whatever the message is.
func TestFaultsAreGrouped(t *testing.T) {
	t.Parallel()
	row := func(definition, message string) summary {
		s := summary{DefinitionID: definition}
		if message != "" {
			s.Incident = &message
		}
		return s
	}
	got := grouped([]summary{row("a", "timeout after 30s for order-17"), row("b", ""), row("a", "timeout after 31s for order-18"), row("b", "timeout after 30s for order-17"), row("a", "no stock")})
	if len(got) != 4 || got[0].Count != 2 || got[0].DefinitionID != "a" || got[0].Query != `status:faulted def:a incident:"timeout after"` {
		t.Errorf("%+v", got)
	}
	var many []summary
	for i := range 50 {
		many = append(many, row("a", strings.Repeat("x", i+1)))
	}
	if n := len(grouped(many)); n != faultsShown {
		t.Errorf("%d kinds are shown", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.String().Draw(t, "message")
		line := faultQuery("def", message)
		f, err := find.Parse(line, "/q")
		if err != nil {
			t.Fatalf("%q gives the line %q: %v", message, line, err)
		}
		if f.Incident != "" && !strings.Contains(message, f.Incident) {
			t.Fatalf("%q is not found by %q", message, f.Incident)
		}
	})
}

// homeAnswers are what the page asks for; changed ones have another answer.
func homeAnswers(changed map[string]string) map[string]string {
	answers := map[string]string{
		"/nodes": `{"items": [{"nodeId": "one", "self": true}]}`, "/nodes/one/meters": `{"store": {"quota": 2147483648, "allocated": 1048576, "inUse": 1048576}}`,
		"/stats":     `{"instances": {"count": 7, "exact": true}, "bySubStatus": {"executing": {"count": 7, "exact": true}, "faulted": {"count": 3, "exact": false}}}`,
		"/instances": `{"items": []}`, "/dead-letters": `{"items": []}`, "/timers": `{"items": []}`,
	}
	maps.Copy(answers, changed)
	return answers
}

// What was looked at in part only is never shown as if it were all.
func TestHomeSaysWhatItDidNotLookAt(t *testing.T) {
	t.Parallel()
	letters := `{"items": [{"id": "a", "reason": "expired"}, {"id": "b", "reason": "expired"}, {"id": "c", "reason": "refused"}]`
	for what, c := range map[string]struct {
		answers   map[string]string
		has, lack []string
	}{
		"all":     {map[string]string{"/dead-letters": letters + `}`}, []string{"<b>2</b> expired", "<b>1</b> refused", "<b>7</b>", "<b>3+</b>", "etcd has "}, []string{"there are others", "cannot count"}},
		"letters": {map[string]string{"/dead-letters": letters + `, "nextCursor": "n"}`}, []string{"<b>2+</b> expired", "<b>1+</b> refused", "Counted among the first 50; there are others."}, nil},
		"definitions": {map[string]string{"/stats": `{"more": true, "instances": {"count": 7, "exact": false}, "bySubStatus": {"executing": {"count": 7, "exact": true}, "faulted": {"count": 0, "exact": true}}}`},
			[]string{"<b>7+</b>", "<b>0+</b>"}, []string{"<b>7</b>", "<b>0</b>"}},
		"counts": {map[string]string{"/stats": `503 {"title": "Service Unavailable"}`}, []string{"This node cannot count them now.", "There are no dead letters.", "etcd has "}, []string{"<b>0"}},
		"meters": {map[string]string{"/nodes/one/meters": `503 {"title": "Service Unavailable"}`}, []string{"<b>7</b>", "at work"}, []string{"etcd has "}},
	} {
		status, text := answering(t, atTen, homeAnswers(c.answers)).look(t, "/console/")
		text = html.UnescapeString(text)
		for _, want := range c.has {
			if status != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: %d, no %q in\n%s", what, status, want, text)
			}
		}
		for _, no := range c.lack {
			if strings.Contains(text, no) {
				t.Errorf("%s: %q in\n%s", what, no, text)
			}
		}
	}
}

// An instance has waited since the first of its waits began, whatever changed it later.
func TestAWaitBeganWhenItsBookmarkWasMade(t *testing.T) {
	t.Parallel()
	rows := `{"items": [
		{"instanceId": "young", "definitionId": "d", "updatedAt": "2026-11-23T09:58:00Z", "waitsFor": [{"kind": "event", "since": "2026-11-23T09:58:00Z"}]},
		{"instanceId": "long", "definitionId": "d", "updatedAt": "2026-11-23T09:59:00Z", "waitsFor": [{"kind": "timer", "since": "2026-11-23T09:57:00Z"}, {"kind": "event", "since": "2026-11-23T07:00:00Z"}]},
		{"instanceId": "untold", "definitionId": "d", "updatedAt": "2026-11-23T09:56:00Z", "waitsFor": [{"kind": "event", "since": null}]}]`
	said := "Of the 30 oldest instances that wait"
	_, text := answering(t, atTen, homeAnswers(map[string]string{"/instances": rows + `, "nextCursor": "n"}`})).look(t, "/console/")
	text = text[strings.Index(text, "Waits, the oldest"):]
	long, untold, young := strings.Index(text, ">long<"), strings.Index(text, ">untold<"), strings.Index(text, ">young<")
	if long < 0 || long > untold || untold > young || !strings.Contains(text[:long], `datetime="2026-11-23T07:00:00`) || !strings.Contains(text, said) {
		t.Errorf("at %d, %d, %d in\n%s", long, untold, young, text)
	}
	if _, text = answering(t, atTen, homeAnswers(map[string]string{"/instances": rows + `}`})).look(t, "/console/"); strings.Contains(text, said) {
		t.Errorf("it says that there are others\n%s", text)
	}
}

// On each page of several, reasons are counted of the page only; and a definition of which nothing was
// counted has no 0 where not all were.
func TestListsSayWhatTheyDidNotCount(t *testing.T) {
	t.Parallel()
	c := answering(t, atTen, map[string]string{
		"/dead-letters": `{"items": [{"id": "a", "reason": "expired"}]}`,
		"/definitions":  `{"items": [{"id": "counted", "version": 1}, {"id": "not", "version": 1}]}`,
		"/stats":        `{"more": true, "items": [{"definitionId": "counted", "version": 1, "bySubStatus": {"suspended": {"count": 4, "exact": true}}}]}`,
	})
	for path, want := range map[string]string{
		"/console/dead-letters": "<b>1</b> expired", "/console/dead-letters?cursor=last": "<b>1+</b> expired", "/console/definitions": `<span class="quiet">not known</span>`,
	} {
		if _, text := c.look(t, path); strings.Count(text, want) != 1 {
			t.Errorf("%s has not one %q\n%s", path, want, text)
		}
	}
}

// How long an instance usually takes is known from some that ended.
func TestTheUsualTimeIsTheMiddleOne(t *testing.T) {
	t.Parallel()
	start := time.Now()
	ended := func(took ...time.Duration) (out []summary) {
		for _, d := range took {
			end := start.Add(d)
			out = append(out, summary{CreatedAt: start, FinishedAt: &end})
		}
		return append(out, summary{CreatedAt: start}) // runs
	}
	for _, c := range []struct {
		of   []summary
		want time.Duration
	}{
		{ended(), 0}, {ended(time.Second, time.Second, time.Second, time.Second), 0},
		{ended(time.Hour, time.Second, 3*time.Second, 2*time.Second, 0), 2 * time.Second}, {ended(0, 0, 0, 0, -time.Second), time.Millisecond},
	} {
		if got := median(c.of); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// What an event may bring is guessed from what is read of it, and from nothing else.
func TestASampleIsGuessed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, event, want string }{
		{"root:\n  - event: paid\n    result: p\n  - writeLine: ${{ variables.p.by + variables.p.by + variables.other.x }}\n  - if: ${{ variables.p.n >= 3 }}\n", "paid", `{"by": "…", "n": 0}`},
		{"outputs:\n  granted: ${{ variables.d?.granted }}\nroot:\n  - event: decided\n    result: d\n  - if: ${{ variables.d.granted }}\n    then: [{writeLine: \"${{ variables.d.by }}\"}]\n", "decided", `{"granted": true, "by": "…"}`},
		{"root:\n  - event: 'paid' # it\n    timeout: 3h\n\n    result: \"p\"\n  - writeLine: ${{ variables.p.by }}\n", "paid", `{"by": "…"}`},
		{"root:\n  - event: paid\n  - event: sent\n    result: p\n  - writeLine: ${{ variables.p.by }}\n", "paid", ""},
		{"root:\n  - event: paid\n    result: p\n", "paid", ""},
		{"root:\n  - event: paid\n    result: p\n  - writeLine: ${{ variables.p.by }}\n", "other", ""},
		{"", "paid", ""}, {"{\"root\": {}}", "", ""}, {"- event:", "", ""},
	} {
		if got := sample(c.source, c.event); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.event, c.source, got, c.want)
		}
	}
}

// Numbers and sizes are written for people.
func TestNumbersAreWritten(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 4 << 30: "4.0 GiB", 5 << 50: "5120.0 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
