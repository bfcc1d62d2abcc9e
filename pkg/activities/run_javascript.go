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
	}, runScript{workflow.JavaScript}
}

func runCSharp() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.RunCSharp", NoEffect: true, Main: "script", AnyOutcome: true,
		Description: "Runs a script in C#, a subset that is translated to JavaScript at publish time. Outcome.Set chooses how to go on; what the script returns is the result.",
		Inputs: []workflow.InputDescriptor{
			{Name: "script", Type: "String", Required: true, Raw: true, Description: "The script."},
			{Name: "possibleOutcomes", Type: "String[]", Description: "The outcomes that the script may set, for editors."},
		},
		Outputs: []workflow.OutputDescriptor{{Name: "result", Type: "Object", Description: "What the script gives."}},
	}, runScript{workflow.CSharp}
}

// runScript runs a script in the language of that kind.
type runScript struct{ kind string }

// Prepare compiles a script that is written as a literal. One that is written
// as an expression of its language is compiled like any other; then the expression
// itself is the script. What any other expression gives is compiled as it runs, but for C#, which is translated at publish time.
func (r runScript) Prepare(p *engine.Preparation) {
	v, constant := p.Constant("script")
	switch {
	case constant && v != nil:
		e := workflow.Expression{Kind: r.kind, Value: engine.Text(v), Place: p.Place("script")}
		if c := p.Compile("script", e); c != nil {
			p.SetData(c)
		}
	case constant:
	case r.kind == workflow.CSharp && !r.isScript(p.Node):
		p.Problem("unsupported-expression", p.Place("script"), "the script of runCSharp %s is computed, and C# is translated at publish time: write the script itself, or use runJavaScript", p.Node.LocalID())
	case !r.isScript(p.Node):
		p.Evaluates(workflow.JavaScript, "what the input script gives", p.Place("script"))
	}
}

// isScript reports whether the input script is written in the language itself.
func (r runScript) isScript(n *engine.Node) bool { return n.Activity().Inputs["script"].Kind == r.kind }

func (r runScript) Execute(_ context.Context, x *engine.Execution) error {
	v, err := r.run(x)
	if err != nil {
		return err
	}
	x.SetOutput("result", v)
	return nil
}

func (r runScript) run(x *engine.Execution) (any, error) {
	if c, ok := x.Node().Data().(engine.Compiled); ok {
		return x.Run(c)
	}
	if r.isScript(x.Node()) {
		return x.RunInput("script")
	}
	source, err := x.Evaluate("script")
	if err != nil {
		return nil, err
	}
	return x.RunExpression(workflow.JS(engine.Text(source)))
}
