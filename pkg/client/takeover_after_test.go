package client_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// What comes while this node has the instance was left by nobody: it is no takeover, and
// goes together into one burst.
func TestMailThatComesAfterATakeoverIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("go"), through(), waitFor("again"))))
	m := w.member("m", cluster.ModeDistributed)
	in := must(m.open("i").Do(t.Context(), startOf("d", "s")))(t).Instance
	m.put(t, "i", resumeOf("left", in, 0))
	done := make(chan error, 1)
	go func() { done <- m.open("i").Work(t.Context(), true, nil) }()
	<-w.valve.entered
	const later = 20
	for i := range later {
		m.put(t, "i", workflow.Command{ID: fmt.Sprint("later", i), Kind: workflow.CommandResume, Bookmark: "i~none", CreatedAt: time.Now().UTC()})
	}
	before := m.count("commits_total", "")
	w.valve.pass <- struct{}{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := m.count("takeovers_total", ""); n != 1 {
		t.Errorf("%v takeovers, and one command was left", n)
	}
	if n := m.count("commits_total", "") - before; n > 3 {
		t.Errorf("%v commits for %d commands", n, later+1)
	}
}

// Nor is the rest of a burst that was taken over, once it has come to a commit here: it is
// not counted, and not written, once more for each that follows.
func TestTheRestOfABurstIsTakenOverOnce(t *testing.T) {
	t.Parallel()
	def := define("d", seq(waitFor("go"), through(), line("a"), line("b"), line("c"), line("d")))
	def.Options.CommitStrategy = "ActivityExecutedStrict"
	w := newWorld(t, def)
	m := w.member("m", cluster.ModeDistributed)
	in := must(m.open("i").Do(t.Context(), startOf("d", "s")))(t).Instance
	w.leaves(t, m, must(m.store.Reader.Instance(t.Context(), in.ID))(t), resumeOf("c", in, 0))
	writes := 0
	m.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Match: func(c clustertest.Call) bool {
		if c.PutsUnder(cluster.Root(w.name) + "mailbox/") {
			writes++
		}
		return false
	}})
	before := m.count("commits_total", "")
	w.valve.pass <- struct{}{}
	eventually(t, "its lock is free", func() bool { held, err := m.locked("i"); return err == nil && !held })
	if err := m.open("i").Work(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	if n := m.count("commits_total", "") - before; n < 4 || len(m.written()) != 4 {
		t.Fatalf("%v commits, lines %q", n, m.written())
	}
	if n := m.count("takeovers_total", ""); n != 1 || writes != 2 {
		t.Errorf("%v takeovers, and ~continue was written %d times: want its attempt, and that this is over", n, writes)
	}
}
