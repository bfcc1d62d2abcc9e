package members

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRendezvousMovesOnlyTheShareOfTheNodeThatLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "nodes")
		var nodes []Node
		for i := range n {
			nodes = append(nodes, Node{ID: fmt.Sprint("node-", i), Draining: rapid.Bool().Draw(t, "draining")})
		}
		gone := rapid.IntRange(0, n-1).Draw(t, "gone")
		rest := slices.Delete(slices.Clone(nodes), gone, gone+1)
		key := rapid.String().Draw(t, "key")
		before, after := preferred(nodes, key, "me"), preferred(rest, key, "me")
		onlyDrainingLeft := !slices.ContainsFunc(rest, func(n Node) bool { return !n.Draining })
		if before != nodes[gone].ID && before != after && !onlyDrainingLeft {
			t.Fatalf("%q moved from %s to %s when %s left", key, before, after, nodes[gone].ID)
		}
		reversed := slices.Clone(nodes)
		slices.Reverse(reversed)
		if preferred(reversed, key, "me") != before {
			t.Fatal("the order of the members matters")
		}
	})
}

func TestRendezvousSpreadsEvenly(t *testing.T) {
	t.Parallel()
	nodes := []Node{{ID: "node-1"}, {ID: "node-2"}, {ID: "node-3"}, {ID: "node-4", Draining: true}}
	share := map[string]int{}
	for i := range 3000 {
		share[preferred(nodes, fmt.Sprint("mailbox/", i), "me")]++
	}
	for _, n := range nodes {
		want := 1000
		if n.Draining {
			want = 0
		}
		if d := share[n.ID] - want; d > 150 || d < -150 {
			t.Errorf("%s has %d of 3000 keys, want about %d", n.ID, share[n.ID], want)
		}
	}
	if got := preferred(nil, "x", "me"); got != "me" {
		t.Errorf("without members: %s", got)
	}
	if got := preferred(nodes[3:], "x", "me"); got != "node-4" {
		t.Errorf("only draining nodes: %s", got)
	}
}
