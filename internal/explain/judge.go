package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// facts are what was read.
type facts struct {
	*store.Situation
	claims     []cluster.Holder
	members    []cluster.Node
	self       string
	skews      map[string]time.Duration // of the clocks of nodes, by id
	running    *client.Running          // what the owner does with it; nil: nothing, or it is not known
	by         string                   // the other node that works it without its lock; "": none, as far as is known
	unasked    error                    // why the owner could not be asked
	history    *History
	kids       []workflow.Instance            // children that are faulted
	heldBack   string                         // why this node takes no new work for want of space; ""
	roomAdvice string                         // what to do about it
	full       bool                           // so little space is left that nothing goes on
	noRetry    string                         // why a retry would be refused
	tasks      map[string]etcdstore.Task      // who has those at which it waits, or how they went before
	lines      map[string]*etcdstore.Position // where those stand that wait for a place of a limit
	now        time.Time
	sent       []sent // newest first
	recent     []Sent // newest first
}

// sent is a stimulus that nobody has taken.
type sent struct {
	where, id string
	stimulus  *workflow.Stimulus
	hash      string
	at        time.Time
	reason    workflow.DeadReason // of a dead letter
	instance  string              // the dead letter is this one's
}

// lateAfter is how late a timer is before it is called late, and overdue how late
// before something is wrong: nodes look every few seconds.
const (
	lateAfter = 5 * time.Second
	overdue   = time.Minute
)

// longHeld is from when on a burst is said to take long, and idleHeld for how long a lock
// may be held before its node has begun, or after it has ended.
const (
	longHeld = 30 * time.Second
	idleHeld = 5 * time.Second
)

// skewed is how much a clock may be off: nodes leave timers alone beyond it.
const skewed = 2 * time.Second

// judge explains an instance. The order is by what moves it first: its end, its
// owner, its mail, and then what it waits for.
func judge(id string, f *facts) *Explanation {
	x := &Explanation{Instance: workflow.Instance{ID: id}, Revision: f.Revision, At: f.now, MailLeft: f.MailLeft}
	x.takeClaims(f)
	x.takeMail(f)
	if f.Damage != nil {
		x.State, x.Cause = Damaged, CauseDamage
		x.because(Reason{Kind: "damaged", Text: "its record cannot be read: " + f.Damage.Error(), Key: f.Keys.Instance})
		x.do("run weft fsck: it names the cause, and weft fsck --repair sets the record aside")
		return x.tell(f)
	}
	x.takeGate(f)
	if f.Record == nil {
		x.unborn(f)
		return x.tell(f)
	}
	x.Instance = f.Record.Header
	x.takeHistory(f.history)
	x.takeIncidents(f)
	x.takeUndoing(f)
	x.takeUnwritten(f)
	if f.Commit != nil {
		x.Commit = &Commit{f.Commit.Seq, f.Commit.Fence, f.Commit.Node, f.Commit.At}
	}
	switch h := &x.Instance; {
	case x.Owner != nil && !(x.Owner.Gone && h.Status == workflow.StatusFinished):
		x.running(f)
	case h.Status == workflow.StatusFinished && len(x.Mail) == 0:
		x.ended(f)
	case len(x.Mail) > 0:
		x.queued(f)
	case len(h.Bookmarks) > 0:
		x.waiting(f)
	case len(x.Incidents) > 0 && x.Incidents[0].Open:
		x.State, x.Cause = Stuck, CauseFault
		x.because(Reason{Kind: "none", Text: "it goes on with incidents, and nothing is left that could go on", Since: h.UpdatedAt, Key: f.Keys.Instance})
		x.do("mend the cause, then " + x.path("retry") + "; or end it: " + x.path("cancel"))
	default:
		x.State, x.Cause = Stuck, CauseNothing
		x.because(Reason{Kind: "none", Text: fmt.Sprintf("it is %s and has no work, waits for nothing, and nobody runs it", h.SubStatus), Since: h.UpdatedAt, Key: f.Keys.Instance})
		x.do("run weft fsck, which names an instance without a cause; then POST /instances/" + h.ID + "/cancel, or delete it")
	}
	return x.tell(f)
}

func (x *Explanation) because(r Reason) { x.Reasons = append(x.Reasons, r) }
func (x *Explanation) do(what string)   { x.Next = append(x.Next, what) }

// says reports whether what to do next names a route of the instance already.
func (x *Explanation) says(what string) bool {
	return slices.ContainsFunc(x.Next, func(next string) bool { return strings.Contains(next, x.path(what)) })
}

func (x *Explanation) path(what string) string {
	return "POST /instances/" + x.Instance.ID + "/" + what
}

// member is the live node that has a claim; nil: it is gone.
func (f *facts) member(h cluster.Holder) *cluster.Node {
	for i := range f.members {
		if f.members[i].LeaseID == strconv.FormatInt(int64(h.Lease), 16) {
			return &f.members[i]
		}
	}
	return nil
}

func (x *Explanation) takeClaims(f *facts) {
	for _, h := range f.claims {
		c := Claim{Node: h.NodeID, Since: h.Since.UTC(), Fence: h.Fence.Revision, Gone: true, Self: h.NodeID == f.self}
		if h.Since.IsZero() {
			c.Since = time.Time{}
		}
		if n := f.member(h); n != nil {
			c.Gone, c.Draining = false, n.Draining
		}
		x.Waiters = append(x.Waiters, c)
	}
	switch {
	case len(x.Waiters) > 0:
		x.Owner, x.Waiters = &x.Waiters[0], x.Waiters[1:]
	case f.running != nil && f.running.Doing != nil: // without a lock; one that has answered is still there for a moment
		x.Owner = &Claim{Node: cmp.Or(f.by, f.self), Self: f.by == ""}
	}
	if f.running != nil {
		x.Doing = f.running.Doing
	}
}

func (x *Explanation) takeGate(f *facts) {
	g := f.Gate
	if g == nil {
		return
	}
	x.Gate = &Gate{DefinitionID: g.Definition, CorrelationID: g.Correlation, Holder: g.Holder, Behind: g.Behind}
	switch {
	case g.Start != nil:
		x.Gate.Item = g.Start.ID
	case g.Behind > 0 && g.Holder == x.Instance.ID:
		starts := "a start waits"
		if g.Behind > 1 {
			starts = fmt.Sprintf("%d starts wait", g.Behind)
		}
		x.aside = append(x.aside, Reason{Kind: "gate", Text: fmt.Sprintf("%s until it has ended, as %s runs at a time", starts, x.Gate.admits()), Key: g.Key, Object: g.Holder})
	}
}

// admits says what a gate lets run at a time.
func (g *Gate) admits() string {
	text := "one instance"
	if g.DefinitionID != "" {
		text += " of " + plain(g.DefinitionID)
	}
	if g.CorrelationID != "" {
		text += " with correlation " + plain(g.CorrelationID)
	}
	return text
}

// unborn explains an instance that is not there: its start waits behind a gate.
func (x *Explanation) unborn(f *facts) {
	g := f.Gate
	x.Instance.DefinitionID, x.Instance.Version, x.Instance.CorrelationID = g.Start.Held.Trigger.DefinitionID, g.Start.Held.Trigger.Version, g.Start.Stimulus.CorrelationID
	x.State, x.Cause = Queued, CauseGate
	r := Reason{Kind: "gate", Key: g.Key, Object: g.Holder, Since: g.Start.CreatedAt}
	if g.Holder == "" {
		r.Text = "it has not started, as another instance ran; none does any more, and nodes look every few seconds"
	} else {
		r.Text = fmt.Sprintf("it starts when instance %s has ended, as %s runs at a time", plain(g.Holder), x.Gate.admits())
		x.do("GET /instances/" + url.PathEscape(g.Holder) + "/explain")
	}
	if g.Behind > 1 {
		r.Text += fmt.Sprintf("; %d starts wait for that, the oldest goes first", g.Behind)
	}
	x.because(r)
}

// takeHistory keeps the newest of it.
func (x *Explanation) takeHistory(h *History) {
	if h == nil {
		return
	}
	x.History = h
	if left := len(h.Periods) - recentPeriods; left > 0 {
		h.Periods = h.Periods[left:]
		h.Before = h.Periods[0].From
	}
	h.Refusals = h.Refusals[max(0, len(h.Refusals)-recentPeriods):]
}

// mostIncidents bounds those that are told.
const mostIncidents = 5

// takeIncidents keeps the newest of them, those before others of which a branch is still faulted. The
// incidents of an execution that was run again are of the past, but for the last.
func (x *Explanation) takeIncidents(f *facts) {
	h := &x.Instance
	if len(h.Incidents) == 0 {
		return
	}
	faulted := engine.FaultedIn(f.Record.State)
	var past []Incident
	for i := range slices.Backward(h.Incidents) {
		in := h.Incidents[i]
		if faulted[in.ContextID] || i == len(h.Incidents)-1 && h.SubStatus == workflow.Faulted {
			x.Incidents = append(x.Incidents, Incident{in, true})
		} else {
			past = append(past, Incident{in, false})
		}
		delete(faulted, in.ContextID)
	}
	open := len(x.Incidents)
	x.Incidents = append(x.Incidents, past...)
	if open > 0 && h.Status != workflow.StatusFinished {
		in := &x.Incidents[0]
		r := Reason{Kind: "incident", Text: fmt.Sprintf("activity %s in it is faulted: %s", plain(in.ActivityID), oneLine(in.Message)), Since: in.Time, Key: f.Keys.Instance, Object: in.ActivityID}
		if open > 1 {
			r.Text += fmt.Sprintf(" (and %d more)", open-1)
		}
		x.aside = append(x.aside, r)
	}
	x.IncidentsLeft = max(0, len(x.Incidents)-mostIncidents)
	x.Incidents = x.Incidents[:len(x.Incidents)-x.IncidentsLeft]
}

func (x *Explanation) takeMail(f *facts) {
	for i := range f.Mail {
		m, c := &f.Mail[i], &f.Mail[i].Command
		x.Mail = append(x.Mail, Mail{ID: c.ID, Kind: string(c.Kind), Bookmark: c.Bookmark, CreatedAt: c.CreatedAt, Attempts: c.Attempts, Unreadable: m.Unreadable != nil})
	}
}

func (x *Explanation) ended(f *facts) {
	h := &x.Instance
	end := h.UpdatedAt
	if h.FinishedAt != nil {
		end = *h.FinishedAt
	}
	if h.SubStatus != workflow.Faulted {
		x.State, x.Cause = Finished, CauseEnd
		text := "it is " + strings.ToLower(string(h.SubStatus))
		if h.Archived {
			text += ", and in the archive"
		}
		x.because(Reason{Kind: "none", Text: text, Since: end, Key: f.Keys.Instance})
		return
	}
	x.State, x.Cause = Faulted, CauseFault
	text := "it is faulted"
	if n := len(h.Incidents); n > 0 {
		i := &h.Incidents[n-1]
		text = fmt.Sprintf("activity %s failed: %s", i.ActivityID, oneLine(i.Message))
		end = i.Time
	}
	x.because(Reason{Kind: "incident", Text: text, Since: end, Key: f.Keys.Instance})
	if f.noRetry != "" {
		x.advise("a retry is not what to do: " + f.noRetry)
		return
	}
	x.do("mend the cause, then " + x.path("retry"))
}

func (x *Explanation) running(f *facts) {
	x.State = Running
	o, d := x.Owner, x.Doing
	r := Reason{Kind: "lock", Text: "node " + cmp.Or(o.Node, "of an unknown name") + " runs it", Since: o.Since, Object: o.Node}
	if len(f.claims) > 0 {
		r.Key = f.claims[0].Fence.Key
	}
	long := !o.Since.IsZero() && f.now.Sub(o.Since) > longHeld
	switch {
	case o.Gone:
		x.Cause, r.Text = CauseGone, "node "+o.Node+" had it and is gone: its lock ends with its session, and another node goes on"
		if long {
			x.do("nothing for as long as the session's TTL; after that look at GET /nodes and at etcd's health")
		}
	case o.Draining:
		x.Cause, r.Kind, r.Text = CauseDrain, "drain", "node "+o.Node+" runs it and is draining: it ends this burst, or leaves it to another node"
	case f.unasked != nil:
		x.Cause, r.Text = CauseLock, "node "+o.Node+" holds its lock, and could not be asked what it is at"
		x.do("look at node " + o.Node + ": while its session lives, it keeps the lock; if it hangs, end it")
	case f.running == nil && !o.Since.IsZero() && f.now.Sub(o.Since) > idleHeld:
		x.Cause, r.Text = CauseLock, "node "+o.Node+" holds its lock and does nothing with it"
		x.do("look at the log of node " + o.Node + "; the lock ends with its session")
	case d != nil:
		x.Cause = CauseActivity
	default:
		x.Cause = CauseRunning
	}
	x.because(r)
	if d != nil {
		long = f.now.Sub(d.Since) > longHeld
		x.because(at(d, long))
	}
	if long && x.Cause != CauseGone && x.Cause != CauseLock {
		if d != nil && d.Outside {
			x.do(x.path("cancel") + " ends it, and the call that it waits for")
		} else {
			x.do(x.path("cancel") + " ends it after the activity that runs now")
		}
	}
	x.cancelled(f)
	if n := int64(len(x.Mail)) + x.MailLeft; n > 0 {
		x.because(Reason{Kind: "mail", Text: fmt.Sprintf("%s for what it does next", commands(n)), Since: x.Mail[0].CreatedAt, Key: f.Keys.Mailbox})
	}
}

func at(d *engine.Doing, long bool) Reason {
	r := Reason{Kind: "activity", Text: "it is at activity " + plain(d.ActivityID) + " (" + plain(d.ActivityType) + ")", Since: d.Since, Object: d.ActivityID}
	if d.Attempt > 1 {
		r.Text += fmt.Sprintf(", attempt %d", d.Attempt)
	}
	if n := len(d.Beside); n > 0 {
		shown := plain(strings.Join(d.Beside[:min(n, 3)], ", "))
		if n > 3 {
			shown += ", …"
		}
		r.Text += fmt.Sprintf(", the oldest of %d calls in flight (beside %s)", n+1, shown)
	}
	if d.Ran > 0 {
		r.Text += fmt.Sprintf("; it has run %d activities without a wait, and pauses in between (has a loop no end?)", d.Ran)
	}
	switch {
	case long && d.Outside:
		r.Text += ", which waits for the outside, or computes"
	case long:
		r.Text += ", which computes"
	}
	return r
}

func (x *Explanation) cancelled(f *facts) {
	if f.Cancel == "" {
		return
	}
	r := Reason{Kind: "cancel", Text: "it is to be cancelled or deleted", Key: f.Keys.Cancel, Object: f.Cancel}
	switch d := x.Doing; {
	case d == nil:
	case d.Outside:
		r.Text += ": the activity was told, and has not returned yet"
	default:
		r.Text += " after the activity that runs now, which has no effect outside and is not interrupted"
	}
	x.because(r)
}

func (x *Explanation) queued(f *facts) {
	x.State, x.Cause = Queued, CauseMail
	first := &x.Mail[0]
	r := Reason{Kind: "mail", Key: f.Keys.Mailbox, Object: first.ID, Since: first.CreatedAt,
		Text: fmt.Sprintf("%s to be run, the first is %s", commands(int64(len(x.Mail))+x.MailLeft), cmp.Or(first.Kind, "one that this node's program cannot read"))}
	if first.Attempts > 0 {
		r.Text += fmt.Sprintf(", which %d nodes took over and did not finish", first.Attempts)
		x.do("look into the nodes' logs for what ended them: a command that ends a node is given up after some times")
	}
	if !first.CreatedAt.IsZero() && f.now.Sub(first.CreatedAt) > overdue && !f.Paused && !f.full {
		r.Text += "; nodes look every few seconds, and none has run it"
		x.do("look at GET /nodes and at the nodes' logs: is there one whose program knows the definition's activities, and that has room for its bursts?")
	}
	x.because(r)
	x.cancelled(f)
}

func commands(n int64) string {
	if n == 1 {
		return "a command waits"
	}
	return fmt.Sprintf("%d commands wait", n)
}

// waiting explains each bookmark. An instance whose every wait is in vain is stuck.
func (x *Explanation) waiting(f *facts) {
	x.State = Waiting
	hope := false
	children := map[string]*store.ChildState{}
	for i := range f.Children {
		children[f.Children[i].ID] = &f.Children[i]
	}
	h := &x.Instance
	for i := range h.Bookmarks {
		b := &h.Bookmarks[i]
		r := Reason{Since: b.CreatedAt, Key: f.Keys.Instance, Object: b.ID}
		if b.DueAt != nil {
			r.Until = *b.DueAt
		}
		var cause Cause
		alive := true
		switch {
		case b.Child() != "":
			cause, alive = x.child(&r, b, children[b.Child()])
			x.advise("GET /instances/" + url.PathEscape(b.Child()) + "/explain")
		case b.Retry() != nil:
			cause, alive = x.retry(&r, b, f)
		case b.DueAt != nil && b.ActivityType != workflow.EventType:
			cause, alive = x.timer(&r, b, f)
		default:
			cause = x.stimulus(&r, b, f)
		}
		if hope = hope || alive; x.Cause == "" || x.Cause == CauseTimer && cause != CauseTimer {
			x.Cause = cause
		}
		x.because(r)
	}
	if !hope {
		x.State = Stuck
	}
	x.nearly(f)
	slices.SortStableFunc(x.Reasons, func(a, b Reason) int { return cmp.Compare(rank(a), rank(b)) })
	if left := len(x.Reasons) - mostReasons; left > 0 {
		x.Reasons, x.ReasonsLeft = x.Reasons[:mostReasons], left
	}
	x.nearest(f)
}

// mostReasons bounds the places at which an instance waits that are told one by one.
const mostReasons = 100

// stimulus explains what somebody has to send.
func (x *Explanation) stimulus(r *Reason, b *workflow.Bookmark, f *facts) Cause {
	switch b.ActivityType {
	case workflow.EventType:
		r.Kind, r.Text = "event", "event "+plain(b.Name)
		if x.Instance.CorrelationID != "" {
			r.Text += ", correlation " + plain(x.Instance.CorrelationID)
		}
		x.advise(sendEvent(b.Name, x.Instance.CorrelationID))
		return CauseEvent
	case workflow.TaskType:
		r.Kind, r.Text = "task", "a worker that does task "+plain(b.Name)
		if usertask.Is(b) {
			r.Text = "a person, by user task " + plain(b.ActivityID)
			x.advise("its candidates see it among their tasks in the console, and complete it there")
		} else {
			x.advise("GET /tasks names the task; its worker reports the result")
		}
		if is, known := f.tasks[b.ID]; known {
			r.task(&is)
		}
		return CauseTask
	}
	if b.ActivityType == workflow.LimitType {
		return x.place(r, b, f.lines[b.ID])
	}
	r.Kind, r.Text = "stimulus", plain(b.ActivityType)+" "+plain(b.Name)
	if e := workflow.EndpointOf(b); e != nil {
		r.Kind, r.Text = "endpoint", "a request "+plain(b.Name)
		request := "send it: " + plain(e.Method) + " " + plain("/workflows/"+e.Template) + ", which is not below /api/v1"
		if c := x.Instance.CorrelationID; c != "" {
			request += ", with X-Correlation-Id: " + plain(c)
		}
		x.advise(request)
		return CauseEndpoint
	}
	x.advise("POST /bookmarks/" + url.PathEscape(b.ID) + "/resume goes on")
	return CauseStimulus
}

// mostKids bounds the faulted children that are named.
const mostKids = 3

// nearest makes what nearly met the instance, or a child of it that faulted, its cause, if
// it waits for what somebody has to send.
func (x *Explanation) nearest(f *facts) {
	switch x.Cause {
	case CauseEvent, CauseTask, CauseEndpoint, CauseStimulus:
	default:
		return
	}
	if i := slices.IndexFunc(x.NearMisses, func(m NearMiss) bool { return m.likely }); i >= 0 {
		m := x.NearMisses[i]
		x.NearMisses = slices.Insert(slices.Delete(x.NearMisses, i, i+1), 0, m)
		x.Cause = m.Kind
		if way := m.advice(&x.Instance); way != "" {
			x.first(way)
		}
		return
	}
	for i := range f.kids {
		kid := &f.kids[i]
		r := Reason{Kind: "child", Object: kid.ID, Text: fmt.Sprintf("its child %s (%s) is faulted", plain(kid.ID), plain(kid.DefinitionID)), Since: kid.UpdatedAt}
		if n := len(kid.Incidents); n > 0 {
			r.Text += ": " + oneLine(kid.Incidents[n-1].Message)
		}
		x.aside = append(x.aside, r)
		if x.Cause = CauseFaultedChild; i == 0 {
			x.first("GET /instances/" + url.PathEscape(kid.ID) + "/explain")
		}
	}
}

// advice is how what nearly met an instance reaches it; "": it is not known.
func (m *NearMiss) advice(h *workflow.Instance) string {
	switch {
	case m.Where == "dead-letter" && m.Kind == CauseDeadLetter:
		return "POST /dead-letters/" + url.PathEscape(m.ID) + "/replay"
	case m.Where == "queue" && m.Kind == CauseCorrelation:
		return "if it is the one: POST /queue/" + url.PathEscape(m.ID) + "/send " + object("instanceId", h.ID)
	case m.Kind == CauseSpelling && (m.Where == "queue" || m.Where == "dead-letter"):
		i := slices.IndexFunc(h.Bookmarks, func(b workflow.Bookmark) bool { return b.ID == m.Bookmark })
		if i < 0 {
			return ""
		}
		edit := object("instanceId", h.ID, "name", h.Bookmarks[i].Name)
		if m.Where == "queue" {
			return "if it is the one: POST /queue/" + url.PathEscape(m.ID) + "/send " + edit
		}
		return "if it is the one: POST /dead-letters/" + url.PathEscape(m.ID) + "/replay " + edit
	}
	return ""
}

// mostAdvice bounds what is said of the waits of one instance.
const mostAdvice = 3

func (x *Explanation) advise(what string) {
	if len(x.Next) < mostAdvice {
		x.do(what)
	}
}

// oneLine is what an incident says, without what moves a terminal's cursor.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// plain is a text of the workflow's, in quotes unless it can be taken for nothing else.
func plain(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`;,"`, r) }) {
		return strconv.QuoteToASCII(text)
	}
	return text
}

func sendEvent(name, correlation string) string {
	path := "POST /events/" + url.PathEscape(name)
	if correlation == "" {
		return path
	}
	return path + " " + object("correlationId", correlation)
}

// object is a body of names and texts, in turn.
func object(pairs ...string) string {
	texts := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		texts[pair[0]] = pair[1]
	}
	body, _ := json.Marshal(texts) // of texts
	return string(body)
}

// rank puts what somebody has to do before what comes by itself.
func rank(r Reason) int {
	if r.Kind == "timer" {
		return 1
	}
	return 0
}

func (x *Explanation) child(r *Reason, b *workflow.Bookmark, c *store.ChildState) (cause Cause, alive bool) {
	id := b.Child()
	r.Kind, r.Object = "child", id
	r.Text = fmt.Sprintf("the end of its child %s (%s)", plain(id), plain(b.Name))
	switch {
	case c == nil: // beyond those that are looked into
	case c.Header == nil:
		r.Text += ", which is gone or cannot be read"
		return CauseLostChild, false
	case c.Untold:
		r.Text += ", which is " + strings.ToLower(string(c.Header.SubStatus)) + ", and nothing will tell its end any more"
		x.first("weft fsck --repair, which tells it")
		return CauseLostChild, false
	case c.Header.Status == workflow.StatusFinished:
		r.Text += ", which is " + strings.ToLower(string(c.Header.SubStatus)) + " and whose end is on its way"
		if n := len(c.Header.Incidents); n > 0 && c.Header.SubStatus == workflow.Faulted {
			r.Text += ": " + oneLine(c.Header.Incidents[n-1].Message)
			return CauseFaultedChild, true
		}
	default:
		r.Text += ", which is " + strings.ToLower(string(c.Header.SubStatus))
	}
	return CauseChild, true
}

// timer explains one. It is late by the clock of the median; what would have fired by now,
// were it not for a clock that is off, waits because of that clock.
func (x *Explanation) timer(r *Reason, b *workflow.Bookmark, f *facts) (cause Cause, alive bool) {
	r.Kind, r.Text = "timer", timerOf(b)
	late := f.now.Add(-f.skews[f.self]).Sub(*b.DueAt)
	ahead, off := f.clocks()
	switch {
	case late < lateAfter && ahead > skewed && late+ahead >= 0:
		return CauseClock, true
	case late < lateAfter:
		return CauseTimer, true
	}
	r.Text += fmt.Sprintf(", which was due %s ago", about(late))
	if off > skewed {
		return CauseClock, true
	}
	return CauseLate, late < overdue || f.Paused || f.full
}

// timerOf names a timer. Of a timeout it says whose it is: the notation writes one for a Delay beside it.
func timerOf(b *workflow.Bookmark) string {
	if of, is := strings.CutSuffix(b.ActivityID, workflow.TimeoutSuffix+".delay"); is {
		return "the timeout of " + plain(of)
	}
	return "its " + strings.ToLower(cmp.Or(b.Name, "timer"))
}

// clocks tells how far the fastest clock is ahead of the median, and how far the worst is
// off it.
func (f *facts) clocks() (ahead, off time.Duration) {
	for _, s := range f.skews {
		ahead, off = max(ahead, s), max(off, s.Abs())
	}
	return ahead, off
}

// retry is a pause between two attempts.
func (x *Explanation) retry(r *Reason, b *workflow.Bookmark, f *facts) (cause Cause, alive bool) {
	next := b.Retry()
	count := fmt.Sprintf("attempt %d", next.Attempt)
	if next.Attempts > 0 {
		count += fmt.Sprintf(" of %d", next.Attempts)
	}
	cause, alive = CauseTimer, true
	if b.DueAt != nil {
		cause, alive = x.timer(r, b, f)
	}
	late := strings.TrimPrefix(r.Text, timerOf(b))
	r.Kind, r.Text = "retry", fmt.Sprintf("%s of activity %s%s; the one before failed: %s", count, plain(next.Activity), late, oneLine(next.Error))
	x.advise("POST /bookmarks/" + url.PathEscape(b.ID) + "/resume tries it now")
	if cause == CauseTimer {
		cause = CauseRetry
	}
	return cause, alive
}

// ownLetters are the dead letters of this very instance.
func (x *Explanation) ownLetters(f *facts) {
	for i := range f.sent {
		if s := &f.sent[i]; s.instance == x.Instance.ID {
			x.miss(s, "", CauseDeadLetter, fmt.Sprintf("it is a dead letter of this instance%s", s.because()))
		}
	}
}

// mostMisses bounds the near misses of one explanation.
const mostMisses = 10

func (x *Explanation) miss(s *sent, bookmark string, kind Cause, text string) {
	if len(x.NearMisses) == mostMisses || slices.ContainsFunc(x.NearMisses, func(m NearMiss) bool { return m.Where == s.where && m.ID == s.id }) {
		return
	}
	x.NearMisses = append(x.NearMisses, NearMiss{Kind: kind, Where: s.where, ID: s.id, Bookmark: bookmark, Name: eventName(s.stimulus), CorrelationID: s.stimulus.CorrelationID,
		InstanceID: s.stimulus.InstanceID, CreatedAt: s.at, Text: text, likely: x.meant(s)})
}

// meant tells whether a stimulus was likely meant for this instance. Queues hold what is for
// other cases, before they wait for it.
func (x *Explanation) meant(s *sent) bool {
	theirs, ours := s.stimulus.CorrelationID, x.Instance.CorrelationID
	switch {
	case s.instance == x.Instance.ID:
		return true
	case s.stimulus.InstanceID != "" && s.stimulus.InstanceID != x.Instance.ID:
		return workflow.Nearest(s.stimulus.InstanceID, []string{x.Instance.ID}) != ""
	case theirs == ours || theirs == "" || ours == "":
		return true
	}
	return workflow.Nearest(theirs, []string{ours}) != "" || strings.Contains(theirs, ours) || strings.Contains(ours, theirs)
}

// because is why a dead letter is one, as far as it is known.
func (s *sent) because() string {
	if s.reason == "" {
		return ""
	}
	return " (" + string(s.reason) + ")"
}

func eventName(s *workflow.Stimulus) string {
	payload, _ := s.Payload.(map[string]any)
	name, _ := payload["eventName"].(string)
	if s.ActivityType != workflow.EventType {
		return ""
	}
	return name
}

// mostMarks is for how many different stimuli near misses are looked for.
const mostMarks = 20

// nearly looks for what almost met a bookmark: first for what was likely meant for this instance, as
// there is no room for all.
func (x *Explanation) nearly(f *facts) {
	var marks []*workflow.Bookmark // one of a stimulus stands for all
	looked := map[string]bool{}
	for i := range x.Instance.Bookmarks {
		if b := &x.Instance.Bookmarks[i]; awaitsStimulus(b) && !looked[b.Hash] && len(marks) < mostMarks {
			marks, looked[b.Hash] = append(marks, b), true
		}
	}
	x.missed(marks, f, true)
	x.ownLetters(f)
	x.lately(f)
	x.missed(marks, f, false)
}

// awaitsStimulus tells whether somebody has to send what a bookmark waits for.
func awaitsStimulus(b *workflow.Bookmark) bool {
	return b.Child() == "" && b.Retry() == nil && b.ActivityType != workflow.LimitType && (b.DueAt == nil || b.ActivityType == workflow.EventType)
}

// missed adds what is queued, or dead, and nearly met one of these bookmarks: what was meant for this
// instance, or what was not.
func (x *Explanation) missed(marks []*workflow.Bookmark, f *facts, meant bool) {
	for _, b := range marks {
		for i := range f.sent {
			s := &f.sent[i]
			if s.stimulus.ActivityType != b.ActivityType || x.meant(s) != meant {
				continue
			}
			if s.hash == b.Hash {
				x.nearlyBy(s, b)
			} else if name := eventName(s.stimulus); name != "" && workflow.Nearest(name, []string{b.Name}) != "" {
				x.miss(s, b.ID, CauseSpelling, fmt.Sprintf("it came as %q, and this one waits for %q", name, b.Name))
			}
		}
		for _, q := range f.Queued {
			s := &sent{where: "queue", id: q.ID, stimulus: &workflow.Stimulus{ActivityType: b.ActivityType, Payload: b.Payload, CorrelationID: q.CorrelationID, InstanceID: q.InstanceID}}
			if q.Hash == b.Hash && x.meant(s) == meant {
				x.nearlyBy(s, b)
			}
		}
	}
}

func (x *Explanation) nearlyBy(s *sent, b *workflow.Bookmark) {
	kind, text := x.why(s, b)
	x.miss(s, b.ID, kind, text)
}

// why tells what keeps a stimulus of the right name from a bookmark.
func (x *Explanation) why(s *sent, b *workflow.Bookmark) (kind Cause, text string) {
	h := &x.Instance
	switch {
	case s.stimulus.InstanceID != "" && s.stimulus.InstanceID != h.ID:
		return CauseAddress, "it is for instance " + s.stimulus.InstanceID
	case s.stimulus.CorrelationID != "" && h.CorrelationID == "":
		return CauseCorrelation, fmt.Sprintf("it came for correlation %q, and this one has none", s.stimulus.CorrelationID)
	case s.stimulus.CorrelationID != "" && s.stimulus.CorrelationID != h.CorrelationID:
		return CauseCorrelation, fmt.Sprintf("it came for correlation %q, and this one has %q", s.stimulus.CorrelationID, h.CorrelationID)
	case s.where == "dead-letter" && !s.at.IsZero() && s.at.Before(b.CreatedAt):
		return CauseDeadLetter, fmt.Sprintf("it came %s before this one waited, and became a dead letter", about(b.CreatedAt.Sub(s.at))) + s.because()
	case s.where == "dead-letter":
		return CauseDeadLetter, "it became a dead letter" + s.because()
	}
	return CauseMail, "it is about to be taken"
}

// tell adds what holds up all work, and makes the sentence.
func (x *Explanation) tell(f *facts) *Explanation {
	because := x.Reasons
	x.Reasons = append(x.Reasons, x.aside...)
	if len(x.Incidents) > 0 && x.Incidents[0].Open && x.Instance.Status == workflow.StatusRunning && !x.says("retry") {
		x.advise(x.path("retry") + " makes the call again that failed, if it may")
	}
	if x.State == Waiting || x.State == Queued || x.State == Stuck {
		x.circumstances(f)
	}
	x.Summary = x.sentence(because, f.now)
	if len(x.NearMisses) > 0 && x.NearMisses[0].likely {
		x.Summary += "; nearly: " + x.NearMisses[0].told(f.now)
	}
	for _, r := range x.Reasons[len(because):] {
		x.Summary += "; " + r.Text
	}
	return x
}

// told is a near miss in a sentence.
func (m *NearMiss) told(now time.Time) string {
	where := "in the queue"
	switch m.Where {
	case "dead-letter":
		where = "among the dead letters"
	case "sent":
		return m.Text + " (" + stamp(m.CreatedAt) + ", " + about(now.Sub(m.CreatedAt)) + " ago)"
	}
	text := m.Text + " (" + where
	if !m.CreatedAt.IsZero() {
		text += ", since " + stamp(m.CreatedAt) + ", " + about(now.Sub(m.CreatedAt))
	}
	return text + ")"
}

func (x *Explanation) circumstances(f *facts) {
	if f.Paused {
		x.because(Reason{Kind: "paused", Text: "the cluster is paused: starts, events, timers and the queue wait", Key: f.Keys.Pause})
		x.first("POST /unpause")
		x.heldBy(CausePause)
	}
	if f.heldBack != "" {
		x.because(Reason{Kind: "full", Text: f.heldBack})
		if x.do(f.roomAdvice); f.full {
			x.heldBy(CauseSpace)
		}
	}
	x.clocks(f)
	if len(f.members) > 0 && !slices.ContainsFunc(f.members, func(n cluster.Node) bool { return !n.Draining }) {
		x.because(Reason{Kind: "drain", Text: "every node is draining, so that none takes new work"})
		x.first("start a node")
		x.heldBy(CauseDrain)
	}
}

// heldBy makes what holds up all work the cause, of what would go on without it.
func (x *Explanation) heldBy(c Cause) {
	if x.Cause != CauseNothing && x.Cause != CauseLostChild && x.Cause != CausePause {
		x.Cause = c
	}
}

func (x *Explanation) clocks(f *facts) {
	for _, id := range slices.Sorted(maps.Keys(f.skews)) {
		skew := f.skews[id]
		if skew.Abs() <= skewed {
			continue
		}
		way := "ahead of"
		if skew < 0 {
			way = "behind"
		}
		x.because(Reason{Kind: "clock", Object: id, Text: fmt.Sprintf("the clock of node %s is %s %s those of the others: it fires no timers, and those that it set are off by as much",
			id, skew.Abs().Round(time.Millisecond), way)})
		if x.Cause == CauseClock {
			x.first("set the clock of node " + id + " right")
		}
	}
}

// first puts what goes before all else.
func (x *Explanation) first(what string) {
	x.Next = append([]string{what}, x.Next[:min(len(x.Next), mostAdvice-1)]...)
}

// sentence joins the first reasons.
func (x *Explanation) sentence(because []Reason, now time.Time) string {
	const told = 3
	var parts []string
	for _, r := range because[:min(len(because), told)] {
		parts = append(parts, timed(r, now))
	}
	if x.State != Waiting && !(x.State == Stuck && len(x.Instance.Bookmarks) > 0) {
		if x.Doing != nil {
			return parts[0] + "; " + parts[1]
		}
		return parts[0]
	}
	text := "waits for " + strings.Join(parts, "; or for ")
	if more := len(because) + x.ReasonsLeft - told; more > 0 {
		text += fmt.Sprintf("; or for %d others", more)
	}
	if x.State == Stuck {
		text += "; nothing that is known will come"
	}
	return text
}

func timed(r Reason, now time.Time) string {
	text := r.Text
	switch {
	case !r.Until.IsZero() && r.Until.After(now):
		text += fmt.Sprintf(", in %s (%s)", about(r.Until.Sub(now)), stamp(r.Until))
	case !r.Until.IsZero():
		text += fmt.Sprintf(" (%s)", stamp(r.Until))
	case !r.Since.IsZero():
		text += fmt.Sprintf(", since %s (%s)", stamp(r.Since), about(now.Sub(r.Since)))
	}
	return text
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// about is a duration in one unit, as people say it.
func about(d time.Duration) string {
	switch d = max(0, d); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
