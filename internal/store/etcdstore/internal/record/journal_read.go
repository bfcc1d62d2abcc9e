package record

import (
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// ReadEntry decodes an entry. It never fails: one that cannot be read is shown as what it is.
func ReadEntry(seq int64, raw []byte) workflow.JournalEntry {
	var e JournalEntry
	if err := db.Decode(raw, &e); err != nil {
		return BrokenEntry(seq, err.Error())
	}
	return e.Entry()
}

// ReadHead is [ReadEntry] without items and variables.
func ReadHead(seq int64, raw []byte) workflow.JournalEntry {
	var e EntryHead
	if err := db.Decode(raw, &e); err != nil {
		return BrokenEntry(seq, err.Error())
	}
	return e.Entry()
}
