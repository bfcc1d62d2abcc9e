package cluster

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
	"github.com/weft-run/weft/pkg/apiclient"
)

// What the home page looks at, of lists that may be long.
const (
	faultsLooked = "100" // faulted instances, the newest
	faultsShown  = 8     // messages
	oldestLooked = "30"  // instances that wait, the oldest
	oldestShown  = 10
	usualLooked  = "21" // ended instances of a definition, for how long one usually takes
	usualLeast   = 5    // of which there have to be so many
	usualOf      = 4    // definitions that are looked at so
	stallFactor  = 10   // times as long as usual is a stall
)

type homeView struct {
	Nodes       []shape.Node
	Counted     bool // false: instances cannot be counted now
	Counts      []shape.CountOf
	All         shape.Tally
	Faults      []fault
	FaultsMore  bool // there are more faulted instances than were looked at
	DeadLetters []shape.DeadLetter
	DeadReasons []reasonCount
	DeadMore    bool // there are more dead letters than were looked at
	Oldest      []oldWait
	OldestMore  bool // there are more instances that wait than were looked at
	Late        int  // timers
	LateMore    bool
	Meters      *apiclient.Meters // of this node; nil: not known
	Troubles    []trouble         // with etcd
}

// fault is a message of faulted instances.
type fault struct {
	DefinitionID, Message, Query string
	Count                        int
	Newest                       shape.Summary
}

// reasonCount is how many dead letters, of those looked at, have a reason.
type reasonCount struct {
	Reason string
	Count  int
}

// oldWait is an instance that waits, with what is unusual about that.
type oldWait struct {
	shape.Summary
	Since time.Time     // it waits
	Usual time.Duration // that an instance of its definition takes; 0: not known
	Stall bool          // it waits much longer
	Late  bool          // what it waits for was due
}

// Home shows what somebody looks at first: what runs, what is wrong, and what waits for too long.
func Home(v *page.Visit) (string, any, error) {
	var view homeView
	nodes, err := page.Get[page.List[shape.Node]](v, "/nodes", nil)
	if err != nil {
		return "", nil, err
	}
	view.Nodes = nodes.Items
	if view.Troubles, err = troubles(v); err != nil {
		return "", nil, err
	}
	all, err := shape.CountInstances(v, url.Values{"by": {"total"}})
	if err != nil {
		return "", nil, err
	}
	if view.Counted = all != nil; view.Counted {
		view.Counts, view.All = all.Counts(), all.Instances
	}
	faulted, err := summaries(v, faultsLooked, "subStatus", "Faulted")
	if err != nil {
		return "", nil, err
	}
	view.Faults, view.FaultsMore = grouped(faulted.Items), faulted.NextCursor != nil
	waiting, err := summaries(v, oldestLooked, "subStatus", "Suspended", "sort", "created")
	if err != nil {
		return "", nil, err
	}
	if view.Oldest, err = oldest(v, waiting.Items); err != nil {
		return "", nil, err
	}
	view.OldestMore = waiting.NextCursor != nil
	letters, err := page.Get[page.List[shape.DeadLetter]](v, "/dead-letters", url.Values{"limit": {page.Rows}})
	if err != nil {
		return "", nil, err
	}
	view.DeadReasons, view.DeadLetters = reasons(letters.Items), letters.Items[:min(len(letters.Items), 5)]
	view.DeadMore = letters.NextCursor != nil
	timers, err := page.Get[page.List[apiclient.TimerItem]](v, "/timers", url.Values{"kind": {"timers"}, "limit": {page.Rows}})
	if err != nil {
		return "", nil, err
	}
	view.Late = late(timers.Items, v.Now())
	view.LateMore = view.Late == len(timers.Items) && timers.NextCursor != nil
	meters, err := page.Get[apiclient.Meters](v, page.At("nodes", v.NodeID(), "meters"), nil)
	var p *page.Problem
	switch {
	case err == nil:
		view.Meters = &meters
	case !errors.As(err, &p): // the page is there without them
		return "", nil, err
	}
	return "Home", view, nil
}

// summaries reads small rows of instances.
func summaries(v *page.Visit, limit string, filters ...string) (page.List[shape.Summary], error) {
	with := url.Values{"view": {"summary"}, "limit": {limit}}
	for i := 0; i+1 < len(filters); i += 2 {
		with.Set(filters[i], filters[i+1])
	}
	return page.Get[page.List[shape.Summary]](v, "/instances", with)
}

// lateBy is how long a timer may be over its time before it is called late.
const lateBy = 2 * time.Second

// late counts timers whose time has passed.
func late(timers []apiclient.TimerItem, now time.Time) (n int) {
	for i := range timers {
		if !timers[i].Damaged && now.Sub(timers[i].DueAt) > lateBy {
			n++
		}
	}
	return n
}

// reasons counts dead letters by their reason, the most frequent first.
func reasons(letters []shape.DeadLetter) []reasonCount {
	var out []reasonCount
	for i := range letters {
		at := slices.IndexFunc(out, func(r reasonCount) bool { return r.Reason == letters[i].Reason })
		if at < 0 {
			at = len(out)
			out = append(out, reasonCount{Reason: letters[i].Reason})
		}
		out[at].Count++
	}
	slices.SortStableFunc(out, func(a, b reasonCount) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// grouped puts faulted instances together whose definition and message are the same but for
// numbers and ids, the most frequent first.
func grouped(faulted []shape.Summary) []fault {
	var out []fault
	at := map[string]int{}
	for i := range faulted {
		f := &faulted[i]
		message := ""
		if f.Incident != nil {
			message = *f.Incident
		}
		kind := f.DefinitionID + "\n" + likeness(message)
		n, known := at[kind]
		if !known {
			n = len(out)
			at[kind] = n
			out = append(out, fault{DefinitionID: f.DefinitionID, Message: message, Newest: *f, Query: faultQuery(f.DefinitionID, message)})
		}
		out[n].Count++
	}
	slices.SortStableFunc(out, func(a, b fault) int { return cmp.Compare(b.Count, a.Count) })
	return out[:min(len(out), faultsShown)]
}

// likeness is a message without what differs from instance to instance: words with a digit.
func likeness(message string) string {
	words := strings.Fields(message)
	for i, w := range words {
		if varies(w) {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ")
}

func varies(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }

// faultQuery is a line that finds instances with such a message: by its longest part in which
// nothing differs.
func faultQuery(definition, message string) string {
	line := "status:faulted def:" + page.Quote(definition)
	best, begin, at := "", 0, 0
	take := func(to int) {
		if part := strings.TrimSpace(message[begin:to]); len(part) > len(best) {
			best = part
		}
	}
	for _, w := range strings.Fields(message) {
		from := at + strings.Index(message[at:], w)
		if varies(w) {
			take(from)
			begin = from + len(w)
		}
		at = from + len(w)
	}
	take(at)
	for len(best) > queryPart {
		_, last := utf8.DecodeLastRuneInString(best)
		best = best[:len(best)-last]
	}
	if best == "" || strings.ContainsFunc(best, unicode.IsControl) { // which no line has
		return line
	}
	return line + ` incident:"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(best) + `"`
}

// queryPart is how many bytes of a message a line looks for.
const queryPart = 200

// oldest finds what is unusual about those that have waited for the longest.
func oldest(v *page.Visit, items []shape.Summary) ([]oldWait, error) {
	now := v.Now()
	usual := map[string]time.Duration{}
	var out []oldWait
	for i := range items {
		if items[i].Damaged {
			continue
		}
		w := oldWait{Summary: items[i], Since: since(&items[i])}
		for _, on := range items[i].WaitsFor {
			w.Late = w.Late || on.DueAt != nil && now.Sub(*on.DueAt) > lateBy
		}
		id := w.DefinitionID
		if _, known := usual[id]; !known && len(usual) < usualOf {
			ended, err := summaries(v, usualLooked, "definitionId", id, "subStatus", "Finished")
			if err != nil {
				return nil, err
			}
			usual[id] = median(ended.Items)
		}
		w.Usual = usual[id]
		w.Stall = w.Usual > 0 && now.Sub(w.Since) > stallFactor*w.Usual
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b oldWait) int { return a.Since.Compare(b.Since) })
	return out[:min(len(out), oldestShown)], nil
}

// since is when the first of its waits began, or else when the instance changed.
func since(s *shape.Summary) (first time.Time) {
	for _, on := range s.WaitsFor {
		if !on.Since.IsZero() && (first.IsZero() || on.Since.Before(first)) {
			first = on.Since
		}
	}
	if first.IsZero() {
		return s.UpdatedAt
	}
	return first
}

// median is how long instances took that have ended; 0: too few have.
func median(ended []shape.Summary) time.Duration {
	var took []time.Duration
	for i := range ended {
		if f := ended[i].FinishedAt; f != nil {
			took = append(took, max(time.Millisecond, f.Sub(ended[i].CreatedAt)))
		}
	}
	if len(took) < usualLeast {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}
