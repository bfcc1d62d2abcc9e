package upkeep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/disk"
)

// Space is how full etcd is: its fullest member.
type Space struct {
	InUse     int64 // bytes of the database that hold something
	Allocated int64 // bytes of its file: what the quota bounds; a defragmentation gives back what is not in use
	Quota     int64 // 0: this etcd does not tell
	NoSpace   bool  // the alarm is raised: etcd refuses every write but deletes
	Revision  int64
	// Disk is that of an embedded etcd; Upkeep.Space does not know it.
	Disk disk.Space
}

// Space asks every member. Members that do not answer are left out; it is an error
// if none does.
func (s *Upkeep) Space(ctx context.Context) (Space, error) {
	ctx, cancel := context.WithTimeout(ctx, s.conn.Timeout)
	defer cancel()
	endpoints := s.conn.Client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{""} // in this process
	}
	var sp Space
	var errs []error
	for _, e := range endpoints {
		// One that hangs takes no time from the others.
		part, cancel := context.WithTimeout(ctx, s.conn.Timeout/time.Duration(len(endpoints)))
		resp, err := s.conn.Client.Status(part, e)
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("ask etcd for its size: %w", err))
			continue
		}
		if one := (Space{InUse: resp.DbSizeInUse, Allocated: resp.DbSize, Quota: resp.DbSizeQuota}); one.Fuller(sp) {
			sp.InUse, sp.Allocated, sp.Quota = one.InUse, one.Allocated, one.Quota
		}
		sp.Revision = max(sp.Revision, resp.Header.Revision)
		for _, alarm := range resp.Errors {
			sp.NoSpace = sp.NoSpace || strings.Contains(alarm, "NOSPACE")
		}
	}
	if len(errs) == len(endpoints) {
		return Space{}, errors.Join(errs...)
	}
	return sp, nil
}

// Fuller tells whether a member is nearer to its quota than another one: each has a quota of its own, and the first at
// its quota raises the alarm for all.
func (sp Space) Fuller(than Space) bool {
	return sp.part() > than.part() || sp.part() == than.part() && sp.InUse >= than.InUse
}

// part is how much of the quota is taken, in its own way: what is allocated does no harm before it is near the quota.
func (sp Space) part() float64 {
	if sp.Quota == 0 {
		return 0
	}
	return max(float64(sp.InUse), 2*float64(sp.Allocated)-float64(sp.Quota)) / float64(sp.Quota)
}

// Compact forgets what etcd keeps from before a revision; nothing, if that was
// done.
func (s *Upkeep) Compact(ctx context.Context, revision int64) error {
	ctx, cancel := context.WithTimeout(ctx, s.conn.Timeout)
	defer cancel()
	if _, err := s.conn.Client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compact etcd: %w", err)
	}
	return nil
}

// Disarm takes back the alarm that there is no space: etcd writes again.
func (s *Upkeep) Disarm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.conn.Timeout)
	defer cancel()
	if _, err := s.conn.Client.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
		return fmt.Errorf("disarm etcd's alarm: %w", err)
	}
	return nil
}

// String is for people.
func (sp Space) String() string {
	text := fmt.Sprintf("%d MiB in use, %d MiB allocated, quota %d MiB", sp.InUse>>20, sp.Allocated>>20, sp.Quota>>20)
	if sp.NoSpace {
		text += ", NOSPACE alarm"
	}
	return text
}
