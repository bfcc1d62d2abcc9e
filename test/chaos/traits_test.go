package chaos

import (
	"fmt"
	"slices"
	"strings"
)

// traits are what is unusual about a round. Everything else is in every round;
// these cost too much for that, or would drown the rest.
type traits struct {
	large   bool // payloads up to the limits, and small ones that together exceed a commit
	long    bool // bursts of up to 10 TTLs whose node is lost again and again
	tight   bool // queue items expire after seconds, finished instances and dead letters go soon
	clocks  bool // one node at a time has a clock that is off
	crowded bool // hundreds of callers and definitions
	wide    bool // instances that wait at more places than one transaction takes
	saves   bool // bursts that commit on their way, with saves that are joined and strict ones
}

// traitsOf gives each seed its own; ten seeds that follow each other have all of
// them. Seed 1, that of the ordinary tests, has none.
func traitsOf(seed uint64) traits {
	t := traits{large: seed%3 == 0, long: seed%4 == 0, tight: seed%5 == 0, crowded: seed%7 == 0, clocks: seed%3 == 2, saves: seed%2 == 0, wide: seed%5 == 2}
	for _, name := range strings.FieldsFunc(options.traits, func(r rune) bool { return r == ',' }) {
		if on := t.byName()[name]; on != nil {
			*on = true
		}
	}
	return t
}

func (t *traits) byName() map[string]*bool {
	return map[string]*bool{"large": &t.large, "long": &t.long, "tight": &t.tight, "crowded": &t.crowded, "clocks": &t.clocks, "saves": &t.saves, "wide": &t.wide}
}

func (t traits) String() string {
	var names []string
	for name, on := range t.byName() {
		if *on {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("traits %v", names)
}

// saved gives the definitions that say nothing about it a commit strategy, if the round has it: in turn one that
// joins saves and one that does not.
func (t traits) saved(sources []string) []string {
	if t.wide { // without a strategy: 1,300 saves of it are too many
		return append(traits{saves: t.saves}.saved(sources), wideDefinitions...)
	}
	if !t.saves {
		return sources
	}
	out := make([]string, len(sources))
	for i, source := range sources {
		strategy := [...]string{"ActivityExecuted", "ActivityExecutedStrict", "ActivityExecuting"}[i%3]
		if out[i] = source; !strings.Contains(source, "\noptions:") {
			out[i] = strings.Replace(source, "\nroot:", "\noptions: {commit: "+strategy+"}\nroot:", 1)
		}
	}
	return out
}

// wanted are the counters that rounds with these traits must move.
func (t traits) wanted() []string {
	var names []string
	if t.large {
		names = append(names, "payloads at the limit", "events that did not fit alone", "children that together exceed a commit")
		if !t.tight {
			names = append(names, "events that together exceed a commit")
		}
	}
	if t.long {
		names = append(names, "long bursts", "long bursts that lost five nodes or more")
	}
	if t.tight {
		names = append(names, "dead letters replayed", "instances purged")
	}
	if t.clocks {
		names = append(names, "nodes with a wrong clock")
	}
	if t.wide {
		names = append(names, "wide instances", "wide changes written in full", "owners lost behind a decision, or soon after")
	}
	if t.saves {
		names = append(names, "saves joined with a later one")
	}
	if t.crowded {
		names = append(names, "calls of the crowd")
	}
	return names
}

// wantedOfProcesses: the API keeps finished instances for ten minutes at least.
func (t traits) wantedOfProcesses() []string {
	return slices.DeleteFunc(t.wanted(), func(name string) bool { return name == "instances purged" })
}
