package freeaddr_test

import (
	"net"
	"testing"

	"github.com/weft-run/weft/internal/freeaddr"
)

func TestEachAddressIsGivenOnceAndIsFree(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 200 {
		addr := freeaddr.Of(t)
		if seen[addr] {
			t.Fatalf("%s is given twice", addr)
		}
		seen[addr] = true
		at, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil || at.Port < 20000 || at.Port >= 32768 {
			t.Fatalf("%s: %v", addr, err)
		}
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}
