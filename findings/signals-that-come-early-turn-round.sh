#!/usr/bin/env bash
# What:      github.com/cschleiden/go-workflows v1.4.2 (2026), durable workflows embedded in a Go program, on SQLite in memory.
# Behaviour: signals that come before the workflow makes their channel are received in the opposite order: 3 2 1. Where the channel
#            is there and nobody receives yet, 100 are kept; of 150 that were accepted the last 50 are lost. No caller is told.
# Guess:     signals are received in the order in which they were accepted, and each of them, as with Temporal, on which it is modelled.
# Who:       those who send several events to one instance (items, then "complete") while it is in a step.
# Written down before its source was read and before the run: "1 2 3; all 150".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'EOF'
module finding

go 1.26

require github.com/cschleiden/go-workflows v1.4.2
EOF
cat >main.go <<'EOF'
package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/sqlite"
	"github.com/cschleiden/go-workflows/client"
	"github.com/cschleiden/go-workflows/worker"
	"github.com/cschleiden/go-workflows/workflow"
)

var begun, sent = make(chan bool, 2), make(chan bool)

// step ends when all signals were accepted.
func step(context.Context) (bool, error) { begun <- true; return <-sent, nil }

// early makes the channel before the step or after it.
func early(ctx workflow.Context, before bool, n int) ([]int, error) {
	if before {
		workflow.NewSignalChannel[int](ctx, "go")
	}
	if _, err := workflow.ExecuteActivity[bool](ctx, workflow.DefaultActivityOptions, step).Get(ctx); err != nil {
		return nil, err
	}
	in := workflow.NewSignalChannel[int](ctx, "go")
	var got []int
	for len(got) < n {
		v, ok := in.ReceiveNonBlocking()
		if !ok {
			break
		}
		got = append(got, v)
	}
	return got, nil
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	b := sqlite.NewInMemoryBackend(sqlite.WithBackendOptions(backend.WithLogger(slog.New(slog.DiscardHandler))))
	w, c := worker.New(b, nil), client.New(b)
	must(w.RegisterWorkflow(early))
	must(w.RegisterActivity(step))
	must(w.Start(ctx))
	for _, before := range []bool{false, true} {
		n := 3
		if before {
			n = 150
		}
		in, err := c.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: fmt.Sprint(n)}, early, before, n)
		must(err)
		<-begun
		for i := range n {
			must(c.SignalWorkflow(ctx, in.InstanceID, "go", i+1))
		}
		sent <- true
		got, err := client.GetWorkflowResult[[]int](ctx, c, in, time.Minute)
		must(err)
		if n == 3 {
			fmt.Println("accepted 1 2 3, received", got)
		} else {
			fmt.Println("accepted 150, received", len(got), "the last is", got[len(got)-1])
		}
	}
	cancel()
	must(w.WaitForCompletion())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
EOF
got=$(GOFLAGS=-mod=mod GOMODCACHE="$dir/mod" go run .)
echo "$got"
want='accepted 1 2 3, received [3 2 1]
accepted 150, received 100 the last is 100'
if [[ $got != "$want" ]]; then
    echo "this has changed; it was:"
    echo "$want"
    exit 1
fi
