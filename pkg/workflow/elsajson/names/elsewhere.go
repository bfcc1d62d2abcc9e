package names

import "strings"

// elsewhere are activities of Elsa's modules that are none here, and what does the same.
var elsewhere = map[string]string{
	"submitalterationplan":    "sendHttpRequest to POST /api/v1/alterations/submit of a node with the plan's alterations and filter; its answer has the planId (docs/api.md#in-elsas-names)",
	"alterationplancompleted": "ask GET /api/v1/jobs/{planId} of a node by sendHttpRequest until its state is done (docs/api.md#jobs-all-instances-of-a-filter)",
	"generatealterationjobs":  "POST /api/v1/alterations/submit makes the job and does it; leave it out",
	"dispatchalterationjobs":  "POST /api/v1/alterations/submit makes the job and does it; leave it out",
	"completealterationplan":  "a job ends by itself; leave it out",
	"bpmnprocess":             "draw the process as a flowchart",
	"runpython":               "runJavaScript, or runTask and a worker in Python",
	"readline":                "an input of the workflow, or an event",
	"notfoundactivity":        "the activity that Elsa did not find: its type stands in the export",
	"webhookeventreceived":    "an httpEndpoint that the other side calls",
	"producemessage":          "sendHttpRequest to a proxy of the broker",
	"publishmessage":          "sendHttpRequest to a proxy of the broker",
	"sendmessage":             "sendHttpRequest to a proxy of the broker",
	"messagereceived":         "an event, and a bridge that posts each message to POST /api/v1/events/{name} with an Idempotency-Key",
	"log":                     "writeLine",
}

// InsteadOf says of an activity type of Elsa's that is none here what does the same, as "; instead: …"; "" if it is not known.
func InsteadOf(typ string) string {
	name := strings.ToLower(typ[strings.LastIndexByte(typ, '.')+1:])
	if way := elsewhere[name]; way != "" && strings.HasPrefix(strings.ToLower(typ), "elsa.") {
		return "; instead: " + way
	}
	return ""
}

// kindsElsewhere are kinds of Elsa's expressions that are none here.
var kindsElsewhere = map[string]string{
	"python": "; rewrite it in JavaScript, Liquid or ${{ }}",
}

// InsteadOfKind says of a kind of Elsa's expressions that is none here what to write; "" if it is not known.
func InsteadOfKind(kind string) string { return kindsElsewhere[strings.ToLower(kind)] }
