package keylock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/weft-run/weft/internal/polltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOneHolderPerKey(t *testing.T) {
	t.Parallel()
	var table Table
	var wg sync.WaitGroup
	shared := map[string]*int{"a": new(int), "b": new(int)} // each int is guarded by its key
	for range 8 {
		wg.Go(func() {
			for range 200 {
				for key, n := range shared {
					if err := table.Lock(t.Context(), key); err != nil {
						t.Error(err)
						return
					}
					*n++
					table.Unlock(key)
				}
			}
		})
	}
	wg.Wait()
	for key, n := range shared {
		if *n != 8*200 {
			t.Errorf("key %s: %d increments, want %d", key, *n, 8*200)
		}
	}
	if table.Len() != 0 {
		t.Errorf("%d keys left behind", table.Len())
	}
}

func TestTryLockNeverWaitsAndNeverOvertakes(t *testing.T) {
	t.Parallel()
	var table Table
	if !table.TryLock("a") {
		t.Fatal("a free key was refused")
	}
	if table.TryLock("a") {
		t.Fatal("a locked key was given twice")
	}
	if !table.TryLock("b") {
		t.Fatal("another key was refused")
	}
	if !table.Busy("a") || table.Busy("c") {
		t.Fatal("Busy is wrong")
	}
	waiting := make(chan error, 1)
	go func() { waiting <- table.Lock(context.Background(), "a") }()
	waitForRefs(t, &table, "a", 2)
	table.Unlock("a")
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	if table.TryLock("a") {
		t.Fatal("a try overtook the waiter")
	}
	table.Unlock("a")
	table.Unlock("b")
	if table.Len() != 0 {
		t.Errorf("%d keys left behind", table.Len())
	}
}

func TestLockReturnsTheCauseWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	var table Table
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(context.Background())
	table.TryLock("a")
	waiting := make(chan error, 1)
	go func() { waiting <- table.Lock(ctx, "a") }()
	waitForRefs(t, &table, "a", 2)
	cancel(why)
	if err := <-waiting; !errors.Is(err, why) {
		t.Fatalf("got %v, want the cause", err)
	}
	table.Unlock("a")
	if err := table.Lock(ctx, "a"); !errors.Is(err, why) {
		t.Fatalf("an ended context got a free key: %v", err)
	}
	if table.Len() != 0 {
		t.Errorf("%d keys left behind", table.Len())
	}
}

func TestWaitersComeInTheirOrder(t *testing.T) {
	t.Parallel()
	var table Table
	table.TryLock("a")
	var wg sync.WaitGroup
	var order []int // guarded by "a"
	for i := range 10 {
		wg.Go(func() {
			if err := table.Lock(context.Background(), "a"); err != nil {
				t.Error(err)
				return
			}
			order = append(order, i)
			table.Unlock("a")
		})
		waitForRefs(t, &table, "a", i+2)
	}
	table.Unlock("a")
	wg.Wait()
	// Joining the table and queueing on the channel are two steps, so neighbours
	// may swap; nobody is passed over.
	for i, n := range order {
		if n-i > 2 || i-n > 2 {
			t.Fatalf("order %v", order)
		}
	}
}

func TestUnlockOfUnlockedKeyPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	new(Table).Unlock("a")
}

// waitForRefs waits until n goroutines hold or wait for key.
func waitForRefs(t *testing.T, table *Table, key string, n int) {
	t.Helper()
	polltest.Eventually(t, fmt.Sprintf("%d goroutines are at %s", n, key), func() bool {
		table.mu.Lock()
		defer table.mu.Unlock()
		e := table.entries[key]
		return e != nil && e.refs == n
	})
}
