package chaos

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// An instance that takes events is a list: an event appends its token, a look at
// its journal reads all of it.
type listInput struct {
	token string // appended; "" for a read
}

var listModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		s := state.(string)
		if in := input.(listInput); in.token != "" {
			return true, s + in.token + "\n"
		}
		return output.(string) == s, s
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v → %q", input, output) },
}

// checkReads asks porcupine whether there is one order of the events and the
// reads of each instance that agrees with all answers. An event that was applied
// when it was answered lies between call and answer; any other one at some time
// after its call, or never: then it is put after everything.
func (e *evidence) checkReads() {
	reads := map[string][]read{}
	for _, r := range e.record.reads {
		reads[r.instance] = append(reads[r.instance], r)
	}
	events := map[string]map[string]porcupine.Operation{}
	for _, c := range e.record.calls {
		if c.kind != "event" || len(reads[c.instance]) == 0 || c.outcome == refused {
			continue
		}
		op := porcupine.Operation{Input: listInput{token: c.token}, Call: int64(c.from), Return: math.MaxInt64}
		if c.outcome == ok && !c.accepted && !c.queued {
			op.Return = int64(c.to)
		}
		if events[c.instance] == nil {
			events[c.instance] = map[string]porcupine.Operation{}
		}
		if was, twice := events[c.instance][c.token]; twice { // one key, one effect: between the first call and the first answer
			op.Call, op.Return = min(op.Call, was.Call), min(op.Return, was.Return)
		}
		events[c.instance][c.token] = op
	}
	for id, rs := range reads {
		e.checkList(id, rs, events[id])
	}
}

func (e *evidence) checkList(id string, reads []read, events map[string]porcupine.Operation) {
	var ops []porcupine.Operation
	for _, r := range reads {
		var b strings.Builder
		for _, line := range r.lines {
			if token, is := tokenIn(line); is {
				b.WriteString(token + "\n")
				if _, known := events[token]; !known { // sent by another instance
					ops = append(ops, porcupine.Operation{ClientId: len(ops), Input: listInput{token: token}, Return: math.MaxInt64})
					events = withToken(events, token)
				}
			}
		}
		ops = append(ops, porcupine.Operation{ClientId: len(ops), Input: listInput{}, Output: b.String(), Call: int64(r.from), Return: int64(r.to)})
	}
	for _, op := range events {
		if op.Input == nil {
			continue
		}
		op.ClientId = len(ops)
		ops = append(ops, op)
	}
	if porcupine.CheckOperationsTimeout(listModel, ops, 2*time.Second) == porcupine.Illegal {
		e.record.violate("not-linearizable", "%s: no order of %d operations fits: %+v", id, len(ops), ops)
	}
}

func withToken(events map[string]porcupine.Operation, token string) map[string]porcupine.Operation {
	if events == nil {
		events = map[string]porcupine.Operation{}
	}
	events[token] = porcupine.Operation{}
	return events
}
