package instances

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/people/console/shape"
)

func TestAJournalIsShownByItsCommits(t *testing.T) {
	t.Parallel()
	node := func(name string) *string { return &name }
	j := shape.Journal{ItemsBefore: 7, ItemsBehind: 2}
	for i := int64(1); i <= 10; i++ {
		on := node("a")
		if i > 5 {
			on = node("b")
		}
		j.Commits = append(j.Commits, shape.Commit{Commit: i, Node: on})
		for range i {
			j.Items = append(j.Items, shape.JournalItem{Commit: i})
		}
	}
	groups := byCommit(&j)
	if len(groups) != 10 || groups[0].Commit.Commit != 10 || len(groups[0].Items) != 10 || len(groups[9].Items) != 1 {
		t.Fatalf("%+v", groups)
	}
	taken := 0
	for i, g := range groups {
		if g.Taken {
			taken++
		}
		if before, behind := i == 9, i == 0; before != (g.Before == 7) || behind != (g.Behind == 2) {
			t.Errorf("%d has %d before and %d behind", i, g.Before, g.Behind)
		}
	}
	if taken != 1 || !groups[4].Taken {
		t.Errorf("%d taken over", taken)
	}
	// A commit that is cut on both sides, one without items, and none at all.
	one := shape.Journal{Commits: j.Commits[:1], ItemsBefore: 7, ItemsBehind: 2}
	if g := byCommit(&one); len(g) != 1 || g[0].Before != 7 || g[0].Behind != 2 || g[0].Items != nil || g[0].Taken {
		t.Errorf("%+v", g)
	}
	if g := byCommit(&shape.Journal{}); len(g) != 0 {
		t.Errorf("%+v", g)
	}
}

func TestALineIsTurnedRound(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"": "sort:created", "status:faulted  def:x": "status:faulted def:x sort:created", "sort:created": "", " status:faulted sort:created def:x": "status:faulted def:x",
		"sort:-created corr:a": "corr:a sort:created", `incident:"a sort:created \" b" sort:created`: `incident:"a sort:created \" b"`,
	} {
		oldest, got := turned(line)
		if got != want || oldest == strings.HasSuffix(want, "sort:created") {
			t.Errorf("%s: %t, %q, want %q", line, oldest, got, want)
		}
	}
}
