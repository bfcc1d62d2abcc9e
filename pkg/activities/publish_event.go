package activities

import (
	"context"
	"errors"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func publishEvent() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.PublishEvent",
		NoEffect:    true,
		Description: "Publishes an event, after the commit, to all that waits for it; or, if local, to this instance only.",
		Main:        "eventName",
		Inputs: []workflow.InputDescriptor{
			{Name: "eventName", Type: "String", Required: true, Description: "The name of the event."},
			{Name: "correlationId", Type: "String", Description: "Only instances with this correlation id get it."},
			{Name: "isLocalEvent", Type: "Boolean", Description: "Only this instance gets it, also if it waits for it only later."},
			{Name: "payload", Type: "Object", Description: "What the event carries."},
		},
	}, publishEventActivity{}
}

type publishEventActivity struct{}

func (publishEventActivity) Execute(_ context.Context, x *engine.Execution) error {
	name := x.Text("eventName")
	if err := workflow.CheckSendable("event name", name); err != nil {
		return err
	}
	s := workflow.EventStimulus(name, x.Value("payload"))
	if s.CorrelationID = x.Text("correlationId"); s.CorrelationID == "" && x.Computed("correlationId") {
		return errors.New("correlationId came out empty, and an event without one is for the instances of every correlation: leave correlationId out if that is meant, or see why its expression gives nothing")
	}
	if err := workflow.CheckName("correlation id", s.CorrelationID); err != nil {
		return err
	}
	if x.Bool("isLocalEvent") {
		s.InstanceID = x.InstanceID()
	}
	return x.Publish(s)
}
