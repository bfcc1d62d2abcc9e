package callers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Caller is who called an HTTP endpoint, and what became of it since the last commit.
type Caller struct {
	Key string    // of the request
	By  time.Time // until when the caller waits

	kept     bool   // a repeat of the request finds what is written later
	at       string // the node of the endpoint; "": an instance before this one has it
	response *workflow.Response
	gone     bool // no answer will come
	inHand   bool // the command that brought it told what became of it
}

// Answer sets what the caller gets.
func (c *Caller) Answer(r *workflow.Response) { c.response = r }

func (c *Caller) open() bool { return c.response == nil && !c.gone }

// most bounds those that an instance keeps in mind; of more, the first are forgotten.
const most = 100

// List are the callers of an instance, in the order in which they came.
type List struct {
	Known bool    // there was one
	Now   *Caller // of the command that runs; nil: it brought none

	list []*Caller
}

// Last is the one that came last; nil: none waits.
func (l *List) Last() *Caller {
	if len(l.list) == 0 {
		return nil
	}
	return l.list[len(l.list)-1]
}

// Came notes the caller that a command brought, if it did, at a node.
func (l *List) Came(key *workflow.CommandKey, at string) {
	if key == nil || key.AnswerBy.IsZero() {
		return
	}
	l.Now = &Caller{Key: key.Name, By: key.AnswerBy, kept: key.Kept, at: at}
	l.list, l.Known = append(l.list, l.Now), true
	if n := len(l.list) - most; n > 0 {
		l.list = slices.Delete(l.list, 0, n)
	}
}

// Nearest is the one whose endpoint stands nearest to an activity, the last of several: around are the ids of that and of
// all in which it stands, from within to without, and of gives the same of an endpoint. It is an error that nobody waits
// any more; if there never was one, there is none, and no error.
func (l *List) Nearest(now time.Time, around []string, of func(at string) []string) (found *Caller, err error) {
	var best int
	var late time.Time
	for _, c := range l.list {
		switch {
		case c.gone || c.inHand && c != l.Now:
		case !c.kept && !now.Before(c.By):
			if c.By.After(late) {
				late = c.By
			}
		default:
			if n := shared(around, of(c.at)); found == nil || n >= best {
				best, found = n, c
			}
		}
	}
	switch {
	case found != nil || !l.Known:
		return found, nil
	case late.IsZero():
		return nil, errors.New("nobody is there to answer: the request that led here has had its answer")
	}
	return nil, fmt.Errorf("nobody is there to answer: the caller waited until %s (requestTimeout of the endpoint)", late.UTC().Format(time.RFC3339))
}

// shared is how many two lists have in common at their ends.
func shared(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// Settle finds out, at the end of a run, who waits in vain.
func (l *List) Settle(may func(*Caller) bool) {
	for _, c := range l.list {
		if c.open() {
			c.gone = !may(c)
		}
		if c == l.Now {
			c.inHand = !c.open()
		}
	}
}

// Await tells whether the one with a key waits for what may come with a later commit.
func (l *List) Await(key string) bool {
	return slices.ContainsFunc(l.list, func(c *Caller) bool { return c.Key == key && c.open() })
}

// Told gives to tell those that have an answer now, or will have none, and came with earlier commands. Those that
// an instance before this one has hear from that one that none will come.
func (l *List) Told(tell func(key string, r *workflow.Response)) {
	for _, c := range l.list {
		if !c.inHand && (c.response != nil || c.gone && c.at != "") {
			tell(c.Key, c.response)
		}
	}
}

// Committed forgets those that have their answer.
func (l *List) Committed() {
	l.Now = nil
	l.list = slices.DeleteFunc(l.list, func(c *Caller) bool { return !c.open() })
}

// The names in what is kept of a caller.
const (
	nameKey  = "key"
	nameBy   = "by" // milliseconds since 1970
	nameKept = "kept"
	nameAt   = "at"
)

// Keep gives properties with those that wait on; as they are, if there never was one.
func (l *List) Keep(props map[string]any) map[string]any { return l.written(props, true, true) }

// HandOn gives properties of an instance that this one starts: with those that wait, if it waits for its end.
func (l *List) HandOn(props map[string]any, waits bool) map[string]any {
	return l.written(props, waits, false)
}

func (l *List) written(props map[string]any, all, at bool) map[string]any {
	if !l.Known {
		return props
	}
	kept := []any{}
	for _, c := range l.list {
		if !all || !c.open() {
			continue
		}
		m := map[string]any{nameKey: c.Key, nameBy: c.By.UnixMilli()}
		if c.kept {
			m[nameKept] = true
		}
		if at && c.at != "" {
			m[nameAt] = c.at
		}
		kept = append(kept, m)
	}
	out := maps.Clone(props)
	if out == nil {
		out = map[string]any{}
	}
	out[workflow.CallersProperty] = kept
	return out
}

// Read takes them from properties. What is not understood is left out: nobody waits for it any more.
func (l *List) Read(props map[string]any) {
	list, known := props[workflow.CallersProperty].([]any)
	l.list, l.Known = nil, known
	for _, v := range list {
		m, _ := v.(map[string]any)
		c := &Caller{}
		c.Key, _ = m[nameKey].(string)
		by, _ := m[nameBy].(int64)
		c.By = time.UnixMilli(by)
		c.kept, _ = m[nameKept].(bool)
		c.at, _ = m[nameAt].(string)
		if c.Key != "" && len(l.list) < most {
			l.list = append(l.list, c)
		}
	}
}
