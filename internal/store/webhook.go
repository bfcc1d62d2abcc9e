package store

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Webhook says who is told of what.
type Webhook struct {
	Name        string            `json:"name"`
	URL         string            `json:"url"`
	On          []WebhookKind     `json:"on"`
	Definitions []string          `json:"definitions,omitempty"` // none: of all
	Labels      map[string]string `json:"labels,omitempty"`      // that the instance has to have
	Secrets     []string          `json:"secrets"`               // names of those that sign
	Paused      bool              `json:"paused,omitempty"`
	Because     string            `json:"because,omitempty"` // why it is paused, if nobody asked for it
	By          string            `json:"by,omitempty"`      // who put it

	Created  int64 `json:"-"` // create revision: another one of this name has another
	Modified int64 `json:"-"`
}

// Tells reports whether the webhook tells of events of a kind.
func (w *Webhook) Tells(kind WebhookKind) bool { return slices.Contains(w.On, kind) }

// WebhookKind is of what a webhook tells.
type WebhookKind string

// The kinds.
const (
	WebhookEnded      WebhookKind = "ended" // in any way
	WebhookFaulted    WebhookKind = "faulted"
	WebhookIncident   WebhookKind = "incident" // also of an instance that goes on
	WebhookDeadLetter WebhookKind = "deadLetter"
)

// WebhookPosition says how far a webhook is, for each range of keys that it watches: every
// change up to the revision was told, or lies in a [WebhookLetter].
type WebhookPosition struct {
	At map[string]int64 `json:"at"`
	// Until are those of At that a change of the webhook took away, as another one has all that is in them:
	// up to this revision they are told by themselves, and then they go.
	Until map[string]int64 `json:"until,omitempty"`
	// Behind are the ranges that etcd has compacted what came since: they are listed.
	Behind map[string]WebhookListing `json:"behind,omitempty"`

	Modified int64 `json:"-"`
	// Foreign: it says more than this program knows, and only nodes that know all of it tell.
	Foreign bool `json:"-"`
}

// Of is the position of some ranges: where one has none it begins at fresh, what is not among them is
// forgotten, and none is behind last, the revision of an etcd that it may have been copied to.
func (p *WebhookPosition) Of(ranges []string, fresh, last int64) *WebhookPosition {
	of := &WebhookPosition{At: map[string]int64{}, Behind: map[string]WebhookListing{}, Modified: p.Modified, Foreign: p.Foreign}
	for _, r := range ranges {
		of.At[r] = min(cmp.Or(p.At[r], fresh), last)
	}
	for r, until := range p.Until {
		if of.Until == nil {
			of.Until = map[string]int64{}
		}
		of.At[r], of.Until[r] = min(p.At[r], last), until
	}
	for r, l := range p.Behind {
		if _, ok := of.At[r]; ok {
			of.Behind[r] = l
		}
	}
	return of
}

// Change is the position from revision now on, where other ranges are told. What was told before
// and is told still goes on from where it was, be it by a range that is in one of before or has it in it.
func (p *WebhookPosition) Change(ranges []string, now int64) *WebhookPosition {
	within := func(r, wide string) bool { return strings.HasPrefix(r, wide) }
	is := &WebhookPosition{At: map[string]int64{}, Until: map[string]int64{}, Behind: map[string]WebhookListing{}, Modified: p.Modified}
	for _, r := range ranges {
		is.At[r] = now
		for was, at := range p.At {
			if was == r || p.Until[was] == 0 && within(r, was) {
				is.At[r] = min(at, is.At[r])
			}
		}
		if l, ok := p.Behind[r]; ok { // one that begins here finds by itself that etcd has forgotten something
			is.Behind[r] = l
		}
	}
	for was, at := range p.At {
		if _, stays := is.At[was]; stays {
			continue
		}
		if slices.ContainsFunc(ranges, func(r string) bool { return within(was, r) }) {
			is.At[was], is.Until[was] = at, cmp.Or(p.Until[was], now)
			if l, ok := p.Behind[was]; ok {
				is.Behind[was] = l
			}
		}
	}
	return is
}

// WebhookListing is a range that is being listed.
type WebhookListing struct {
	Cursor   string `json:"cursor"`
	Revision int64  `json:"revision"` // at which it began: what comes later is watched for
}

// WebhookLetter holds events that a receiver did not take.
type WebhookLetter struct {
	ID       string         `json:"id"`
	Webhook  int64          `json:"webhook"` // its create revision
	Events   []WebhookEvent `json:"events"`
	At       time.Time      `json:"at"`                 // when the first attempt was, or would have been
	Attempts int            `json:"attempts,omitempty"` // of the letter
	Last     string         `json:"last,omitempty"`     // what went wrong last

	Due      time.Time `json:"-"`
	Modified int64     `json:"-"`
}

// WebhookEvent is one thing to tell.
type WebhookEvent struct {
	ID           string `json:"id"`
	What         string `json:"what"`    // a final sub-status, [WebhookIncident] or [WebhookDeadLetter]
	Subject      string `json:"subject"` // the instance, or the dead letter
	DefinitionID string `json:"definition,omitempty"`
	Version      int    `json:"version,omitempty"`
	Revision     int64  `json:"revision"`         // of etcd, at which it was so
	Commit       int64  `json:"commit,omitempty"` // that had the incidents
}
