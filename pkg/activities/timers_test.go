package activities_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestTimersWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a   *workflow.Activity
		due time.Time // zero: it does not wait
	}{
		"delay":            {act("Delay", inputs{"timeSpan": lit("00:00:05")}), t0.Add(5 * time.Second)},
		"delay, ISO":       {act("Delay", inputs{"timeSpan": lit("P1DT2H")}), t0.Add(26 * time.Hour)},
		"delay, Go":        {act("Delay", inputs{"timeSpan": expr(func(engine.Scope) (any, error) { return "1d12h", nil })}), t0.Add(36 * time.Hour)},
		"delay, none":      {act("Delay", inputs{"timeSpan": lit("0s")}), time.Time{}},
		"timer":            {act("Timer", inputs{"interval": lit("10m")}), t0.Add(10 * time.Minute)},
		"start at":         {act("StartAt", inputs{"dateTime": lit("2026-03-01T13:00:00+00:30")}), t0.Add(30 * time.Minute)},
		"start at, past":   {act("StartAt", inputs{"dateTime": lit("2020-01-01")}), time.Time{}},
		"start at, zone":   {act("StartAt", inputs{"dateTime": lit("2026-03-01T18:00"), "timeZone": lit("Asia/Kolkata")}), t0.Add(30 * time.Minute)},
		"start at, UTC":    {act("StartAt", inputs{"dateTime": lit("2026-03-01 12:00:01"), "timeZone": lit(" UTC ")}), t0.Add(time.Second)},
		"cron":             {act("Cron", inputs{"cronExpression": lit("0 30 * * * *")}), t0.Add(30 * time.Minute)},
		"cron, not today":  {act("Cron", inputs{"cronExpression": lit("0 0 18 * * *"), "timeZone": lit("Asia/Kolkata"), "exceptDates": expr(func(engine.Scope) (any, error) { return []any{"2026-03-01", "2026-03-02"}, nil })}), t0.Add(48*time.Hour + 30*time.Minute)},
		"cron in a zone":   {act("Cron", inputs{"cronExpression": lit("0 0 18 * * *"), "timeZone": lit("Asia/Kolkata")}), t0.Add(30 * time.Minute)},
		"cron, zone in it": {act("Cron", inputs{"cronExpression": lit("CRON_TZ=Asia/Kolkata 0 0 18 * * *")}), t0.Add(30 * time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, root(seq(line("WriteLine1"), named("timer", c.a), line("WriteLine2"))))
			if c.due.IsZero() {
				b.wantStatus(workflow.Finished)
				return
			}
			bm := b.header.Bookmarks[0]
			if bm.DueAt == nil || !bm.DueAt.Equal(c.due) {
				t.Errorf("due at %v, want %s", bm.DueAt, c.due)
			}
			b.wantStatus(workflow.Suspended).wantLines("WriteLine1")
			b.resume("timer", nil)
			b.wantStatus(workflow.Finished).wantLines("WriteLine1", "WriteLine2")
		})
	}
}

func TestATimeOutsideTheCalendarIsAnIncident(t *testing.T) {
	t.Parallel()
	micro := expr(func(engine.Scope) (any, error) { return int64(1_767_225_600_000_000), nil })
	b := start(t, root(act("StartAt", inputs{"dateTime": micro}))).wantStatus(workflow.Faulted)
	if len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, "divide microseconds by 1,000") {
		t.Errorf("incidents %v", b.header.Incidents)
	}
}

// Without a zone, what has no offset is UTC. On the clock of a zone, what it leaves out is at the jump, and what it shows twice is the first time: written as it is,
// computed, and as a trigger.
func TestStartAtOnTheClockOfAZone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ zone, at, want string }{
		{"", "2026-03-29T02:30", "2026-03-29T02:30:00Z"},
		{"", "2026-03-29T02:30+01:00", "2026-03-29T01:30:00Z"},
		{"Europe/Berlin", "2026-03-29T01:59:59", "2026-03-29T00:59:59Z"},
		{"Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-10-25 02:30:00", "2026-10-25T00:30:00Z"},
		{"Europe/Berlin", "2026-07-01", "2026-06-30T22:00:00Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z"},
		{"America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z"},
		{"Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30:00Z"},
		{"Africa/Casablanca", "2027-02-07T02:30", "2027-02-07T01:30:00Z"},
		{"Asia/Kathmandu", "2026-06-01T09:00", "2026-06-01T03:15:00Z"},
		{"UTC", "2026-03-29T02:30", "2026-03-29T02:30:00Z"},
	} {
		want, err := time.Parse(time.RFC3339, row.want)
		if err != nil {
			t.Fatal(err)
		}
		given := func(at workflow.Expression) inputs {
			in := inputs{"dateTime": at}
			if row.zone != "" {
				in["timeZone"] = lit(row.zone)
			}
			return in
		}
		computed := expr(func(engine.Scope) (any, error) { return row.at, nil })
		for how, at := range map[string]workflow.Expression{"written": lit(row.at), "computed": computed} {
			b := start(t, root(act("StartAt", given(at)))).wantStatus(workflow.Suspended)
			if due := b.header.Bookmarks[0].DueAt; due == nil || !due.Equal(want) {
				t.Errorf("%s in %q, %s: %v; want %s", row.at, row.zone, how, due, row.want)
			}
		}
		trigger := act("StartAt", given(lit(row.at)))
		trigger.ID, trigger.CanStart = "at", true
		if tr := start(t, root(trigger), withTrigger("at", nil)).prog.Triggers(); len(tr) != 1 || tr[0].At == nil || !tr[0].At.Equal(want) {
			t.Errorf("%s in %q, as a trigger: %+v; want %s", row.at, row.zone, tr, row.want)
		}
	}
}

// A moment beside a zone is refused: one of them is wrong.
func TestStartAtAndZonesThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		zone string
		at   workflow.Expression
		says string
	}{
		{"Europe/Berlin", lit("2026-03-29T02:30Z"), "is a moment by itself"},
		{"Europe/Berlin", lit("2026-03-29T02:30:00.5+01:00"), "is a moment by itself"},
		{"Europe/Berlin", lit(int64(1_774_000_000_000)), "is a moment by itself"},
		{"Asia/Tokio", lit("2026-03-29T02:30"), `no time zone "Asia/Tokio"`},
		{"Local", lit("2026-03-29T02:30"), `no time zone "Local"`},
		{"America/New_York", lit("9999-12-31T23:00"), "years 0 to 9999 of UTC"},
	} {
		in := inputs{"dateTime": row.at, "timeZone": lit(row.zone)}
		for _, trigger := range []bool{false, true} {
			a := act("StartAt", in)
			a.CanStart = trigger
			p := compileProblems(t, root(a))
			wantProblem(t, p, "bad-literal", row.says)
			if len(p) != 1 {
				t.Errorf("%v in %s: %v", row.at.Value, row.zone, p)
			}
		}
		at := row.at.Value
		computed := inputs{"dateTime": expr(func(engine.Scope) (any, error) { return at, nil }), "timeZone": expr(func(engine.Scope) (any, error) { return row.zone, nil })}
		b := start(t, root(act("StartAt", computed))).wantStatus(workflow.Faulted)
		if len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, row.says) {
			t.Errorf("%v in %s, computed: incidents %v", at, row.zone, b.header.Incidents)
		}
	}
	computed := act("StartAt", inputs{"dateTime": varExpr("when"), "timeZone": lit("Europe/Berlin")})
	computed.CanStart = true
	def := root(computed)
	def.Variables = []workflow.Variable{{Name: "when", Value: "2026-03-29T02:30"}}
	wantProblem(t, compileProblems(t, def), "bad-literal", "is written as a text")
}

func TestTimersAsTriggers(t *testing.T) {
	t.Parallel()
	trigger := func(id string, a *workflow.Activity) *workflow.Activity { a.ID, a.CanStart = id, true; return a }
	def := root(flow("timer -> x, cron -> x, at -> x",
		trigger("timer", act("Timer", inputs{"interval": lit("30s")})),
		trigger("cron", act("Cron", inputs{"cronExpression": varExpr("when")})),
		trigger("at", act("StartAt", inputs{"dateTime": lit("2026-05-01T00:00:00Z")})),
		say("x"),
	))
	def.Variables = []workflow.Variable{{Name: "when", Value: "0 0 12 L * *"}}
	for _, id := range []string{"timer", "cron", "at"} {
		b := start(t, def, withTrigger(id, nil)).wantStatus(workflow.Finished).wantLines("x")
		tr := b.prog.Triggers()
		if len(tr) != 3 || tr[0].Every != 30*time.Second || tr[1].Cron != "0 0 12 L * *" || tr[2].At == nil || !tr[2].At.Equal(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("triggers %+v", tr)
		}
	}
}

func TestTriggerProblems(t *testing.T) {
	t.Parallel()
	trigger := func(a *workflow.Activity) *workflow.Activity { a.CanStart = true; return a }
	def := root(seq(
		trigger(act("Timer", inputs{"interval": lit("5ms")})),
		trigger(act("Cron", inputs{"cronExpression": lit("* * * * *")})),
		trigger(act("Cron", inputs{"cronExpression": lit("0 0 0 31 2 *")})),
		trigger(act("Cron", inputs{"cronExpression": lit("0 0 0 1 1 *"), "timeZone": lit("Asia/Tokio")})),
		trigger(act("Cron", inputs{"cronExpression": lit("0 0 0 1 1 *"), "exceptDates": lit([]any{"24.12."})})),
		trigger(act("Event", inputs{"eventName": inputExpr("name")})),
		trigger(act("Event", inputs{"eventName": expr(func(s engine.Scope) (any, error) { return s.NewID(), nil })})),
		trigger(act("HttpEndpoint", inputs{"path": lit("a/{b")})),
		trigger(act("HttpEndpoint", inputs{"path": lit("a"), "supportedMethods": lit([]any{"LOOK"})})),
		trigger(act("HttpEndpoint", inputs{"path": lit("a/{nr:regex(x)}")})),
		trigger(act("HttpEndpoint", inputs{"path": lit("a/{nr?}")})),
		trigger(act("HttpEndpoint", inputs{"path": lit("a/{nr=5}")})),
		trigger(act("HttpEndpoint", inputs{"path": lit("{nr:int}/{Nr:guid}")})),
		trigger(act("HttpEndpoint", inputs{"path": lit("b"), "blockedFileExtensions": lit(".exe, .bat")})),
		trigger(act("HttpEndpoint", inputs{"path": lit("b"), "allowedMimeTypes": expr(func(engine.Scope) (any, error) { return []any{"image/*"}, nil })})),
		trigger(line("x")), // is where a flowchart begins, and no mistake
	))
	def.Inputs = []workflow.Input{{Name: "name"}}
	p := compileProblems(t, def)
	wantProblem(t, p, "bad-literal", "at least 1s")
	wantProblem(t, p, "bad-cron", "has 5 fields, and not 6")
	wantProblem(t, p, "bad-cron", "no time that ever comes")
	wantProblem(t, p, "bad-cron", `no time zone "Asia/Tokio"`)
	wantProblem(t, p, "bad-cron", `"24.12." is no date`)
	wantProblem(t, p, "trigger-not-constant", "event1")
	wantProblem(t, p, "trigger-not-constant", "event2")
	wantProblem(t, p, "bad-route", "{b")
	wantProblem(t, p, "bad-route", "LOOK")
	wantProblem(t, p, "bad-route", `there is no constraint "regex"`)
	wantProblem(t, p, "bad-route", `"{nr?}" is optional`)
	wantProblem(t, p, "bad-route", `"{nr=5}" is optional or has a default`)
	wantProblem(t, p, "bad-route", `"{Nr:guid}" is used twice`)
	wantProblem(t, p, "bad-file-rule", `blockedFileExtensions of httpEndpoint7: ".exe, .bat"`)
	wantProblem(t, p, "bad-file-rule", `allowedMimeTypes of httpEndpoint8: "image/*"`)
	if len(p) != 15 {
		t.Errorf("%d problems:\n%v", len(p), p)
	}
}
