package etcdstore

import "github.com/weft-run/weft/internal/store/etcdstore/internal/db"

// What callers name of what is below the store.
var (
	// ErrUnknown marks a write whose outcome is not known: it may have been, or may
	// yet be, applied.
	ErrUnknown = db.ErrUnknown
	// ErrTooLarge marks a transaction that etcd would refuse for its size.
	ErrTooLarge = db.ErrTooLarge
	// ErrDamaged marks a record that is not what any program wrote, or that holds more
	// than is read. Nobody goes on with it: lists show its key, sweeps pass it by, and an
	// instance can be deleted ([Instances.Remove]).
	ErrDamaged = db.ErrDamaged
	// ErrCompacted says that etcd has forgotten the revision that was to be read at.
	ErrCompacted = db.ErrCompacted
)

// PageEnd is where a page of a list ends, and the revision that all of it was read at.
type PageEnd = db.PageEnd

// PageBytes is how many bytes of decoded values a page holds at most, unless its
// first value alone has more.
const PageBytes = db.PageBytes

// Encode gives the stored form of v: JSON, compressed above 4 KiB. [ErrTooLarge]: it
// has more bytes before it is compressed than are ever to be read again.
func Encode(v any) ([]byte, error) { return db.Encode(v) }

// Decode reads what [Encode] wrote. Numbers keep their value in untyped places:
// see workflow.Number. What cannot be read is [ErrDamaged].
func Decode(raw []byte, v any) error { return db.Decode(raw, v) }
