package etcdstore

import (
	"fmt"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
)

func testVersionID(d *defs) {
	t := d.tb
	for i, id := range []string{"first", "second", "second"} {
		v := store.DefinitionVersion{VersionID: "v/1", Hash: fmt.Sprint(i)}
		if _, err := d.PublishDefinition(d.ctx(), d.state(id, ""), v, definitions.Published{}, d.now); err != nil {
			t.Fatal(err)
		}
	}
	for asked, want := range map[string]store.Use{"": {ID: "first", Version: 1}, "other": {ID: "first", Version: 1}, "first": {ID: "first", Version: 1}, "second": {ID: "second", Version: 2}} {
		id, n, ok, err := d.FindVersionID(d.ctx(), "v/1", asked)
		if id != want.ID || n != want.Version || !ok || err != nil {
			t.Errorf("asked for %q: %s, %d, %v, %v", asked, id, n, ok, err)
		}
	}
	if _, _, ok, err := d.FindVersionID(d.ctx(), "v", "first"); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

func testSeen(d *defs) {
	t := d.tb
	for i, content := range []string{"one", "two", "one"} {
		if h := d.mustPublish("order", content, triggers("h")); h.Published != i+1 {
			t.Errorf("published %d", h.Published)
		}
	}
	if a, b, c := d.state("order", "one").Seen, d.state("order", "two").Seen, d.state("order", "three").Seen; a != 1 || b != 2 || c != 0 {
		t.Errorf("seen %d, %d, %d", a, b, c)
	}
}
