package groupcommit

import (
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Patience sets how long a permit is held without an answer.
func Patience(k *KV, d time.Duration) { k.patience = d }

// Waiting is how many requests gather.
func (k *KV) Waiting() int {
	n := 0
	for _, q := range []*queue{&k.reads, &k.writes} {
		q.mu.Lock()
		n += len(q.calls)
		q.mu.Unlock()
	}
	return n
}

// Writes tells whether op may write.
func Writes(op clientv3.Op) bool {
	writes, _ := foldable(op)
	return writes
}
