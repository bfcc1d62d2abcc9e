package clustertest_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.RunClean(m)) }

func TestEachFaultDoesWhatItSays(t *testing.T) {
	etcd := clustertest.Shared(t)
	raw := etcd.Client(t)
	for _, c := range []struct {
		fault           clustertest.Fault
		wantErr         bool
		versionAfter    int64 // 0: the key is absent
		versionDelivery int64
	}{
		{clustertest.FailBefore, true, 0, 0},
		{clustertest.LoseAnswer, true, 1, 1},
		{clustertest.DelayBefore, false, 1, 1},
		{clustertest.DelayAnswer, false, 1, 1},
		{clustertest.ApplyTwice, false, 2, 2},
		{clustertest.DeliverLate, true, 0, 1},
	} {
		faults := clustertest.NewFaults(1)
		client := faults.Wrap(etcd.Client(t))
		key := clustertest.Namespace(t)
		armed := faults.Add(clustertest.Rule{Fault: c.fault, Times: 1, Delay: time.Millisecond,
			Match: func(call clustertest.Call) bool { return call.PutsUnder(key) }})
		if _, err := client.Get(t.Context(), key); err != nil || armed.Fired() != 0 {
			t.Errorf("fault %d hit a call that does not match: %v", c.fault, err)
		}
		_, err := client.Txn(t.Context()).Then(clientv3.OpPut(key, "x")).Commit()
		if (err != nil) != c.wantErr || c.wantErr && !errors.Is(err, clustertest.ErrInjected) || armed.Fired() != 1 {
			t.Errorf("fault %d: error %v, fired %d", c.fault, err, armed.Fired())
		}
		version := func() int64 {
			resp, err := raw.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if len(resp.Kvs) == 0 {
				return 0
			}
			return resp.Kvs[0].Version
		}
		if v := version(); v != c.versionAfter {
			t.Errorf("fault %d: applied %d times, want %d", c.fault, v, c.versionAfter)
		}
		faults.Deliver()
		if v := version(); v != c.versionDelivery {
			t.Errorf("fault %d: applied %d times after delivery, want %d", c.fault, v, c.versionDelivery)
		}
		if _, err := client.Put(t.Context(), key, "y"); err != nil || faults.Calls("put") != 1 {
			t.Errorf("fault %d fired again: %v", c.fault, err)
		}
	}
}

func TestRulesWithAProbabilityFollowTheSeed(t *testing.T) {
	pattern := func() string {
		faults := clustertest.NewFaults(7)
		client := faults.Wrap(clustertest.Shared(t).Client(t))
		faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Prob: 0.5, Match: func(clustertest.Call) bool { return true }})
		out := ""
		for range 20 {
			_, err := client.Get(t.Context(), "k")
			out += map[bool]string{true: "-", false: "x"}[err == nil]
		}
		return out
	}
	first := pattern()
	if first != pattern() {
		t.Error("the same seed gave other faults")
	}
	if n := len(first); n != 20 || first == "--------------------" || first == "xxxxxxxxxxxxxxxxxxxx" {
		t.Errorf("pattern %s", first)
	}
}

func TestAProxyCanBeABlackHoleAndHeal(t *testing.T) {
	etcd := clustertest.Shared(t)
	proxy := etcd.Proxy(t)
	client := proxy.Client(t)
	get := func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		_, err := client.Get(ctx, "k")
		return err
	}
	if err := get(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	proxy.BlackHole()
	if err := get(200 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("in the black hole: %v", err)
	}
	proxy.Heal()
	if err := get(5 * time.Second); err != nil {
		t.Errorf("after it: %v", err)
	}
	proxy.Cut()
	deadline := time.Now().Add(5 * time.Second)
	for get(time.Second) != nil {
		if time.Now().After(deadline) {
			t.Fatal("no new connection after the cut")
		}
	}
}

func TestRestartKeepsDataAndAddress(t *testing.T) {
	etcd := clustertest.Start(t)
	client := etcd.Client(t)
	if _, err := client.Put(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	before := etcd.Endpoints()[0]
	etcd.Restart(t)
	if etcd.Endpoints()[0] != before {
		t.Errorf("%s became %s", before, etcd.Endpoints()[0])
	}
	resp, err := etcd.Client(t).Get(t.Context(), "k")
	if err != nil || len(resp.Kvs) != 1 {
		t.Errorf("%v, %v", resp, err)
	}
}
