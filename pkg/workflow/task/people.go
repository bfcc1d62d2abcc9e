package task

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// People is what the lists of user tasks need of one: whose it is, and where it stands among others.
type People struct {
	Users, Groups []string // who may complete it; of one that is assigned only that person
	Priority      int64    // 0 to 100, the most urgent
	DueAt         time.Time
	Made          time.Time // it, not its bookmark
}

// ForPeople is what a user task says of it in the metadata of its bookmark; false: the bookmark is none.
func ForPeople(b *workflow.Bookmark) (p People, ok bool) {
	if b.ActivityType != workflow.TaskType || b.Name != UserName {
		return p, false
	}
	about, _ := b.Metadata.(map[string]any)
	p.Priority = min(max(whole(about["priority"]), 0), 100)
	p.Made = b.CreatedAt
	for name, to := range map[string]*time.Time{"dueAt": &p.DueAt, "made": &p.Made} {
		if text, _ := about[name].(string); text != "" {
			*to, _ = time.Parse(time.RFC3339Nano, text)
		}
	}
	if one, _ := about["assignee"].(string); one != "" {
		p.Users = []string{one}
		return p, true
	}
	p.Users, p.Groups = texts(about["users"]), texts(about["groups"])
	return p, true
}

// AboutInKeys is the metadata that the keys of a user task need; nil: it is none.
func AboutInKeys(b *workflow.Bookmark) any {
	p, ok := ForPeople(b)
	if !ok {
		return nil
	}
	about := map[string]any{"priority": p.Priority, "users": list(p.Users), "groups": list(p.Groups), "made": p.Made.Format(time.RFC3339Nano)}
	if !p.DueAt.IsZero() {
		about["dueAt"] = p.DueAt.Format(time.RFC3339Nano)
	}
	return about
}

func texts(v any) (all []string) {
	some, _ := v.([]any)
	for _, one := range some {
		if text, ok := one.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

func list(all []string) []any {
	out := make([]any, len(all))
	for i, one := range all {
		out[i] = one
	}
	return out
}
