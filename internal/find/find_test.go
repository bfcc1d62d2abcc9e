package find_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/pkg/workflow"
)

var at = time.Date(2026, 11, 22, 10, 30, 0, 5, time.UTC)

// lines are lines with what they mean, and how they are written again ("": the same).
var lines = []struct {
	line, again string
	is          find.Filter
}{
	{line: "", is: find.Filter{}},
	{line: "status:faulted id:b,a,b", again: "id:a,b status:faulted", is: find.Filter{IDs: []string{"a", "b"}, SubStatus: workflow.Faulted}},
	{line: "instanceId:x -id:y,x", again: "id:x -id:x,y", is: find.Filter{IDs: []string{"x"}, Not: []find.Filter{{IDs: []string{"x", "y"}}}}},
	{line: "status:faulted", is: find.Filter{SubStatus: workflow.Faulted}},
	{line: "status:running def:order-approval version:3", is: find.Filter{Status: workflow.StatusRunning, DefinitionID: "order-approval", Version: 3}},
	{line: "is:Finished", again: "status:finished", is: find.Filter{Status: workflow.StatusFinished}},
	{line: "sub:finished", is: find.Filter{SubStatus: workflow.Finished}},
	{line: "subStatus:FAULTED", again: "status:faulted", is: find.Filter{SubStatus: workflow.Faulted}},
	{line: " definition:d  v:12\t", again: "def:d version:12", is: find.Filter{DefinitionID: "d", Version: 12}},
	{line: "created<2h created>1w1d", is: find.Filter{Created: find.Span{After: find.Moment{Ago: 2 * time.Hour}, Before: find.Moment{Ago: 8 * 24 * time.Hour}}}},
	{line: "created>2026-11-22", again: "created>2026-11-22T00:00:00Z", is: find.Filter{Created: find.Span{After: find.Moment{At: at.Truncate(24 * time.Hour)}}}},
	{line: "updated<2026-11-22T11:30:00.000000005+01:00", again: "updated<2026-11-22T10:30:00.000000005Z", is: find.Filter{Updated: find.Span{Before: find.Moment{At: at}}}},
	{line: "finished<90m", again: "finished<1h30m", is: find.Filter{Finished: find.Span{After: find.Moment{Ago: 90 * time.Minute}}}},
	{line: "waits:event/approved", is: find.Filter{WaitsFor: find.Wait{Kind: find.WaitEvent, Name: "approved"}}},
	{line: "waits:Timer waits:timer", again: "waits:timer", is: find.Filter{WaitsFor: find.Wait{Kind: find.WaitTimer}}},
	{line: `waits:"http/POST /orders/{id}"`, is: find.Filter{WaitsFor: find.Wait{Kind: find.WaitHTTP, Name: "POST /orders/{id}"}}},
	{line: "waitsFor:Acme.Approval/x/y", again: "waits:Acme.Approval/x/y", is: find.Filter{WaitsFor: find.Wait{Kind: "Acme.Approval", Name: "x/y"}}},
	{line: "label.customer:acme label.team:a:b", is: find.Filter{Labels: map[string]string{"customer": "acme", "team": "a:b"}}},
	{line: `name:"Order 7*" corr:o-*`, is: find.Filter{Name: "Order 7*", CorrelationPrefix: "o-"}},
	{line: `name:"Order 7"* corr:"o 2"`, is: find.Filter{NamePrefix: "Order 7", CorrelationID: "o 2"}},
	{line: `incident:"say \"no\" in C:\\"`, is: find.Filter{Incident: `say "no" in C:\`}},
	{line: `incident:C:\x`, is: find.Filter{Incident: `C:\x`}},
	{line: "has:incidents -status:running -corr:x-* -created<1d parent:p", again: "parent:p has:incidents -status:running -corr:x-* -created<1d", is: find.Filter{
		HasIncidents: true, Parent: "p",
		Not: []find.Filter{{Status: workflow.StatusRunning}, {CorrelationPrefix: "x-"}, {Created: find.Span{After: find.Moment{Ago: 24 * time.Hour}}}},
	}},
	{line: "corr:x corr:x", again: "corr:x", is: find.Filter{CorrelationID: "x"}},
	{line: "sort:created def:d", again: "def:d sort:created", is: find.Filter{DefinitionID: "d", Order: find.OldestFirst}},
	{line: "order:-created", again: "sort:-created", is: find.Filter{Order: find.NewestFirst}},
	{line: `corr:"a` + "\n" + `b"`, is: find.Filter{CorrelationID: "a\nb"}},
}

// manyIDs are so many different ones, as a line has them.
func manyIDs(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint("i", i)
	}
	return strings.Join(ids, ",")
}

// A page of instances whose ids are as long as they may be fits into a line.
func TestAPageOfIDsIsALine(t *testing.T) {
	t.Parallel()
	ids := make([]string, 50)
	for i := range ids {
		ids[i] = strings.Repeat("x", workflow.MaxIDLength-2) + fmt.Sprintf("%02d", i)
	}
	for _, line := range []string{"id:" + strings.Join(ids, ",") + " status:faulted", "id:" + manyIDs(find.MaxIDs)} {
		if f, err := find.Parse(line, "/q"); err != nil || len(f.IDs) < 50 || !f.Restricts() {
			t.Errorf("%.60s: %d ids, %v", line, len(f.IDs), err)
		}
	}
	one, err := find.Parse("id:b,a", "/q")
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"a": true, "b": true, "c": false, "": false} {
		if got := one.Fits(&workflow.Instance{ID: id}, nil); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

func TestALineIsItsFilterAndBack(t *testing.T) {
	t.Parallel()
	for _, tt := range lines {
		f, err := find.Parse(tt.line, "/q")
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		want := tt.again
		if want == "" {
			want = tt.line
		}
		if f.String() != want || tt.is.String() != want || !f.Equal(tt.is) {
			t.Errorf("%s: is %q, want %q, which is %q", tt.line, f.String(), want, tt.is.String())
		}
	}
}

// What is wrong is told where it is, and with what was probably meant.
func TestWhatCannotBeReadIsShown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line, code string
		column     int
		says       string
	}{
		{"statsu:faulted", "unknown-word", 1, "did you mean status?"},
		{"def:x  stauts:faulted", "unknown-word", 8, "1 | def:x  stauts:faulted\n           ^"},
		{"status:fautled", "bad-value", 8, "did you mean faulted?"},
		{"status:done", "bad-value", 8, "cancelled, executing, faulted, finished, pending, running, suspended"},
		{"id:a,,b", "bad-value", 4, "by commas"},
		{"id:a,b id:b", "said-twice", 8, "no instance has both"},
		{"id:" + manyIDs(find.MaxIDs+1), "bad-value", 4, "may name 100"},
		{"hello", "unknown-word", 1, "name:hello"},
		{"status", "missing-value", 1, "has no value"},
		{"def:", "bad-value", 5, "has no value"},
		{"def:a/b", "bad-value", 5, "allowed are"},
		{"def:a def:b", "said-twice", 7, "no instance has both"},
		{"version:3", "missing-word", 1, "version goes with def"},
		{"def:x version:03", "bad-value", 15, "whole number"},
		{"def:x version:99999999999999999999", "bad-value", 15, "whole number"},
		{"created:2h", "bad-operator", 1, "takes < or >"},
		{"created>=2h", "bad-operator", 1, "no ="},
		{"def>x", "bad-operator", 1, "takes :"},
		{"created<yesterday", "bad-value", 9, "2026-11-22T10:00:00Z"},
		{"created<0s", "bad-value", 9, "from 1s"},
		{"created<999999999999999999999w", "bad-value", 9, "100 years"},
		{"created<1h1d", "bad-value", 9, "how long ago"},
		{"created>1969-12-31", "bad-value", 9, "before 1970"},
		{"created>2026-13-31", "bad-value", 9, "2026-13-31"},
		{`incident:"half`, "half-quote", 10, "not closed"},
		{`é incident:"ha\lf"`, "unknown-word", 1, "nothing by itself"},
		{`incident:"ha\lf"`, "bad-escape", 13, "before"},
		{`incident:ha"lf"`, "bad-quote", 12, "quote all of it"},
		{`incident:"a"b`, "bad-quote", 10, "put a space"},
		{`"quoted"`, "unknown-word", 1, "quoted text"},
		{"label.a/b:x", "bad-value", 11, "'/'"},
		{"label.a:", "bad-value", 9, "no value"},
		{"label.:x", "bad-value", 8, "1 to 63"},
		{"waits:evnt/x", "bad-value", 7, "did you mean event?"},
		{"waits:", "bad-value", 7, "the kind is one of"},
		{"has:errors", "bad-value", 5, "incidents"},
		{"def:x sort:updated", "bad-value", 12, "created (the oldest first)"},
		{"sort:created sort:-created", "said-twice", 14, "a list has one order"},
		{"-sort:created", "bad-operator", 1, "without -"},
		{"sort<created", "bad-operator", 1, "takes :"},
		{"-", "unknown-word", 1, "nothing by itself"},
		{":x", "unknown-word", 1, "there is no word"},
		{"name:*", "bad-value", 6, "what the text begins with"},
		{"corr:\xff", "bad-character", 1, "UTF-8"},
		{strings.Repeat("corr:x ", find.MaxWords+1), "too-many-words", 7*find.MaxWords + 1, "more than 50"},
		{strings.Repeat("x", find.MaxLine+1), "query-too-long", 1, "8192"},
		{"name:" + strings.Repeat("x", 300), "bad-value", 6, "256 bytes"},
	} {
		_, err := find.Parse(tt.line, "/q")
		var e *workflow.Error
		if !errors.As(err, &e) || e.Code != workflow.CodeInvalid || len(e.Problems) == 0 {
			t.Errorf("%.50s: %v", tt.line, err)
			continue
		}
		p := e.Problems[0]
		if p.Code != tt.code || p.Place.Column != tt.column || p.Place.Pointer != "/q" || !strings.Contains(e.Detail, tt.says) {
			t.Errorf("%.50s: %s at column %d: %s, want %s at %d: %s", tt.line, p.Code, p.Place.Column, e.Detail, tt.code, tt.column, tt.says)
		}
		if p.Code != "query-too-long" && !strings.Contains(e.Detail, "^") {
			t.Errorf("%.50s: no caret in %s", tt.line, e.Detail)
		}
	}
	_, err := find.Parse("statsu:x created:1 def:y versoin:2", "/q")
	var e *workflow.Error
	if !errors.As(err, &e) || len(e.Problems) != 3 || !strings.Contains(e.Detail, "and 2 more") {
		t.Errorf("not all at once: %v", err)
	}
}

func TestParametersAreAFilterToo(t *testing.T) {
	t.Parallel()
	for query, line := range map[string]string{
		"":                          "",
		"limit=3&definitionId=":     "",
		"status=Running&name=a%20*": `status:running name:"a *"`,
		"status=Finished&subStatus=Finished&definitionId=d&version=2": "status:finished sub:finished def:d version:2",
		"createdAfter=2h&createdBefore=2026-11-22":                    "created<2h created<2026-11-22T00:00:00Z",
		"updatedAfter=1d&finishedBefore=1d&waitsFor=task/pack":        "updated<1d finished>1d waits:task/pack",
		"hasIncidents=true&incident=time+out&correlationId=x*":        `corr:"x*" has:incidents incident:"time out"`,
		"hasIncidents=false&label.a=b&label.c=d&parent=p":             "parent:p label.a:b label.c:d -has:incidents",
		"sort=created&status=Running":                                 "status:running sort:created",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := find.FromParams(values); err != nil || f.String() != line {
			t.Errorf("%s: %q, %v; want %q", query, f.String(), err, line)
		}
	}
	for query, says := range map[string]string{
		"status=running": "Running", "subStatus=Done": "no sub-status", "version=1": "definitionId", "definitionId=a&version=0": "whole number",
		"createdAfter=soon": "/createdAfter", "hasIncidents=yes": "true or false", "waitsFor=x": "event", "label.=x": "1 to 63", "label.a=": "no value", "parent=a/b": "/parent",
		"incident=" + strings.Repeat("x", 257): "256", "sort=updated": "the newest first",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := find.FromParams(values); workflow.CodeOf(err) != workflow.CodeInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%.50s: %q, %v", query, f.String(), err)
		}
	}
}

func TestTwoFiltersHoldTogether(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ a, b, both, twice string }{
		{"def:x", "status:faulted -corr:y", "status:faulted def:x -corr:y", ""},
		{"def:x label.a:b -corr:y", "def:x label.c:d -corr:y", "def:x label.a:b label.c:d -corr:y", ""},
		{"def:x label.a:b", "def:y label.a:c", "", "def:y label.a:c"},
		{"created<2h", "created>1d created<2h", "created<2h created>1d", ""},
		{"created<2h", "created<3h", "", "created<3h"},
		{"name:a*", "name:ab", "name:ab name:a*", ""},
		{"def:x sort:created", "sort:created", "def:x sort:created", ""},
		{"sort:-created", "sort:created", "", "sort:created"},
	} {
		a, _ := find.Parse(tt.a, "")
		b, _ := find.Parse(tt.b, "")
		both, twice := a.And(b)
		if said := strings.Join(twice, " "); said != tt.twice || said == "" && both.String() != tt.both {
			t.Errorf("%s and %s: %q, twice %q", tt.a, tt.b, both.String(), said)
		}
		if a.String() != tt.a {
			t.Errorf("%s has become %s", tt.a, a.String())
		}
	}
}

// The order of a list leaves nothing out.
func TestWhatRestricts(t *testing.T) {
	t.Parallel()
	for line, restricts := range map[string]bool{"": false, "sort:created": false, "sort:-created": false, "sort:created status:running": true, "-has:incidents": true} {
		if f, err := find.Parse(line, "/q"); err != nil || f.Restricts() != restricts {
			t.Errorf("%q: %t, %v", line, f.Restricts(), err)
		}
	}
}

func TestWhatFits(t *testing.T) {
	t.Parallel()
	ended, due := at.Add(time.Hour), at.Add(48*time.Hour)
	in := workflow.Instance{
		ID: "i", DefinitionID: "order", Version: 2, Status: workflow.StatusRunning, SubStatus: workflow.Suspended, Name: "Order 7", CorrelationID: "o-7",
		Labels: map[string]string{"customer": "acme"}, Parent: &workflow.Parent{InstanceID: "p"}, CreatedAt: at, UpdatedAt: at.Add(time.Hour), FinishedAt: &ended,
		Incidents: []workflow.Incident{{Message: "TimeOut", Cause: "dial tcp"}},
		Bookmarks: []workflow.Bookmark{
			{ActivityType: workflow.EventType, Name: "approved"}, {ActivityType: "Elsa.Delay", Name: "delay", DueAt: &due},
			{ActivityType: "Elsa.ExecuteWorkflow", Payload: map[string]any{"childInstanceId": "kid"}}, {ActivityType: workflow.TaskType, Name: "pack"},
			{ActivityType: workflow.EndpointType, Name: "GET /x"}, {ActivityType: "Acme.Wait", Name: "z", DueAt: &due},
		},
	}
	now := at.Add(90 * time.Minute)
	for line, fits := range map[string]bool{
		"": true, "status:running": true, "status:suspended": true, "status:faulted": false, "def:order": true, "def:other": false, "def:order version:2": true, "def:order version:1": false,
		`name:"Order 7"`: true, "name:Order": false, "name:Order*": true, "corr:o-7": true, "corr:o-*": true, "corr:p-*": false, "parent:p": true, "parent:q": false,
		"label.customer:acme": true, "label.customer:x": false, "label.x:acme": false,
		"created<2h": true, "created<1h": false, "created>1h": true, "created>2h": false, "created>2026-11-22": true, "created<2026-11-22": false,
		"updated<1h": true, "updated<29m": false, "finished<1h": true, "finished>1h": false,
		"has:incidents": true, "incident:timeout": true, "incident:DIAL": true, "incident:none": false,
		"waits:event/approved": true, "waits:event": true, "waits:Elsa.Event": true, "waits:event/x": false, "waits:timer": true, "waits:timer/z": true, "waits:Acme.Wait/z": true, "waits:timer/y": false,
		"waits:child/kid": true, "waits:child": true, "waits:child/x": false, "waits:task/pack": true, `waits:"http/GET /x"`: true, "waits:Elsa.Delay": true, "waits:Elsa.Cron": false,
		"-status:running": false, "-status:faulted": true, "-waits:event/approved": false, "-incident:timeout": false, "-corr:x": true, "-created<1h": true, "-has:incidents": false,
	} {
		f, err := find.Parse(line, "")
		if err != nil {
			t.Fatal(err)
		}
		f = f.Resolve(now)
		if f.Fits(&in, nil) != fits {
			t.Errorf("%s: fits: %v", line, !fits)
		}
	}
	plain := workflow.Instance{ID: "j"}
	for _, line := range []string{"finished<1h", "finished>1h", "parent:p", "has:incidents", "waits:event"} {
		f, _ := find.Parse(line, "")
		if f = f.Resolve(now); f.Fits(&plain, nil) {
			t.Errorf("%s: it has no such thing", line)
		}
	}
}

// What who asks may not see is not found by its parts.
func TestWhatIsHiddenIsNotFound(t *testing.T) {
	t.Parallel()
	hidden := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	in := workflow.Instance{Name: "hunter2-order", CorrelationID: "hunter2", Incidents: []workflow.Incident{{Message: "bad password hunter2", Cause: "hunter2 was refused"}}}
	for line, fits := range map[string]bool{
		"incident:hunter": false, "incident:2": false, "name:hunt*": false, "corr:h*": false, "incident:password": true, "incident:refused": true, `name:"***"*`: true,
	} {
		f, err := find.Parse(line, "")
		if err != nil {
			t.Fatal(err)
		}
		if f.Fits(&in, hidden) != fits {
			t.Errorf("%s: found: %v", line, !fits)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, tt := range lines {
		f.Add(tt.line)
	}
	f.Add(`-label.a:"\"*"* created<1d`)
	f.Fuzz(func(t *testing.T, line string) {
		got, err := find.Parse(line, "/q")
		if err != nil {
			var e *workflow.Error
			if !errors.As(err, &e) || len(e.Problems) == 0 || e.Problems[0].Place.Column < 1 {
				t.Fatalf("%q: %v", line, err)
			}
			return
		}
		again, err := find.Parse(got.String(), "/q")
		if err != nil || again.String() != got.String() {
			t.Fatalf("%q is written as %q, and that as %q, %v", line, got.String(), again.String(), err)
		}
		now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		a, b := got.Resolve(now), again.Resolve(now)
		for _, in := range []workflow.Instance{{}, {Name: "x", CorrelationID: "x", CreatedAt: now.Add(-time.Hour), Status: workflow.StatusRunning}} {
			if a.Fits(&in, nil) != b.Fits(&in, nil) {
				t.Fatalf("%q and %q do not select the same", line, got.String())
			}
		}
	})
}
