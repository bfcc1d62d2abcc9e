package client_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// outside is an activity with an effect outside: it notes with which keys which bodies came there.
type outside struct {
	mu     sync.Mutex
	bodies map[string][]string // by key
	order  []string            // of the keys
}

func (o *outside) Execute(_ context.Context, x *engine.Execution) error {
	body, err := json.Marshal([]any{x.Value("body"), x.Now(), x.NewID(), x.Now(), x.NewID()})
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	key := x.IdempotencyKey()
	if o.bodies == nil {
		o.bodies = map[string][]string{}
	}
	if o.bodies[key] == nil {
		o.order = append(o.order, key)
	}
	o.bodies[key] = append(o.bodies[key], string(body))
	return nil
}

// sent waits for nothing; it gives what came, and fails where one key had two bodies.
func (o *outside) sent(t *testing.T) (bodies [][]string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, key := range o.order {
		all := o.bodies[key]
		for _, b := range all {
			if b != all[0] {
				t.Errorf("the key %s came with\n%s\nand with\n%s", key, all[0], b)
			}
		}
		bodies = append(bodies, all)
	}
	return bodies
}

// languages are all in which an author says what a call sends; each looks at the clock, and draws what it can.
var languages = map[string]workflow.Expression{
	"javascript": {Type: workflow.JavaScript, Value: "[Date.now(), new Date().toISOString(), Math.random(), newGuid(), newShortGuid(), newGuid(), Math.random()]"},
	"expr":       {Type: workflow.Expr, Value: "${{ [now(), newId(), newId(), now().UnixMilli()] }}"},
	"liquid":     {Type: workflow.Liquid, Value: "{{ now }} {{ now | date: '%s' }}"},
	"variables":  {Type: workflow.Expr, Value: "${{ variables }}"}, // as scripts before the call left them
}

// calls go outside in each language, behind scripts that keep the time and what they draw.
func calls() (all []*workflow.Activity) {
	for _, language := range slices.Sorted(maps.Keys(languages)) {
		all = append(all, &workflow.Activity{Type: "Elsa.SetVariable", Inputs: map[string]workflow.Expression{"variable": workflow.Lit("t"), "value": {Type: workflow.JavaScript, Value: "[Date.now(), newGuid()]"}}},
			&workflow.Activity{Type: "test.Outside", Inputs: map[string]workflow.Expression{"body": languages[language]}})
	}
	return all
}

// add has a definition that calls o.
func (w *world) add(def *workflow.Definition, o *outside) {
	w.t.Helper()
	reg := activities.Default()
	for d, impl := range map[*workflow.Descriptor]engine.Activity{{Type: "test.Valve"}: w.valve, {Type: "test.Outside", Inputs: []workflow.InputDescriptor{{Name: "body", Type: "Object"}}}: o} {
		if err := reg.Register(*d, impl); err != nil {
			w.t.Fatal(err)
		}
	}
	prog, problems := engine.Compile(def, engine.Options{Registry: reg, Evaluators: expression.All()})
	if err := problems.Err(); err != nil {
		w.t.Fatal(err)
	}
	w.programs[def.ID] = prog
}

// later is a node whose clock is ahead.
func later(by time.Duration) func(*client.Config) {
	return func(c *client.Config) {
		env := c.Env
		c.Env = func() engine.Env {
			e := env()
			e.Now = func() time.Time { return time.Now().Add(by).UTC() }
			return e
		}
	}
}

// A call that is made again with the same Idempotency-Key says the same, to the byte: in all languages, with all
// strategies, for each kind of command, by the node whose commit does not come through, and by another one at a later time.
func TestTheSameKeyBringsTheSameBody(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"", "ActivityExecuted", "ActivityExecuting", "ActivityExecutedStrict", "Periodic"} {
		for _, kind := range []string{"start", "keyed start", "event", "keyed event", "timer"} {
			t.Run(cmp.Or(strategy, "WorkflowExecuted")+", "+kind, func(t *testing.T) {
				t.Parallel()
				sameBody(t, strategy, kind)
			})
		}
	}
}

func sameBody(t *testing.T, strategy, kind string) {
	o := &outside{}
	root := seq(append(calls(), through())...)
	starts, keyed := strings.HasSuffix(kind, "start"), strings.HasPrefix(kind, "keyed")
	if !starts {
		root.Activities = slices.Insert(root.Activities, 0, waitFor("go"))
	}
	def := define("d", root)
	def.Variables = []workflow.Variable{{Name: "t"}}
	def.Options.CommitStrategy = strategy
	w := newWorld(t)
	w.add(def, o)
	a, b := w.member("a", cluster.ModeDistributed), w.member("b", cluster.ModeDistributed, later(time.Hour))
	cmd := startOf("d", "c")
	if !starts {
		cmd = resumeOf("c", must(a.open("i").Do(t.Context(), startOf("d", "s")))(t).Instance, 0)
		cmd.Timer = kind == "timer"
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ran := make(chan struct{})
	switch {
	case keyed:
		cmd.Key, cmd.ID = &workflow.CommandKey{Name: "k", BodyHash: "h"}, "k"
		go func() {
			defer close(ran)
			_, _ = a.open("i").Do(ctx, cmd)
		}()
	case starts:
		n := &etcdstore.NewInstance{Header: etcdstore.NewHeader("i", cmd, cmd.CreatedAt), Command: cmd}
		if out, err := a.store.Stimuli.Create(t.Context(), n, nil); err != nil || out != etcdstore.Created {
			t.Fatal(out, err)
		}
	default:
		a.put(t, "i", cmd)
	}
	if !keyed {
		go func() {
			defer close(ran)
			_ = a.open("i").Work(ctx, true, nil)
		}()
	}
	<-w.valve.entered // the calls were made, and with the default strategy nothing of that is saved
	a.die()
	stop()
	<-ran
	eventually(t, "its burst has ended", func() bool { return a.Owned() == 0 })
	eventually(t, "its lock is free", func() bool { held, err := b.locked("i"); return err == nil && !held })
	w.valve.pass <- struct{}{}
	if keyed { // the caller heard nothing, and asks again
		cmd.CreatedAt = cmd.CreatedAt.Add(time.Hour)
		must(b.open("i").Do(t.Context(), cmd))(t)
	} else if err := b.open("i").Work(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it ends", func() bool {
		return must(b.store.Reader.Instance(t.Context(), "i"))(t).Header.SubStatus == workflow.Finished
	})
	bodies := o.sent(t)
	if len(bodies) != len(languages) || (strategy == "" || strategy == "Periodic") && len(bodies[0]) < 2 {
		t.Errorf("what came: %q", bodies)
	}
}
