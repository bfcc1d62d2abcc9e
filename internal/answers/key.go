package answers

import (
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Key is a caller's Idempotency-Key: one effect and one answer per Scope and
// Value as long as the store keeps it, 24 hours if nothing else is configured.
// BodyHash tells a repeat from a reuse.
type Key struct {
	Scope    string // the route, with its path parameters
	Value    string
	BodyHash string

	// What its receipt says: the method and the path of the request, who sent it ("": nobody
	// was asked), and when it came.
	Request, Caller string
	At              time.Time

	made bool // here, for a call that came without
}

// Made is a key for a call that came without one: nobody can ask by it when the call is
// over.
func Made(value string) *Key { return &Key{Value: value, made: true} }

// Command is the key as commands have it; nil for none.
func (k *Key) Command() *workflow.CommandKey {
	if k == nil {
		return nil
	}
	if k.made {
		return &workflow.CommandKey{Name: etcdstore.MadeKey + workflow.DeriveID("key", k.Scope, k.Value), BodyHash: k.BodyHash}
	}
	return &workflow.CommandKey{Name: store.KeyName(k.Scope, k.Value), BodyHash: k.BodyHash, Request: k.Request, Caller: k.Caller, At: k.At}
}
