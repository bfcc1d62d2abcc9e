package etcdstore

import (
	"errors"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// skip drops the occurrence of the activity a that st has, for one that is due at next.
func (d *defs) skip(st *store.DefinitionState, next int64) error {
	d.tb.Helper()
	for i := range st.Crons {
		if e := &st.Crons[i]; e.ActivityID == "a" && st.Head.Fires(e) {
			following := *e
			following.Due = time.Unix(next, 0).UTC()
			_, err := d.SkipSchedule(d.ctx(), st, e, &following, d.now)
			return err
		}
	}
	d.tb.Fatalf("nothing to skip: %+v", st.Crons)
	return nil
}

// wantDue holds that the schedule of the activity a waits for one time, by one key.
func (d *defs) wantDue(id string, want int64) {
	d.tb.Helper()
	if got := d.due(id); got["a"] != want {
		d.tb.Errorf("due: %v, want %d", got, want)
	}
}

func testSkipMeetsPublish(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", schedules(timer("a", 10)))
	st := d.state("order", "")
	d.mustPublish("order", "two", schedules(timer("a", 10))) // puts the same key again
	if err := d.skip(st, 20); !errors.Is(err, store.ErrHeadMoved) {
		t.Errorf("a skip of what was read before the publication: %v", err)
	}
	d.wantDue("order", 10)

	other := d.other()
	d.between("order", 1, func() {
		if err := other.skip(other.state("order", ""), 20); err != nil {
			t.Errorf("skip: %v", err)
		}
	})
	if _, err := d.publish("order", "three", schedules(timer("a", 10))); !errors.Is(err, store.ErrHeadMoved) {
		t.Errorf("a publication that read what was skipped: %v", err)
	}
	d.wantDue("order", 20)
	d.mustPublish("order", "three", schedules(timer("a", 10)))
	d.wantDue("order", 20)
	if st := d.state("order", ""); len(st.Crons) != 1 {
		t.Errorf("cron keys: %+v", st.Crons)
	}
}

func testSkipMeetsFiring(d *defs) {
	d.mustPublish("order", "one", schedules(timer("a", 10)))
	st := d.state("order", "")
	d.between("order", 1, func() { d.fire(st.Crons[0], 20) })
	if err := d.skip(st, 30); !errors.Is(err, store.ErrHeadMoved) {
		d.tb.Errorf("error %v", err)
	}
	d.wantDue("order", 20)
	if h := d.wantHead("order", 1, 1); h.Modified != st.Head.Modified {
		d.tb.Error("the head moved")
	}
}

func testSkipUnderFaults(d *defs) {
	d.mustPublish("order", "one", schedules(timer("a", 10)))
	due := int64(10)
	for _, fault := range []clustertest.Fault{clustertest.LoseAnswer, clustertest.ApplyTwice, clustertest.FailBefore, clustertest.DeliverLate} {
		rule := d.faults.Add(clustertest.Rule{Fault: fault, Match: d.onHead("order"), Times: 1})
		due += 10
		if err := d.skip(d.state("order", ""), due); err != nil || rule.Fired() != 1 {
			d.tb.Fatalf("fault %v: %v", fault, err)
		}
		d.wantDue("order", due)
	}
	due += 10
	if err := d.skip(d.state("order", ""), due); err != nil {
		d.tb.Fatal(err)
	}
	if n := d.faults.Deliver(); n != 1 {
		d.tb.Fatalf("%d late copies", n)
	}
	d.wantDue("order", due)
	if st := d.state("order", ""); len(st.Crons) != 1 {
		d.tb.Errorf("cron keys: %+v", st.Crons)
	}
}

func testSkippedStaysAway(d *defs) {
	d.mustPublish("order", "one", schedules(timer("a", 10)))
	if err := d.skip(d.state("order", ""), 20); err != nil {
		d.tb.Fatal(err)
	}
	skipped := d.state("order", "").Crons[0]
	d.between("order", 1, func() { d.fire(skipped, 30) })
	d.mustPublish("order", "two", schedules(timer("a", 10)))
	d.wantDue("order", 20) // it starts nothing twice: the ids derive from its time
}

func testOutdatedPutAnew(d *defs) {
	d.mustPublish("order", "one", schedules(timer("a", 10)))
	read, _, err := d.Due(d.ctx(), record.Schedules, everywhere(), time.Unix(10, 0), 10)
	if err != nil || len(read) != 1 {
		d.tb.Fatalf("%+v, %v", read, err)
	}
	head := d.mustPublish("order", "two", schedules(timer("a", 10)))
	if head.Fires(read[0].Schedule) {
		d.tb.Fatal("what was read before the publication is not outdated")
	}
	if ok, _, err := d.FireSchedule(d.ctx(), read[0].Schedule, nil, nil, nil); err != nil || ok {
		d.tb.Errorf("what the publication put was deleted: %v, %v", ok, err)
	}
	d.wantDue("order", 10)
	if _, err := d.raw.Delete(d.ctx(), d.Keys.Head("order")); err != nil {
		d.tb.Fatal(err)
	}
	again, _, err := d.Due(d.ctx(), record.Schedules, everywhere(), time.Unix(10, 0), 10)
	if err != nil || len(again) != 1 {
		d.tb.Fatalf("%+v, %v", again, err)
	}
	if ok, _, err := d.FireSchedule(d.ctx(), again[0].Schedule, nil, nil, nil); err != nil || !ok {
		d.tb.Errorf("an outdated one is not deleted: %v, %v", ok, err)
	}
	d.wantKeys("cron/", "")
}
