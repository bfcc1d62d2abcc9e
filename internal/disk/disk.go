// Package disk says how full the disk of an embedded etcd is, and keeps room on it for what etcd must write.
//
// Guaranteed: what is held for a file is that file's own, and no other process gets it. Not guaranteed: that a disk
// is not filled between two looks, by somebody else; nor anything on systems that do not tell ([Look] says so)
// or do not hold room ([Hold] does nothing then).
//
// # Concurrency
//
// All functions are safe for concurrent use.
package disk

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Segment is how much etcd takes at once for its log: it makes the next file of it ahead, and ends the process when it
// needs one that could not be made.
const Segment = 64_000_000

// Reserve is what is kept free, unless it is set otherwise; a quarter of it is what etcd needs to go on for longer.
// LeastReserve is the least that it may be set to.
const (
	Reserve      int64 = 256 << 20
	LeastReserve int64 = 64 << 20
)

// Space is how full a disk is. The zero value is of one that is not known.
type Space struct {
	Dir     string // that is on it
	Free    int64  // bytes that this process may take
	Size    int64  // bytes; 0: it is not known
	Reserve int64  // that are kept free; 0: [Reserve]
}

// NearlyFull is how much is free, from which on down starts are refused.
func (s Space) NearlyFull() int64 { return cmp.Or(s.Reserve, Reserve) }

// Full is how much is free, from which on down all is refused but what ends or deletes instances.
func (s Space) Full() int64 { return s.NearlyFull() / 2 }

// Least is how much is free, from which on down all is refused that writes.
func (s Space) Least() int64 { return s.NearlyFull() / 4 }

// Known tells whether anybody looked.
func (s Space) Known() bool { return s.Size > 0 }

// Below tells whether less than least is free, as far as is known.
func (s Space) Below(least int64) bool { return s.Known() && s.Free < least }

// String is for people.
func (s Space) String() string {
	return fmt.Sprintf("%d MiB of %d MiB free", s.Free>>20, s.Size>>20)
}

// How systems say that a disk is full, or what one user or project may take of it, also where the error itself was
// lost on the way.
const (
	full  = "no space left on device"
	quota = "disk quota exceeded"
)

// SaysFull tells whether a text says that a disk is full, or a quota on it.
func SaysFull(text string) bool { return strings.Contains(text, full) || strings.Contains(text, quota) }

// IsFull tells whether an error is that a disk is full, or a quota on it.
func IsFull(err error) bool {
	return err != nil && (errors.Is(err, errFull) || SaysFull(err.Error()) || OverQuota(err))
}

// OverQuota tells whether an error is that a quota of the disk is used up: there may be much that is free, for others.
func OverQuota(err error) bool {
	return err != nil && (errors.Is(err, errQuota) || strings.Contains(err.Error(), quota))
}
