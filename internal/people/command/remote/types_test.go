package remote_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// Commands that ask no node know the activity types of files as well, and leave those files alone where definitions are meant.
func TestTypesOfFilesAreKnownHere(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	ship := u.file("flows/activities/ship.yaml", "type: acme.Ship\ntitle: Ship a parcel\ntask: ship\ninputs: {address: {type: string, required: true}}\noutcomes: [Shipped, Refused]\n")
	order := u.file("flows/order.yaml", "id: order\nroot:\n  - {acme.Ship: {address: here}, id: ship}\n")
	types := "--activities=" + filepath.Dir(ship)
	dir := filepath.Dir(order)

	u.refuses(1, "there is no activity type \"acme.Ship\"", "validate", order)
	if got := u.wants(0, "ok: 1 valid\n", "validate", types, dir); got.err != "1 files that declare activity types are no definitions, and left alone\n" {
		t.Errorf("it says %q", got.err)
	}
	u.refuses(2, "has no definitions", "validate", types, filepath.Dir(ship))
	u.refuses(1, "did you mean address?", "validate", types, u.file("bad.yaml", "id: bad\nroot: [acme.Ship: {adress: here}]\n"))
	if got := u.wants(0, "*", "activities", "acme.Ship", types); !strings.Contains(got.out, "Ship a parcel. Done by workers that claim tasks named ship.") || !strings.Contains(got.out, "OUTCOMES  Shipped, Refused") {
		t.Errorf("%s", got.out)
	}
	if got := u.wants(0, "*", "schema", types); !strings.Contains(got.out, "acme.Ship") {
		t.Error("the schema does not have it")
	}
	if got := u.wants(0, "*", "graph", types, order); !strings.Contains(got.out, "acme.Ship [ship]") {
		t.Errorf("%s", got.out)
	}
	u.wants(0, "", "fmt", "--check", types, dir)

	bad := u.file("bad/ship.yaml", "type: acme.Ship\ninptus: {}\n")
	for _, args := range [][]string{{"validate", order}, {"activities"}, {"schema"}, {"graph", order}, {"fmt", order}} {
		u.refuses(1, bad+": line 2, column 1: a declaration of an activity type has no key inptus (did you mean inputs?)", append(args, "--activities", filepath.Dir(bad))...)
	}
	twice := u.file("twice/b.yaml", "type: acme.Ship\n")
	u.file("twice/a.yaml", "type: acme.Ship\n")
	u.refuses(1, twice+": line 1, column 7: the activity type acme.Ship is declared in", "activities", "--activities", filepath.Dir(twice))
	u.refuses(1, "no such file or directory", "activities", "--activities", filepath.Join(dir, "none"))
}
