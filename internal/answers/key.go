package answers

import (
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
	name := workflow.DeriveID("key", k.Scope, k.Value)
	if k.made {
		name = etcdstore.MadeKey + name
	}
	return &workflow.CommandKey{Name: name, BodyHash: k.BodyHash}
}
