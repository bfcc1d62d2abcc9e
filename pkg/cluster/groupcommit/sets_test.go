package groupcommit

import (
	"fmt"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"
)

// Keys are one of a few short strings, so that ranges and keys meet.
var someKeys = []string{"a", "a\x00", "aa", "ab", "b", "b/", "b/1", "b0", "c"}

func drawSpan(t *rapid.T) span {
	from := rapid.SampledFrom(someKeys).Draw(t, "from")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return spanOf([]byte(from), []byte(clientv3.GetPrefixRangeEnd(from)))
	case 1:
		return spanOf([]byte(from), []byte{0})
	default:
		return spanOf([]byte(from), nil)
	}
}

func (s *span) has(key string) bool { return key >= string(s.from) && s.holdsOrPrecedes([]byte(key)) }

// The set is what a list of spans, looked through one by one, would be.
func TestSpansAreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set spans
		var list []span
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			s := drawSpan(t)
			set.insert(s)
			list = append(list, s)
		}
		for i := 1; i < len(set); i++ {
			if set[i-1].holdsOrPrecedes(set[i].from) {
				t.Fatalf("not disjoint and in order: %v", set)
			}
		}
		for _, key := range someKeys {
			want := slices.ContainsFunc(list, func(s span) bool { return s.has(key) })
			if got := set.overlapAny([]span{spanOf([]byte(key), nil)}); got != want {
				t.Fatalf("%q in %v: %v, in %v: %v", key, set, got, list, want)
			}
		}
		probe := drawSpan(t)
		want := slices.ContainsFunc(list, func(s span) bool { return probe.overlaps(&s) })
		if got := set.overlapAny([]span{probe}); got != want {
			t.Fatalf("%v meets %v: %v, want %v", probe, set, got, want)
		}
	})
}

func TestTheSetsHaveEveryBranch(t *testing.T) {
	inner := clientv3.OpTxn([]clientv3.Cmp{clientv3.Compare(clientv3.Version("compared/").WithPrefix(), "=", 0)},
		[]clientv3.Op{clientv3.OpPut("put-deep", "x"), clientv3.OpGet("get-deep", clientv3.WithPrefix())},
		[]clientv3.Op{clientv3.OpDelete("gone/", clientv3.WithPrefix()), clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpPut("put-deepest", "")}, nil)})
	f := setsOf(clientv3.OpTxn([]clientv3.Cmp{clientv3.Compare(clientv3.Version("c"), "=", 0)},
		[]clientv3.Op{clientv3.OpPut("p", "")}, []clientv3.Op{inner, clientv3.OpDelete("d"), clientv3.OpGet("from", clientv3.WithFromKey())}))
	var reads, writes spans
	for _, s := range f.reads {
		reads.insert(s)
	}
	for _, s := range f.writes {
		writes.insert(s)
	}
	const wantReads = "[c c\x00)[compared/ compared0)[from )"
	const wantWrites = "[d d\x00)[gone/ gone0)[p p\x00)[put-deep put-deep\x00)[put-deepest put-deepest\x00)"
	if reads.String() != wantReads || writes.String() != wantWrites {
		t.Errorf("reads %s, writes %s", reads, writes)
	}
	if f.depth != 3+2+1 {
		t.Errorf("depth %d", f.depth)
	}
}

// What it takes to put 64 requests into one proposal.
func BenchmarkCompatible(b *testing.B) {
	var requests []clientv3.Op
	for i := range 64 {
		id := fmt.Sprintf("/weft/default/instance/0198f2a4-5b6c-7d8e-9f00-%012d", i)
		cmps := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision("lock/"+id), "=", 1), clientv3.Compare(clientv3.CreateRevision("lock/"+id+"/").WithPrefix(), ">", 1)}
		var then []clientv3.Op
		for j := range 8 {
			then = append(then, clientv3.OpPut(fmt.Sprint(id, "/", j), "x"))
		}
		requests = append(requests, clientv3.OpTxn(cmps, then, []clientv3.Op{clientv3.OpGet("head")}))
	}
	b.ReportAllocs()
	for b.Loop() {
		var batch batchSets
		for i := range requests {
			sets := setsOf(requests[i])
			if !batch.compatible(&sets) {
				b.Fatal("not compatible")
			}
			batch.add(&sets)
		}
	}
}
