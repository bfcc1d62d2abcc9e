package activities_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// drawnFlow is a random flowchart without loops. It begins with n0; what would
// lead nowhere leads to the last.
type drawnFlow struct {
	kids []*workflow.Activity
	any  []bool       // joins that wait for any
	in   [][]drawnWay // by target
}

// drawnWay is a connection, and whether what it comes from follows it.
type drawnWay struct {
	from     int
	followed bool
}

func drawFlow(t *rapid.T) (f drawnFlow, connections []string) {
	n := rapid.IntRange(4, 11).Draw(t, "activities")
	f.any, f.in = make([]bool, n), make([][]drawnWay, n)
	ports := make([]string, n) // of decisions: the one that is taken
	leads := make([]bool, n)
	connect := func(from, to int) {
		port, followed := "", true
		if ports[from] != "" {
			port = rapid.SampledFrom([]string{"True", "False"}).Draw(t, "port")
			followed = port == ports[from]
		}
		leads[from] = true
		f.in[to] = append(f.in[to], drawnWay{from, followed})
		connections = append(connections, fmt.Sprintf("n%d.%s -> n%d", from, port, to))
	}
	for i := range n {
		id := fmt.Sprint("n", i)
		var a *workflow.Activity
		switch kind := rapid.IntRange(0, 7).Draw(t, "kind"); {
		case kind < 2 && i > 0:
			f.any[i], a = true, join(id, "WaitAny")
		case kind < 5 && i > 0:
			a = pause(id)
		case kind < 6 && i > 0 && i < n-1:
			yes := rapid.Bool().Draw(t, "condition")
			ports[i], a = map[bool]string{true: "True", false: "False"}[yes], decide(id, lit(yes))
		default:
			a = say(id)
		}
		f.kids = append(f.kids, a)
		for from := range i {
			if i == n-1 && !leads[from] || rapid.IntRange(0, i).Draw(t, "connected") < 2 {
				connect(from, i)
			}
		}
	}
	return f, rapid.Permutation(connections).Draw(t, "connections")
}

// check says what is wrong with one round. Started and completed are places in
// the journal, 0 for never.
func (f drawnFlow) check(started, completed []int) error {
	decided := make([]bool, len(f.kids)) // leads to a join that was decided: it may have been cancelled
	for to := len(f.kids) - 1; to >= 0; to-- {
		for _, w := range f.in[to] {
			decided[w.from] = decided[w.from] || decided[to] || f.any[to] && completed[to] > 0
		}
	}
	for to := 1; to < len(f.kids); to++ {
		due := false
		for _, w := range f.in[to] {
			due = due || w.followed && completed[w.from] > 0
			if !f.any[to] && started[to] > 0 && completed[w.from] > started[to] {
				return fmt.Errorf("n%d did not wait for n%d", to, w.from)
			}
		}
		if started[to] > 0 && !due || completed[to] == 0 && due && !decided[to] {
			return fmt.Errorf("n%d: started at %d, completed at %d, due: %v", to, started[to], completed[to], due)
		}
	}
	return nil
}

// TestEveryRoundOfALoopIsTheSame: whatever joins that wait for any cancel, in
// each round of a loop an activity runs once, after all that leads to it, if any
// of that ran; and nothing is lost but what leads to such a join.
func TestEveryRoundOfALoopIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		f, connections := drawFlow(r)
		last := len(f.kids) - 1
		connections = append(connections, "start -> n0", fmt.Sprintf("n%d -> d", last), "d.False -> n0", "d.True -> end")
		kids := append(slices.Clone(f.kids), named("start", act("Start", nil)), decide("d", reached(3)), say("end"))
		def := root(flow(strings.Join(connections, ","), kids...))
		def.Variables = []workflow.Variable{{Name: "n", Type: "Int32", Value: 0}}
		b := start(t, def)
		for len(b.header.Bookmarks) > 0 {
			bm := rapid.SampledFrom(b.header.Bookmarks).Draw(r, "resume")
			b.run(workflow.Command{ID: b.id("resume"), Kind: workflow.CommandResume, Bookmark: bm.ID})
		}
		rounds := 0
		var started, completed []int
		check := func() {
			if rounds > 0 {
				if err := f.check(started, completed); err != nil {
					r.Fatalf("round %d: %v\n%s", rounds, err, strings.Join(connections, ", "))
				}
			}
			rounds++
			started, completed = make([]int, last+1), make([]int, last+1)
		}
		for at, it := range b.journal {
			i := slices.IndexFunc(f.kids, func(a *workflow.Activity) bool { return a.ID == it.ActivityID })
			if i < 0 {
				continue
			}
			if i == 0 && it.Event == engine.EventStarted {
				check()
			}
			for event, places := range map[string][]int{engine.EventStarted: started, engine.EventCompleted: completed} {
				if it.Event != event {
					continue
				}
				if places[i] > 0 {
					r.Fatalf("round %d: n%d ran twice\n%s", rounds, i, strings.Join(connections, ", "))
				}
				places[i] = at + 1
			}
		}
		again := completed[last] > 0 && rounds < 3
		check()
		if again {
			r.Fatalf("%d rounds, %s %v\n%s", rounds-1, b.header.SubStatus, b.header.Incidents, strings.Join(connections, ", "))
		}
		b.wantStatus(workflow.Finished)
	})
}
