package nodetest

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/node"
)

// alive tells whether a node answers at all.
func alive(t *testing.T, address string) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/livez", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func TestTheSharedNodeIsOneAndIsStopped(t *testing.T) {
	t.Parallel()
	s := &Shared{Config: node.Config{NodeID: "shared-1"}}
	if err := s.stop(); err != nil {
		t.Errorf("stop a node that no test asked for: %v", err)
	}
	var nodes [4]*node.Node
	var callers sync.WaitGroup
	for i := range nodes {
		callers.Go(func() { nodes[i], _ = s.Start() })
	}
	callers.Wait()
	n := s.Node(t)
	for i, other := range nodes {
		if other != n {
			t.Errorf("caller %d got another node", i)
		}
	}
	address, dir := Address(n), s.dir
	if !alive(t, address) {
		t.Errorf("%s does not answer", address)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if alive(t, address) {
		t.Errorf("%s answers after the node was stopped", address)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the node's data: %v, want none", err)
	}
}

// again is a test of the same name in its next round.
type again struct{ testing.TB }

func TestTestsThatRunAgainGetAnotherNode(t *testing.T) {
	t.Parallel()
	s := &Shared{Config: node.Config{NodeID: "shared-1"}}
	first := s.Node(t)
	if s.Node(t) != first {
		t.Error("a test that asks twice got two nodes")
	}
	t.Run("part", func(t *testing.T) { //nolint:paralleltest // it is over before the next round
		if s.Node(t) != first {
			t.Error("a part of the test got another node")
		}
	})
	address := Address(first)
	if second := s.Node(again{t}); second == first || alive(t, address) || !alive(t, Address(second)) {
		t.Error("the next round has the node of the one before")
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestASharedNodeThatCannotStartTellsEverybody(t *testing.T) {
	t.Parallel()
	s := &Shared{Config: node.Config{NodeID: "no/such/id"}}
	_, first := s.Start()
	_, second := s.Start()
	if first == nil || !errors.Is(second, first) {
		t.Errorf("got %v, then %v; want one error twice", first, second)
	}
	dir := s.dir
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the node's data: %v, want none", err)
	}
}

func TestANodeEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var address string
	t.Run("test", func(t *testing.T) { //nolint:paralleltest // what is left of it is looked at when it has ended
		address = Address(Start(t, node.Config{}))
		if !alive(t, address) {
			t.Errorf("%s does not answer", address)
		}
	})
	if alive(t, address) {
		t.Errorf("%s answers after its test", address)
	}
}

// What a test says stands; a busy machine does not turn an outcome into "accepted".
func TestWhatAConfigDoesNotSay(t *testing.T) {
	t.Parallel()
	if got := preset(node.Config{}); got.ReplyWait != time.Minute || got.HTTPAddr != "127.0.0.1:0" {
		t.Errorf("preset: %v, %q", got.ReplyWait, got.HTTPAddr)
	}
	if got := preset(node.Config{ReplyWait: time.Second, DrainTimeout: time.Hour}); got.ReplyWait != time.Second || got.DrainTimeout != time.Hour {
		t.Errorf("what the test says: %v, %v", got.ReplyWait, got.DrainTimeout)
	}
}
