package catalog_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/catalog/schedule"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

func yearly(line string) string {
	return "id: a\nroot:\n  - cron: 0 0 0 1 1 *\n    id: newyear\n    trigger: true\n  - writeLine: " + line + "\n"
}

// A skip and a publication that meet both take effect: whichever comes second reads again.
func TestASkipMeetsAPublication(t *testing.T) {
	b := newBundle(t)
	n, other := b.node(), b.node()
	s, o := catalog.SchedulesOf(n.Catalog), catalog.SchedulesOf(other.Catalog)
	due := func() time.Time {
		t.Helper()
		e, err := s.ToCome(t.Context(), "a", "newyear")
		if err != nil {
			t.Fatal(err)
		}
		return e.Due
	}
	between := func(f func()) {
		done := false
		n.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool {
			if !done && c.PutsUnder(b.root()+"definition/a/head") {
				done = true
				f()
			}
			return false
		}})
	}
	n.mustPublish(yearly("one"))
	first := due()

	between(func() { other.mustPublish(yearly("two")) })
	skipped, next, err := s.Skip(t.Context(), "a", "newyear", first)
	if err != nil || !skipped || !next.Equal(first.AddDate(1, 0, 0)) || !due().Equal(next) {
		t.Fatalf("skip: %v, %v, %v; due %v", skipped, next, err, due())
	}

	between(func() {
		if ok, _, err := o.Skip(t.Context(), "a", "newyear", next); err != nil || !ok {
			t.Errorf("skip: %v, %v", ok, err)
		}
	})
	if res := n.mustPublish(yearly("three")); res.Version != 3 {
		t.Errorf("%+v", res)
	}
	if want := first.AddDate(2, 0, 0); !due().Equal(want) {
		t.Errorf("due %v, want %v: the publication brought back what was skipped", due(), want)
	}
	if _, err := n.Reindex(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if want := first.AddDate(2, 0, 0); !due().Equal(want) {
		t.Errorf("a refresh brought back what was skipped: due %v", due())
	}
}

// The only occurrence would come back with the next publication, so that it is not skipped. One
// that is not to come any more is told as such, and an activity that is no schedule is not.
func TestAnOnlyOccurrenceIsNotSkipped(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	s := catalog.SchedulesOf(n.Catalog)
	once := func(id, at string) string {
		return "id: " + id + "\nroot:\n  - startAt: " + at + "\n    id: then\n    trigger: true\n  - id: line\n    writeLine: x\n"
	}
	n.mustPublish(once("future", "2285-01-01T00:00:00Z"))
	n.mustPublish(once("past", "2001-01-01T00:00:00Z"))
	e, err := s.ToCome(t.Context(), "past", "then")
	if err != nil {
		t.Fatal(err)
	}
	if ok, _, err := n.store.Upkeep.FireSchedule(t.Context(), e, nil, nil, nil); err != nil || !ok {
		t.Fatalf("fire: %v, %v", ok, err)
	}
	at := time.Date(2285, 1, 1, 0, 0, 0, 0, time.UTC)
	_, _, err = s.Skip(t.Context(), "future", "then", at)
	if wantCode(t, err, workflow.CodeInvalid); !strings.Contains(err.Error(), "publish the definition without it") {
		t.Errorf("it does not say what to do: %v", err)
	}
	if e, err := s.ToCome(t.Context(), "future", "then"); err != nil || !e.Due.Equal(at) {
		t.Errorf("%+v, %v", e, err)
	}
	if ok, next, err := s.Skip(t.Context(), "past", "then", at); err != nil || ok || !next.IsZero() {
		t.Errorf("what has been: %v, %v, %v", ok, next, err)
	}
	_, _, err = s.Skip(t.Context(), "past", "line", at)
	wantCode(t, err, workflow.CodeScheduleNotFound)
	_, _, err = s.Skip(t.Context(), "none", "then", at)
	wantCode(t, err, workflow.CodeDefinitionNotFound)
	if err := n.Retract(t.Context(), "future"); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Skip(t.Context(), "future", "then", at)
	wantCode(t, err, workflow.CodeDefinitionNotFound)
}

// A schedule lasts as long as something follows, by a clock that may be behind those of nodes.
func TestASchedulesLastOccurrenceIsItsEnd(t *testing.T) {
	b := newBundle(t)
	now := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	n := b.nodeWith(catalog.Config{Now: func() time.Time { return now }})
	s := catalog.SchedulesOf(n.Catalog)
	for trigger, lasts := range map[string]bool{
		"cron: 0 0 0 1 1 *": true, "timer: 100h": true, "startAt: 2030-05-01T12:02:00Z": true,
		"startAt: 2030-05-01T12:00:30Z": false, "startAt: 2030-05-01T11:00:00Z": false, "event: go": false,
	} {
		res := n.mustPublish("id: a\nroot:\n  - " + trigger + "\n    id: begin\n    trigger: true\n  - writeLine: x\n")
		lasting, err := s.Lasting(t.Context(), "a", res.Version)
		if err != nil || (len(lasting) == 1 && lasting[0].ActivityID == "begin") != lasts || !lasts && len(lasting) > 0 {
			t.Errorf("%s: %+v, %v", trigger, lasting, err)
		}
	}
	_, err := s.Lasting(t.Context(), "a", 99)
	wantCode(t, err, workflow.CodeDefinitionNotFound)
}

// A published version that uses a damaged one leaves no check without its findings, and no repair
// undone.
func TestAUsedVersionThatIsDamagedEndsNoCheck(t *testing.T) {
	b := newBundle(t)
	n := b.node()
	n.mustPublish(child("child", "one", false))
	n.mustPublish("id: a\nroot:\n  - cron: 0 0 0 1 1 *\n    id: newyear\n    trigger: true\n  - workflow: child\n")
	spoil := func(key string) {
		t.Helper()
		if _, err := b.client.Put(t.Context(), b.root()+key, "junk"); err != nil {
			t.Fatal(err)
		}
	}
	body := b.keysUnder("definition-version/child/")
	if len(body) != 1 {
		t.Fatalf("%q", body)
	}
	spoil(body[0])
	spoil("timer/00/junk")
	upkeep := b.node().store.Upkeep.WithSchedules(catalog.SchedulesOf(b.node().Catalog).Lasting)
	found := func(check *etcdstore.Check) map[string]string {
		rules := map[string]string{}
		for _, f := range check.Findings {
			rules[f.Key] = f.Rule
		}
		return rules
	}
	check, err := upkeep.Fsck(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := found(check); got[body[0]] != "damaged" || got["timer/00/junk"] == "" {
		t.Errorf("found %v", got)
	}
	done, err := upkeep.Repair(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := found(done.Check); len(done.Done) != 1 || done.Done[0].Key != "timer/00/junk" || got[body[0]] != "damaged" || got["timer/00/junk"] != "" {
		t.Errorf("repaired %+v, left %v", done.Done, got)
	}
}

// As time goes on what follows may be behind the times that keys keep in order. A refresh says
// so and changes nothing, and what follows such a time is nothing.
func TestARefreshOfAScheduleThatKeysCannotKeep(t *testing.T) {
	b := newBundle(t)
	now := time.Date(9731, 1, 1, 0, 0, 0, 0, time.UTC)
	n := b.nodeWith(catalog.Config{Now: func() time.Time { return now }})
	s := catalog.SchedulesOf(n.Catalog)
	n.mustPublish("id: a\nroot:\n  - timer: 2190000h\n    id: rarely\n    trigger: true\n  - writeLine: x\n") // 250 years
	first, err := s.ToCome(t.Context(), "a", "rarely")
	if err != nil {
		t.Fatal(err)
	}
	before := b.keysUnder("cron/")
	now = now.AddDate(20, 0, 0)
	_, err = n.Reindex(t.Context(), "a")
	var refused *workflow.Error
	if !errors.As(err, &refused) || refused.Code != workflow.CodeDefinitionInvalid || len(refused.Problems) != 1 || refused.Problems[0].Code != "time-too-late" || refused.Problems[0].Place.Line != 3 {
		t.Errorf("%+v", err)
	}
	if e, err := s.ToCome(t.Context(), "a", "rarely"); err != nil || !e.Due.Equal(first.Due) || !slices.Equal(b.keysUnder("cron/"), before) {
		t.Errorf("%+v, %v, keys %q", e, err, b.keysUnder("cron/"))
	}
	_, _, err = s.Skip(t.Context(), "a", "rarely", first.Due)
	wantCode(t, err, workflow.CodeInvalid)
	if dues, next, more := schedule.Missed(first, first.Due.AddDate(0, 0, 1), 10); len(dues) != 1 || more {
		t.Errorf("%v, and then %v", dues, next)
	}
	if left, err := s.Lasting(t.Context(), "a", 1); err != nil || len(left) > 0 {
		t.Errorf("%+v, %v", left, err)
	}
}
