package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// residue is what is left of events that took no effect: queued, or dead.
type residue struct {
	any  map[string]int              // by token
	to   map[string]map[string]int   // by token and instance
	dead map[workflow.DeadReason]int // dead letters by reason
}

// residues reads the queue and the dead letters.
func (e *evidence) residues(ctx context.Context) (*residue, error) {
	r := &residue{any: map[string]int{}, to: map[string]map[string]int{}, dead: map[workflow.DeadReason]int{}}
	add := func(token, instance string) {
		if token == "" {
			return
		}
		r.any[token]++
		if r.to[token] == nil {
			r.to[token] = map[string]int{}
		}
		r.to[token][instance]++
	}
	for cursor := ""; ; {
		items, end, err := e.store.Reader.QueueItems(ctx, "", cursor, 500)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			add(e.tokenOf(&it.Stimulus), it.Stimulus.InstanceID)
		}
		if cursor = end.Next; cursor == "" {
			break
		}
	}
	for cursor := ""; ; {
		letters, end, err := e.store.Reader.DeadLetters(ctx, cursor, 500)
		if err != nil {
			return nil, err
		}
		for _, d := range letters {
			r.dead[d.Reason]++
			token := e.tokenOf(d.Stimulus)
			add(token, d.InstanceID)
			e.checkLetter(&d, token)
		}
		if cursor = end.Next; cursor == "" {
			return r, nil
		}
	}
}

// checkLetter: nothing is a dead letter that could have been applied. What may be
// one: what nothing waited for in its time, what found a singleton running all of
// that time, what came too late for its instance, and what does not fit beside what its instance keeps.
func (e *evidence) checkLetter(d *store.DeadLetter, token string) {
	e.tooOld(d)
	switch {
	case d.Reason == workflow.DeadExpired, d.Reason == workflow.DeadInstanceFinished, d.Reason == workflow.DeadInstanceGone:
	case d.Reason == workflow.DeadGated && (strings.HasPrefix(token, "lonely-") || strings.HasPrefix(token, "published-herald-")): // its time was over
	case d.Reason == workflow.DeadTooLarge && (fitsNowhere(token) || e.overtaken(token, d.InstanceID)):
	default:
		what := ""
		if d.Command != nil {
			what = fmt.Sprintf("%s command %s", d.Command.Kind, d.Command.ID)
		}
		e.record.violate("buried", "%s of %s %s %s: %s", d.ID, d.InstanceID, token, what, string(d.Reason)+": "+d.Detail)
	}
}

// checkEvents compares what callers were told of events with the journals.
func (e *evidence) checkEvents(res *residue) {
	effects := map[string]map[string]int{} // token → instance → how often
	for id, l := range e.history.instances {
		for token, n := range l.tokens {
			if effects[token] == nil {
				effects[token] = map[string]int{}
			}
			effects[token][id] = n
			if n > 1 {
				e.record.violate("event-twice", "%s took effect %d times on %s", token, n, id)
			}
		}
	}
	byToken := map[string][]call{}
	for _, c := range e.record.calls {
		if c.token != "" {
			byToken[c.token] = append(byToken[c.token], c)
		}
	}
	for token, calls := range byToken {
		e.checkEvent(token, calls, effects[token], res)
	}
}

func (e *evidence) checkEvent(token string, calls []call, effects map[string]int, res *residue) {
	several := forSeveral(token)
	total := res.any[token]
	for _, n := range effects {
		total += n
	}
	acked, tried := 0, 0
	for _, c := range calls {
		switch c.outcome {
		case ok:
			acked++
		case unknown:
			tried++
		}
	}
	describe := func() string { return describeCalls(calls) + e.history.trail.of(token) }
	switch {
	case acked == 0 && tried == 0 && len(effects) > 0: // a dead letter of it is no effect
		e.record.violate("refused-event-has-effect", "%s: %d\n%s", token, total, describe())
	case !several && total > 1:
		e.record.violate("event-doubled", "%s: effects %v, left %v\n%s", token, effects, res.to[token], describe())
	case acked > 0 && total == 0 && !e.tookAlong(token, calls):
		e.record.violate("event-lost", "%s\n%s", token, describe())
	}
	var first []string
	for _, c := range calls {
		if c.outcome != ok || c.kind != "event" {
			continue
		}
		for _, id := range c.instances {
			if !several && len(effects) == 1 && effects[id] == 0 && res.any[token] == 0 && c.key == "" {
				e.record.violate("event-elsewhere", "%s was said to be for %s, and went to %v\n%s", token, id, effects, describe())
			}
			// Of two stimuli for one place one resumes it. The other is resolved again, and meets who waits then.
			if n := effects[id] + res.to[token][id]; several && n != 1 && (n > 1 || !e.history.trail.resolvedAgain(token)) {
				e.record.violate("event-not-once", "%s on %s: %d effects, %v left\n%s", token, id, effects[id], res.to[token], describe())
			}
		}
		if c.key == "" || c.queued {
			continue
		}
		now := slices.Sorted(slices.Values(c.instances))
		if first == nil {
			first = now
		} else if !slices.Equal(first, now) {
			e.record.violate("answers-differ", "%s\n%s", token, describe())
		}
	}
}

// tookAlong: an event that was applied in the transaction that deletes its
// instance leaves nothing that could be counted; one after which a cancel came
// before the line only that the instance was resumed. One whose clock was off makes
// it wait longer than the round.
func (e *evidence) tookAlong(token string, calls []call) bool {
	for _, t := range e.history.trail.taken[token] {
		if l := e.history.instances[t.instance]; l != nil && (l.deletedAt == t.revision || l.cutShort()) || e.history.delayed(t.instance) {
			return true
		}
	}
	for _, c := range calls {
		for _, id := range c.instances {
			if l := e.history.instances[id]; l != nil && (l.killed || l.cutShort()) || e.history.delayed(id) {
				return true
			}
		}
	}
	return false
}

// checkInstances looks whether every instance is as its definition means it to
// be at the end.
func (e *evidence) checkInstances() {
	started, ended, followed := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, c := range e.record.calls {
		switch {
		case c.kind == "start" && c.outcome == ok:
			started[c.instance] = true
		case c.kind == "link" && c.outcome == ok && !c.accepted: // accepted ones may come too late
			if followed[c.instance]++; followed[c.instance] > 1 {
				e.record.violate("link-twice", "%s heard two links", c.instance)
			}
		case (c.kind == "cancel" || c.kind == "delete") && c.outcome != refused:
			ended[c.instance] = true
		}
	}
	for id := range started {
		if e.history.instances[id] == nil || e.history.instances[id].last.Seq == 0 && !ended[id] {
			e.record.violate("start-lost", "%s was started and never ran", id)
		}
	}
	e.checkEnds()
	want := map[string][]string{
		"sleeper": {"asleep", "awake", "up"}, "announce": {"announced"}, "herald": {"announced"}, "relay": {"relayed"}, "sheaf": {"bound"}, "straw": nil, "brief": nil,
		"long-start": {"done"}, "long-timer": {"done"}, "long-parent": {"done"}, "long-child": {"done"}, "novel": {"done"}, "fresh": nil, "single": {"alone"}, "wide": {"narrow"}, "slow": {"done"}, "beat": {"beat"},
	}
	for _, id := range slices.Sorted(maps.Keys(e.history.instances)) {
		l := e.history.instances[id]
		lines, exact := want[l.definition]
		if l.definition == "parent" {
			number := strconv.FormatInt(numberOf(id), 10)
			lines, exact = []string{"one " + number, "two " + number}, true
		}
		if !l.exists || ended[id] || l.definition == "listen" || l.definition == "victim" {
			continue
		}
		h := &l.last.Header
		switch {
		case e.history.delayed(id):
			e.count("instances that a wrong clock delays")
		case h.Status != workflow.StatusFinished && l.definition == "relay" && len(h.Bookmarks) > 0 && len(h.Bookmarks) <= e.unsent(id):
			e.count("relays that wait for what nobody took")
		case h.Status != workflow.StatusFinished:
			e.record.violate("stuck", "%s (%s) is %s at sequence %d; bookmarks %d, lines %v", id, l.definition, h.SubStatus, l.last.Seq, len(h.Bookmarks), l.lines)
		case h.SubStatus == workflow.Faulted && strings.HasPrefix(l.definition, "long-") && len(h.Incidents) > 0 && strings.Contains(h.Incidents[0].Message, "processes ended while they ran"):
			e.count("long bursts given up after three deaths") // by chance, and rightly
		case h.SubStatus != workflow.Finished:
			e.record.violate("faulted", "%s (%s) is %s: %v", id, l.definition, h.SubStatus, h.Incidents)
		case exact && !slices.Equal(lines, l.lines):
			e.record.violate("lines", "%s (%s) wrote %v", id, l.definition, l.lines)
		case howMany(l.definition) > 0 && len(l.lines) != howMany(l.definition):
			e.record.violate("lines", "%s (%s) wrote %v", id, l.definition, l.lines)
		}
	}
	e.checkChildren()
}

// howMany lines an instance writes; 0 if that is not what counts.
func howMany(definition string) int {
	if strings.HasPrefix(definition, "crowd-") {
		return 1
	}
	return map[string]int{"collect": 6, "hoard": 7, "triggered": 1, "child": 1, "ponder": 1, "callback": 1, "chore": 1, "errand": 1, "trip": 1, "linked": 1, "moved": 1, "lone": 1, "long-event": 1, "dawn": 1, "account": 1}[definition]
}

// checkChildren: each parent that ended has its two children, each of which ran
// once.
func (e *evidence) checkChildren() {
	ran := map[string]int{}
	for _, l := range e.history.instances {
		if l.definition == "child" {
			for token, n := range l.tokens {
				ran[token] += n
			}
		}
	}
	for id, l := range e.history.instances {
		if l.definition != "parent" || l.last.Header.SubStatus != workflow.Finished {
			continue
		}
		if ran[id+".1"] != 1 || ran[id+".2"] != 1 {
			e.record.violate("children", "of parent %s the first ran %d times, the second %d times", id, ran[id+".1"], ran[id+".2"])
		}
	}
}

// checkEnds: what was said to be cancelled or deleted is.
func (e *evidence) checkEnds() {
	for _, c := range e.record.calls {
		if c.outcome != ok {
			continue
		}
		l := e.history.instances[c.instance]
		switch {
		case c.kind == "cancel" && l != nil && l.exists && l.last.Header.Status != workflow.StatusFinished:
			e.record.violate("cancel-lost", "%s is %s", c.instance, l.last.Header.SubStatus)
		case c.kind == "delete" && l != nil && l.exists:
			e.record.violate("delete-lost", "%s is there: %s", c.instance, l.last.Header.SubStatus)
		}
	}
}

// checkKeys runs fsck; what may be for a moment may not be at the end.
func (e *evidence) checkKeys(ctx context.Context, atEnd bool) error {
	check, err := e.upkeep.Fsck(ctx)
	if err != nil {
		return err
	}
	for _, f := range check.Findings {
		if atEnd || !f.Passing {
			e.record.violate("fsck-"+f.Rule, "%s: %s (revision %d)", f.Key, f.Detail, check.Revision)
		}
	}
	return nil
}
