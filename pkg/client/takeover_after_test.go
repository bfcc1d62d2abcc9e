package client_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
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
