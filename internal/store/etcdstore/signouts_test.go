package etcdstore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
)

// What ended is listed page by page, and forgotten when its time is over and not before.
func TestSessionsThatEndedAreForgottenInTheirTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := func(minutes int) time.Time {
		return w.now.Truncate(time.Millisecond).Add(time.Duration(minutes) * time.Minute).UTC()
	}
	put := []store.SignOut{
		{Until: at(1), Who: "key:a", Session: "one"},
		{Until: at(2), Who: "oidc:a/b c%~", Session: "~all"},
		{Until: at(2), Who: "oidc:a/b c%~", Before: at(0)},
		{Until: at(3), Who: strings.Repeat("ü", 300), Before: at(1)},
	}
	for _, out := range put {
		for range 2 { // the same again is the same
			w.ok(w.SignOuts.Put(w.ctx(), out))
		}
	}
	list := func() (all []store.SignOut) {
		t.Helper()
		for cursor := ""; ; {
			page, next, err := w.SignOuts.List(w.ctx(), cursor, 1)
			w.ok(err)
			if all = append(all, page...); next == "" {
				return all
			}
			cursor = next
		}
	}
	if got := list(); !slices.Equal(got, put) {
		t.Errorf("got %+v, want %+v", got, put)
	}
	_, err := w.raw.Put(w.ctx(), w.Keys.SignOuts()+"soon/s", "") // of a program that is not this one
	w.ok(err)
	for minutes, want := range [][]store.SignOut{put, put, put[1:], put[3:], nil} {
		w.ok(w.SignOuts.Forget(w.ctx(), at(minutes).Add(-time.Millisecond)))
		w.ok(w.SignOuts.Forget(w.ctx(), at(0))) // a copy that comes late
		if got := list(); !slices.Equal(got, want) {
			t.Errorf("after %d minutes %+v, want %+v", minutes, got, want)
		}
	}
}

func TestAChangeOfSignOutsIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hint := w.SignOuts.Watch(w.ctx())
	w.ok(w.SignOuts.Put(w.ctx(), store.SignOut{Until: w.now, Who: "key:a", Session: "s"}))
	select {
	case <-hint:
	case <-time.After(time.Minute):
		t.Error("nothing was told")
	}
}
