package cluster

import (
	"slices"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

// Able names the live nodes of another program that have all that is needed, and
// those that go come out of it with their sessions.
func TestAbleNodes(t *testing.T) {
	w := newWorld(t)
	can := func(program string, abilities ...string) func(*Config) {
		return func(c *Config) { c.Program, c.Abilities = program, abilities }
	}
	a := w.run("a", can("old", "x"))
	w.run("twin", can("old", "x"))
	w.run("more", can("new", "x", "y"))
	w.run("most", can("newer", "x", "y", "z"))
	d := w.run("drains", can("newest", "x", "y", "z"))
	polltest.Eventually(t, "all are known", func() bool { return len(a.Members()) == 5 })
	if err := d.UpdateNode(w.ctx(), func(n *Node) { n.Draining = true }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ needs, want []string }{
		{nil, []string{"more", "most"}},           // this node lacks nothing that is known, so that of another program may do
		{[]string{"x"}, []string{"more", "most"}}, // it has that, and cannot none the less
		{[]string{"x", "y"}, []string{"more", "most"}},
		{[]string{"z"}, []string{"most"}},
		{[]string{"x", "nobody"}, nil},
	} {
		polltest.Eventually(t, "who can is known", func() bool {
			got, err := a.Able(w.ctx(), c.needs)
			return err == nil && slices.Equal(got, c.want)
		})
	}
	if err := d.Close(w.ctx()); err != nil {
		t.Fatal(err)
	}
	if n := len(w.get(a.root + abilityDir + "drains").Kvs); n != 0 {
		t.Error("it left what it can run behind")
	}
}
