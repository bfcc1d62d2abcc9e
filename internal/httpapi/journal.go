package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// journalRoutes show what an instance did.
func (a *API) journalRoutes() []route {
	missing := []workflow.Code{workflow.CodeInstanceNotFound}
	return []route{
		{method: "GET", path: "/instances/{id}/journal", name: "getJournal", role: auth.Viewer, tag: "instances", kind: reads,
			summary: "What the instance did: from its beginning, from its end (tail), or around a commit",
			query: []param{
				{name: "tail", typ: "integer", doc: "The last so many commits, 1 to 500."},
				{name: "before", typ: "integer", doc: "Only commits before this one: the nearest."},
				{name: "after", typ: "integer", doc: "Only commits after this one: the nearest, unless tail is given."},
				{name: "activity", typ: "string", doc: "Only items of this activity; several may be given."},
				{name: "event", typ: "string", doc: "Only these items: Started, Completed, Suspended, Resumed, Faulted, Canceled, Interrupted, WriteLine, or what an activity calls its own; several may be given."},
				{name: "items", typ: "integer", doc: "At most so many items, 1 to 5000, counted from where the page begins: with tail, before or previousCursor from its newest. A page ends within a commit that has more, and its cursors go on there. If absent, all items of its commits."},
				{name: "text", typ: "string", doc: "Only items whose text or data has this, in any case of letters."},
				{name: "limit", typ: "integer", doc: "Commits of a page, 1 to 500, 50 if absent."},
				{name: "cursor", typ: "string", doc: "nextCursor or previousCursor of another page. Give it before and after, too, if the page behind it is to end there."},
			},
			answers: map[int]any{200: journalPageView{}}, problems: missing, serve: journal},
		{method: "GET", path: "/instances/{id}/variables", name: "getVariables", costly: true, role: auth.Viewer, tag: "instances", kind: reads,
			summary: "The variables of an instance after one of its commits, and who set them",
			query:   []param{{name: "at", typ: "integer", doc: "The commit; the newest if absent."}},
			answers: map[int]any{200: variablesView{}}, problems: missing, serve: variables},
		{method: "GET", path: "/instances/{id}/variables/changes", name: "getVariableChanges", costly: true, role: auth.Viewer, tag: "instances", kind: reads,
			summary: "How the variables of an instance differ between two of its commits",
			query: []param{{name: "from", typ: "integer", doc: "A commit, 0 for before the first; the one before to if absent."},
				{name: "to", typ: "integer", doc: "A later commit; the newest if absent."}},
			answers: map[int]any{200: variableChangesView{}}, problems: missing, serve: variableChanges},
	}
}

// journalPageView is one page of a journal.
type journalPageView struct {
	Items      []journalView `json:"items"`
	Commits    []commitView  `json:"commits" doc:"The commits that the items are of, and, without filters, those without items."`
	NextCursor *string       `json:"nextCursor" doc:"Pass it as cursor for what came later; null at the end. The limit is of commits. With filters a page may be empty and have a next one."`

	PreviousCursor *string `json:"previousCursor" doc:"Pass it as cursor for what came before; null at the beginning."`
	ItemsBefore    int     `json:"itemsBefore" doc:"How many items, of those that the filters choose, the first commit of the page has before those of the page, as items cut it: previousCursor leads to them."`
	ItemsBehind    int     `json:"itemsBehind" doc:"How many the last commit of the page has behind those of the page: nextCursor leads to them."`
	LookedFrom     int64   `json:"lookedFrom" doc:"The oldest commit that this page has looked at; 0: none."`
	LookedTo       int64   `json:"lookedTo" doc:"The newest commit that this page has looked at, the one before it if itemsBehind is not 0, or after if nothing came behind that; 0: none. Pass it as after, later, for what was done since."`
	First          int64   `json:"first" doc:"The oldest commit that the journal still has."`
	Last           int64   `json:"last" doc:"The newest commit."`
	Revision       int64   `json:"revision" doc:"Of etcd, at which all of it was read."`
}

type commitView struct {
	Commit    int64          `json:"commit" doc:"From 1 within the instance."`
	ID        string         `json:"id"`
	Node      *string        `json:"node" doc:"Which node made it."`
	Fence     int64          `json:"fence" doc:"Which holding of the instance's lock it was made under; a later one is larger. 0: without a lock."`
	Takeover  bool           `json:"takeover,omitempty" doc:"It repeated a command that another process had begun, or had left."`
	Began     *time.Time     `json:"began" doc:"The time of its first item."`
	Ended     *time.Time     `json:"ended" doc:"When it was sent."`
	Commands  []string       `json:"commands" doc:"What it consumed."`
	Variables []variableView `json:"variables" doc:"Those that it set."`
	Unlisted  int            `json:"unlisted" doc:"How many more it set."`
	Closed    []int64        `json:"closed" doc:"The executions whose scopes were open at the commit before, and ended; 0 is the workflow."`
	Imported  bool           `json:"imported" doc:"An import replaced all variables: none of before is left."`
}

type variableView struct {
	Execution int64  `json:"execution" doc:"Whose scope has it; 0: the workflow."`
	Name      string `json:"name"`
	Value     any    `json:"value"`
	By        int64  `json:"by" doc:"The execution that set it; 0: it began with this value."`
	Clipped   bool   `json:"clipped,omitempty" doc:"The value is the beginning of its text."`
	Hidden    bool   `json:"hidden,omitempty" doc:"The value is null, as what set it keeps its inputs or outputs out of the journal."`
}

type journalView struct {
	Sequence     int64     `json:"sequence" doc:"From 1 within the instance."`
	Commit       int64     `json:"commit" doc:"The commit that it is of."`
	Time         time.Time `json:"time"`
	Burst        string    `json:"burst" doc:"The command that was being processed."`
	Execution    int64     `json:"execution" doc:"Of the activity: the sequence of its first item. Each round of a loop has others."`
	Parent       int64     `json:"parent" doc:"The execution that scheduled it; 0: the workflow."`
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Event        string    `json:"event"`
	Text         string    `json:"text,omitempty"`
	Data         any       `json:"data,omitempty"`
}

// journal reads a page of a journal.
func journal(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	q, err := journalQuery(c)
	if err != nil {
		return reply{}, err
	}
	page, err := c.api.cfg.Runtime.JournalPart(c.r.Context(), id, q)
	return reply{body: viewJournal(page)}, err
}

func journalQuery(c *call) (q runtime.JournalQuery, err error) {
	if q.Cursor, q.Limit, err = c.page(); err != nil {
		return q, err
	}
	if q.Before, err = c.commitOr("before", 1, 0); err != nil {
		return q, err
	}
	if q.After, err = c.commitOr("after", 0, 0); err != nil {
		return q, err
	}
	q.Back = q.Before > 0
	if text := c.query.Get("tail"); c.query.Has("tail") {
		if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > 500 {
			return q, invalid("bad-parameter", "", "tail must be a whole number from 1 to 500")
		}
		q.Back = true
	}
	switch {
	case c.query.Has("tail") && c.query.Has("limit"):
		return q, invalid("bad-parameter", "", "tail is a limit: give one of them")
	case q.Cursor != "" && c.query.Has("tail"):
		return q, invalid("bad-parameter", "", "a cursor says where to go on, and tail to begin at the end: give limit instead of tail")
	}
	q.Keep = itemFilter(c)
	q.Items, err = c.within("items", 0, mostItems)
	return q, err
}

// mostItems is how many items may be asked for.
const mostItems = 5000

// mostCommit is the largest number of a commit that JSON carries everywhere.
const mostCommit = 1<<53 - 1

// commitOr reads a query parameter that is the number of a commit, or gives what an
// absent one stands for.
func (c *request) commitOr(name string, least, absent int64) (int64, error) {
	if !c.query.Has(name) {
		return absent, nil
	}
	n, err := strconv.ParseInt(c.query.Get(name), 10, 64)
	if err != nil || n < least || n > mostCommit {
		return 0, invalid("bad-parameter", "", fmt.Sprintf("%s must be the number of a commit, from %d on", name, least))
	}
	return n, nil
}

// itemFilter chooses items as the query wants; nil: all. A text is looked for in what
// the caller may see, not in what is hidden from it. Damage is shown in any case.
func itemFilter(c *call) func(*workflow.JournalItem) bool {
	activities, events, text := c.query["activity"], c.query["event"], strings.ToLower(c.query.Get("text"))
	if len(activities) == 0 && len(events) == 0 && text == "" {
		return nil
	}
	return func(it *workflow.JournalItem) bool {
		if it.Event == workflow.DamagedEvent {
			return true
		}
		return (len(activities) == 0 || slices.Contains(activities, it.ActivityID)) && (len(events) == 0 || slices.Contains(events, it.Event)) &&
			(text == "" || strings.Contains(strings.ToLower(c.api.shownText(it)), text))
	}
}

// shownText is what an item says, without the values of secrets.
func (a *API) shownText(it *workflow.JournalItem) string {
	text, data := it.Text, it.Data
	if a.cfg.Secrets != nil {
		set := a.cfg.Secrets()
		text = set.Redact(text)
		data, _ = set.RedactValue(data)
	}
	if data == nil {
		return text
	}
	var raw strings.Builder
	asText := json.NewEncoder(&raw)
	asText.SetEscapeHTML(false)
	_ = asText.Encode(data) // it was read from JSON
	return text + "\n" + raw.String()
}

func viewJournal(page runtime.JournalPage) journalPageView {
	out := journalPageView{
		Items: []journalView{}, Commits: make([]commitView, 0, len(page.Entries)), NextCursor: some(page.Newer), PreviousCursor: some(page.Older),
		ItemsBefore: page.Before, ItemsBehind: page.Behind, LookedFrom: page.LookedFrom, LookedTo: page.LookedTo, First: page.First, Last: page.Last, Revision: page.Revision,
	}
	for i := range page.Entries {
		e := &page.Entries[i]
		out.Commits = append(out.Commits, viewCommit(e))
		for _, j := range e.Items {
			out.Items = append(out.Items, journalView{j.Sequence, e.Sequence, j.Time.UTC(), j.Burst, j.Execution, j.Parent, j.ActivityID, j.ActivityType, j.Event, j.Text, j.Data})
		}
	}
	return out
}

func viewCommit(e *workflow.JournalEntry) commitView {
	return commitView{
		Commit: e.Sequence, ID: e.Commit, Node: some(e.Node), Fence: e.Fence, Takeover: e.Takeover, Began: knownTime(e.Began), Ended: knownTime(e.Ended),
		Commands: append([]string{}, e.Commands...), Variables: each(e.Variables.Set, func(s workflow.VariableChange) variableView { return variableView(s) }),
		Unlisted: e.Variables.Left, Closed: append([]int64{}, e.Variables.Gone...), Imported: e.Variables.Reset,
	}
}
