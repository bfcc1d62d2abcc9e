package groupcommit

import (
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Patience sets how long a slot is held without an answer.
func Patience(k *KV, d time.Duration) { k.patience = d }

// Unchecked makes k fold without looking at footprints, to show what they are
// for.
func Unchecked(k *KV) { k.unchecked = true }

// Waiting is how many requests gather.
func (k *KV) Waiting() int {
	n := 0
	for _, l := range []*lane{&k.reads, &k.writes} {
		l.mu.Lock()
		n += len(l.queue)
		l.mu.Unlock()
	}
	return n
}

// Writes tells whether op may write.
func Writes(op clientv3.Op) bool {
	writes, _ := shape(op)
	return writes
}
