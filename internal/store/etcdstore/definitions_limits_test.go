package etcdstore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

func testThousandTriggers(d *defs) {
	t := d.tb
	many := func(prefix string) store.DefinitionIndex {
		var hashes []string
		for i := range store.MaxTriggers {
			hashes = append(hashes, fmt.Sprintf("%s%d", prefix, i))
		}
		idx := triggers(hashes...)
		for i := range store.MaxSchedules {
			idx.Schedules = append(idx.Schedules, timer(fmt.Sprint("c", i), int64(100+len(prefix)+i)))
		}
		for i := range store.MaxRoutes {
			idx.Routes = append(idx.Routes, routes(fmt.Sprint(prefix, "/", i)).Routes...)
		}
		return idx
	}
	first := d.mustPublish("big", "one", many("x"))
	second := d.mustPublish("big", "two", many("yy"))
	third := d.mustPublish("big", "three", many("yy")) // every schedule is kept
	if first.Generation+1 != second.Generation || second.Generation+1 != third.Generation {
		t.Errorf("generations %d, %d, %d", first.Generation, second.Generation, third.Generation)
	}
	pending := d.state("big", "").Crons
	d.between("big", 1, func() {
		for _, e := range pending {
			d.fire(e, e.Due.Unix()+1000)
		}
	})
	d.mustPublish("big", "four", many("yyy")) // every schedule has fired meanwhile
	if got := d.due("big"); len(got) != store.MaxSchedules {
		t.Errorf("%d schedules are left", len(got))
	}
	d.mustPublish("big", "five", many("yyy"))
	for part, want := range map[string]int{"trigger/": store.MaxTriggers, "route/": store.MaxRoutes, "cron/": store.MaxSchedules} {
		if got := len(strings.Fields(d.keysUnder(part))); got != want {
			t.Errorf("%d keys under %s, want %d", got, part, want)
		}
		if got := d.keysUnder(part); strings.Contains(got, "/x") {
			t.Errorf("an old key is left under %s: %s", part, got)
		}
	}
}

func testTooManyTriggers(d *defs) {
	t := d.tb
	_, err := d.publish("big", "one", triggers(make([]string, store.MaxTriggers+1)...))
	if !errors.Is(err, db.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	st := d.state("big", "")
	v := store.DefinitionVersion{Hash: "x", Source: strings.Repeat("x", 1)}
	var noise strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&noise, "%x", uint64(i)*0x9E3779B97F4A7C15)
	}
	v.Source = noise.String()
	if _, err := d.PublishDefinition(d.ctx(), st, v, definitions.Published{}, d.now); !errors.Is(err, db.ErrTooLarge) {
		t.Errorf("a body of %d bytes: %v", len(v.Source), err)
	}
	if st := d.state("big", ""); st.Head != nil {
		t.Errorf("something was written: %+v", st.Head)
	}
}
