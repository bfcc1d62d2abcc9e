package console

import (
	"html"
	"maps"
	"net/http"
	"strings"
	"testing"
)

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
