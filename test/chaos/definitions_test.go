package chaos

import (
	"context"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// slow is an activity that takes longer than a burst may take before its cause
// is made durable, or as long as it is told.
type slow struct{}

func (slow) Execute(ctx context.Context, x *engine.Execution) error {
	takes := 2 * lateAfter
	if ms := x.Int("ms"); ms > 0 {
		takes = time.Duration(ms) * time.Millisecond
	}
	work := time.NewTimer(takes)
	defer work.Stop()
	select {
	case <-work.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// registry has the built-in activities and the slow one, and if it is newer what
// only the newer program has.
func registry(newer bool) (*engine.Registry, error) {
	r := activities.Default()
	if newer {
		if err := addNewer(r); err != nil {
			return nil, err
		}
	}
	return r, r.Register(workflow.Descriptor{Type: "chaos.Slow", Main: "ms", Inputs: []workflow.InputDescriptor{{Name: "ms", Type: "Int64"}}}, slow{})
}

// definitions are what the nodes run. Each writes what it got, so that journals
// count effects.
var definitions = []string{`
id: collect
variables: {got: object}
root:
  - for: {start: 1, end: 5, step: 1}
    body:
      - event: poke
        result: got
      - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
  - writeLine: end
`, `
id: listen
inputs: {event: string}
variables: {got: object}
root:
  - for: {start: 1, end: 1000000, step: 1}
    body:
      - event: "${{ inputs.event }}"
        result: got
      - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`, `
id: sleeper
root:
  - writeLine: asleep
  - delay: 700ms
  - writeLine: awake
  - delay: 300ms
  - writeLine: up
`, `
id: child
inputs: {token: string, number: integer}
outputs: {number: "${{ inputs.number }}", token: "${{ inputs.token }}"}
root:
  - delay: 200ms
  - writeLine: "token ${{ inputs.token }} ${{ inputs.number }}"
`, `
id: parent
inputs: {token: string, number: integer}
variables: {end: object}
root:
  - executeWorkflow: {workflowDefinitionId: child, waitForCompletion: true, input: {token: "${{ inputs.token }}.1", number: "${{ inputs.number }}"}}
    result: end
  - writeLine: "one ${{ variables.end.Output.number }}"
  - executeWorkflow: {workflowDefinitionId: child, waitForCompletion: true, input: {token: "${{ inputs.token }}.2", number: "${{ inputs.number }}"}}
    result: end
  - writeLine: "two ${{ variables.end.Output.number }}"
`, `
id: announce
inputs: {token: string, number: integer, to: string}
root:
  - if: ${{ inputs.to == "" }}
    then: {publishEvent: {eventName: begin, payload: {token: "${{ inputs.token }}", number: "${{ inputs.number }}"}}}
    else: {publishEvent: {eventName: poke, correlationId: "${{ inputs.to }}", payload: {token: "${{ inputs.token }}", number: "${{ inputs.number }}"}}}
  - writeLine: announced
`, herald, novel, triggered(1), `
id: victim
root:
  - writeLine: waiting
  - event: never
`, `
id: single
options: {activation: Singleton}
root:
  - delay: 300ms
  - writeLine: alone
`, `
id: slow
root:
  - chaos.Slow
  - writeLine: done
`, `
id: ponder
variables: {got: object}
root:
  - event: poke
    result: got
  - chaos.Slow
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`, `
id: beat
root:
  - {timer: 1s, trigger: true}
  - writeLine: beat
`}

// triggered is started by an event; its versions differ in nothing that counts.
func triggered(version int) string {
	return `
id: triggered
name: version ` + string(rune('a'+version%26)) + string(rune('a'+version/26%26)) + `
variables: {got: object}
root:
  - event: begin
    trigger: true
    result: got
  - writeLine: "token ${{ variables.got.token }} ${{ variables.got.number }}"
`
}
