package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// journalRoutes show what an instance did.
func journalRoutes() []serve.Route {
	missing := []workflow.Code{workflow.CodeInstanceNotFound}
	return []serve.Route{
		{Method: "GET", Path: "/instances/{id}/journal", Name: "getJournal", Role: auth.Viewer, Tag: "instances", Kind: serve.Reads,
			Summary: "What the instance did: from its beginning, from its end (tail), or around a commit",
			Query: []serve.Param{
				{Name: "tail", Type: "integer", Doc: "The last so many commits, 1 to 500."},
				{Name: "before", Type: "integer", Doc: "Only commits before this one: the nearest."},
				{Name: "after", Type: "integer", Doc: "Only commits after this one: the nearest, unless tail is given."},
				{Name: "activity", Type: "string", Several: true, Doc: "Only items of this activity; several may be given."},
				{Name: "event", Type: "string", Several: true, Doc: "Only these items: Started, Completed, Suspended, Resumed, Faulted, Canceled, Interrupted, WriteLine, or what an activity calls its own; several may be given."},
				{Name: "items", Type: "integer", Doc: "At most so many items, 1 to 5000, counted from where the page begins: with tail, before or previousCursor from its newest. A page ends within a commit that has more, and its cursors go on there. If absent, all items of its commits."},
				{Name: "text", Type: "string", Doc: "Only items whose text or data has this, in any case of letters."},
				{Name: "limit", Type: "integer", Doc: "Commits of a page, 1 to 500, 50 if absent."},
				{Name: "cursor", Type: "string", Doc: "nextCursor or previousCursor of another page. Give it before and after, too, if the page behind it is to end there."},
			},
			Answers: map[int]any{200: journalPageView{}}, Problems: missing, Serve: journal},
		{Method: "GET", Path: "/instances/{id}/variables", Name: "getVariables", Costly: true, Role: auth.Viewer, Tag: "instances", Kind: serve.Reads,
			Summary: "The variables of an instance after one of its commits, and who set them",
			Query:   []serve.Param{{Name: "at", Type: "integer", Doc: "The commit; the newest if absent."}},
			Answers: map[int]any{200: variablesView{}}, Problems: missing, Serve: variables},
		{Method: "GET", Path: "/instances/{id}/variables/changes", Name: "getVariableChanges", Costly: true, Role: auth.Viewer, Tag: "instances", Kind: serve.Reads,
			Summary: "How the variables of an instance differ between two of its commits",
			Query: []serve.Param{{Name: "from", Type: "integer", Doc: "A commit, 0 for before the first; the one before to if absent."},
				{Name: "to", Type: "integer", Doc: "A later commit; the newest if absent."}},
			Answers: map[int]any{200: variableChangesView{}}, Problems: missing, Serve: variableChanges},
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
func journal(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	q, err := journalQuery(c)
	if err != nil {
		return serve.Reply{}, err
	}
	page, err := c.API.Config.Runtime.Inspector.JournalPart(c.Request.Context(), id, q)
	return serve.Reply{Body: viewJournal(page)}, err
}

func journalQuery(c *serve.Call) (q runtime.JournalQuery, err error) {
	if q.Cursor, q.Limit, err = c.Page(); err != nil {
		return q, err
	}
	if q.Before, err = commitOr(c, "before", 1, 0); err != nil {
		return q, err
	}
	if q.After, err = commitOr(c, "after", 0, 0); err != nil {
		return q, err
	}
	q.Back = q.Before > 0
	if text := c.Query.Get("tail"); c.Query.Has("tail") {
		if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > 500 {
			return q, serve.Invalid("bad-parameter", "", "tail must be a whole number from 1 to 500")
		}
		q.Back = true
	}
	switch {
	case c.Query.Has("tail") && c.Query.Has("limit"):
		return q, serve.Invalid("bad-parameter", "", "tail is a limit: give one of them")
	case q.Cursor != "" && c.Query.Has("tail"):
		return q, serve.Invalid("bad-parameter", "", "a cursor says where to go on, and tail to begin at the end: give limit instead of tail")
	}
	q.Keep = itemFilter(c)
	q.Items, err = serve.Within(c, "items", 0, mostItems)
	return q, err
}

// mostItems is how many items may be asked for.
const mostItems = 5000

// mostCommit is the largest number of a commit that JSON carries everywhere.
const mostCommit = 1<<53 - 1

// commitOr reads a query parameter that is the number of a commit, or gives what an
// absent one stands for.
func commitOr(c *serve.Call, name string, least, absent int64) (int64, error) {
	if !c.Query.Has(name) {
		return absent, nil
	}
	n, err := strconv.ParseInt(c.Query.Get(name), 10, 64)
	if err != nil || n < least || n > mostCommit {
		return 0, serve.Invalid("bad-parameter", "", fmt.Sprintf("%s must be the number of a commit, from %d on", name, least))
	}
	return n, nil
}

// itemFilter chooses items as the query wants; nil: all. A text is looked for in what
// the caller may see, not in what is hidden from it. Damage is shown in any case.
func itemFilter(c *serve.Call) func(*workflow.JournalItem) bool {
	activities, events, text := c.Query["activity"], c.Query["event"], strings.ToLower(c.Query.Get("text"))
	if len(activities) == 0 && len(events) == 0 && text == "" {
		return nil
	}
	return func(it *workflow.JournalItem) bool {
		if it.Event == workflow.DamagedEvent {
			return true
		}
		return (len(activities) == 0 || slices.Contains(activities, it.ActivityID)) && (len(events) == 0 || slices.Contains(events, it.Event)) &&
			(text == "" || strings.Contains(strings.ToLower(shownText(c.API, it)), text))
	}
}

// shownText is what an item says, without the values of secrets.
func shownText(a *serve.API, it *workflow.JournalItem) string {
	text, data := it.Text, it.Data
	if a.Config.Secrets != nil {
		set := a.Config.Secrets()
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
		Items: []journalView{}, Commits: make([]commitView, 0, len(page.Entries)), NextCursor: shape.Some(page.Newer), PreviousCursor: shape.Some(page.Older),
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
		Commit: e.Sequence, ID: e.Commit, Node: shape.Some(e.Node), Fence: e.Fence, Takeover: e.Takeover, Began: shape.KnownTime(e.Began), Ended: shape.KnownTime(e.Ended),
		Commands: append([]string{}, e.Commands...), Variables: shape.Each(e.Variables.Set, func(s workflow.VariableChange) variableView { return variableView(s) }),
		Unlisted: e.Variables.Left, Closed: append([]int64{}, e.Variables.Gone...), Imported: e.Variables.Reset,
	}
}
