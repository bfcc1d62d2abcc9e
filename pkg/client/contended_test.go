package client_test

import (
	"errors"
	"testing"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// Whoever meets a holder looks the next time, and does not try.
func TestOnlyWhatWasHeldLatelyIsLookedAt(t *testing.T) {
	w := newWorld(t, define("d", seq(through(), line("a"))))
	a, b := w.member("a", cluster.ModeDistributed), w.member("b", cluster.ModeDistributed)
	if busy, err := b.open("i1").Busy(t.Context()); busy || err != nil {
		t.Errorf("busy %v, %v", busy, err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := a.open("i1").Do(t.Context(), startOf("d", "c1"))
		done <- err
	}()
	<-w.valve.entered
	if busy, err := b.open("i1").Busy(t.Context()); busy || err != nil {
		t.Errorf("nobody was met yet, busy %v, %v", busy, err)
	}
	if _, err := b.open("i1").Do(t.Context(), workflow.Command{ID: "r1", Kind: workflow.CommandResume, Bookmark: "x"}); !errors.Is(err, client.ErrBusy) {
		t.Errorf("the lock is held, and %v", err)
	}
	if busy, err := b.open("i1").Busy(t.Context()); !busy || err != nil {
		t.Errorf("a holds it, busy %v, %v", busy, err)
	}
	if busy, err := a.open("i1").Busy(t.Context()); busy || err != nil {
		t.Errorf("a holds it itself, busy %v, %v", busy, err)
	}
	w.valve.pass <- struct{}{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if busy, err := b.open("i1").Busy(t.Context()); busy || err != nil {
		t.Errorf("it is free, busy %v, %v", busy, err)
	}
}
