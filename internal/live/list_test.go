package live_test

import (
	"context"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// page is a list as a listener keeps it, from what it was told.
type page struct {
	*listener
	topic string
	ids   []string
	rows  map[string]map[string]any
	more  bool
}

func lists(d *door, line, after string) *page {
	topic := "instances:" + line
	return &page{listener: d.listen(url.QueryEscape(topic), after), topic: topic, rows: map[string]map[string]any{}}
}

// hear takes the next event, and gives the ids of its rows.
func (p *page) hear() (told []string) {
	p.t.Helper()
	e := p.want("instances")
	if e.field("topic") != p.topic {
		p.t.Fatalf("%v", e)
	}
	p.ids, p.more = nil, e.field("more").(bool)
	for _, id := range e.field("ids").([]any) {
		p.ids = append(p.ids, id.(string))
	}
	for _, item := range e.field("items").([]any) {
		row := item.(map[string]any)
		id := row["instanceId"].(string)
		p.rows[id], told = row, append(told, id)
	}
	for _, id := range p.ids {
		if p.rows[id] == nil {
			p.t.Fatalf("%s is on the page, and was never told: %v", id, e)
		}
	}
	return told
}

// becomes hears until the page has these, as ids and sub-statuses; those made in one millisecond
// stand in the order of their ids.
func (p *page) becomes(want ...string) {
	p.t.Helper()
	for {
		var is []string
		for _, id := range p.ids {
			is = append(is, id+" "+fmt.Sprint(p.rows[id]["subStatus"]))
		}
		slices.Sort(is)
		if slices.Equal(is, slices.Sorted(slices.Values(want))) {
			return
		}
		p.hear()
	}
}

var quick = options{hub: func(c *live.Config) { c.Lists = 20 * time.Millisecond }}

// Of a list the first page is told: what comes, changes and goes, on any node, and nothing else.
func TestAListIsTold(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	doors := []*door{member(t, name, "a", quick), member(t, name, "b", quick)}
	a := doors[0]
	a.Publish(membertest.Waits, often)
	all, waits := lists(a, "", ""), lists(doors[1], "def:waits  status:running", "")
	for _, p := range []*page{all, waits} {
		if told := p.hear(); told != nil || len(p.ids) != 0 || p.more {
			t.Errorf("at first: %v %v", told, p.ids)
		}
	}
	a.Start("waits", "one", "c")
	waits.becomes("one Suspended")
	if row := waits.rows["one"]; row["correlationId"] != "c" || row["waits"] != 1.0 || len(row["waitsFor"].([]any)) != 1 || row["input"] != nil {
		t.Errorf("%v", row)
	}
	a.Start("often", "other", "o")
	a.Start("waits", "two", "d")
	waits.becomes("two Suspended", "one Suspended")
	all.becomes("two Suspended", "other Suspended", "one Suspended")
	// Only what changed is told again.
	before := slices.Clone(all.ids)
	a.Event("again", "o", nil)
	if told := all.hear(); !slices.Equal(told, []string{"other"}) || !slices.Equal(all.ids, before) {
		t.Errorf("told %v of %v", told, all.ids)
	}
	// What does not fit any more goes.
	a.Event("go", "d", nil)
	waits.becomes("one Suspended")
	all.becomes("two Finished", "other Suspended", "one Suspended")
	// Who comes back, to any node, is told all of it.
	all.Close()
	if _, err := a.Commands.Delete(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it is gone", func() bool {
		rec, err := a.Store.Reader.Instance(t.Context(), "two")
		return err == nil && rec == nil
	})
	again := lists(doors[1], "", all.last)
	if told := again.hear(); !slices.Equal(told, []string{"other", "one"}) || !slices.Equal(again.ids, told) {
		t.Errorf("told %v of %v", told, again.ids)
	}
}

// A page has its bounds, and one look is for all who look at the same.
func TestAListThatIsToldIsBounded(t *testing.T) {
	t.Parallel()
	d := member(t, clustertest.Namespace(t), "a", quick)
	var many strings.Builder
	many.WriteString("id: many\nroot:\n  - parallel:\n")
	for i := range 50 {
		fmt.Fprintf(&many, "      - event: e%d\n", i)
	}
	d.Publish(many.String())
	for i := range 60 {
		d.Start("many", fmt.Sprintf("i%02d", i), strings.Repeat("c", 200))
	}
	first := lists(d, "def:many", "")
	told := first.hear()
	if row := first.rows[first.ids[0]]; len(told) != 50 || !first.more || len(row["waitsFor"].([]any)) != 5 || row["waits"] != 50.0 {
		t.Errorf("%d rows, more %v: %v", len(told), first.more, row)
	}
	for _, line := range []string{"def:many", " def:many  ", `def:"many"`} {
		if told := lists(d, line, "").hear(); len(told) != 50 {
			t.Errorf("%s: %d rows", line, len(told))
		}
	}
	if n := d.hub.Followed(); n != 1 {
		t.Errorf("%d are followed", n)
	}
	// A line may have commas in it, and stand behind other topics.
	l := d.listen(url.QueryEscape(`cluster,instances:def:many incident:"a, b"`), "")
	l.want("cluster")
	if e := l.want("instances"); e.field("topic") != `instances:def:many incident:"a, b"` {
		t.Errorf("%v", e)
	}
}

// Who began to look at a list leaves nothing of the request behind for the others.
func TestAListKeepsNoRequest(t *testing.T) {
	t.Parallel()
	type carried struct{}
	gone := make(chan int, 2)
	n := 0 // connections
	d := member(t, clustertest.Namespace(t), "a", options{hub: quick.hub, conn: func(ctx context.Context) context.Context {
		n++
		held := &[1 << 10]byte{}
		runtime.AddCleanup(held, func(n int) { gone <- n }, n)
		return context.WithValue(ctx, carried{}, held)
	}})
	d.Publish(membertest.Waits)
	first := lists(d, "def:waits", "")
	first.hear()
	second := lists(d, "def:waits", "")
	second.hear()
	first.Close()
	polltest.Eventually(t, "the first request is forgotten", func() bool {
		runtime.GC()
		select {
		case n := <-gone:
			if n != 1 {
				t.Errorf("connection %d is forgotten, whose request is still served", n)
			}
			return true
		default:
			return false
		}
	})
	d.Start("waits", "one", "c")
	second.becomes("one Suspended")
}
