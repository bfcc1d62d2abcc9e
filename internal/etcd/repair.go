package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/undo"
)

// Repair is what [pkg/node.RepairStore] says.
func Repair(ctx context.Context, cfg Config, undo *undo.Steps, dry bool, tell func(line string)) error {
	clients, err := OpenKept(ctx, cfg, undo)
	var used *inUseError
	if errors.As(err, &used) && used.etcd != "" {
		cfg.Endpoints = []string{used.etcd} // through the node that has it
		clients, err = dialEtcd(ctx, cfg, undo, nil)
	}
	if err != nil {
		return err
	}
	r := &storeRepair{client: clients.Main, defragment: clients.Defragment, dry: dry, tell: tell}
	return r.run(ctx, clients.Endpoints)
}

// storeRepair is one repair under way.
type storeRepair struct {
	client     *clientv3.Client
	defragment func() error // of an etcd in this process; nil: through the client
	dry        bool
	tell       func(string)
	members    []etcdMember // the leader last
}

type etcdMember struct {
	name, at string
	id       uint64
	status   *clientv3.StatusResponse
}

const (
	repairCall   = 5 * time.Second
	repairHealth = time.Minute      // until a member has caught up
	repairLong   = 10 * time.Minute // a compaction, a defragmentation
	repairRoom   = 0.95             // of the quota allocated, beyond which the alarm would come back at once
	repairBehind = 100              // entries of the log that a member may lack
	afterDisarm  = 3 * time.Second  // in which a write that was on its way may raise it again
)

func (r *storeRepair) run(ctx context.Context, endpoints []string) error {
	if err := r.look(ctx, endpoints); err != nil {
		return err
	}
	alarmed, err := r.alarms(ctx)
	if err != nil {
		return err
	}
	if err := r.compact(ctx); err != nil {
		return err
	}
	for _, m := range r.members {
		if err := r.defrag(ctx, m); err != nil {
			return err
		}
	}
	return r.disarm(ctx, alarmed)
}

// step tells what is done now, or would be, and whether it is.
func (r *storeRepair) step(format string, args ...any) bool {
	would := ""
	if r.dry {
		would = "would "
	}
	r.tell(would + fmt.Sprintf(format, args...))
	return !r.dry
}

// look finds the members, and wants all of them to answer.
func (r *storeRepair) look(ctx context.Context, endpoints []string) error {
	cctx, cancel := context.WithTimeout(ctx, repairCall)
	defer cancel()
	list, err := r.client.MemberList(cctx)
	if err != nil {
		return rootOnly("ask etcd for its members", err)
	}
	for _, m := range list.Members {
		at, asked := "", slices.Clone(m.ClientURLs)
		if len(list.Members) == 1 {
			asked = append(slices.Clone(endpoints), asked...) // where it was reached
		}
		is := etcdMember{name: cmp.Or(m.Name, fmt.Sprintf("%x", m.ID)), id: m.ID}
		for _, e := range asked {
			if is.status, err = r.status(ctx, e); err == nil && is.status.Header.MemberId == m.ID {
				at = e
				break
			}
		}
		if at == "" {
			return fmt.Errorf("member %s of etcd (%s) does not answer, and nothing was done: a member does not answer while it is defragmented, and with one more away there may be no majority. Bring it back, or remove it (docs/runbooks/etcd-member-missing.md): %w",
				is.name, strings.Join(m.ClientURLs, ", "), err)
		}
		is.at = at
		r.members = append(r.members, is)
	}
	slices.SortStableFunc(r.members, func(a, b etcdMember) int { return rank(a) - rank(b) })
	for _, m := range r.members {
		r.tell(fmt.Sprintf("member %s (%s): %s", m.name, shortAddress(m.at), sizesOf(m.status)))
	}
	return nil
}

// rank puts the leader last.
func rank(m etcdMember) int {
	if m.status.Leader == m.id {
		return 1
	}
	return 0
}

func shortAddress(at string) string {
	if u, err := url.Parse(at); err == nil && u.Host != "" {
		return u.Host
	}
	return at
}

func sizesOf(s *clientv3.StatusResponse) string {
	text := fmt.Sprintf("etcd %s, %d MiB in use, %d MiB allocated", s.Version, s.DbSizeInUse>>20, s.DbSize>>20)
	if s.DbSizeQuota > 0 {
		text += fmt.Sprintf(" of %d MiB", s.DbSizeQuota>>20)
	}
	if s.Leader == s.Header.MemberId {
		text += ", the leader"
	}
	return text
}

// status asks a member again while it is not known that it is away: one that is busy, or was a moment ago, may be taken for
// one that hangs, whose connection is closed.
func (r *storeRepair) status(ctx context.Context, at string) (s *clientv3.StatusResponse, err error) {
	ctx, cancel := context.WithTimeout(ctx, repairCall)
	defer cancel()
	for {
		if s, err = r.client.Status(ctx, at); err == nil || !pace.Pause(ctx, 200*time.Millisecond) {
			return s, err
		}
	}
}

// alarms gives those of NOSPACE, and refuses to go on beside another: a member whose data is damaged must not be
// touched.
func (r *storeRepair) alarms(ctx context.Context) ([]*etcdserverpb.AlarmMember, error) {
	ctx, cancel := context.WithTimeout(ctx, repairCall)
	defer cancel()
	list, err := r.client.AlarmList(ctx)
	if err != nil {
		return nil, rootOnly("ask etcd for its alarms", err)
	}
	for _, a := range list.Alarms {
		if a.Alarm != etcdserverpb.AlarmType_NOSPACE {
			return nil, fmt.Errorf("etcd has raised the alarm %s at member %x, and nothing was done: look into that first", a.Alarm, a.MemberID)
		}
	}
	return list.Alarms, nil
}

func (r *storeRepair) compact(ctx context.Context) error {
	revision := int64(0)
	for _, m := range r.members {
		revision = max(revision, m.status.Header.Revision)
	}
	if !r.step("compact at revision %d: etcd forgets what is of before", revision) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, repairLong)
	defer cancel()
	if _, err := r.client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return rootOnly("compact etcd", err)
	}
	return nil
}

// defrag defragments a member, and waits until it is as far as the others.
func (r *storeRepair) defrag(ctx context.Context, m etcdMember) error {
	if !r.step("defragment member %s; it does not answer until that is done", m.name) {
		return nil
	}
	if err := r.healthy(ctx); err != nil {
		return fmt.Errorf("member %s is not defragmented: %w", m.name, err)
	}
	dctx, cancel := context.WithTimeout(ctx, repairLong)
	defer cancel()
	var err error
	if r.defragment != nil {
		err = r.defragment()
	} else {
		_, err = r.client.Defragment(dctx, m.at)
	}
	if err != nil {
		return rootOnly("defragment member "+m.name, err)
	}
	if err := r.healthy(ctx); err != nil {
		return fmt.Errorf("after member %s was defragmented: %w; the rest is left as it is", m.name, err)
	}
	s, err := r.status(ctx, m.at)
	if err != nil {
		return fmt.Errorf("after member %s was defragmented: %w", m.name, err)
	}
	r.tell(fmt.Sprintf("member %s: %s", m.name, sizesOf(s)))
	return nil
}

// healthy waits until all members answer, know a leader, and have about what it has.
func (r *storeRepair) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, repairHealth)
	defer cancel()
	for {
		err := r.behind(ctx)
		if err == nil {
			return nil
		}
		if !pace.Pause(ctx, 200*time.Millisecond) {
			return fmt.Errorf("not all members are well after %v: %w", repairHealth, err)
		}
	}
}

func (r *storeRepair) behind(ctx context.Context) error {
	most := uint64(0)
	states := make([]*clientv3.StatusResponse, len(r.members))
	for i, m := range r.members {
		s, err := r.status(ctx, m.at)
		if err != nil {
			return fmt.Errorf("member %s: %w", m.name, err)
		}
		states[i], most = s, max(most, s.RaftIndex)
	}
	for i, s := range states {
		if s.Leader == 0 || s.RaftAppliedIndex+repairBehind < most {
			return fmt.Errorf("member %s is at entry %d of %d, its leader is %x", r.members[i].name, s.RaftAppliedIndex, most, s.Leader)
		}
	}
	return nil
}

// disarm takes the alarm back if every member has room, and looks whether it stays so.
func (r *storeRepair) disarm(ctx context.Context, alarmed []*etcdserverpb.AlarmMember) error {
	if len(alarmed) == 0 {
		r.tell("there is no alarm to take back")
		return nil
	}
	if r.dry {
		r.step("take back the alarm NOSPACE of %d members, if less than %.0f %% of the quota is allocated then", len(alarmed), 100*repairRoom)
		return nil
	}
	for _, m := range r.members {
		s, err := r.status(ctx, m.at)
		if err != nil {
			return fmt.Errorf("member %s: %w", m.name, err)
		}
		if s.DbSizeQuota > 0 && float64(s.DbSize) >= repairRoom*float64(s.DbSizeQuota) {
			return fmt.Errorf("the alarm NOSPACE stays: member %s has %d MiB of %d MiB allocated, also after it was defragmented. Give etcd a larger quota, or nodes a shorter --retain-finished (retention deletes also now; weft store says what fills it), and do this again",
				m.name, s.DbSize>>20, s.DbSizeQuota>>20)
		}
	}
	r.step("take back the alarm NOSPACE: etcd writes again")
	for _, a := range alarmed {
		cctx, cancel := context.WithTimeout(ctx, repairCall)
		_, err := r.client.AlarmDisarm(cctx, (*clientv3.AlarmMember)(a))
		cancel()
		if err != nil {
			return rootOnly("take back the alarm", err)
		}
	}
	if !pace.Pause(ctx, afterDisarm) {
		return ctx.Err()
	}
	again, err := r.alarms(ctx)
	if err == nil && len(again) > 0 {
		err = errors.New("the alarm NOSPACE was raised again, by a write that was on its way or as there is too little room; do this again")
	}
	return err
}

// rootOnly says what is missing where etcd has users.
func rootOnly(what string, err error) error {
	if errors.Is(err, rpctypes.ErrPermissionDenied) || errors.Is(err, rpctypes.ErrUserEmpty) {
		return fmt.Errorf("%s: %w; it takes a user with the role root: --etcd-user and --etcd-password-file", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
