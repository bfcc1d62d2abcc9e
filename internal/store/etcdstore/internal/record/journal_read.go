package record

import (
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// ReadHead is [trace.readEntry] without items and variables.
func ReadHead(seq int64, raw []byte) workflow.JournalEntry {
	var e EntryHead
	if err := db.Decode(raw, &e); err != nil {
		return BrokenEntry(seq, err.Error())
	}
	return e.Entry()
}
