package endpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Finder finds what requests are for. Make it with [NewFinder].
type Finder struct {
	stimuli *etcdstore.Stimuli
	reader  *etcdstore.Reader
}

// NewFinder makes a finder.
func NewFinder(stimuli *etcdstore.Stimuli, reader *etcdstore.Reader) *Finder {
	return &Finder{stimuli: stimuli, reader: reader}
}

// Find finds by the head of a request what it is for, before there is a
// body, of length bytes if that is known; pkg/runtime goes on from there. It
// refuses what no body can mend: no such endpoint, and, where a definition starts,
// a caller who may not and a body that is too large. A request with a key of its
// caller is not refused so early: it may be known.
func (f *Finder) Find(ctx context.Context, r *Request, length int64) error {
	at, err := f.find(ctx, r)
	if err != nil {
		return err
	}
	r.at = at
	if at.Route == nil || at.Waiting != "" || r.Key != nil || r.InstanceID != "" {
		return nil
	}
	if err := r.Allowed(ctx, at.Route.Guard()); err != nil {
		return err
	}
	if limit := at.Route.MaxBody; limit > 0 && length > limit && !at.Route.TooLarge {
		return tooLargeFor(length, limit)
	}
	return nil
}

// find finds the endpoint that a path is for, of those at which something
// starts or waits the one that matches it best. What it costs does not depend on
// how many there are. A request with a key of its caller goes on without one: its
// answer may be there.
func (f *Finder) find(ctx context.Context, r *Request) (*etcdstore.Endpoint, error) {
	method := strings.ToUpper(r.Method)
	shapes, err := f.stimuli.Shapes(ctx, method, workflow.RouteSegments(r.Path))
	if err != nil {
		return nil, etcdstore.Unavailable("the shapes of endpoints could not be read", err)
	}
	var among []etcdstore.Endpoint
	for _, pattern := range workflow.RoutePatterns(shapes, r.Path) {
		hash, err := workflow.Hash(workflow.EndpointType, workflow.EndpointPayload(method, pattern))
		if err != nil {
			return nil, &workflow.Error{Code: workflow.CodeInvalid, Detail: err.Error()}
		}
		among = append(among, etcdstore.Endpoint{Method: method, Pattern: pattern, Hash: hash})
	}
	for {
		at, err := f.stimuli.FindEndpoint(ctx, among)
		switch {
		case err != nil:
			return nil, etcdstore.Unavailable("the endpoints could not be read", err)
		case at == nil && r.Key != nil:
			return &etcdstore.Endpoint{Method: method, Pattern: workflow.RoutePattern(r.Path)}, nil
		case at == nil:
			return nil, r.NoRoute()
		case at.Route == nil || at.Waiting != "": // who waits says it when the request is there
			return at, nil
		}
		if _, ok := workflow.RouteData(at.Route.Template, r.Path); ok {
			return at, nil
		}
		i := slices.IndexFunc(among, func(one etcdstore.Endpoint) bool { return one.Pattern == at.Pattern })
		among = among[i+1:]
	}
}

// Limits are those of one of the places at an endpoint; nil: there is none.
func (f *Finder) Limits(ctx context.Context, r *Request) (*workflow.EndpointLimits, error) {
	at := r.at
	if at.Route != nil || at.Waiting == "" {
		if at.Route == nil {
			return nil, nil
		}
		return &at.Route.EndpointLimits, nil
	}
	rec, err := f.reader.Header(ctx, at.Waiting)
	if err != nil {
		return nil, etcdstore.Unavailable("instance "+at.Waiting+" could not be read", err)
	}
	if rec == nil {
		return nil, nil
	}
	for i := range rec.Header.Bookmarks {
		if b := &rec.Header.Bookmarks[i]; b.Hash == at.Hash {
			if e := workflow.EndpointOf(b); e != nil {
				return &e.EndpointLimits, nil
			}
		}
	}
	return nil, nil
}

// Nothing says that nothing takes the request, in the same words for any
// reason: strangers must not learn whether an instance that they name exists, and
// how it ended. Who may not call learns no more than that.
func (f *Finder) Nothing(ctx context.Context, r *Request) error {
	limits, err := f.Limits(ctx, r)
	if err != nil {
		return err
	}
	if limits != nil {
		if err := r.Allowed(ctx, limits.Guard()); err != nil {
			return err
		}
	}
	return r.NoRoute()
}

// maxAsked is of how many places that a request met each is asked whether the path
// fits it: each that waits costs a request to etcd.
const maxAsked = 8

// OnePlace leaves in what a request met the one place that it is for, and reads what that
// says of itself. Nil: a place moved; match again.
func (f *Finder) OnePlace(ctx context.Context, r *Request, met *etcdstore.Match) (*workflow.Endpoint, error) {
	if n := len(met.Bookmarks) + len(met.Triggers); n > 1 && n <= maxAsked {
		if ok, err := f.fitting(ctx, r, met); err != nil || !ok {
			return nil, err
		}
	}
	switch n := len(met.Bookmarks) + len(met.Triggers); n {
	case 0:
		return nil, f.Nothing(ctx, r)
	case 1:
		return f.place(ctx, r, met)
	default:
		return nil, workflow.Fail(workflow.CodeAmbiguous, fmt.Sprintf("%d places wait for %s /workflows/%s; say which by ?correlationId= or ?workflowInstanceId=", n, r.Method, r.Path))
	}
}

// fitting leaves out of what a request met the places whose constraints refuse the path:
// they are no part of the pattern that the places share. False: a place moved.
func (f *Finder) fitting(ctx context.Context, r *Request, met *etcdstore.Match) (bool, error) {
	var bookmarks []store.BookmarkRef
	for i, b := range met.Bookmarks {
		place, err := f.place(ctx, r, &etcdstore.Match{Bookmarks: met.Bookmarks[i : i+1], Instance: met.Instance})
		if err != nil || place == nil {
			return false, err
		}
		if _, ok := workflow.RouteData(place.Template, r.Path); ok {
			bookmarks = append(bookmarks, b)
		}
	}
	var triggers []store.TriggerRef
	for i, t := range met.Triggers {
		place, err := f.place(ctx, r, &etcdstore.Match{Triggers: met.Triggers[i : i+1]})
		if err != nil || place == nil {
			return false, err
		}
		if _, ok := workflow.RouteData(place.Template, r.Path); ok {
			triggers = append(triggers, t)
		}
	}
	met.Bookmarks, met.Triggers = bookmarks, triggers
	return true, nil
}

// place reads what the one place says about itself: a trigger in its route, a
// bookmark in its instance, since the entry of its template is everybody's who
// waits there. Nil: it is not as it was found.
func (f *Finder) place(ctx context.Context, r *Request, met *etcdstore.Match) (*workflow.Endpoint, error) {
	if len(met.Triggers) > 0 {
		return f.startingPlace(ctx, r, &met.Triggers[0])
	}
	b, rec := &met.Bookmarks[0], met.Instance
	if rec == nil {
		var err error
		if rec, err = f.reader.Header(ctx, b.InstanceID); err != nil {
			return nil, etcdstore.Unavailable("instance "+b.InstanceID+" could not be read", err)
		}
	}
	if rec == nil {
		return nil, nil
	}
	for i := range rec.Header.Bookmarks {
		if m := &rec.Header.Bookmarks[i]; m.ID == b.ID {
			return workflow.EndpointOf(m), nil
		}
	}
	return nil, nil
}

func (f *Finder) startingPlace(ctx context.Context, r *Request, t *store.TriggerRef) (*workflow.Endpoint, error) {
	at := r.at
	for fresh := false; ; fresh = true {
		if e := at.Route; e != nil && e.DefinitionID == t.DefinitionID && e.Version == t.Version && e.ActivityID == t.ActivityID && e.Hash == t.Hash {
			return e.Endpoint(), nil
		}
		if fresh {
			return nil, nil
		}
		now, err := f.stimuli.FindEndpoint(ctx, []etcdstore.Endpoint{{Method: at.Method, Pattern: at.Pattern, Hash: at.Hash}})
		if err != nil {
			return nil, etcdstore.Unavailable("the route could not be read", err)
		}
		if now == nil {
			return nil, nil
		}
		r.at, at = now, now // published since it was read
	}
}
