package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/workflow"
)

type clientv3Client = clientv3.Client

var prefixOnly = []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(5000)}

// result is what one round found.
type result struct {
	Seed       uint64                      `json:"seed"`
	Events     int                         `json:"events"`
	Calls      map[string]int              `json:"calls"` // by kind and outcome
	Commits    int                         `json:"commits"`
	Instances  int                         `json:"instances"`
	Dead       map[workflow.DeadReason]int `json:"deadLetters"`
	Counters   map[string]int64            `json:"counters"`
	Violations []string                    `json:"violations"`
	Took       time.Duration               `json:"took"`
	Healing    time.Duration               `json:"healing"`
	Pause      time.Duration               `json:"longestPause"`
	Invalid    string                      `json:"invalid,omitempty"`
	Takeovers  []takeover                  `json:"takeovers,omitempty"` // of processes
}

// starvation is a pause of the whole process after which time limits mean
// nothing.
const starvation = 2 * time.Second

func (e *evidence) result(seed uint64, res *residue, took, healing, pause time.Duration, counters map[string]int64) *result {
	r := &result{Seed: seed, Calls: map[string]int{}, Commits: e.history.commits, Instances: len(e.history.instances), Dead: res.dead,
		Counters: counters, Violations: e.record.violations, Took: took, Healing: healing, Pause: pause}
	e.mu.Lock()
	for name, n := range e.counters {
		r.Counters[name] += n
	}
	e.mu.Unlock()
	r.Counters["instances purged"] = e.history.purged
	r.Counters["wide changes written in full"] = e.history.widened
	r.Counters["wide changes written on by another owner"] = e.history.widenedOn
	for kind, n := range e.history.numbered {
		r.Counters["numbers seen in "+kind] = n
	}
	for _, c := range e.record.calls {
		r.Calls[c.kind+" "+string(c.outcome)]++
		if c.kind == "event" {
			r.Events++
		}
	}
	for rule, n := range e.record.kinds {
		if n > 5 {
			r.Violations = append(r.Violations, fmt.Sprintf("%s: %d in all", rule, n))
		}
	}
	if pause > starvation {
		r.Invalid = fmt.Sprintf("the machine was too slow: this process stood still for %v", pause)
	}
	return r
}

func (r *result) String() string {
	return fmt.Sprintf("seed %d: %d events, %d commits, %d instances; calls %v; dead letters %v; took %v, of it healing %v; longest pause %v; %d violations\n%s%s",
		r.Seed, r.Events, r.Commits, r.Instances, r.Calls, r.Dead, r.Took.Round(time.Millisecond), r.Healing.Round(time.Millisecond), r.Pause.Round(time.Millisecond), len(r.Violations), describe(r.Counters), spread(r.Takeovers))
}

// report is what all rounds found.
type report struct {
	Seed      uint64           `json:"seed"`
	Machine   string           `json:"machine"`
	Command   string           `json:"command"`
	Events    int              `json:"events"`
	Commits   int              `json:"commits"`
	Counters  map[string]int64 `json:"counters"`
	Uncovered []string         `json:"uncovered"`
	Rounds    []*result        `json:"rounds"`
	wanted    []string
}

func (s *report) add(r *result) {
	s.Rounds = append(s.Rounds, r)
	s.Events += r.Events
	s.Commits += r.Commits
	for name, n := range r.Counters {
		s.Counters[name] += n
	}
}

// finish writes the report, and says whether the run counts.
func (s *report) finish(t *testing.T) {
	t.Helper()
	s.Machine = fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	s.Command = strings.Join(os.Args[1:], " ")
	s.Uncovered = uncovered(s.Counters, s.wanted)
	if options.report != "" {
		s.write(t)
	}
	if options.only || t.Failed() {
		return
	}
	for _, r := range s.Rounds {
		if r.Invalid != "" {
			t.Skipf("invalid, neither passed nor failed: %s", r.Invalid)
		}
	}
	if len(s.Uncovered) > 0 {
		if options.rounds > 1 {
			t.Errorf("nothing was proved about: %s", strings.Join(s.Uncovered, "; "))
		} else {
			t.Skipf("too short to count as passed; nothing was proved about: %s", strings.Join(s.Uncovered, "; "))
		}
	}
}

func (s *report) write(t *testing.T) {
	t.Helper()
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(options.report, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Chaos from seed %d\n\n%s; %s.\n\n%d rounds, %d events, %d commits. Not covered: %v.\n\n```\n%s```\n\n", s.Seed, s.Machine, s.Command, len(s.Rounds), s.Events, s.Commits, s.Uncovered, describe(s.Counters))
	var all []takeover
	for _, r := range s.Rounds {
		all = append(all, r.Takeovers...)
	}
	if len(all) > 0 {
		fmt.Fprintf(&b, "```\n%s```\n\n", spread(all))
	}
	fmt.Fprintf(&b, "| seed | events | commits | healing | longest pause | violations |\n|---|---|---|---|---|---|\n")
	for _, r := range s.Rounds {
		fmt.Fprintf(&b, "| %d | %d | %d | %v | %v | %d %s |\n", r.Seed, r.Events, r.Commits, r.Healing.Round(time.Millisecond), r.Pause.Round(time.Millisecond), len(r.Violations), r.Invalid)
	}
	for _, r := range s.Rounds {
		for _, v := range r.Violations {
			fmt.Fprintf(&b, "\n- seed %d: %s", r.Seed, v)
		}
	}
	if err := os.WriteFile(strings.TrimSuffix(options.report, ".json")+".md", []byte(b.String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// describeCalls shows calls, one a line.
func describeCalls(calls []call) string {
	var b strings.Builder
	for _, c := range slices.SortedFunc(slices.Values(calls), func(a, b call) int { return int(a.from - b.from) }) {
		fmt.Fprintf(&b, "    %s %s at %s, %v to %v: %s %v queued=%v accepted=%v key=%q %s\n", c.kind, c.instance, c.node,
			c.from.Round(time.Millisecond), c.to.Round(time.Millisecond), c.outcome, c.instances, c.queued, c.accepted, c.key, c.err)
	}
	return b.String()
}
