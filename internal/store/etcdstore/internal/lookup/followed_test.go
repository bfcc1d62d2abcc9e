package lookup

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Ranges that are looked at often are found among many that are not, and what is too long is read.
func TestWhatIsLookedAtOftenIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	f := newFollower(&Conn{}, "all/", true)
	for i := range 100 * FollowAfter {
		f.Looked(fmt.Sprintf("all/%d/", i), 0)
		if i%20 == 0 {
			f.Looked("all/often/", 0)
			f.Looked("all/long/", MaxFollowed+1)
		}
	}
	if n := len(f.looks); n > lookedAt {
		t.Errorf("looks at %d ranges are counted", n)
	}
	close(f.wanted)
	wanted := 0
	for prefix := range f.wanted {
		if wanted++; prefix != "all/often/" {
			t.Errorf("%s is to be followed", prefix)
		}
	}
	if wanted == 0 {
		t.Error("nothing is to be followed")
	}
}

// A range that gets too long while it is followed is read.
func TestARangeThatGetsTooLongIsRead(t *testing.T) {
	t.Parallel()
	f := newFollower(&Conn{}, "all/", true)
	r := &followed{read: 1, kvs: map[string]*mvccpb.KeyValue{}}
	f.ranges["all/a/"] = r
	for i := range MaxFollowed {
		r.kvs[fmt.Sprintf("all/a/%d", i)] = &mvccpb.KeyValue{}
	}
	tell := func(revision int64, typ mvccpb.Event_EventType, key string) {
		f.take(&clientv3.WatchResponse{Events: []*clientv3.Event{{Type: typ, Kv: &mvccpb.KeyValue{Key: []byte(key), ModRevision: revision}}}})
	}
	tell(2, mvccpb.PUT, "all/a/0") // it is there
	tell(3, mvccpb.DELETE, "all/a/1")
	tell(4, mvccpb.PUT, "all/a/1")
	if !f.Has("all/a/") {
		t.Fatal("it is not followed any more, and is as long as it may be")
	}
	tell(5, mvccpb.PUT, "all/a/more")
	if f.Has("all/a/") {
		t.Error("it is followed, and is too long")
	}
}

// What nobody looks at, and what does not change, is not followed for ever.
func TestWhatRestsIsNotFollowed(t *testing.T) {
	t.Parallel()
	f, now := newFollower(&Conn{}, "all/", true), time.Now()
	for prefix, r := range map[string]*followed{
		"all/a/": {looked: now, told: now}, "all/b/": {looked: now.Add(-2 * followIdle), told: now}, "all/c/": {looked: now, told: now.Add(-2 * followQuiet)},
	} {
		f.ranges[prefix] = r
	}
	if n := f.tidy(now); n != 1 || !f.Has("all/a/") {
		t.Errorf("%d are followed", n)
	}
}

// What the watch tells of that was in the read already changes nothing: it is older.
func TestWhatTheWatchTellsOfBeforeTheReadIsNotTaken(t *testing.T) {
	t.Parallel()
	f := newFollower(&Conn{}, "all/", true)
	f.ranges["all/a/"] = &followed{read: 7, kvs: map[string]*mvccpb.KeyValue{"all/a/stays": {Key: []byte("all/a/stays")}}}
	tell := func(revision int64, typ mvccpb.Event_EventType, key string) {
		f.take(&clientv3.WatchResponse{Events: []*clientv3.Event{{Type: typ, Kv: &mvccpb.KeyValue{Key: []byte(key), ModRevision: revision}}}})
	}
	keys := func() string {
		kvs, _, upTo, ok := f.At(t.Context(), "all/a/", 7, MaxFollowed)
		if !ok || upTo < 7 {
			t.Fatalf("followed %t, up to %d", ok, upTo)
		}
		var names []string
		for _, kv := range kvs {
			names = append(names, string(kv.Key))
		}
		return strings.Join(names, " ")
	}
	tell(5, mvccpb.PUT, "all/a/went")
	tell(7, mvccpb.DELETE, "all/a/stays")
	if got := keys(); got != "all/a/stays" {
		t.Errorf("it holds %q", got)
	}
	tell(8, mvccpb.DELETE, "all/a/stays")
	if got := keys(); got != "" {
		t.Errorf("it holds %q", got)
	}
}
