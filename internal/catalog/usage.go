package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/engine"
)

// Usage is which published definitions use which activity types.
type Usage struct {
	by map[string]*Users // by ability
	// Unknown is of how many published definitions it is not known: they were not looked at yet,
	// etcd did not answer, or, until they are published again, what is stored of them does not say
	// it, as an older program wrote it, or cannot be read.
	Unknown int
}

// Users are the definitions that use an activity type.
type Users struct {
	Count int
	IDs   []string // of the first of them, sorted
}

// Of are the definitions that use an activity type.
func (u Usage) Of(activityType string) Users {
	if users := u.by[engine.ActivityNeed(activityType)]; users != nil {
		return *users
	}
	return Users{}
}

// usageReads is how many requests to etcd one call makes at the most: the next one goes on.
const usageReads = 32

// Usage tells which published definitions use which activity types, also inside of definitions
// that they run as activities, as far as this node knows. Of each type it names the first ones,
// most at the most. A published version is read once in the life of the program, some of them
// with each request to etcd.
func (a *Authoring) Usage(ctx context.Context, most int) Usage {
	known, now := map[etcdstore.VersionRef][]string{}, map[etcdstore.VersionRef][]string{}
	if was := a.needs.Load(); was != nil {
		known = *was
	}
	var published, unread []etcdstore.VersionRef
	for id, h := range a.c.table.Load().heads {
		if h.Published == 0 {
			continue
		}
		ref := etcdstore.VersionRef{ID: id, Version: h.Published}
		published = append(published, ref)
		if needs, read := known[ref]; read {
			now[ref] = needs
		} else {
			unread = append(unread, ref)
		}
	}
	found, looked, err := a.c.store.Needs(ctx, unread, usageReads)
	if err != nil { // what is known is told, and how much is not
		a.c.log.WarnContext(ctx, "not all definitions were looked at for the activities that they use; the next call goes on", "error", err)
	}
	for _, ref := range unread[:looked] {
		now[ref] = found[ref] // nil too: a version says as long as it stays that it does not say it
	}
	a.needs.Store(&now)
	return usage(published, now, most)
}

// usage turns what definitions need around.
func usage(published []etcdstore.VersionRef, needs map[etcdstore.VersionRef][]string, most int) Usage {
	u := Usage{by: map[string]*Users{}}
	slices.SortFunc(published, func(a, b etcdstore.VersionRef) int { return strings.Compare(a.ID, b.ID) })
	for _, ref := range published {
		if len(needs[ref]) == 0 {
			u.Unknown++
		}
		for _, need := range needs[ref] {
			users := u.by[need]
			if users == nil {
				users = &Users{}
				u.by[need] = users
			}
			if users.Count++; len(users.IDs) < most {
				users.IDs = append(users.IDs, ref.ID)
			}
		}
	}
	return u
}
