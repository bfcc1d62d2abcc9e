package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/apiclient"
)

// few is how many rows the home page has of a list.
var few = url.Values{"limit": {"10"}}

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
	Nodes       []node
	Counted     bool // false: instances cannot be counted now
	Counts      []countOf
	All         count
	Faults      []fault
	FaultsMore  bool // there are more faulted instances than were looked at
	DeadLetters []deadLetter
	DeadReasons []reasonCount
	DeadMore    bool // there are more dead letters than were looked at
	Oldest      []oldWait
	OldestMore  bool // there are more instances that wait than were looked at
	Late        int  // timers
	LateMore    bool
	Meters      *apiclient.Meters // of this node; nil: not known
	Troubles    []trouble         // with etcd
}

// count is a number that may be larger than it says.
type count struct {
	Count int64
	Exact bool
}

// countOf is how many instances have a sub-status.
type countOf struct {
	count
	Sub, Query string
}

// fault is a message of faulted instances.
type fault struct {
	DefinitionID, Message, Query string
	Count                        int
	Newest                       summary
}

// reasonCount is how many dead letters, of those looked at, have a reason.
type reasonCount struct {
	Reason string
	Count  int
}

// oldWait is an instance that waits, with what is unusual about that.
type oldWait struct {
	summary
	Since time.Time     // it waits
	Usual time.Duration // that an instance of its definition takes; 0: not known
	Stall bool          // it waits much longer
	Late  bool          // what it waits for was due
}

// subStatusCounts are counts of instances by their sub-status.
type subStatusCounts struct{ Pending, Executing, Suspended, Finished, Cancelled, Faulted count }

// stats are counts of instances.
type stats struct {
	Instances   count
	BySubStatus subStatusCounts
	Items       []struct {
		DefinitionID string
		Version      *int
		Instances    count
		BySubStatus  subStatusCounts
	}
	More bool
}

// shown are the counts in the order in which a page has them, with the lines that find them.
func (s subStatusCounts) shown() []countOf {
	return []countOf{
		{s.Executing, "Executing", "status:executing"}, {s.Suspended, "Suspended", "status:suspended"}, {s.Faulted, "Faulted", "status:faulted"},
		{s.Pending, "Pending", "status:pending"}, {s.Finished, "Finished", "sub:finished"}, {s.Cancelled, "Cancelled", "status:cancelled"},
	}
}

// counts are those of all instances.
func (s *stats) counts() []countOf {
	all := s.BySubStatus.shown()
	for i := range all {
		all[i].Exact = all[i].Exact && !s.More
	}
	return all
}

// home shows what somebody looks at first: what runs, what is wrong, and what waits for too long.
func home(v *visit) (string, any, error) {
	var view homeView
	nodes, err := get[list[node]](v, "/nodes", nil)
	if err != nil {
		return "", nil, err
	}
	view.Nodes = nodes.Items
	if view.Troubles, err = troubles(v); err != nil {
		return "", nil, err
	}
	all, err := v.stats(url.Values{"by": {"total"}})
	if err != nil {
		return "", nil, err
	}
	if view.Counted = all != nil; view.Counted {
		view.Counts, view.All = all.counts(), all.Instances
	}
	faulted, err := v.summaries(faultsLooked, "subStatus", "Faulted")
	if err != nil {
		return "", nil, err
	}
	view.Faults, view.FaultsMore = grouped(faulted.Items), faulted.NextCursor != nil
	waiting, err := v.summaries(oldestLooked, "subStatus", "Suspended", "sort", "created")
	if err != nil {
		return "", nil, err
	}
	if view.Oldest, err = v.oldest(waiting.Items); err != nil {
		return "", nil, err
	}
	view.OldestMore = waiting.NextCursor != nil
	letters, err := get[list[deadLetter]](v, "/dead-letters", url.Values{"limit": {rows}})
	if err != nil {
		return "", nil, err
	}
	view.DeadReasons, view.DeadLetters = reasons(letters.Items), letters.Items[:min(len(letters.Items), 5)]
	view.DeadMore = letters.NextCursor != nil
	timers, err := get[list[apiclient.TimerItem]](v, "/timers", url.Values{"kind": {"timers"}, "limit": {rows}})
	if err != nil {
		return "", nil, err
	}
	view.Late = late(timers.Items, v.now())
	view.LateMore = view.Late == len(timers.Items) && timers.NextCursor != nil
	meters, err := get[apiclient.Meters](v, at("nodes", v.nodeID(), "meters"), nil)
	var p *problem
	switch {
	case err == nil:
		view.Meters = &meters
	case !errors.As(err, &p): // the page is there without them
		return "", nil, err
	}
	return "Home", view, nil
}

// summaries reads small rows of instances.
func (v *visit) summaries(limit string, filters ...string) (list[summary], error) {
	with := url.Values{"view": {"summary"}, "limit": {limit}}
	for i := 0; i+1 < len(filters); i += 2 {
		with.Set(filters[i], filters[i+1])
	}
	return get[list[summary]](v, "/instances", with)
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
func reasons(letters []deadLetter) []reasonCount {
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
func grouped(faulted []summary) []fault {
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
	line := "status:faulted def:" + quote(definition)
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
func (v *visit) oldest(items []summary) ([]oldWait, error) {
	now := v.now()
	usual := map[string]time.Duration{}
	var out []oldWait
	for i := range items {
		if items[i].Damaged {
			continue
		}
		w := oldWait{summary: items[i], Since: items[i].since()}
		for _, on := range items[i].WaitsFor {
			w.Late = w.Late || on.DueAt != nil && now.Sub(*on.DueAt) > lateBy
		}
		id := w.DefinitionID
		if _, known := usual[id]; !known && len(usual) < usualOf {
			ended, err := v.summaries(usualLooked, "definitionId", id, "subStatus", "Finished")
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
func (s *summary) since() (first time.Time) {
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
func median(ended []summary) time.Duration {
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

// Said writes a count as a page shows it.
func (c count) Said() string {
	text := thousands(c.Count)
	if !c.Exact {
		text += "+"
	}
	return text
}

// size says how many bytes there are in the largest unit of which there is one.
func size(bytes int64) string {
	const unit = 1024
	if bytes < unit {
		return fmt.Sprintf("%d bytes", bytes)
	}
	n, names := float64(bytes)/unit, []string{"KiB", "MiB", "GiB", "TiB"}
	for n >= unit && len(names) > 1 {
		n, names = n/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %s", n, names[0])
}

// thousands writes a number with commas.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
