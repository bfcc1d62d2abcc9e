#!/usr/bin/env bash
# What:      etcd's Go client 3.7.3 and etcd 3.7.3, with the timeout interceptor of go-grpc-middleware 2.3.3 in the client's DialOptions, and answers
#            that the network holds back for a second.
# Behaviour: the client sends a Put and a Txn again by itself, up to 100 times, when one attempt ends with DeadlineExceeded or Canceled while the caller's
#            context goes on. The same happens if a server or a proxy answers with these codes. "Put if absent" is refused, by its own first
#            copy, and the key has the caller's value; a Put is made several times. Only MaxUnaryRetries: 1 ends that.
# Guess:     what may not be repeated is sent once: the client has a retry policy for reads and another for writes, which lets a write go out again only
#            where it was never sent. A timeout of one attempt reaches the caller, to whom the outcome is unknown then.
# Who:       those who take locks, ids or leaders by a compare, or count puts, through a client with a timeout for each call, or behind a proxy that has one.
# Written down before the run: "put if absent: DeadlineExceeded, the key is mine; put: DeadlineExceeded, made 1 time".
set -euo pipefail
command -v go >/dev/null || { echo "there is no go" >&2; exit 1; }
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
export GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=0
cat >go.mod <<'MOD'
module finding
go 1.26
require (
	github.com/grpc-ecosystem/go-grpc-middleware/v2 v2.3.3
	go.etcd.io/etcd/client/v3 v3.7.3
	go.etcd.io/etcd/server/v3 v3.7.3
)
MOD
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/timeout"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// held is whether the network keeps what etcd answers.
var held atomic.Bool

// relay passes one connection on.
func relay(in net.Conn, to string) {
	out, err := net.Dial("tcp", to)
	if err != nil {
		_ = in.Close()
		return
	}
	go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := out.Read(buf)
		for held.Load() {
			time.Sleep(5 * time.Millisecond)
		}
		if _, werr := in.Write(buf[:n]); err != nil || werr != nil {
			_ = in.Close()
			return
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	cfg := embed.NewConfig()
	cfg.Dir, cfg.ZapLoggerBuilder = os.Args[1], embed.NewZapLoggerBuilder(zap.NewNop())
	none := *must(url.Parse("http://127.0.0.1:0"))
	cfg.ListenClientUrls, cfg.ListenPeerUrls = []url.URL{none}, []url.URL{none}
	server := must(embed.StartEtcd(cfg))
	defer server.Close()
	<-server.Server.ReadyNotify()
	etcd := server.Clients[0].Addr().String()
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go relay(c, etcd)
		}
	}()
	client := func(retries uint) *clientv3.Client {
		return must(clientv3.New(clientv3.Config{Endpoints: []string{l.Addr().String()}, Logger: zap.NewNop(), MaxUnaryRetries: retries,
			DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(timeout.UnaryClientInterceptor(300 * time.Millisecond))}}))
	}
	direct := must(clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	slowly := func(call func()) {
		held.Store(true)
		free := time.AfterFunc(time.Second, func() { held.Store(false) })
		call()
		free.Stop()
		held.Store(false)
	}
	for _, retries := range []uint{0, 1} {
		c := client(retries)
		must(c.Get(ctx, "warm"))
		one, many := fmt.Sprint("one", retries), fmt.Sprint("many", retries)
		var said, put string
		slowly(func() {
			resp, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(one), "=", 0)).Then(clientv3.OpPut(one, "mine")).Commit()
			if said = "no answer"; err == nil {
				said = map[bool]string{true: "made", false: "refused"}[resp.Succeeded]
			}
		})
		slowly(func() {
			_, err := c.Put(ctx, many, "x")
			put = map[bool]string{true: "made", false: "no answer"}[err == nil]
		})
		is := must(direct.Get(ctx, one)).Kvs[0]
		times := "once"
		if must(direct.Get(ctx, many)).Kvs[0].Version > 1 {
			times = "several times"
		}
		fmt.Printf("MaxUnaryRetries %d: put if absent: %s, and the key is %s; put: %s, made %s\n", retries, said, is.Value, put, times)
	}
}
GO
export GOMODCACHE="$dir/mod"
got=$(go run . "$dir/data" 2>"$dir/said") || { cat "$dir/said" >&2; exit 1; }
echo "$got"
want='MaxUnaryRetries 0: put if absent: refused, and the key is mine; put: made, made several times
MaxUnaryRetries 1: put if absent: no answer, and the key is mine; put: no answer, made once'
[[ $got == "$want" ]] || { echo "this has changed; it was"; echo "$want"; exit 1; }
