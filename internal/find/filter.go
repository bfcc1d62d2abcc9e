package find

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Filter selects instances. Zero fields do not restrict.
type Filter struct {
	IDs          []string // sorted, each once, [MaxIDs] at most: none but these
	Status       workflow.Status
	SubStatus    workflow.SubStatus
	DefinitionID string
	Version      int    // of the definition, which has to be named too
	Parent       string // id of the instance that started it

	CorrelationID     string
	CorrelationPrefix string // what the correlation id begins with
	Name              string
	NamePrefix        string            // what the name begins with
	Labels            map[string]string // all of them

	Created, Updated, Finished Span

	HasIncidents bool
	Incident     string // stands in the message or the cause of an incident, in letters of any case
	WaitsFor     Wait

	// Not are filters of one word each: what one of them selects is left out.
	Not []Filter

	// Order is that of the list: it selects nothing. "": [NewestFirst].
	Order Order
}

// Order is the order of a list of instances.
type Order string

// The orders that are kept: by when an instance was made.
const (
	NewestFirst Order = "-created"
	OldestFirst Order = "created"
)

// Restricts tells whether the filter leaves out any instance.
func (f Filter) Restricts() bool {
	f.Order = ""
	return f.String() != ""
}

// Span is a part of time without its ends; a zero moment bounds nothing.
type Span struct{ After, Before Moment }

// Moment is a time, or a time ago.
type Moment struct {
	At  time.Time     // in UTC
	Ago time.Duration // whole seconds; 0: At
}

// IsZero tells that it is no moment.
func (m Moment) IsZero() bool { return m.Ago == 0 && m.At.IsZero() }

// resolve gives the time that m is at now.
func (m Moment) resolve(now time.Time) Moment {
	if m.Ago == 0 {
		return m
	}
	return Moment{At: now.Add(-m.Ago).UTC()}
}

// Wait is what an instance waits for. Its kind is one of [Kinds], or an activity type such
// as Elsa.Event; its name, if there is one, is that of the event or the task, METHOD /path of an
// endpoint, the id of a child, or the name of the bookmark.
type Wait struct{ Kind, Name string }

// The kinds of waits that have a short name.
const (
	WaitEvent = "event"
	WaitTask  = "task"
	WaitTimer = "timer"
	WaitChild = "child"
	WaitHTTP  = "http"
)

// Kinds are the kinds of waits that have a short name.
func Kinds() []string { return []string{WaitChild, WaitEvent, WaitHTTP, WaitTask, WaitTimer} }

// KindOf is the kind of wait that a bookmark is, short if it has a short name; and the name by which it is found.
func KindOf(b *workflow.Bookmark) Wait {
	switch {
	case b.ActivityType == workflow.EventType:
		return Wait{WaitEvent, b.Name}
	case b.ActivityType == workflow.TaskType:
		return Wait{WaitTask, b.Name}
	case b.ActivityType == workflow.EndpointType:
		return Wait{WaitHTTP, b.Name}
	case b.Child() != "":
		return Wait{WaitChild, b.Child()}
	case b.DueAt != nil:
		return Wait{WaitTimer, b.Name}
	}
	return Wait{b.ActivityType, b.Name}
}

// Fits tells whether a bookmark is such a wait. One that a timer ends is a timer too.
func (w Wait) Fits(b *workflow.Bookmark) bool {
	is := KindOf(b)
	switch w.Kind {
	case is.Kind, b.ActivityType:
		return w.Name == "" || w.Name == is.Name || w.Name == b.Name
	case WaitTimer:
		return b.DueAt != nil && (w.Name == "" || w.Name == b.Name)
	}
	return false
}

// Resolve gives the filter with times in the place of durations, as they are now.
func (f Filter) Resolve(now time.Time) Filter {
	for _, s := range []*Span{&f.Created, &f.Updated, &f.Finished} {
		s.After, s.Before = s.After.resolve(now), s.Before.resolve(now)
	}
	f.Not = slices.Clone(f.Not)
	for i := range f.Not {
		f.Not[i] = f.Not[i].Resolve(now)
	}
	return f
}

// Fits tells whether a resolved filter selects an instance. show gives a text as who asks may see
// it, so that nobody learns by looking for parts of a text what is hidden from them; nil: as it is.
func (f *Filter) Fits(in *workflow.Instance, show func(string) string) bool {
	if show == nil {
		show = func(s string) string { return s }
	}
	for i := range f.Not {
		if f.Not[i].Fits(in, show) {
			return false
		}
	}
	return f.fitsKey(in) && f.fitsTimes(in) && f.fitsTexts(in, show)
}

// fitsKey is about what an instance is indexed by.
func (f *Filter) fitsKey(in *workflow.Instance) bool {
	for name, value := range f.Labels {
		if in.Labels[name] != value {
			return false
		}
	}
	if len(f.IDs) > 0 {
		if _, named := slices.BinarySearch(f.IDs, in.ID); !named {
			return false
		}
	}
	return (f.Status == "" || f.Status == in.Status) && (f.SubStatus == "" || f.SubStatus == in.SubStatus) &&
		(f.DefinitionID == "" || f.DefinitionID == in.DefinitionID) && (f.Version == 0 || f.Version == in.Version) &&
		(f.CorrelationID == "" || f.CorrelationID == in.CorrelationID) && (f.Name == "" || f.Name == in.Name) &&
		(f.Parent == "" || in.Parent != nil && f.Parent == in.Parent.InstanceID)
}

func (f *Filter) fitsTimes(in *workflow.Instance) bool {
	if f.Finished != (Span{}) && (in.FinishedAt == nil || !f.Finished.has(*in.FinishedAt)) {
		return false
	}
	return f.Created.has(in.CreatedAt) && f.Updated.has(in.UpdatedAt)
}

func (s Span) has(t time.Time) bool {
	return (s.After.IsZero() || t.After(s.After.At)) && (s.Before.IsZero() || t.Before(s.Before.At))
}

// AsksWaits reports whether it depends on what instances wait for.
func (f *Filter) AsksWaits() bool {
	return f.WaitsFor.Kind != "" || slices.ContainsFunc(f.Not, func(n Filter) bool { return n.WaitsFor.Kind != "" })
}

func (f *Filter) fitsTexts(in *workflow.Instance, show func(string) string) bool {
	if f.HasIncidents && len(in.Incidents) == 0 ||
		f.NamePrefix != "" && !strings.HasPrefix(show(in.Name), f.NamePrefix) ||
		f.CorrelationPrefix != "" && !strings.HasPrefix(show(in.CorrelationID), f.CorrelationPrefix) {
		return false
	}
	if f.WaitsFor.Kind != "" && !slices.ContainsFunc(in.Bookmarks, func(b workflow.Bookmark) bool { return f.WaitsFor.Fits(&b) }) {
		return false
	}
	if f.Incident == "" {
		return true
	}
	part := strings.ToLower(f.Incident)
	return slices.ContainsFunc(in.Incidents, func(i workflow.Incident) bool {
		return strings.Contains(strings.ToLower(show(i.Message)), part) || strings.Contains(strings.ToLower(show(i.Cause)), part)
	})
}

// Equal tells whether both are the same filter.
func (f Filter) Equal(g Filter) bool { return f.String() == g.String() }

// And gives the filter that selects what both do, or the names of the words that both say differently.
func (f Filter) And(g Filter) (both Filter, twice []string) {
	f.Labels, f.Not = maps.Clone(f.Labels), slices.Clone(f.Not)
	for _, w := range words() {
		for _, t := range w.terms(&g) {
			had := w.terms(&f)
			if slices.Contains(had, t) {
				continue
			}
			if err := w.take(&f, t); err != nil {
				twice = append(twice, w.shown(t))
			}
		}
	}
	for _, n := range g.Not {
		if !slices.ContainsFunc(f.Not, n.Equal) {
			f.Not = append(f.Not, n)
		}
	}
	return f, twice
}
