package etcdstore

import (
	"cmp"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// journalEntry is the value of journal/<id>/<seq>: what the commit did, and the
// proof that it was applied.
type journalEntry struct {
	Commit   string        `json:"commit"`
	Seq      int64         `json:"seq"`
	Fence    int64         `json:"fence,omitempty"`
	Commands []string      `json:"commands,omitempty"`
	Burst    string        `json:"burst,omitempty"` // of the items that name none
	Items    []journalItem `json:"items,omitempty"`
}

type journalItem struct {
	workflow.JournalItem
	Burst string `json:"burst,omitempty"` // in front of the embedded one; nearly always that of the entry
}

func newJournalEntry(c *store.Commit) *journalEntry {
	e := &journalEntry{Commit: c.ID, Seq: c.After.Seq, Items: make([]journalItem, len(c.Journal))}
	if c.Fence != nil {
		e.Fence = c.Fence.Revision
	}
	for i := range c.Consumed {
		e.Commands = append(e.Commands, c.Consumed[i].Command.ID)
	}
	if len(c.Journal) > 0 {
		e.Burst = c.Journal[0].Burst
	}
	for i, item := range c.Journal {
		e.Items[i].JournalItem = item
		if item.Burst != e.Burst {
			e.Items[i].Burst = item.Burst
		}
	}
	return e
}

// journal gives the items as they were committed.
func (e *journalEntry) journal() []workflow.JournalItem {
	items := make([]workflow.JournalItem, len(e.Items))
	for i, item := range e.Items {
		items[i] = item.JournalItem
		items[i].Burst = cmp.Or(item.Burst, e.Burst)
	}
	return items
}
