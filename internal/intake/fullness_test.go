package intake_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/disk"
	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// An error, an explanation and what the API tells of the store have the same words, which say what is refused
// and what to do; where there is room there are none.
func TestFullnessIsToldInTheSameWordsEverywhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		level intake.Level
		space etcdstore.Space
		says  []string
	}{
		"nearly full":      {intake.NearlyFull, etcdstore.Space{InUse: 140 << 20, Allocated: 150 << 20, Quota: 190 << 20}, []string{"etcd is nearly full: starts", "140 MiB in use", "do this: delete or cancel", "weft store"}},
		"full":             {intake.Full, etcdstore.Space{InUse: 170 << 20, Allocated: 180 << 20, Quota: 190 << 20}, []string{"etcd is full: only what ends", "do this: delete or cancel", "weft store repair"}},
		"alarm":            {intake.Full, etcdstore.Space{InUse: 20 << 20, Allocated: 190 << 20, Quota: 190 << 20, NoSpace: true}, []string{"etcd is full: it has raised the alarm NOSPACE", "do this: run weft store repair", "weft store repair"}},
		"disk nearly full": {intake.NearlyFull, etcdstore.Space{Quota: 4 << 30, Disk: disk.Space{Dir: "/data", Free: 200 << 20, Size: 10 << 30}}, []string{"the disk of /data is nearly full: starts", "200 MiB of 10240 MiB free", "docs/runbooks/disk-full.md"}},
		"disk full":        {intake.Full, etcdstore.Space{Quota: 4 << 30, Disk: disk.Space{Dir: "/data", Free: 100 << 20, Size: 10 << 30}}, []string{"the disk of /data is nearly full: only what ends", "docs/runbooks/disk-full.md"}},
		"out of disk":      {intake.OutOfDisk, etcdstore.Space{Quota: 4 << 30, Disk: disk.Space{Dir: "/data", Free: 1 << 20, Size: 10 << 30}, NoSpace: true}, []string{"the disk of /data is full: nothing is taken that writes", "do this: make room on that disk"}},
	} {
		in := intake.New(nil, nil)
		in.SetSpace(c.level, c.space)
		line := in.Fullness().Line()
		for _, say := range c.says {
			if !strings.Contains(line, say) {
				t.Errorf("%s: no %q in %q", name, say, line)
			}
		}
		refused := in.Room(intake.Starts)
		if workflow.CodeOf(refused) != workflow.CodeStoreNearlyFull || !strings.Contains(refused.Error(), line) {
			t.Errorf("%s: the error says %v, and not %q", name, refused, line)
		}
		if in.HeldBack() != line {
			t.Errorf("%s: held back for %q, not %q", name, in.HeldBack(), line)
		}
	}
	in := intake.New(nil, nil)
	for range 2 { // not known yet, and room
		if f := in.Fullness(); f.Line() != "" || f.Level != intake.Roomy || in.HeldBack() != "" {
			t.Errorf("%+v, although there is room", f)
		}
		in.SetSpace(intake.Roomy, etcdstore.Space{InUse: 1, Allocated: 1, Quota: 100})
	}
}
