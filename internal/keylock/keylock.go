// Package keylock is a process-local lock per key that respects a context.
//
// It guarantees mutual exclusion per key between the goroutines that share one
// [Table], and that goroutines waiting for the same key get it in the order in
// which they asked. It guarantees nothing between processes, and it knows no
// owner: any caller of [Table.Unlock] frees the key.
//
// # Concurrency
//
// All methods may be called from any goroutine. No method holds the table's
// mutex while it waits, so a long wait for one key never delays another key.
// A key costs memory only while it is locked or waited for.
package keylock

import (
	"context"
	"sync"
)

// Table is a set of locks, one per key. The zero value is ready to use; it must
// not be copied after its first use.
type Table struct {
	mu      sync.Mutex
	entries map[string]*entry // guarded by mu
}

// entry is the lock of one key. A token in sem means locked.
type entry struct {
	sem  chan struct{}
	refs int // holder and waiters together; guarded by Table.mu
}

// Lock waits until key is free and locks it, or returns the cause of ctx's end.
// It never locks when it returns an error, and a ctx that has already ended is
// refused even if the key is free.
func (t *Table) Lock(ctx context.Context, key string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := t.join(key)
	select {
	case e.sem <- struct{}{}:
		return nil
	case <-ctx.Done():
		t.leave(key, e)
		return context.Cause(ctx)
	}
}

// TryLock locks key if it is free now, and tells whether it did.
func (t *Table) TryLock(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, busy := t.entries[key]; busy {
		// Also when there are only waiters: one of them is next.
		return false
	}
	e := t.add(key)
	e.refs = 1
	e.sem <- struct{}{}
	return true
}

// Unlock frees key. It panics if key is not locked: that is always a bug of the
// caller, and going on would let two holders in.
func (t *Table) Unlock(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	if e == nil {
		panic("keylock: unlock of unlocked key " + key)
	}
	select {
	case <-e.sem:
	default:
		panic("keylock: unlock of unlocked key " + key)
	}
	t.drop(key, e)
}

// Busy tells whether key is locked or waited for at this moment.
func (t *Table) Busy(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, busy := t.entries[key]
	return busy
}

// Len is the number of keys that are locked or waited for.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries)
}

func (t *Table) join(key string) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[key]
	if e == nil {
		e = t.add(key)
	}
	e.refs++
	return e
}

func (t *Table) leave(key string, e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(key, e)
}

// add needs t.mu.
func (t *Table) add(key string) *entry {
	if t.entries == nil {
		t.entries = make(map[string]*entry)
	}
	e := &entry{sem: make(chan struct{}, 1)}
	t.entries[key] = e
	return e
}

// drop needs t.mu.
func (t *Table) drop(key string, e *entry) {
	e.refs--
	if e.refs == 0 {
		delete(t.entries, key)
	}
}
