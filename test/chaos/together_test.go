package chaos

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// settle checks what belongs together within one transaction.
func (h *history) settle(b *batch) {
	if len(h.singles) > 1 {
		h.problem("gate", "%d instances of a singleton run: %v", len(h.singles), slices.Collect(maps.Keys(h.singles)))
	}
	for _, id := range b.created {
		if l := h.of(id); l.last.Seq > 1 || l.last.Seq == 1 && !b.journal[id] {
			h.problem("created", "%s begins at %d", id, l.last.Seq)
		}
	}
	for _, t := range b.due {
		cmd, fired := b.mail["timer-"+workflow.DeriveID(t.Bookmark)]
		if !fired {
			continue // its bookmark was burned
		}
		if h.fired[t.Bookmark]++; h.fired[t.Bookmark] > 1 {
			h.problem("timer-twice", "bookmark %s", t.Bookmark)
		}
		if cmd.CreatedAt.Before(t.Due.Truncate(time.Millisecond)) {
			h.problem("timer-early", "bookmark %s, due at %v, fired at %v", t.Bookmark, t.Due, cmd.CreatedAt)
		}
	}
	for _, t := range b.due {
		if _, fired := b.mail["timer-"+workflow.DeriveID(t.Bookmark)]; fired && !t.wrong && time.Until(t.Due) > clockBound {
			h.problem("timer-early", "bookmark %s, due at %v, fired %v before by this machine's clock", t.Bookmark, t.Due, time.Until(t.Due))
		}
	}
	for _, cron := range b.crons {
		if h.beats[cron]++; h.beats[cron] > 1 {
			h.problem("schedule-twice", "occurrence %s", cron)
		}
	}
}

// tokenOf gives the token that a stimulus carries, and checks its number as the
// store hands it out.
func (e *evidence) tokenOf(st *workflow.Stimulus) string {
	if st == nil {
		return ""
	}
	raw, _ := json.Marshal(st.Input[workflow.EventInput])
	if wrong, _ := wrongNumbers(raw); len(wrong) > 0 {
		e.record.violate("number", "read from the store: %v", wrong)
	}
	var p struct {
		Token string `json:"token"`
	}
	_ = json.Unmarshal(raw, &p)
	return p.Token
}

// journalEntry mirrors what etcdstore writes.
type journalEntry struct {
	Commit   string   `json:"commit"`
	Seq      int64    `json:"seq"`
	Fence    int64    `json:"fence"`
	Node     string   `json:"node"`
	Commands []string `json:"commands"`
	Items    []struct {
		Event string `json:"e"`
		Text  string `json:"text"`
	} `json:"items"`
}
