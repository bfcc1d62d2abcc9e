package activities_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

func TestATimeoutInAFlowchartPassesOnOutcomes(t *testing.T) {
	t.Parallel()
	const src = `
id: def
root:
  flowchart:
    activities:
      ask: {workflow: approval, timeout: 48h, onTimeout: {writeLine: too late}}
      ship: {writeLine: shipped}
      refuse: {writeLine: refused}
      remind: {writeLine: reminded}
    connections: [ask.Approved -> ship, ask.Rejected -> refuse, ask -> remind]
`
	approval := usable("approval", seq(wait("decision"), act("Complete", inputs{"outcomes": lit("Approved")})))
	approval.Outcomes = []string{"Approved", "Rejected"}
	for resume, want := range map[string][]string{"decision": {"shipped"}, "delay": {"too late", "reminded"}} {
		def, problems := yaml.Read([]byte(src), "", activities.Default())
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		b := start(t, def, withDefinitions(approval)).wantStatus(workflow.Suspended)
		b.resume(resume, nil)
		b.wantStatus(workflow.Finished).wantLines(want...)
	}
}

func TestAForkHasNoOutcomesOfItsBranches(t *testing.T) {
	t.Parallel()
	f := named("f", act("Fork", inputs{"joinMode": lit("WaitAny")}, decide("d", lit(true)), wait("ev")))
	b := start(t, root(flow("f.True -> no, f -> yes", f, say("no"), say("yes"))))
	b.wantStatus(workflow.Finished).wantLines("yes")
}
