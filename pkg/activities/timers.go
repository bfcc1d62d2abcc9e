package activities

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/cron"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func delay() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.Delay", NoEffect: true, Main: "timeSpan", Resume: []string{},
		Description: "Waits for a time.",
		Inputs:      []workflow.InputDescriptor{{Name: "timeSpan", Type: "TimeSpan", Required: true, Description: `How long, such as "90s", "48h", "00:00:05" or "PT5M".`}},
	}, delayActivity{}
}

type delayActivity struct{}

func (delayActivity) Prepare(p *engine.Preparation) {
	v, _ := p.Constant("timeSpan")
	d, ok := v.(time.Duration)
	switch {
	case !ok:
	case d <= 0 && isTimeout(p.Node):
		p.Problem("bad-literal", p.Place("timeSpan"), "a timeout is longer than 0, and this one is %s", d)
	case d < 0:
		p.Problem("bad-literal", p.Place("timeSpan"), "a time to wait is not shorter than 0, and this one is %s", d)
	}
}

// Execute does not wait for a time that is over: what is left of one is often computed.
func (delayActivity) Execute(_ context.Context, x *engine.Execution) error {
	d := x.Duration("timeSpan")
	switch {
	case d > 0:
		return waitUntil(x, x.Clock().Add(d))
	case isTimeout(x.Node()):
		return fmt.Errorf("the timeout is %s; it must be longer than 0", d)
	}
	return nil
}

// isTimeout tells whether a delay is that of an activity's timeout.
func isTimeout(n *engine.Node) bool {
	if n.Parent() == nil || n.Parent().Parent() == nil {
		return false
	}
	fork := n.Parent().Parent().LocalID()
	return strings.HasSuffix(fork, workflow.TimeoutSuffix) && n.LocalID() == fork+".delay"
}

// waitUntil creates a bookmark that is resumed at the time, or by its id. No
// stimulus can meet it: its hash is its own.
func waitUntil(x *engine.Execution, due time.Time) error {
	due = due.UTC()
	_, err := x.Wait(engine.Wait{Name: x.Node().Descriptor().ShortName(), Payload: map[string]any{"dueAt": due}, Local: true, DueAt: &due})
	return err
}

func timer() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.Timer", NoEffect: true, Main: "interval", Trigger: true, Resume: []string{},
		Description: "As a trigger, starts an instance each time the interval has passed; elsewhere, waits for it.",
		Inputs:      []workflow.InputDescriptor{{Name: "interval", Type: "TimeSpan", Required: true, Positive: true, Description: "The interval; at least 1s for a trigger."}},
	}, timerActivity{}
}

type timerActivity struct{}

func (timerActivity) Execute(_ context.Context, x *engine.Execution) error {
	if _, ok := x.TriggerInput(); ok {
		return nil
	}
	return waitUntil(x, x.Clock().Add(x.Duration("interval")))
}

func (timerActivity) Triggers(p *engine.Preparation) []engine.Trigger {
	v, ok := p.TriggerValue("interval")
	every, isDuration := v.(time.Duration)
	if !ok || !isDuration {
		return nil
	}
	if every < time.Second {
		p.Problem("bad-literal", p.Place("interval"), "a trigger's interval is at least 1s, not %s", every)
		return nil
	}
	return []engine.Trigger{{Name: "every " + every.String(), Payload: map[string]any{"interval": every.String()}, Every: every}}
}

func startAt() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.StartAt", NoEffect: true, Main: "dateTime", Trigger: true, Resume: []string{},
		Description: "As a trigger, starts an instance at a time; elsewhere, waits for it. A time that has passed is not waited for.",
		Inputs: []workflow.InputDescriptor{{
			Name: "dateTime", Type: "DateTimeOffset", Required: true, Description: `The time, such as "2026-01-31T08:00:00Z"; without an offset it is UTC, or the clock of timeZone.`,
		}, {
			Name: "timeZone", Type: "String",
			Description: "The zone whose clock shows dateTime, which then has no offset, such as Europe/Berlin. A time that the clock leaves out when it jumps is at the jump; one that it shows twice is the first time.",
		}},
	}, startAtActivity{}
}

type startAtActivity struct{}

func (startAtActivity) Prepare(p *engine.Preparation) {
	zone, ok := p.Constant("timeZone")
	if !ok || p.Node.Activity().CanStart {
		return
	}
	name := engine.Text(zone)
	if _, err := zoneOf(name); err != nil {
		p.Problem("bad-literal", p.Place("timeZone"), "%v", err)
		return
	}
	if e := p.Node.Activity().Inputs["dateTime"]; e.Kind == workflow.Literal {
		clockTime(p, e.Value, name)
	}
}

// clockTime is what the clock of a zone shows, as it was written; false if there is no zone, or what is written is bad.
func clockTime(p *engine.Preparation, written any, zone string) (time.Time, bool) {
	if v, _ := p.Constant("dateTime"); v == nil || strings.TrimSpace(zone) == "" || written == nil {
		return time.Time{}, false
	}
	at, err := onClock(written, zone)
	if err != nil {
		p.Problem("bad-literal", p.Place("dateTime"), "dateTime of startAt %s: %v", p.Node.LocalID(), err)
	}
	return at, err == nil
}

func (startAtActivity) Execute(_ context.Context, x *engine.Execution) error {
	if _, ok := x.TriggerInput(); ok {
		return nil
	}
	at := x.Time("dateTime")
	if zone := x.Text("timeZone"); strings.TrimSpace(zone) != "" {
		e := x.Node().Activity().Inputs["dateTime"]
		written, err := e.Value, error(nil)
		if e.Kind != workflow.Literal { // its value is a moment already
			written, err = x.RunInput("dateTime")
		}
		if err == nil {
			at, err = onClock(written, zone)
		}
		if err != nil {
			return fmt.Errorf("dateTime: %w", err)
		}
	}
	if !at.After(x.Clock()) {
		return nil
	}
	return waitUntil(x, at)
}

func (startAtActivity) Triggers(p *engine.Preparation) []engine.Trigger {
	v, ok := p.TriggerValue("dateTime")
	zone, zoneOK := p.TriggerValue("timeZone")
	at, isTime := v.(time.Time)
	if !ok || !isTime || !zoneOK {
		return nil
	}
	if name := engine.Text(zone); strings.TrimSpace(name) != "" {
		e := p.Node.Activity().Inputs["dateTime"]
		if _, err := zoneOf(name); err != nil {
			p.Problem("bad-literal", p.Place("timeZone"), "%v", err)
			return nil
		}
		if e.Kind != workflow.Literal {
			p.Problem("bad-literal", p.Place("dateTime"), "beside a timeZone, dateTime of the trigger %s is written as a text, such as 2026-01-31T08:00", p.Node.LocalID())
			return nil
		}
		if at, ok = clockTime(p, e.Value, name); !ok {
			return nil
		}
	}
	return []engine.Trigger{{Name: "at " + at.Format(time.RFC3339), Payload: map[string]any{"dateTime": at}, At: &at}}
}

// zoneOf is a zone by its name; UTC for none.
func zoneOf(name string) (*time.Location, error) {
	if name = strings.TrimSpace(name); name == "" {
		return time.UTC, nil
	}
	zone, err := cron.Zone(name)
	if zone == nil {
		zone = time.UTC
	}
	return zone, err
}

// withOffset is the end of a time that says what it is in UTC.
var withOffset = regexp.MustCompile(`:\d\d([.,]\d+)?(Z|[+-]\d\d(:\d\d)?)$`)

// onClock is the moment at which the clock of a zone shows what is written.
func onClock(written any, zone string) (time.Time, error) {
	in, err := zoneOf(zone)
	if err != nil {
		return time.Time{}, err
	}
	text, ok := written.(string)
	if text = strings.TrimSpace(text); !ok || withOffset.MatchString(text) {
		return time.Time{}, fmt.Errorf("%s is a moment by itself, and timeZone says which clock shows it: leave timeZone out, or write the clock's time, such as 2026-01-31T08:00", workflow.Shorten(engine.Text(written)))
	}
	shown, err := engine.Convert(text, "DateTimeOffset")
	if err != nil {
		return time.Time{}, err
	}
	at := cron.At(shown.(time.Time), in)
	if y := at.Year(); y < 0 || y > workflow.LastYear {
		return time.Time{}, fmt.Errorf("%s on that clock is not a time in the years 0 to %d of UTC", workflow.Shorten(text), workflow.LastYear)
	}
	return at, nil
}

func cronActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.Cron", NoEffect: true, Main: "cronExpression", Trigger: true, Resume: []string{},
		Description: "As a trigger, starts an instance at each time that the cron expression names; elsewhere, waits for the next one.",
		Inputs: []workflow.InputDescriptor{{
			Name: "cronExpression", Type: "String", Required: true,
			Description: "Six fields, in UTC if no zone is given: second, minute, hour, day of month, month, day of week, as Cronos reads them: lists, ranges, steps, names, `L`, `L-3`, `LW`, `15W`, `FRIL`, `MON#2`; or `@daily` and its like.",
		}, {
			Name: "timeZone", Type: "String",
			Description: "The zone whose clock is meant, such as Europe/Berlin. What it leaves out when it jumps comes once, at the jump; what it shows twice comes once, unless second, minute or hour has a `*`, a range or a step.",
		}, {
			Name: "exceptDates", Type: "String[]", Description: "Dates of that clock on which it names no time, such as 2026-12-24; up to 1,000.",
		}},
	}, cronCode{}
}

type cronCode struct{}

func (cronCode) Prepare(p *engine.Preparation) {
	v, ok := p.Constant("cronExpression")
	zone, zoneKnown := p.Constant("timeZone")
	dates, datesKnown := p.Constant("exceptDates")
	if ok && zoneKnown && datesKnown && v != nil && !p.Node.Activity().CanStart {
		if _, err := cron.Next(cron.Except(datesOf(dates), inZone(engine.Text(v), engine.Text(zone))), time.Time{}); err != nil {
			p.Problem("bad-cron", p.Place("cronExpression"), "%v", err)
		}
	}
}

func (cronCode) Execute(_ context.Context, x *engine.Execution) error {
	if _, ok := x.TriggerInput(); ok {
		return nil
	}
	next, err := cron.Next(cron.Except(datesOf(x.Value("exceptDates")), inZone(x.Text("cronExpression"), x.Text("timeZone"))), x.Clock())
	if err != nil {
		return err
	}
	return waitUntil(x, next)
}

func (cronCode) Triggers(p *engine.Preparation) []engine.Trigger {
	v, ok := p.TriggerValue("cronExpression")
	zone, zoneOK := p.TriggerValue("timeZone")
	dates, datesOK := p.TriggerValue("exceptDates")
	if !ok || !zoneOK || !datesOK || v == nil {
		return nil
	}
	expr := cron.Except(datesOf(dates), inZone(engine.Text(v), engine.Text(zone)))
	if name := strings.TrimSpace(engine.Text(zone)); name != "" {
		if _, err := cron.Zone(name); err != nil {
			p.Problem("bad-cron", p.Place("timeZone"), "%v", err)
			return nil
		}
	}
	if _, err := cron.Next(expr, time.Time{}); err != nil {
		p.Problem("bad-cron", p.Place("cronExpression"), "%v", err)
		return nil
	}
	return []engine.Trigger{{Name: expr, Payload: map[string]any{"cronExpression": expr}, Cron: expr}}
}

// datesOf are the texts of a list.
func datesOf(v any) (dates []string) {
	items, _ := v.([]any)
	for _, e := range items {
		dates = append(dates, strings.TrimSpace(engine.Text(e)))
	}
	return dates
}

// inZone puts the zone before an expression, where it is kept.
func inZone(expr, zone string) string {
	expr, zone = strings.TrimSpace(expr), strings.TrimSpace(zone)
	if zone == "" {
		return expr
	}
	return "TZ=" + zone + " " + expr
}
