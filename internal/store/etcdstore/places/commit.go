package places

import (
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

// A bookmark that waits for a place is put in line with its commit, and deleted with its commit, and the place with it. A commit
// of which it is likely that it may have the place takes it by an inner transaction ([Places.TakeWith]), and its owner goes on
// with the command that says so, as with mail that came beside it.
//
// A commit that says that a place was given (its body runs) compares that the place is there ([Places.Given]). Only a grant
// puts one, and only a commit of the instance deletes it, so that this holds but where something else than the grant has
// resumed the bookmark. Then the commit is sent again until the place was given: the bookmark is in line.

// Takes tells whether a commit tries to take a place, so that its burst may go on. That is decided once, for all copies.
func (p *Places) Takes(c *store.Commit) bool {
	if !c.TakesDecided {
		c.TakesDecided = true
		if c.After.Unwritten == nil && !c.Delete && c.After.Header.Status == workflow.StatusRunning {
			c.Takes = p.guess(c.Created, c.Burned)
		}
	}
	return c.Takes != nil
}

// TakeWith is the inner transaction by which a commit takes a place; nil: it takes none.
func (p *Places) TakeWith(c *store.Commit, o *db.Ops) *clientv3.Op {
	if c.After.Unwritten != nil || !p.Takes(c) {
		return nil
	}
	i := slices.IndexFunc(c.Created, func(b workflow.Bookmark) bool { return b.ID == c.Takes.Bookmark })
	op, is := p.take(c.Takes, &c.Created[i], &c.After.Header, c.Trace, c.At)
	o.Size += is.Size
	if is.Err != nil {
		o.Fail(p.conn.Keys.Instance(c.After.Header.ID), is.Err)
	}
	return &op
}

// told is the command that tells the instance of a commit that it has its place.
func told(g *store.PlaceGuess, trace string, at time.Time) workflow.Command {
	return Command(&store.Place{Bookmark: g.Bookmark, Trace: trace}, at, limit.Grant{At: g.At})
}

// Took notes whether a commit took its place, and lets its owner go on with it.
func (p *Places) Took(c *store.Commit, took bool, revision int64, done *store.Committed) {
	if !took {
		p.seen.wrong(c.Takes.Line)
		c.Takes = nil
		return
	}
	p.seen.took(c.Takes, revision)
	mail := store.Mail{Command: told(c.Takes, c.Trace, c.At), Created: revision}
	switch {
	case done.Released:
		done.Waits = true
	case done.Kept == nil:
		done.Unseen = true
	case !slices.ContainsFunc(done.Kept.Mail, func(m store.Mail) bool { return m.Command.ID == mail.Command.ID }):
		done.Kept.Mail = append(done.Kept.Mail, mail)
	}
}

// WaitsElse tells whether a commit makes something wait, beside for places, for which a stimulus may be queued.
func WaitsElse(c *store.Commit) bool {
	moved := c.Before == nil || c.Before.Header.CorrelationID != c.After.Header.CorrelationID
	return slices.ContainsFunc(c.Created, other) || moved && slices.ContainsFunc(c.After.Header.Bookmarks, other)
}

func other(b workflow.Bookmark) bool { return b.ActivityType != limit.Type }

// Given are the keys of the places of which a commit says that they were given.
func (p *Places) Given(c *store.Commit) (keys []string) {
	for i := range c.Created {
		place := limit.PlaceOf(&c.Created[i])
		if place == "" {
			continue
		}
		for j := range c.After.Header.Bookmarks {
			if b := &c.After.Header.Bookmarks[j]; b.ID == place {
				if w, ok := limit.Of(b); ok {
					keys = append(keys, p.conn.Keys.Limits.Place(w.Line, place))
				}
			}
		}
	}
	return keys
}

// Settle puts what a commit has to settle with limits, for who gives places next: it takes it away with the head.
func (p *Places) Settle(c *store.Commit, o *db.Ops) {
	for i := range c.Journal {
		if l, s, ok := limit.SettlementIn(&c.Journal[i]); ok {
			o.Put(p.conn.Keys.Limits.Settlement(l, c.After.Header.ID, c.Journal[i].Sequence), s)
		}
	}
}

// Brought refuses a commit that brings a bookmark together with the word that it has its place: an import of what had one.
// Nobody gave it that, and its body would run without.
func Brought(c *store.Commit) error {
	for i := range c.Created {
		b := &c.Created[i]
		if place := limit.PlaceOf(b); place != "" && contains(c.Created, place) {
			return &store.GatedError{Limit: b.Name, Activity: b.ActivityID}
		}
	}
	return nil
}
