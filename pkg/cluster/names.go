package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/metrics"
)

// Scope is the kind of thing that a lock protects. Every metric of locks has it as
// a label, and the keys of locks begin with it.
type Scope = metrics.Scope

// The scopes.
const (
	ScopeInstance = metrics.ScopeInstance
	ScopeRefresh  = metrics.ScopeRefresh
	ScopeReload   = metrics.ScopeReload
	ScopeQueue    = metrics.ScopeQueue
	ScopeTimer    = metrics.ScopeTimer
	ScopeMailbox  = metrics.ScopeMailbox
)

// Name is the name of a lock. It is made by [InstanceLock], [RefreshLock],
// [ReloadLock] and [ShardLock] only, because an etcd mutex owns everything
// below its key: a name that contained another would be blocked by it. Every
// name is scope + "/" + one segment without a slash, so none nests in another.
//
// Names are comparable; equal names are the same lock.
type Name struct {
	scope   Scope
	segment string // encoded, no slash
	plain   string // for people
}

// InstanceLock names the lock of one workflow instance.
func InstanceLock(id string) Name {
	return Name{ScopeInstance, encodeSegment(id), "instance " + id}
}

// RefreshLock names the lock of a refresh of exactly these definitions, in
// any order and listed any number of times; without ids, of all of them.
// Sets that merely overlap are different locks: a compare in the refreshing
// transaction makes the overlap harmless.
func RefreshLock(ids []string) Name {
	set := slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(set) == 0 {
		return Name{ScopeRefresh, "all", "refresh of all definitions"}
	}
	h := sha256.New()
	for _, id := range set {
		// With the length in front, no two sets give the same bytes.
		h.Write(binary.AppendUvarint(nil, uint64(len(id))))
		h.Write([]byte(id))
	}
	// 32 hex digits: "all" is not one of them.
	return Name{ScopeRefresh, hex.EncodeToString(h.Sum(nil)[:16]), plainRefresh(set)}
}

// plainRefresh keeps the text bounded: it travels in the value of the lock key.
func plainRefresh(set []string) string {
	const most = 20
	if len(set) > most {
		return fmt.Sprintf("refresh of %s and %d more", strings.Join(set[:most], ", "), len(set)-most)
	}
	return "refresh of " + strings.Join(set, ", ")
}

// ReloadLock names the lock of re-reading definitions from their sources.
func ReloadLock() Name { return Name{ScopeReload, "all", "reload"} }

// ShardLock names the lock of one shard of the queue, the timers or the
// mailboxes. Another scope or a negative shard is a bug and panics.
func ShardLock(scope Scope, shard int) Name {
	if scope != ScopeQueue && scope != ScopeTimer && scope != ScopeMailbox {
		panic(fmt.Sprintf("cluster: scope %q has no shards", scope))
	}
	if shard < 0 {
		panic(fmt.Sprintf("cluster: shard %d", shard))
	}
	return Name{scope, strconv.Itoa(shard), fmt.Sprintf("%s shard %d", scope, shard)}
}

// Scope is what the lock protects.
func (n Name) Scope() Scope { return n.scope }

// String is the name for people.
func (n Name) String() string { return n.plain }

// path is where the lock lives below the cluster's root, without a slash at the
// end; the mutex appends "/<lease in hex>".
func (n Name) path() string { return lockDir + string(n.scope) + "/" + n.segment }

// LockPrefix is the prefix of all keys of a lock: while no key is below it, no node
// holds the lock or waits for it.
func (s *Session) LockPrefix(n Name) string { return LockPrefix(s.root, n) }

// LockPrefix is [Session.LockPrefix] for programs that are no node, below a
// cluster's [Root].
func LockPrefix(root string, n Name) string { return root + n.path() + "/" }

const lockDir = "lock/"

// encodeSegment escapes every byte outside of [A-Za-z0-9._:-] as %XX. Ids that
// clients may choose have only those, so they stay readable.
func encodeSegment(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '.', c == '_', c == ':', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
