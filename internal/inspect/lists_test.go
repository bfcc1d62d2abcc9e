package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// A page has as many tasks as were asked for also where an instance has more,
// and no task is lost or listed twice, whatever is done between two pages.
func TestTasksComeInPages(t *testing.T) {
	t.Parallel()
	m := newMember(t)
	m.Publish(`
id: packing
root:
  - parallel:
      - runTask: pack
      - runTask: label
      - runTask: pack
      - runTask: pack
  - event: never
`)
	for i := range 3 {
		m.Start("packing", fmt.Sprint("p", i), "")
	}
	walk := func(name string, limit int, after func(id string)) (ids []string) {
		t.Helper()
		for cursor := ""; ; {
			page, err := m.Inspector.Tasks(t.Context(), name, cursor, limit)
			if err != nil || len(page.Items) > limit || len(page.Items) == 0 && page.Next != "" {
				t.Fatalf("limit %d: %d tasks, %v", limit, len(page.Items), err)
			}
			for _, task := range page.Items {
				ids = append(ids, task.TaskID)
			}
			if page.Next == "" {
				return ids
			}
			after(ids[len(ids)-1])
			cursor = page.Next
		}
	}
	nothing := func(string) {}
	all := walk("", 50, nothing)
	if len(all) != 12 {
		t.Fatalf("%d tasks", len(all))
	}
	for limit := 1; limit < 13; limit++ {
		if got := walk("", limit, nothing); !slices.Equal(got, all) {
			t.Errorf("limit %d: %q, want %q", limit, got, all)
		}
		if got := walk("pack", limit, nothing); len(got) != 9 {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	done := walk("", 1, func(id string) {
		if _, err := m.Bookmarks.CompleteTask(t.Context(), id, "ok", "", nil); err != nil {
			t.Fatal(err)
		}
	})
	if !slices.Equal(done, all) {
		t.Errorf("got %q, want %q", done, all)
	}
}

func TestTheListOfTimersHasBothKinds(t *testing.T) {
	t.Parallel()
	m := newMember(t)
	m.Publish("id: delayed\nroot:\n  - delay: 1h\n", "id: far\nroot:\n  - startAt: 9999-12-31T00:00:00Z\n", "id: yearly\nroot:\n  - cron: '0 0 0 1 1 *'\n    trigger: true\n")
	for i := range 3 {
		m.Start("delayed", fmt.Sprint("d", i), "")
		m.Start("far", fmt.Sprint("f", i), "") // its time has more digits than others
	}
	kinds := map[string]int{}
	for cursor := ""; ; {
		page, err := m.Inspector.Timers(t.Context(), cursor, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			kinds[item.Kind]++
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if kinds["bookmark"] != 6 || kinds["cron"] != 1 {
		t.Errorf("got %v", kinds)
	}
}

// The timers and the schedules of one page are as etcd was at one revision.
func TestAPageOfTimersIsOfOneRevision(t *testing.T) {
	t.Parallel()
	m := newMember(t)
	m.Publish("id: delayed\nroot:\n  - delay: 1h\n", "id: yearly\nroot:\n  - cron: '0 0 0 1 1 *'\n    trigger: true\n")
	m.Start("delayed", "d", "")
	raw := clustertest.Shared(t).Client(t)
	changed := int64(0)
	armed := m.Faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if changed == 0 && !c.Mutating && c.Touches(m.Root+"cron/") { // the second read of the page
			resp, err := raw.Delete(context.Background(), m.Root+"cron/", clientv3.WithPrefix())
			if err != nil {
				t.Error(err)
				return false
			}
			changed = resp.Header.Revision
		}
		return false
	}})
	page, err := m.Inspector.Timers(t.Context(), "", 10)
	armed.Disarm()
	if err != nil || len(page.Items) != 2 || page.Next != "" || page.Revision == 0 || page.Revision >= changed {
		t.Errorf("%+v, %v; the schedule went at %d", page, err, changed)
	}
}
