package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// facts are what was read.
type facts struct {
	*store.Situation
	claims   []cluster.Holder
	members  []cluster.Node
	self     string
	skew     time.Duration // of the clock of this node
	holds    bool          // this node works the instance
	doing    *engine.Doing // what the owner is at; nil: not known
	unasked  error         // why the owner could not be asked
	history  *History
	heldBack string // why this node takes no new work for want of space; ""
	now      time.Time
	sent     []sent // newest first
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

// longHeld is from when on a burst is said to take long.
const longHeld = 30 * time.Second

// skewed is how much a clock may be off: nodes leave timers alone beyond it.
const skewed = 2 * time.Second

// judge explains an instance. The order is by what moves it first: its end, its
// owner, its mail, and then what it waits for.
func judge(id string, f *facts) *Explanation {
	x := &Explanation{Instance: workflow.Instance{ID: id}, Revision: f.Revision, At: f.now, MailLeft: f.MailLeft}
	x.takeClaims(f)
	x.takeMail(f)
	if f.Damage != nil {
		x.State = Damaged
		x.because(Reason{Kind: "damaged", Text: "its record cannot be read: " + f.Damage.Error(), Key: f.Keys.Instance})
		x.do("run weft fsck: it names the cause, and weft fsck --repair sets the record aside")
		return x.tell(f)
	}
	x.Instance = f.Record.Header
	x.takeHistory(f.history)
	if f.Commit != nil {
		x.Commit = &Commit{f.Commit.Seq, f.Commit.Fence, f.Commit.At}
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
	default:
		x.State = Stuck
		x.because(Reason{Kind: "none", Text: fmt.Sprintf("it is %s and has no work, waits for nothing, and nobody runs it", h.SubStatus), Since: h.UpdatedAt, Key: f.Keys.Instance})
		x.do("run weft fsck, which names an instance without a cause; then POST /instances/" + h.ID + "/cancel, or delete it")
	}
	return x.tell(f)
}

func (x *Explanation) because(r Reason) { x.Reasons = append(x.Reasons, r) }
func (x *Explanation) do(what string)   { x.Next = append(x.Next, what) }
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
		x.Owner, x.Waiters, x.Doing = &x.Waiters[0], x.Waiters[1:], f.doing
	case f.holds: // a node that is alone takes no locks
		x.Owner, x.Doing = &Claim{Node: f.self, Self: true}, f.doing
	}
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
		x.State = Finished
		x.because(Reason{Kind: "none", Text: "it is " + strings.ToLower(string(h.SubStatus)), Since: end, Key: f.Keys.Instance})
		return
	}
	x.State = Faulted
	text := "it is faulted"
	if n := len(h.Incidents); n > 0 {
		i := &h.Incidents[n-1]
		text = fmt.Sprintf("activity %s failed: %s", i.ActivityID, oneLine(i.Message))
		end = i.Time
	}
	x.because(Reason{Kind: "incident", Text: text, Since: end, Key: f.Keys.Instance})
	x.do("mend the cause, then " + x.path("retry"))
}

func (x *Explanation) running(f *facts) {
	x.State = Running
	o := x.Owner
	r := Reason{Kind: "lock", Text: "node " + cmp.Or(o.Node, "of an unknown name") + " runs it", Since: o.Since, Object: o.Node}
	if len(f.claims) > 0 {
		r.Key = f.claims[0].Fence.Key
	}
	long := !o.Since.IsZero() && f.now.Sub(o.Since) > longHeld
	switch {
	case o.Gone:
		r.Text = "node " + o.Node + " had it and is gone: its lock ends with its session, and another node goes on"
		if long {
			x.do("nothing for as long as the session's TTL; after that look at GET /nodes and at etcd's health")
		}
	case o.Draining:
		r.Kind, r.Text = "drain", "node "+o.Node+" runs it and is draining: it ends this burst, or leaves it to another node"
	case long:
		r.Text += ", in one burst for " + about(f.now.Sub(o.Since)) + ": an activity waits for the outside, or computes"
	}
	if f.unasked != nil {
		r.Text += "; it could not be asked what it is at"
	}
	x.because(r)
	if d := x.Doing; d != nil {
		at := Reason{Kind: "activity", Text: "it is at activity " + plain(d.ActivityID) + " (" + plain(d.ActivityType) + ")", Since: d.Since, Object: d.ActivityID}
		if d.Attempt > 1 {
			at.Text += fmt.Sprintf(", attempt %d", d.Attempt)
		}
		x.because(at)
		long = f.now.Sub(d.Since) > longHeld
	}
	if long && !o.Gone {
		x.do(x.path("cancel") + " ends it after the activity that runs now")
	}
	x.cancelled(f)
	if n := int64(len(x.Mail)) + x.MailLeft; n > 0 {
		x.because(Reason{Kind: "mail", Text: fmt.Sprintf("%s for what it does next", commands(n)), Since: x.Mail[0].CreatedAt, Key: f.Keys.Mailbox})
	}
}

func (x *Explanation) cancelled(f *facts) {
	if f.Cancel != "" {
		x.because(Reason{Kind: "cancel", Text: "it is to be cancelled or deleted, which takes effect between two activities", Key: f.Keys.Cancel, Object: f.Cancel})
	}
}

func (x *Explanation) queued(f *facts) {
	x.State = Queued
	first := &x.Mail[0]
	r := Reason{Kind: "mail", Key: f.Keys.Mailbox, Object: first.ID, Since: first.CreatedAt,
		Text: fmt.Sprintf("%s to be run, the first is %s", commands(int64(len(x.Mail))+x.MailLeft), cmp.Or(first.Kind, "one that this node's program cannot read"))}
	if first.Attempts > 0 {
		r.Text += fmt.Sprintf(", which %d nodes took over and did not finish", first.Attempts)
		x.do("look into the nodes' logs for what ended them: a command that ends a node is given up after some times")
	}
	if !first.CreatedAt.IsZero() && f.now.Sub(first.CreatedAt) > overdue && !f.Paused && f.heldBack == "" {
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
	looked := map[string]bool{} // for near misses, by hash: one of a name stands for all
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
		alive := true
		switch {
		case b.Child() != "":
			alive = x.child(&r, b, children[b.Child()])
			x.advise("GET /instances/" + url.PathEscape(b.Child()) + "/explain")
		case b.Retry() != nil:
			alive = x.retry(&r, b, f)
		case b.DueAt != nil && b.ActivityType != workflow.EventType:
			alive = x.timer(&r, b, f)
		case b.ActivityType == workflow.EventType:
			r.Kind, r.Text = "event", "event "+plain(b.Name)
			if h.CorrelationID != "" {
				r.Text += ", correlation " + plain(h.CorrelationID)
			}
			x.nearly(b, f, looked)
			x.advise(sendEvent(b.Name, h.CorrelationID))
		case b.ActivityType == workflow.TaskType:
			r.Kind, r.Text = "task", "a worker that does task "+plain(b.Name)
			x.advise("GET /tasks names the task; its worker reports the result")
		default:
			r.Kind, r.Text = "stimulus", plain(b.ActivityType)+" "+plain(b.Name)
			if workflow.EndpointOf(b) != nil {
				r.Kind, r.Text = "endpoint", "a request "+plain(b.Name)
			}
			x.nearly(b, f, looked)
		}
		hope = hope || alive
		x.because(r)
	}
	if !hope {
		x.State = Stuck
	}
	x.ownLetters(f)
	slices.SortStableFunc(x.Reasons, func(a, b Reason) int { return cmp.Compare(rank(a), rank(b)) })
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
	body, _ := json.Marshal(map[string]string{"correlationId": correlation}) // two texts
	return path + " " + string(body)
}

// rank puts what somebody has to do before what comes by itself.
func rank(r Reason) int {
	if r.Kind == "timer" {
		return 1
	}
	return 0
}

func (x *Explanation) child(r *Reason, b *workflow.Bookmark, c *store.ChildState) (alive bool) {
	id := b.Child()
	r.Kind, r.Object = "child", id
	r.Text = fmt.Sprintf("the end of its child %s (%s)", plain(id), plain(b.Name))
	switch {
	case c == nil: // beyond those that are looked into
		return true
	case c.Header == nil:
		r.Text += ", which is gone or cannot be read"
		return false
	case c.Header.Status == workflow.StatusFinished:
		r.Text += ", which is " + strings.ToLower(string(c.Header.SubStatus)) + " and whose end is on its way"
		if n := len(c.Header.Incidents); n > 0 && c.Header.SubStatus == workflow.Faulted {
			r.Text += ": " + oneLine(c.Header.Incidents[n-1].Message)
		}
	default:
		r.Text += ", which is " + strings.ToLower(string(c.Header.SubStatus))
	}
	return true
}

func (x *Explanation) timer(r *Reason, b *workflow.Bookmark, f *facts) (alive bool) {
	r.Kind, r.Text = "timer", "its "+strings.ToLower(cmp.Or(b.Name, "timer"))
	late := f.now.Add(-f.skew).Sub(*b.DueAt)
	if late < lateAfter {
		return true
	}
	r.Text += fmt.Sprintf(", which was due %s ago", about(late))
	return late < overdue || f.Paused || f.heldBack != "" || f.skew.Abs() > skewed
}

// retry is a pause between two attempts.
func (x *Explanation) retry(r *Reason, b *workflow.Bookmark, f *facts) (alive bool) {
	next := b.Retry()
	count := fmt.Sprintf("attempt %d", next.Attempt)
	if next.Attempts > 0 {
		count += fmt.Sprintf(" of %d", next.Attempts)
	}
	alive = b.DueAt == nil || x.timer(r, b, f)
	late := strings.TrimPrefix(r.Text, "its "+strings.ToLower(b.Name))
	r.Kind, r.Text = "retry", fmt.Sprintf("%s of activity %s%s; the one before failed: %s", count, plain(next.Activity), late, oneLine(next.Error))
	x.advise("POST /bookmarks/" + url.PathEscape(b.ID) + "/resume tries it now")
	return alive
}

// ownLetters are the dead letters of this very instance.
func (x *Explanation) ownLetters(f *facts) {
	for i := range f.sent {
		if s := &f.sent[i]; s.instance == x.Instance.ID {
			x.miss(s, "", fmt.Sprintf("it is a dead letter of this instance (%s)", s.reason))
		}
	}
}

// mostMisses bounds the near misses of one explanation.
const mostMisses = 10

func (x *Explanation) miss(s *sent, bookmark, text string) {
	if len(x.NearMisses) == mostMisses || slices.ContainsFunc(x.NearMisses, func(m NearMiss) bool { return m.Where == s.where && m.ID == s.id }) {
		return
	}
	x.NearMisses = append(x.NearMisses, NearMiss{Where: s.where, ID: s.id, Bookmark: bookmark, Name: eventName(s.stimulus), CorrelationID: s.stimulus.CorrelationID,
		InstanceID: s.stimulus.InstanceID, CreatedAt: s.at, Text: text})
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

// nearly looks for what almost met a bookmark.
func (x *Explanation) nearly(b *workflow.Bookmark, f *facts, looked map[string]bool) {
	if looked[b.Hash] || len(looked) == mostMarks || len(x.NearMisses) == mostMisses {
		return
	}
	looked[b.Hash] = true
	for i := range f.sent {
		s := &f.sent[i]
		if s.stimulus.ActivityType != b.ActivityType {
			continue
		}
		if s.hash == b.Hash {
			x.miss(s, b.ID, x.why(s, b))
		} else if name := eventName(s.stimulus); name != "" && workflow.Nearest(name, []string{b.Name}) != "" {
			x.miss(s, b.ID, fmt.Sprintf("it came as %q, and this one waits for %q", name, b.Name))
		}
	}
	for _, q := range f.Queued {
		if q.Hash != b.Hash {
			continue
		}
		s := &sent{where: "queue", id: q.ID, stimulus: &workflow.Stimulus{ActivityType: b.ActivityType, Payload: b.Payload, CorrelationID: q.CorrelationID, InstanceID: q.InstanceID}}
		x.miss(s, b.ID, x.why(s, b))
	}
}

// why tells what keeps a stimulus of the right name from a bookmark.
func (x *Explanation) why(s *sent, b *workflow.Bookmark) string {
	h := &x.Instance
	switch {
	case s.stimulus.InstanceID != "" && s.stimulus.InstanceID != h.ID:
		return "it is for instance " + s.stimulus.InstanceID
	case s.stimulus.CorrelationID != "" && h.CorrelationID == "":
		return fmt.Sprintf("it came for correlation %q, and this one has none", s.stimulus.CorrelationID)
	case s.stimulus.CorrelationID != "" && s.stimulus.CorrelationID != h.CorrelationID:
		return fmt.Sprintf("it came for correlation %q, and this one has %q", s.stimulus.CorrelationID, h.CorrelationID)
	case s.where == "dead-letter" && !s.at.IsZero() && s.at.Before(b.CreatedAt):
		return fmt.Sprintf("it came %s before this one waited, and became a dead letter (%s)", about(b.CreatedAt.Sub(s.at)), s.reason)
	case s.where == "dead-letter":
		return fmt.Sprintf("it became a dead letter (%s)", s.reason)
	}
	return "it is about to be taken"
}

// tell adds what holds up all work, and makes the sentence.
func (x *Explanation) tell(f *facts) *Explanation {
	because := x.Reasons
	if x.State == Waiting || x.State == Queued || x.State == Stuck {
		x.circumstances(f)
	}
	x.Summary = x.sentence(because, f.now)
	for _, r := range x.Reasons[len(because):] {
		x.Summary += "; " + r.Text
	}
	return x
}

func (x *Explanation) circumstances(f *facts) {
	if f.Paused {
		x.because(Reason{Kind: "paused", Text: "the cluster is paused: starts, events, timers and the queue wait", Key: f.Keys.Pause})
		x.do("POST /unpause")
	}
	if f.heldBack != "" {
		x.because(Reason{Kind: "full", Text: f.heldBack})
		x.do("make room in etcd: docs/runbooks has the page")
	}
	if f.skew.Abs() > skewed {
		way := "ahead of"
		if f.skew < 0 {
			way = "behind"
		}
		x.because(Reason{Kind: "clock", Text: fmt.Sprintf("the clock of node %s is %s %s those of the others: it leaves timers to them", f.self, f.skew.Abs().Round(time.Millisecond), way), Object: f.self})
	}
	if len(f.members) > 0 && !slices.ContainsFunc(f.members, func(n cluster.Node) bool { return !n.Draining }) {
		x.because(Reason{Kind: "drain", Text: "every node is draining, so that none takes new work"})
		x.do("start a node")
	}
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
	if more := len(because) - told; more > 0 {
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
