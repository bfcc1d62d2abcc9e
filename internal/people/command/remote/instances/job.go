package instances

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/waitflag"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/workflow"
)

// job is one task that is run without a workflow of its user's: of it a definition is made that has the task alone.
type job struct {
	task     string
	payload  any
	attempts int
	delay    time.Duration
	at       string        // when a single one begins; "": at once
	in       time.Duration // after which it begins; 0: at once
	every    time.Duration // between two of a schedule
	cron     string        // of a schedule
	zone     string        // of cron
	name     string        // of a schedule
}

// JobCommand is weft jobs run.
func JobCommand(asker *ask.Asker) *cobra.Command {
	a := commands{asker}
	var j job
	var payload string
	var body apiclient.StartRequest
	var wait time.Duration
	var exitStatus bool
	cmd := &cobra.Command{
		Use: "run TASK", Short: "Run one task, at once, later or on a schedule, with retry and without a workflow", Args: cobra.ExactArgs(1),
		Long: "Run one task, which a worker does that claims tasks of its name (weft worker, docs/workers.md). A definition of this task alone is made for it:\n" +
			"without a schedule a draft, job:TASK, of which one instance is started; with --every or --cron the published definition job-schedule:NAME,\n" +
			"until weft definitions retract job-schedule:NAME. A schedule of a name takes the place of the one before. It takes the role designer.",
		Example: "  weft jobs run backup --payload '{\"disk\": \"a\"}' --attempts 5 --wait 5m\n  weft jobs run backup --in 2h\n" +
			"  weft jobs run backup --name nightly --cron '0 0 3 * * *' --time-zone Europe/Berlin",
		RunE: func(cmd *cobra.Command, args []string) error {
			j.task = args[0]
			err := j.check()
			if err != nil {
				return err
			}
			if j.scheduled() && (body.InstanceID != "" || wait > 0 || exitStatus) {
				return ask.Usage("--id, --wait and --exit-status are of one run, and a schedule has many")
			}
			if payload != "" {
				if j.payload, err = a.ask.JSONArg(payload); err != nil {
					return err
				}
			}
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			if j.scheduled() {
				made, err := c.PublishDefinition(cmd.Context(), []byte(j.definition()), apiclient.PublishDefinitionQuery{}, append(a.ask.Opts(), ask.ContentType("job.yaml"))...)
				if err != nil {
					return err
				}
				return a.ask.Done(made.Bytes, made.Accepted, "scheduled", "%s v%d", made.Body.ID, made.Body.Version)
			}
			return a.runJob(cmd.Context(), c, &j, body, wait, exitStatus)
		},
	}
	f := cmd.Flags()
	f.StringVar(&payload, "payload", "", "what the worker needs to know: JSON, a text or @file")
	f.IntVar(&j.attempts, "attempts", 3, "how often it is tried, 1 to 100; a worker may say that no attempt will do better")
	f.DurationVar(&j.delay, "delay", 10*time.Second, "pause before the second attempt; each next one is twice as long, up to an hour")
	f.StringVar(&j.at, "at", "", "begin at this time, such as 2027-01-31T03:00:00Z")
	f.DurationVar(&j.in, "in", 0, "begin after this time, such as 2h")
	f.DurationVar(&j.every, "every", 0, "again and again, so long from one beginning to the next")
	f.StringVar(&j.cron, "cron", "", "on a schedule of six fields, seconds first, such as '0 0 3 * * *', or @daily")
	f.StringVar(&j.zone, "time-zone", "", "of --cron, such as Europe/Berlin (default: UTC)")
	f.StringVar(&j.name, "name", "", "of a schedule")
	f.StringVar(&body.InstanceID, "id", "", "id of the instance (default: a new one)")
	waitflag.Add(cmd, &wait, 30*time.Second, "wait so long for its end; exit code 6 if it is not over by then")
	f.BoolVar(&exitStatus, "exit-status", false, "exit code 1 if it ends faulted or cancelled")
	return cmd
}

func (a commands) runJob(ctx context.Context, c *apiclient.Client, j *job, body apiclient.StartRequest, wait time.Duration, exitStatus bool) error {
	made, err := c.PublishDefinition(ctx, []byte(j.definition()), apiclient.PublishDefinitionQuery{Publish: new(false)}, ask.ContentType("job.yaml"))
	if err != nil {
		return err
	}
	body.Version, body.Input = made.Body.Version, map[string]any{"payload": j.payload}
	if j.at != "" {
		body.Input["at"] = j.at
	}
	if j.in > 0 {
		body.Input["in"] = j.in.String()
	}
	opts := a.ask.Opts()
	if wait >= time.Second {
		opts = append(opts, apiclient.WaitUpTo(min(wait, time.Minute)))
	}
	in, err := c.ExecuteDefinition(ctx, made.Body.ID, body, opts...)
	if err != nil {
		return err
	}
	return a.started(ctx, c, in, wait, exitStatus)
}

func (j *job) scheduled() bool { return j.every != 0 || j.cron != "" }

var jobName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// check says which flag is not in order, as far as no node has to be asked.
func (j *job) check() error {
	if err := workflow.CheckSendable("the name of the task", j.task); err != nil {
		return ask.Usage("%v", err)
	}
	switch {
	case strings.Contains(j.task, "${{"):
		return ask.Usage("the name of the task is %q, and ${{ begins an expression: take another name, or write a definition", j.task)
	case j.attempts < 1 || j.attempts > 100:
		return ask.Usage("--attempts is %d; it may be 1 to 100", j.attempts)
	case j.delay <= 0 || j.delay > time.Hour:
		return ask.Usage("--delay is %v; it must be above 0s, and may be up to 1h", j.delay)
	}
	return j.checkTimes()
}

// checkTimes is check, of when it runs.
func (j *job) checkTimes() error {
	switch {
	case j.in < 0 || j.every < 0:
		return ask.Usage("--in and --every are times from now on, such as 2h")
	case j.every != 0 && j.cron != "" || j.at != "" && j.in != 0 || j.scheduled() && (j.at != "" || j.in != 0):
		return ask.Usage("say one of --at, --in, --every and --cron")
	case j.zone != "" && j.cron == "":
		return ask.Usage("--time-zone is of --cron; --at has its offset, such as 2027-01-31T03:00:00+01:00")
	case j.scheduled() != (j.name != ""):
		return ask.Usage("--name is of a schedule (--every, --cron), which has one")
	case j.name != "" && !jobName.MatchString(j.name):
		return ask.Usage("--name is %q; it has 1 to 100 letters, digits, points, - and _", j.name)
	}
	if _, err := time.Parse(time.RFC3339, j.at); j.at != "" && err != nil {
		return ask.Usage("--at is %q; write a time such as 2027-01-31T03:00:00Z", j.at)
	}
	return nil
}

var noID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// definition is the definition of the job, as YAML: what is given stands in it as JSON, which is YAML too, and the payload as the
// default of an input or as an input, so that it is no expression.
func (j *job) definition() string {
	var b strings.Builder
	task := noID.ReplaceAllString(j.task, "-")
	id, inputs, first := "job:"+task[:min(len(task), 100)], "{payload: any, at: datetime, in: duration}",
		`{if: "${{ inputs.at != nil }}", then: {startAt: "${{ inputs.at }}"}}`+"\n  - "+`{if: "${{ inputs.in != nil }}", then: {delay: "${{ inputs.in }}"}}`
	if j.scheduled() {
		id, inputs = "job-schedule:"+j.name, "{payload: {type: any, default: "+quoted(j.payload)+"}}"
		first = "{timer: " + quoted(j.every.String()) + ", trigger: true}"
		if j.cron != "" {
			first = "{cron: " + quoted(j.cron) + ", timeZone: " + quoted(cmp.Or(j.zone, "UTC")) + ", trigger: true}"
		}
	}
	fmt.Fprintf(&b, "id: %s\ndescription: %s\n", quoted(id), quoted("Made by weft jobs run: the task "+j.task+" alone."))
	fmt.Fprintf(&b, "inputs: %s\noutputs: {result: \"${{ variables.result }}\"}\nvariables: {result: any}\nroot:\n  - %s\n", inputs, first)
	fmt.Fprintf(&b, "  - {runTask: %s, payload: \"${{ inputs.payload }}\", result: result", quoted(j.task))
	if j.attempts > 1 {
		fmt.Fprintf(&b, ", retry: {attempts: %d, delay: %s, maxDelay: 1h}", j.attempts, j.delay)
	}
	b.WriteString("}\n")
	return b.String()
}

func quoted(v any) string {
	raw, _ := json.Marshal(v) // of what was read from JSON
	return string(raw)
}
