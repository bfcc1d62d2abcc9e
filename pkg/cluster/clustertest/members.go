package clustertest

import (
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/weft-run/weft/internal/freeaddr"
)

// members tells that there were some. When they stop, what they had read of each other ends after 5 s, its timeout.
var members atomic.Bool

// Members starts one etcd of as many members as there are quotas (bytes; 0: etcd's own default), each in this process,
// and gives their endpoints in that order; the members are called m0, m1 and so on. The test's end stops them.
func Members(tb testing.TB, quotas ...int64) []string {
	tb.Helper()
	members.Store(true)
	configs := make([]*embed.Config, len(quotas))
	var cluster, endpoints []string
	for i, quota := range quotas {
		c := embed.NewConfig()
		c.Name, c.Dir, c.UnsafeNoFsync, c.EnableGRPCGateway = fmt.Sprintf("m%d", i), tb.TempDir(), true, false
		c.SnapshotCount, c.SnapshotCatchUpEntries = fewEntries, fewEntries
		c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
		c.QuotaBackendBytes = quota
		c.ListenClientUrls, c.ListenPeerUrls = []url.URL{freeURL(tb)}, []url.URL{freeURL(tb)}
		c.AdvertiseClientUrls, c.AdvertisePeerUrls = c.ListenClientUrls, c.ListenPeerUrls
		configs[i] = c
		cluster, endpoints = append(cluster, c.Name+"="+c.ListenPeerUrls[0].String()), append(endpoints, c.ListenClientUrls[0].String())
	}
	servers := make([]*embed.Etcd, len(configs))
	for i, c := range configs {
		c.InitialCluster = strings.Join(cluster, ",")
		server, err := embed.StartEtcd(c)
		if err != nil {
			tb.Fatalf("clustertest: start member %s: %v", c.Name, err)
		}
		tb.Cleanup(server.Close)
		servers[i] = server
	}
	for i, server := range servers {
		select {
		case <-server.Server.ReadyNotify():
		case err := <-server.Err():
			tb.Fatalf("clustertest: member %d: %v", i, err)
		case <-time.After(30 * time.Second):
			tb.Fatalf("clustertest: member %d is not ready after 30 s", i)
		}
	}
	return endpoints
}

// freeURL is an address that nobody listens at.
func freeURL(tb testing.TB) url.URL {
	tb.Helper()
	return url.URL{Scheme: "http", Host: freeaddr.Of(tb)}
}
