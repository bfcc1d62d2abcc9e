package callers_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/callers"
	"github.com/weft-run/weft/pkg/workflow"
)

// Who waits is kept in properties, and read again; who has an answer, or went, is not.
func TestWhoWaitsIsKept(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	var l callers.List
	if got := l.Keep(map[string]any{"a": 1}); !reflect.DeepEqual(got, map[string]any{"a": 1}) {
		t.Errorf("nobody came: %v", got)
	}
	for i, at := range []string{"one", "two", "three"} {
		l.Came(&workflow.CommandKey{Name: at, AnswerBy: now.Add(time.Duration(i) * time.Minute), Kept: at == "one"}, at)
	}
	l.Came(&workflow.CommandKey{Name: "no endpoint"}, "x")
	here := []string{"answer", "branch", "fork", "root"}
	deep := func(at string) []string {
		return map[string][]string{"one": {"one", "branch", "fork", "root"}, "two": {"two", "branch", "fork", "root"}, "three": {"three", "other", "fork", "root"}}[at]
	}
	c, _ := l.Nearest(now.Add(-1), here, deep)
	if c == nil || c.Key != "two" {
		t.Fatalf("nearest %+v", c)
	}
	c.Answer(&workflow.Response{Status: 201})
	l.Settle(func(c *callers.Caller) bool { return c.Key != "three" })
	told := map[string]int{}
	l.Told(func(key string, r *workflow.Response) {
		told[key] = -1
		if r != nil {
			told[key] = r.Status
		}
	})
	// The command that brought the third tells it itself.
	if !reflect.DeepEqual(told, map[string]int{"two": 201}) || !l.Await("one") || l.Await("two") || l.Await("three") {
		t.Errorf("told %v", told)
	}
	l.Committed()
	var again callers.List
	again.Read(l.Keep(nil))
	if c, _ := again.Nearest(now.Add(time.Hour), here, deep); c == nil || c.Key != "one" || !reflect.DeepEqual(again.Keep(nil), l.Keep(nil)) {
		t.Errorf("read again: %+v, %v", c, again.Keep(nil))
	}
	var child callers.List
	if child.Read(l.HandOn(nil, false)); !child.Known || child.Last() != nil {
		t.Error("nobody waits for a child that is not waited for")
	}
	child.Read(l.HandOn(nil, true))
	if child.Settle(func(*callers.Caller) bool { return false }); child.Last() == nil || child.Last().Key != "one" {
		t.Errorf("of a child: %+v", child.Last())
	}
	child.Told(func(key string, _ *workflow.Response) { t.Errorf("a child tells %s that none will come", key) })
}

// Nobody is there when the time is over, and late says until when somebody was.
func TestWhoWentIsNotThere(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000)
	var l callers.List
	l.Came(&workflow.CommandKey{Name: "k", AnswerBy: now}, "at")
	none := func(string) []string { return nil }
	if c, err := l.Nearest(now, nil, none); c != nil || err == nil || err.Error() != "nobody is there to answer: the caller waited until 2027-01-15T08:00:00Z (requestTimeout of the endpoint)" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := l.Nearest(now.Add(-1), nil, none); c == nil || err != nil {
		t.Errorf("%+v, %v", c, err)
	}
	l.Settle(func(*callers.Caller) bool { return false })
	if c, err := l.Nearest(now.Add(-1), nil, none); c != nil || err == nil || err.Error() != "nobody is there to answer: the request that led here has had its answer" {
		t.Errorf("gone: %+v, %v", c, err)
	}
	if c, err := new(callers.List).Nearest(now, nil, none); c != nil || err != nil {
		t.Errorf("nobody ever came: %+v, %v", c, err)
	}
}
