package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func event() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        workflow.EventType,
		NoEffect:    true,
		Description: "Waits for an event; as a trigger, starts an instance when it comes.",
		Main:        "eventName",
		Inputs: []workflow.InputDescriptor{
			{Name: "eventName", Type: "String", Description: "The name of the event.", Required: true},
		},
		Outputs: []workflow.OutputDescriptor{{Name: "result", Type: "Object", Description: "What the event carried."}},
		Trigger: true,
		Resume:  []string{workflow.EventInput},
	}, eventActivity{}
}

type eventActivity struct{}

func (eventActivity) Execute(_ context.Context, x *engine.Execution) error {
	if input, ok := x.TriggerInput(); ok {
		x.SetOutput("result", input[workflow.EventInput])
		return nil
	}
	name := x.Text("eventName")
	if err := workflow.CheckSendable("event name", name); err != nil {
		return err
	}
	_, err := x.Wait(engine.Wait{Name: name, Payload: workflow.EventPayload(name)})
	return err
}

func (eventActivity) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	return x.TakeOutput("result", r.Input[workflow.EventInput])
}

func (eventActivity) Triggers(p *engine.Preparation) []engine.Trigger {
	v, ok := p.TriggerValue("eventName")
	name := engine.Text(v)
	if !ok || name == "" {
		return nil
	}
	if err := workflow.CheckSendable("event name", name); err != nil {
		p.Problem("bad-literal", p.Place("eventName"), "%v", err)
		return nil
	}
	return []engine.Trigger{{Name: name, Payload: workflow.EventPayload(name)}}
}
