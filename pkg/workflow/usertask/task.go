package usertask

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// Task is what a user task says, as the metadata of its bookmark keep it.
type Task struct {
	Title        string          `json:"title"`
	Summary      string          `json:"summary,omitempty"`
	Reference    string          `json:"reference,omitempty"`
	Instructions string          `json:"instructions,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"` // what it is about

	Users    []string `json:"users,omitempty"` // who may complete it, see [Person.Is]
	Groups   []string `json:"groups,omitempty"`
	Excluded []string `json:"excluded,omitempty"` // who may not, also not as a candidate

	Priority int64      `json:"priority"` // 0 to 100, the most urgent
	DueAt    *time.Time `json:"dueAt,omitempty"`
	Ends     bool       `json:"ends,omitempty"` // then, with the outcome [TimedOut]

	Form     json.RawMessage `json:"form,omitempty"` // see [CheckForm]; none: it takes no data
	Outcomes []Outcome       `json:"outcomes"`
	Cancels  bool            `json:"cancels,omitempty"` // operators may end it, with the outcome [Cancelled]

	Remind   *Remind   `json:"remind,omitempty"`
	Escalate *Escalate `json:"escalate,omitempty"`

	First    string     `json:"first,omitempty"`    // the bookmark that it had at first, which is its id; "": it has that still
	Made     *time.Time `json:"made,omitempty"`     // when it was made, of one that waits at another bookmark; nil: with its bookmark
	Assignee string     `json:"assignee,omitempty"` // who is to do it, alone; "": one of its candidates
}

// ID is what people call the task that waits at a bookmark: it stays, also when the bookmark is another.
func (t *Task) ID(bookmark string) string { return cmp.Or(t.First, bookmark) }

// Outcome is a way to complete a task.
type Outcome struct {
	Key   string `json:"key"`
	Label string `json:"label"` // of its button
}

// TimedOut is the outcome of a task that its time ended. No other one is called so.
const TimedOut = "Timeout"

// Cancelled is the outcome of a task that an operator ended. No other one is called so.
const Cancelled = "Cancelled"

// The bounds of a task, in bytes and numbers.
const (
	mostTitle, mostSummary, mostInstructions = 1 << 10, 4 << 10, 16 << 10
	mostForm, mostAbout                      = 64 << 10, 64 << 10
	mostPeople, mostOutcomes                 = 100, 20
)

// The most urgent priority of a task, and that of one that says none.
const (
	MostPriority  = 100
	UsualPriority = 50
)

// UsualOutcome is that of a task that names none.
const UsualOutcome = "Complete"

// Is tells whether a bookmark is a user task.
func Is(b *workflow.Bookmark) bool {
	return b.ActivityType == workflow.TaskType && b.Name == task.UserName
}

// Of is what a user task says. An error: its record is none that a program of this kind wrote.
func Of(b *workflow.Bookmark) (*Task, error) {
	raw, err := json.Marshal(b.Metadata)
	t := &Task{}
	if err == nil {
		err = json.Unmarshal(raw, t)
	}
	if err == nil && len(t.Outcomes) == 0 {
		err = fmt.Errorf("it has no outcome")
	}
	if err != nil {
		return nil, fmt.Errorf("user task %s cannot be read: %w", b.ID, err)
	}
	return t, nil
}

// Kept is the task as a bookmark keeps it: of maps, lists, texts and numbers.
func (t *Task) Kept() (any, error) { return kept(t) }

func kept(v any) (is any, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	return is, d.Decode(&is)
}

// Above is the place of the task among those of its list, see [task.Terms].
func (t *Task) Above() int64 {
	return min(t.Priority/10, task.MostPriority) - task.UsualPriority
}

// Check tells what is wrong with a task; its form was checked.
func (t *Task) Check() error {
	if strings.TrimSpace(t.Title) == "" {
		return fmt.Errorf("title is empty: say in a few words what is to be done")
	}
	for _, text := range []struct {
		name string
		size int
		most int
	}{{"title", len(t.Title), mostTitle}, {"summary", len(t.Summary), mostSummary}, {"reference", len(t.Reference), mostTitle},
		{"instructions", len(t.Instructions), mostInstructions}, {"taskData", len(t.Data), mostAbout}, {"form", len(t.Form), mostForm}} {
		if text.size > text.most {
			return fmt.Errorf("%s has %d bytes: it may have up to %d", text.name, text.size, text.most)
		}
	}
	if t.Priority < 0 || t.Priority > MostPriority {
		return fmt.Errorf("priority is %d; it is a whole number from 0 to %d", t.Priority, MostPriority)
	}
	for name, who := range map[string][]string{"candidateUsers": t.Users, "candidateGroups": t.Groups, "excludedUsers": t.Excluded} {
		if len(who) > mostPeople {
			return fmt.Errorf("%s has %d names: it may have up to %d; put the people into a group", name, len(who), mostPeople)
		}
		for _, one := range who {
			if one == "" {
				return fmt.Errorf("%s has an empty name", name)
			}
			if err := workflow.CheckName(name, one); err != nil {
				return err
			}
		}
	}
	if t.Ends && t.DueAt == nil {
		return fmt.Errorf("enableTimeoutOutcome is given, and no dueAt or dueIn: say when it is due")
	}
	if err := t.checkLater(); err != nil {
		return err
	}
	return t.checkOutcomes()
}

func (t *Task) checkOutcomes() error {
	if len(t.Outcomes) < 1 || len(t.Outcomes) > mostOutcomes {
		return fmt.Errorf("there are %d outcomes; a task has 1 to %d", len(t.Outcomes), mostOutcomes)
	}
	keys := map[string]bool{}
	for _, o := range t.Outcomes {
		lower := strings.ToLower(o.Key)
		switch {
		case o.Key == "" || strings.TrimSpace(o.Label) == "":
			return fmt.Errorf("an outcome has no name or no label")
		case lower == strings.ToLower(TimedOut), lower == strings.ToLower(Cancelled):
			return fmt.Errorf("no outcome may be called %s: that is what a task ends with by itself", o.Key)
		case keys[lower]:
			return fmt.Errorf("the outcome %s is there twice", workflow.Shorten(o.Key))
		}
		for _, text := range []string{o.Key, o.Label} {
			if err := workflow.CheckName("outcome", text); err != nil {
				return err
			}
		}
		keys[lower] = true
	}
	return nil
}

// Has tells whether the task may end with an outcome, which somebody chose.
func (t *Task) Has(outcome string) bool {
	return slices.ContainsFunc(t.Outcomes, func(o Outcome) bool { return o.Key == outcome })
}

// Keys are the outcomes by name.
func (t *Task) Keys() (keys []string) {
	for _, o := range t.Outcomes {
		keys = append(keys, o.Key)
	}
	return keys
}

// Person is who asks for tasks, or completes one.
type Person struct {
	Name     string   // "key:" and the name of an API key, "oidc:" and the subject of a token; "": nobody was asked
	Groups   []string // of the API key, or of the token
	Operator bool     // may move every instance
}

// Anyone is the name under which claims have who was not asked for a name.
const Anyone = "anyone"

// Claims is the name under which a person has a task.
func (p *Person) Claims() string { return cmp.Or(p.Name, Anyone) }

// Is tells whether a person has a name of a task: all of it, or what follows key: or oidc:. A name that says by which of the
// two somebody is known is always all of it: a provider may have a subject that is called key:anna.
func (p *Person) Is(name string) bool {
	_, short, _ := strings.Cut(p.Name, ":")
	whole := strings.HasPrefix(name, "key:") || strings.HasPrefix(name, "oidc:")
	return p.Name != "" && (name == p.Name || !whole && name == short)
}

// Names are those by which tasks name a person, see [Person.Is].
func (p *Person) Names() []string {
	if _, short, ok := strings.Cut(p.Name, ":"); ok && !strings.HasPrefix(short, "key:") && !strings.HasPrefix(short, "oidc:") {
		return []string{p.Name, short}
	} else if p.Name != "" {
		return []string{p.Name}
	}
	return nil
}

// Excludes tells whether a person may not complete the task.
func (t *Task) Excludes(p *Person) bool { return slices.ContainsFunc(t.Excluded, p.Is) }

// For tells whether a task is a person's to do: who is a candidate and not excluded, or to whom it is assigned.
func (t *Task) For(p *Person) bool {
	if t.Assignee != "" {
		return p.Is(t.Assignee) && !t.Excludes(p)
	}
	candidate := slices.ContainsFunc(t.Users, p.Is) || slices.ContainsFunc(t.Groups, func(g string) bool { return slices.Contains(p.Groups, g) })
	return candidate && !t.Excludes(p)
}

// May tells whether a person may see, claim and complete a task: candidates, and operators that are not excluded.
func (t *Task) May(p *Person) bool { return t.For(p) || p.Operator && !t.Excludes(p) }

// Nobodys tells whether a task has no candidate: only operators may complete it.
func (t *Task) Nobodys() bool { return t.Assignee == "" && len(t.Users)+len(t.Groups) == 0 }
