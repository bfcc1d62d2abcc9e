package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// otherFormat is what a program of another format wrote.
const otherFormat = `{"version":99,"shards":64,"timerShards":16}`

// A node does not join data of another format: not for a moment, and nothing of it
// is changed.
func TestANodeOfAnotherFormatDoesNotJoin(t *testing.T) {
	t.Parallel()
	const patience = time.Minute
	server := clustertest.Shared(t)
	etcd, name := server.Client(t), clustertest.Namespace(t)
	root := "/weft/" + name + "/"
	put, err := etcd.Put(t.Context(), root+"meta/format", otherFormat)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = full.New(t.Context(), node.Config{NodeID: "a", Cluster: name, HTTPAddr: "127.0.0.1:0", EtcdEndpoints: server.Endpoints(), SessionTTL: 5 * time.Second, EtcdDialTimeout: patience})
	if err == nil || !strings.Contains(err.Error(), "is of format 99") || !strings.Contains(err.Error(), "run a version for that format") {
		t.Errorf("it joined, or said no more than: %v", err)
	}
	if took := time.Since(began); took >= patience { // of a start that waits for etcd
		t.Errorf("it took %v to say so", took)
	}
	watch, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := etcd.Watch(watch, root, clientv3.WithPrefix(), clientv3.WithRev(put.Header.Revision+1), clientv3.WithProgressNotify())
	if _, err := etcd.Put(t.Context(), root+"end", ""); err != nil {
		t.Fatal(err)
	}
	for resp := range events {
		for _, ev := range resp.Events {
			if string(ev.Kv.Key) == root+"end" {
				return
			}
			t.Errorf("it wrote %s", ev.Kv.Key)
		}
	}
}

// A running node ends when the data becomes of another format.
func TestARunningNodeEndsWhenTheFormatChanges(t *testing.T) {
	t.Parallel()
	server := clustertest.Shared(t)
	etcd, name := server.Client(t), clustertest.Namespace(t)
	n, err := full.New(t.Context(), node.Config{NodeID: "a", Cluster: name, HTTPAddr: "127.0.0.1:0", EtcdEndpoints: server.Endpoints(), SessionTTL: 5 * time.Second, DrainTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	ready := make(chan struct{})
	go func() { ended <- n.Run(t.Context(), func(*node.Node) { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	if _, err := etcd.Put(t.Context(), "/weft/"+name+"/meta/format", otherFormat); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "is of format 99") {
			t.Errorf("it ended with: %v", err)
		}
	case <-time.After(60 * time.Second):
		t.Error("it goes on")
	}
}
