package health

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Health is how etcd answers, as this node sees it.
type Health struct {
	At        time.Time
	RoundTrip time.Duration // of a read that most members confirm; 0 with Err
	Err       error         // why it was not answered; nil: it was
	Members   []Member
}

// Member is how one member answers.
type Member struct {
	Endpoint string // "": the etcd in this process
	Err      error  // why it does not answer; nil: it does
	Took     time.Duration
	ID       uint64
	Version  string
	Leader   uint64 // the id of the member that it takes for the leader; 0: it knows none
	Learner  bool
	Alarms   []string // of the cluster, as it knows them
}

const (
	// healthTimeout bounds the whole look: a member that hangs answers nothing for as long.
	healthTimeout = 2 * time.Second
	// wantedMajor, wantedMinor are the least version that is tested with.
	wantedMajor, wantedMinor = 3, 7
)

// Ask measures a round trip, the read of a key, and asks each member that the client knows, all at once. It
// ends within 2 s.
func Ask(ctx context.Context, client *clientv3.Client, key string) Health {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	endpoints := client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{""} // in this process
	}
	h := Health{At: time.Now(), Members: make([]Member, len(endpoints))}
	var all sync.WaitGroup
	all.Go(func() {
		_, h.Err = client.Get(ctx, key, clientv3.WithCountOnly())
		if h.Err == nil {
			h.RoundTrip = time.Since(h.At)
		}
	})
	for i, e := range endpoints {
		all.Go(func() { h.Members[i] = ask(ctx, client, e) })
	}
	all.Wait()
	return h
}

func ask(ctx context.Context, client *clientv3.Client, endpoint string) Member {
	m := Member{Endpoint: endpoint}
	began := time.Now()
	told, err := client.Status(ctx, endpoint)
	if m.Err = err; err != nil {
		return m
	}
	m.Took, m.ID, m.Version, m.Leader, m.Learner = time.Since(began), told.Header.MemberId, told.Version, told.Leader, told.IsLearner
	for _, text := range told.Errors {
		if alarm, ok := alarmIn(text); ok && !slices.Contains(m.Alarms, alarm) {
			m.Alarms = append(m.Alarms, alarm)
		}
	}
	return m
}

// alarmIn is the alarm that an error of a member's status is about.
func alarmIn(text string) (string, bool) {
	for _, alarm := range []string{"NOSPACE", "CORRUPT"} {
		if strings.Contains(text, alarm) {
			return alarm, true
		}
	}
	return "", false
}

// The states of etcd.
const (
	OK       = "ok"
	Degraded = "degraded" // it works, and something is wrong that may stop it
	Down     = "down"     // it does not answer, or takes no writes
)

// Trouble is one thing that is wrong with etcd, for people.
type Trouble struct {
	State string // what it makes of the state
	Text  string
	Do    string
}

// Troubles are what is wrong, the worst first.
func (h Health) Troubles() []Trouble {
	var out []Trouble
	refused := refusesUser(h.Err)
	switch {
	case refused:
		out = append(out, Trouble{Down, "etcd answers, and refuses the user of this node: " + h.Err.Error(),
			"give the node its user at etcd (--etcd-user and --etcd-password-file, or --etcd-cert), and that user the keys of the cluster: docs/operations/etcd.md"})
	case h.Err != nil:
		out = append(out, Trouble{Down, "etcd does not answer a read that most members have to confirm: " + strings.ReplaceAll(h.Err.Error(), "\n", "; "),
			"bring back most members of etcd: docs/runbooks/etcd-member-missing.md"})
	}
	for _, alarm := range h.alarms() {
		t := Trouble{Down, "etcd has raised the alarm NOSPACE: it takes nothing but what only removes", "run weft store repair, which makes room of what was deleted and takes the alarm back: docs/runbooks/etcd-near-quota.md"}
		if alarm == "CORRUPT" {
			t.Text, t.Do = "etcd has raised the alarm CORRUPT: its members do not have the same data", "find the member that differs and replace it, or restore a backup: docs/runbooks/etcd-member-missing.md"
		}
		out = append(out, t)
	}
	var silent, lost, old []string
	for _, m := range h.Members {
		switch {
		case refused && refusesUser(m.Err): // it answers, as is said above
			continue
		case m.Err != nil:
			silent = append(silent, m.Name())
			continue
		case m.Leader == 0:
			lost = append(lost, m.Name())
		}
		if m.old() {
			old = append(old, fmt.Sprintf("%s has %s", m.Name(), m.Version))
		}
	}
	if len(silent) > 0 {
		out = append(out, Trouble{Degraded, fmt.Sprintf("%d of %d members of etcd do not answer: %s", len(silent), len(h.Members), strings.Join(silent, ", ")),
			"bring them back, or replace them: docs/runbooks/etcd-member-missing.md"})
	}
	if len(lost) > 0 {
		out = append(out, Trouble{Degraded, "members of etcd that know no leader: " + strings.Join(lost, ", "), "look at the network between the members: docs/runbooks/etcd-member-missing.md"})
	}
	if len(old) > 0 {
		out = append(out, Trouble{Degraded, fmt.Sprintf("etcd %d.%d is wanted: %s", wantedMajor, wantedMinor, strings.Join(old, ", ")),
			"upgrade etcd, one member after the other: docs/operations/etcd.md#upgrade-etcd"})
	}
	return out
}

// refusesUser tells whether etcd answered, and takes nothing from whom it takes the node for.
func refusesUser(err error) bool {
	for _, refusal := range []error{rpctypes.ErrUserEmpty, rpctypes.ErrUserNotFound, rpctypes.ErrAuthFailed, rpctypes.ErrPermissionDenied, rpctypes.ErrInvalidAuthToken} {
		if err != nil && rpctypes.Error(err) == refusal { //nolint:errorlint // it is one of etcd's, or becomes one
			return true
		}
	}
	return false
}

// State is the worst of what is wrong.
func (h Health) State() string {
	state := OK
	for _, t := range h.Troubles() {
		if state = t.State; state == Down {
			break
		}
	}
	return state
}

func (h Health) alarms() []string {
	var all []string
	for _, m := range h.Members {
		all = append(all, m.Alarms...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Name is what people call the member: host and port of its endpoint.
func (m Member) Name() string {
	if m.Endpoint == "" {
		return "the embedded etcd"
	}
	if u, err := url.Parse(m.Endpoint); err == nil && u.Host != "" {
		return u.Host
	}
	return m.Endpoint
}

// old tells whether its version is below the one that is wanted; one that cannot be read is not.
func (m Member) old() bool {
	major, rest, _ := strings.Cut(m.Version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	return errA == nil && errB == nil && (a < wantedMajor || a == wantedMajor && b < wantedMinor)
}
