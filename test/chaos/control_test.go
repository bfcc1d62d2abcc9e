package chaos

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// The control: the same nodes over a store that commits under the lock alone, as
// systems do that trust a distributed lock. The same checks must find what goes
// wrong with it, or they would find nothing in Weft either.
func TestTheChecksSeeAStoreThatTrustsItsLock(t *testing.T) {
	r := round(t, options.seed, 6*time.Second, func(c *clientv3.Client) {
		c.KV = &trusting{KV: c.KV}
	})
	kinds := map[string]int{}
	for _, v := range r.Violations {
		rule, _, _ := strings.Cut(v, ":")
		kinds[rule]++
	}
	t.Logf("found: %v", kinds)
	for _, rules := range [][]string{
		{"event-lost", "event-not-once", "stuck", "start-lost", "lines"},
		{"event-twice", "event-doubled", "event-not-once", "command-twice"},
		{"chain-fork", "chain-gap", "zombie-commit"},
	} {
		found := false
		for _, rule := range rules {
			found = found || kinds[rule] > 0
		}
		if !found {
			t.Errorf("none of %v was found", rules)
		}
	}
}

// trusting drops the compares of commits: transactions that write the journal.
type trusting struct{ clientv3.KV }

func (k *trusting) Txn(ctx context.Context) clientv3.Txn {
	return &trustingTxn{Txn: k.KV.Txn(ctx)}
}

type trustingTxn struct {
	clientv3.Txn
	cmps []clientv3.Cmp
	then []clientv3.Op
}

func (t *trustingTxn) If(cs ...clientv3.Cmp) clientv3.Txn { t.cmps = append(t.cmps, cs...); return t }
func (t *trustingTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = append(t.then, ops...)
	return t
}
func (t *trustingTxn) Else(ops ...clientv3.Op) clientv3.Txn { t.Txn = t.Txn.Else(ops...); return t }

func (t *trustingTxn) Commit() (*clientv3.TxnResponse, error) {
	if !journals(t.then) {
		t.Txn = t.Txn.If(t.cmps...)
	}
	return t.Txn.Then(t.then...).Commit()
}

func journals(ops []clientv3.Op) bool {
	for _, op := range ops {
		if op.IsTxn() {
			if _, then, _ := op.Txn(); journals(then) {
				return true
			}
		} else if op.IsPut() && strings.Contains(string(op.KeyBytes()), "/journal/") {
			return true
		}
	}
	return false
}
