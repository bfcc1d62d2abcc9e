package etcdstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// What starts a page of definitions is read by a few requests, however many things start them, and
// what cannot be read is told as others.
func testStarts(d *defs) {
	t := d.tb
	ids := []string{"none"}
	d.mustPublish("none", "x", store.DefinitionIndex{})
	for i := range 49 {
		id := fmt.Sprintf("d%02d", i)
		d.mustPublish(id, "x", triggersOf(fmt.Sprint("h", i), "paid"))
		ids = append(ids, id)
	}
	many := triggers("1", "2", "3", "4", "5", "6")
	many.Routes = routes("orders/{id}").Routes
	many.Schedules = []store.CronEntry{{ActivityID: "c", Kind: store.ScheduleCron, Expression: "0 0 0 1 1 *", Due: time.UnixMilli(5000)}}
	d.mustPublish("d00", "many", many)
	var all map[string]*definitions.Starts
	var requests int
	err := db.ErrCompacted
	for errors.Is(err, db.ErrCompacted) { // other tests compact the etcd that they share
		d.mustPublish("d01", "x", triggersOf("h1", "paid"))
		_, end, lerr := d.ListDefinitions(d.ctx(), "", 50)
		if lerr != nil {
			t.Fatal(lerr)
		}
		d.mustPublish("d01", "later", store.DefinitionIndex{}) // than the page
		requests = d.faults.Calls("get") + d.faults.Calls("txn")
		all, err = d.Starts(d.ctx(), ids, end.Revision)
	}
	if requests = d.faults.Calls("get") + d.faults.Calls("txn") - requests; err != nil || requests > 3 {
		t.Errorf("%d requests, %v", requests, err)
	}
	if len(all) != 49 || all["none"] != nil || len(all["d01"].Index.Triggers) != 1 || all["d01"].Index.Triggers[0].Name != "paid" || all["d01"].More || all["d01"].Schedules {
		t.Errorf("%d: %+v", len(all), all["d01"])
	}
	if got := all["d00"]; !got.More || !got.Schedules || len(got.Index.Triggers) != definitions.MostStarts || len(got.Index.Routes) != 1 || got.Index.Routes[0].Template != "orders/{id}" {
		t.Errorf("%+v", got)
	}
	for _, key := range []string{d.Keys.Indexed("d02"), d.Keys.Trigger("h3", "d03", "a-h3")} {
		if _, err := d.raw.Put(d.ctx(), key, "{"); err != nil {
			t.Fatal(err)
		}
	}
	if all, err = d.Starts(d.ctx(), ids, 0); err != nil || !all["d02"].More || !all["d03"].More || all["d01"] != nil {
		t.Errorf("%v: %+v, %+v, %+v", err, all["d02"], all["d03"], all["d01"])
	}
}

func triggersOf(hash, name string) store.DefinitionIndex {
	idx := triggers(hash)
	idx.Triggers[0].Name = name
	return idx
}
