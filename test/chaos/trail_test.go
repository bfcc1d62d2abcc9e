package chaos

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// trail remembers where each token was, to explain what became of it.
type trail struct {
	steps map[string][]string // by token
	at    map[string][]string // tokens by key
	taken map[string][]taking // by token
}

// taking is the end of a command in a mailbox.
type taking struct {
	instance string
	revision int64
}

var carried = regexp.MustCompile(`(?:"token":"|"text":"token )([A-Za-z0-9.-]+)[" ]`)

// note adds one change, with its value as JSON; keys of no interest for events are left out.
func (t *trail) note(name string, ev *clientv3.Event, value []byte) {
	kind, _, _ := strings.Cut(name, "/")
	if !slices.Contains([]string{"mailbox", "queue", "send", "dead", "journal"}, kind) {
		return
	}
	if ev.Type == mvccpb.DELETE {
		for _, token := range t.at[name] {
			t.add(token, "%d del %s", ev.Kv.ModRevision, name)
			if parts := strings.Split(name, "/"); kind == "mailbox" && len(parts) > 2 {
				t.taken[token] = append(t.taken[token], taking{parts[2], ev.Kv.ModRevision})
			}
		}
		delete(t.at, name)
		return
	}
	for _, m := range carried.FindAllStringSubmatch(string(value), -1) {
		if token := m[1]; !slices.Contains(t.at[name], token) {
			t.at[name] = append(t.at[name], token)
			t.add(token, "%d put %s", ev.Kv.ModRevision, name)
		}
	}
}

func (t *trail) add(token, format string, args ...any) {
	if t.steps == nil {
		t.steps = map[string][]string{}
	}
	t.steps[token] = append(t.steps[token], fmt.Sprintf(format, args...))
}

// resolvedAgain tells whether what was accepted for one place met another one there, and was sent on.
func (t *trail) resolvedAgain(token string) bool {
	return slices.ContainsFunc(t.steps[token], func(step string) bool {
		return strings.Contains(step, " put send/") && strings.Contains(step, "/again-")
	})
}

// of shows a token's way, one step a line.
func (t *trail) of(token string) string {
	return "    " + strings.Join(t.steps[token], "\n    ") + "\n"
}
