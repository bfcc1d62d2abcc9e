// Package freeaddr finds addresses for programs that a test starts, which cannot say themselves where they listen.
//
// It guarantees that nobody listened at an address when it looked, that it gives each once, and that it is none of those
// which Linux gives to those who ask for any: a connection that goes out, or a listener with port 0, may take one of those
// between the look and the start of the program, and now and then did. HAProxy even shares one with another HAProxy that
// listens there, and each then gets requests of the other's test.
//
// It does not guarantee that no other process finds the same one at that moment: there are 12,000.
package freeaddr

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// The ports begin above those of services, and end below those for anybody (ip_local_port_range, from 32768 on; IANA's from
// 49152 on elsewhere).
const (
	first = 20000
	ports = 12000
)

var given sync.Map // addresses

// Of gives an address on loopback.
func Of(tb testing.TB) string {
	tb.Helper()
	for range ports {
		addr := fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(ports))
		if _, taken := given.LoadOrStore(addr, true); taken {
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", addr)
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
		return addr
	}
	tb.Fatalf("none of %d ports is free", ports)
	return ""
}
