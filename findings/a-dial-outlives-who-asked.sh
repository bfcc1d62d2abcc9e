#!/usr/bin/env bash
# What:      database/sql of Go 1.26 with pgx 5.13.0 as its driver, a pool of four connections, and a server that takes connections and says nothing.
# Behaviour: four queries with a deadline of 300 ms and sixteen behind them with one of 1 s fail in time. The pool goes on dialling for the sixteen with a
#            context of its own: all four of its places are taken when nobody asks any more. The server then answers at once, and the next query, with a deadline of 2 s, still fails: it waits for a
#            place. Only the connect_timeout of the connection (8 s here, two minutes or more without one) ends that.
# Guess:     a deadline on each query bounds all that is done for it, so a query after the server is well again has its answer at once.
# Who:       those who bound their queries and their pool and think that a hung database costs each caller its deadline and no more: workers and
#            servers with a small pool, behind a balancer that hangs, a frozen primary, a black hole.
# Written down before the run: "callers: 20 in time; places taken when all have gone: 0; the next one: answered".
set -euo pipefail
command -v go >/dev/null || { echo "there is no go" >&2; exit 1; }
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
export GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=0
cat >go.mod <<'MOD'
module finding
go 1.25
require github.com/jackc/pgx/v5 v5.13.0
MOD
cat >main.go <<'GO'
package main

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// refusal is how PostgreSQL says that it is starting up.
func refusal() []byte {
	body := "SFATAL\x00VFATAL\x00C57P03\x00Mthe database system is starting up\x00\x00"
	n := len(body) + 4
	return append([]byte{'E', byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body...)
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var well atomic.Bool
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				if _, err := c.Read(make([]byte, 1024)); err == nil && well.Load() {
					_, _ = c.Write(refusal())
					_ = c.Close()
				} // else it stays open, and nothing comes
			}()
		}
	}()
	db, err := sql.Open("pgx", "postgres://u@"+l.Addr().String()+"/d?sslmode=disable&connect_timeout=8")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(4)
	ask := func(limit time.Duration) (string, bool) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		began := time.Now()
		_, err := db.ExecContext(ctx, "SELECT 1")
		return err.Error(), time.Since(began) < limit+time.Second
	}
	var all sync.WaitGroup
	var inTime atomic.Int64
	for i := range 20 { // four dial for themselves; the others wait for a place, a little longer
		limit := 300 * time.Millisecond
		if i >= 4 {
			limit = time.Second
		}
		all.Add(1)
		go func() {
			defer all.Done()
			if _, ok := ask(limit); ok {
				inTime.Add(1)
			}
		}()
		for i < 4 && db.Stats().OpenConnections <= i {
			time.Sleep(time.Millisecond)
		}
	}
	all.Wait()
	fmt.Printf("callers: %d in time; places taken when all have gone: %d; ", inTime.Load(), db.Stats().OpenConnections)
	well.Store(true)
	said, _ := ask(2 * time.Second)
	fmt.Println("the next one:", map[bool]string{true: "answered", false: "no answer in time"}[strings.Contains(said, "57P03")])
	for tries := 0; tries < 20; tries++ {
		if said, _ = ask(2 * time.Second); strings.Contains(said, "57P03") {
			fmt.Println("later: answered")
			return
		}
	}
	fmt.Println("later:", said)
}
GO
export GOMODCACHE="$dir/mod"
got=$(go run . 2>"$dir/said") || { cat "$dir/said" >&2; exit 1; }
echo "$got"
want='callers: 20 in time; places taken when all have gone: 4; the next one: no answer in time
later: answered'
[[ $got == "$want" ]] || { echo "this has changed; it was"; echo "$want"; exit 1; }
