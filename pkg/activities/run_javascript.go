package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func runJavaScript() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.RunJavaScript", NoEffect: true, Main: "script", AnyOutcome: true,
		Description: "Runs a script. setOutcome and setOutcomes choose how to go on; what the script gives is the result.",
		Inputs: []workflow.InputDescriptor{
			{Name: "script", Type: "String", Required: true, Raw: true, Description: "The script."},
			{Name: "possibleOutcomes", Type: "String[]", Description: "The outcomes that the script may set, for editors."},
		},
		Outputs: []workflow.OutputDescriptor{{Name: "result", Type: "Object", Description: "What the script gives."}},
	}, runJavaScriptActivity{}
}

type runJavaScriptActivity struct{}

// Prepare compiles a script that is written as a literal. One that is written
// as a JavaScript expression is compiled like any other; then the expression
// itself is the script. What any other expression gives is compiled as it runs.
func (runJavaScriptActivity) Prepare(p *engine.Preparation) {
	v, constant := p.Constant("script")
	switch {
	case constant && v != nil:
		e := workflow.JS(engine.Text(v))
		e.Place = p.Place("script")
		if c := p.Compile("script", e); c != nil {
			p.SetData(c)
		}
	case !constant && !isScript(p.Node):
		p.Evaluates(workflow.JavaScript, "what the input script gives", p.Place("script"))
	}
}

// isScript reports whether the input script is written in JavaScript.
func isScript(n *engine.Node) bool { return n.Activity().Inputs["script"].Kind == workflow.JavaScript }

func (runJavaScriptActivity) Execute(_ context.Context, x *engine.Execution) error {
	v, err := runScript(x)
	if err != nil {
		return err
	}
	x.SetOutput("result", v)
	return nil
}

func runScript(x *engine.Execution) (any, error) {
	if c, ok := x.Node().Data().(engine.Compiled); ok {
		return x.Run(c)
	}
	if isScript(x.Node()) {
		return x.RunInput("script")
	}
	source, err := x.Evaluate("script")
	if err != nil {
		return nil, err
	}
	return x.RunExpression(workflow.JS(engine.Text(source)))
}
