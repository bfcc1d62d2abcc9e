package usertask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/weft-run/weft/pkg/workflow"
)

// What people do with a task beside claiming and completing it.
const (
	Assign   = "assign"   // an operator gives it to somebody
	Delegate = "delegate" // who has it gives it to somebody
	Return   = "return"   // it is its candidates' again
	Comment  = "comment"
	Cancel   = "cancel" // an operator ends it, with the outcome Cancelled
)

// Change is what somebody does with a task, as it resumes the task's bookmark.
type Change struct {
	Op   string `json:"op"`
	By   string `json:"by"`
	To   string `json:"to,omitempty"`   // of Assign and Delegate: a person, as candidateUsers name one
	Text string `json:"text,omitempty"` // the comment, or why
}

// ChangeInput is the name under which a resume has a change.
const ChangeInput = "userTaskChange"

// Input is what resumes a task's bookmark with the change.
func (c *Change) Input() map[string]any {
	return map[string]any{ChangeInput: map[string]any{"op": c.Op, "by": c.By, "to": c.To, "text": c.Text}}
}

// ChangeOf is the change that a resume has; false: it has none.
func ChangeOf(input map[string]any) (c Change, ok bool) {
	m, ok := input[ChangeInput].(map[string]any)
	if !ok {
		return c, false
	}
	for name, to := range map[string]*string{"op": &c.Op, "by": &c.By, "to": &c.To, "text": &c.Text} {
		*to, _ = m[name].(string)
	}
	return c, c.Op != "" && c.By != ""
}

// The bounds of what people write.
const (
	MostComments = 50
	mostComment  = 2 << 10 // bytes of a comment, and of a reason
)

// Refused tells what is wrong with a change, each with the pointer to it in a body {to, text, reason}.
func (t *Task) Refused(c *Change) (problems workflow.Problems) {
	text := "/reason"
	if c.Op == Comment {
		text = "/text"
	}
	switch {
	case len(c.Text) > mostComment:
		problems = append(problems, wrong("too-long", text, fmt.Sprintf("it has %d bytes: it may have up to %d", len(c.Text), mostComment)))
	case strings.TrimSpace(c.Text) == "" && (c.Op == Comment || c.Op == Cancel):
		problems = append(problems, wrong("missing-field", text, text[1:]+" is empty: say it in a few words"))
	}
	if c.Op == Cancel && !t.Cancels {
		problems = append(problems, wrong("cancellation-disabled", "", "this task cannot be cancelled by itself, as its activity has no enableCancellationOutcome: cancel the instance"))
	}
	if c.Op != Assign && c.Op != Delegate {
		return problems
	}
	switch err := workflow.CheckName("to", c.To); {
	case c.To == "":
		problems = append(problems, wrong("missing-field", "/to", "to is empty: name a person, such as anna, key:anna or oidc:anna"))
	case err != nil:
		problems = append(problems, wrong("bad-name", "/to", err.Error()))
	case strings.ContainsFunc(c.To, unicode.IsControl):
		problems = append(problems, wrong("bad-name", "/to", "to has a control character, and no name does"))
	case slices.ContainsFunc(t.Excluded, func(not string) bool { return sameName(not, c.To) }):
		problems = append(problems, wrong("excluded-assignee", "/to", fmt.Sprintf("%s may not do this task: it is one of its excludedUsers", workflow.Shorten(c.To))))
	}
	return problems
}

// sameName tells whether two names may mean one person: anna is key:anna and oidc:anna.
func sameName(a, b string) bool {
	pa, pb := Person{Name: a}, Person{Name: b}
	return a == b || pa.Is(b) || pb.Is(a)
}

// Remark is a comment.
type Remark struct {
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Beside is what waits beside a user task, at a bookmark of its own, so that it changes without the task and its claim: what
// people wrote, and what time has done.
type Beside struct {
	Task      string    `json:"task"` // its id
	Made      time.Time `json:"made"` // the task
	Comments  []Remark  `json:"comments,omitempty"`
	Reminded  int       `json:"reminded,omitempty"` // how often
	Overdue   bool      `json:"overdue,omitempty"`  // that was told
	Escalated bool      `json:"escalated,omitempty"`
}

// Kept is what the bookmark keeps: maps, lists, texts and numbers.
func (b *Beside) Kept() (any, error) { return kept(b) }

// Events of the journal that tell of a user task, beside those of tasks.
const (
	EventAssigned  = "UserTaskAssigned" // the text says by whom and to whom
	EventReturned  = "UserTaskReturned" // it is its candidates' again
	EventCommented = "UserTaskCommented"
	EventCancelled = "UserTaskCancelled"
	EventOverdue   = "UserTaskOverdue"
	EventReminded  = "UserTaskReminded"
	EventEscalated = "UserTaskEscalated" // others are asked too
)

// BesideName is the name of such a bookmark.
const BesideName = "comments and reminders"

// BesideOf is what waits beside a task of an id, among the bookmarks of its instance; nil: nothing.
func BesideOf(id string, all []workflow.Bookmark) *Beside {
	for i := range all {
		if all[i].Name != BesideName {
			continue
		}
		if is := ReadBeside(&all[i]); is != nil && is.Task == id {
			return is
		}
	}
	return nil
}

// ReadBeside is what such a bookmark says; nil: it is none.
func ReadBeside(b *workflow.Bookmark) *Beside {
	raw, err := json.Marshal(b.Metadata)
	is := &Beside{}
	if b.Name != BesideName || err != nil || json.Unmarshal(raw, is) != nil {
		return nil
	}
	return is
}
