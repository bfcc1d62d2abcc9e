package answers_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/pkg/workflow"
)

// What a node that dies leaves is the note that its request began.
func TestARequestWhoseNodeDied(t *testing.T) {
	t.Parallel()
	_, w := newWaiter(t, 50*time.Millisecond)
	full := false
	k := answers.NewKeeper(w, func() bool { return full })
	key := func(value, body string) *answers.Key {
		return &answers.Key{Scope: "POST /x", Value: value, BodyHash: body, Request: "POST /x", At: time.Now()}
	}
	begin := func(value, body string, again bool, want workflow.Code) (*answers.Begun, *answers.Reply) {
		t.Helper()
		b, r, err := k.Begin(t.Context(), key(value, body), again)
		if workflow.CodeOf(err) != want {
			t.Fatalf("%s: %v, want %q", value, err, want)
		}
		return b, r
	}
	first, _ := begin("k", "b", false, "")
	begin("k", "b", false, workflow.CodeUnknownOutcome)
	begin("k", "other", true, workflow.CodeKeyReused)
	second, reply := begin("k", "b", true, "") // what may be done twice is done
	if second == nil || reply != nil {
		t.Fatalf("%v %v", second, reply)
	}
	if err := second.End(t.Context(), &answers.Reply{Status: 200, Type: "text/plain", Body: []byte("second")}); err != nil {
		t.Fatal(err)
	}
	if err := first.End(t.Context(), nil); err != nil { // it comes late, and changes nothing
		t.Fatal(err)
	}
	if _, reply = begin("k", "b", false, ""); reply == nil || string(reply.Body) != "second" {
		t.Errorf("%+v", reply)
	}

	b, _ := begin("large", "b", false, "")
	if err := b.End(t.Context(), &answers.Reply{Status: 200, Type: "text/plain", Body: []byte(strings.Repeat("x", 2<<20))}); err != nil {
		t.Fatal(err)
	}
	begin("large", "b", true, workflow.CodeUnknownOutcome)

	b, _ = begin("refused", "b", false, "")
	if err := errors.Join(b.End(t.Context(), nil), b.End(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
	begin("refused", "other", false, "")

	full = true // etcd takes no puts: what only deletes goes on
	if b, reply := begin("full", "b", true, ""); b != nil || reply != nil || b.End(t.Context(), nil) != nil {
		t.Errorf("%v %v", b, reply)
	}
}
