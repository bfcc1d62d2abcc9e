package lookup

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// KeyBytes is about what the keys of a finished instance take beside its record
// and its journal.
const KeyBytes = 600

// WriteEnd puts a finished instance into the order of ends.
func (s *Conn) WriteEnd(o *db.Ops, r *store.Record, size int64) {
	o.PutRaw(s.Keys.Finished(&r.Header), EndValue(r, size))
}

// EndValue is the value of a finished instance's place in the order of ends: about what it takes in the store, and whether it
// stays for those who may want to change it.
func EndValue(r *store.Record, size int64) []byte {
	value := strconv.AppendInt(nil, size+r.JournalBytes+KeyBytes, 10)
	if Stays(r) {
		value = append(value, staying...)
	}
	return value
}

// staying ends the value of an instance that stays.
const staying = " stays"

// Stays reports whether a finished instance has more to it than to be read, which only the store has: one that
// faulted may be retried, and files lie beside it.
func Stays(r *store.Record) bool {
	return r.Header.SubStatus == workflow.Faulted || r.Contents
}

// ReadEnd reads such a value. What cannot be read counts as nothing, and so does the size for programs that know
// nothing of what stays.
func ReadEnd(value []byte) (bytes int64, stays bool) {
	text, stays := strings.CutSuffix(string(value), staying)
	bytes, _ = strconv.ParseInt(text, 10, 64)
	return bytes, stays
}
