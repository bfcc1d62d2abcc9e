package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// persist repeats a call with its key, at one node after the other, until it is
// acknowledged. It may be called from any goroutine.
func (c *cluster) persist(t *testing.T, members []*member, path, body, key string) answer {
	t.Helper()
	var a answer
	for deadline, try := time.Now().Add(patience), 0; time.Now().Before(deadline); try++ {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Second)
		a = c.callContext(ctx, members[try%len(members)], "POST", path, body, "Idempotency-Key: "+key)
		cancel()
		if a.outcome == done {
			return a
		}
		if a.status >= 400 && a.status < 500 {
			break
		}
		time.Sleep(10 * time.Millisecond) // a client's pause between attempts
	}
	t.Errorf("POST %s %s: %s", path, body, a)
	return a
}

// Nodes are killed under load, one after the other, eight times: sixteen callers
// start instances that wait, and send each its event, but for every fourth. After
// that no instance waits without a bookmark, no bookmark is of an instance that
// does not wait, what was started is there, and each event had its effect once.
func TestE01_KilledUnderLoadNoInstanceIsLeftWithoutItsBookmark(t *testing.T) {
	t.Parallel()
	c := processes(t, "--session-ttl", shortTTL.String())
	c.publish(t, "id: w2\nvariables: {e: object}\nroot:\n  - setVariable: {variable: e, value: none}\n  - event: go\n    result: e\n  - writeLine: \"${{ variables.e.token }}\"\n")
	const callers = 16
	var mu sync.Mutex
	var sentTo, waiting []string // ids; guarded by mu
	kills := runs(t, 8)
	for kill := range kills {
		members := slices.Clone(c.live())
		var ops atomic.Int64
		over := make(chan struct{})
		var load sync.WaitGroup
		for w := range callers {
			load.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-over:
						return
					default:
					}
					id := fmt.Sprintf("i%d-%d-%d", kill, w, i)
					from := append(slices.Clone(members[(w+i)%3:]), members[:(w+i)%3]...)
					c.persist(t, from, "/api/v1/definitions/w2/execute", fmt.Sprintf(`{"instanceId": %[1]q, "correlationId": %[1]q}`, id), "start-"+id)
					send := i%4 != 3
					if send {
						c.persist(t, from[1:], "/api/v1/events/go", fmt.Sprintf(`{"correlationId": %q, "payload": {"token": "for %s"}}`, id, id), "go-"+id)
					}
					mu.Lock()
					if send {
						sentTo = append(sentTo, id)
					} else {
						waiting = append(waiting, id)
					}
					mu.Unlock()
					ops.Add(1)
				}
			})
		}
		polltest.Eventually(t, "the load runs", func() bool { return ops.Load() > 3*callers })
		members[0].kill(t)
		after := ops.Load()
		polltest.Eventually(t, "the load goes on", func() bool { return ops.Load() > after+2*callers })
		close(over)
		load.Wait()
		fresh := c.launch(t, fmt.Sprintf("fresh%d", kill), "--session-ttl", shortTTL.String())
		if fresh == nil {
			t.FailNow()
		}
		c.members = append(c.members, fresh)
	}
	t.Logf("%d kills; %d instances were sent their event, %d wait for it", kills, len(sentTo), len(waiting))
	if len(waiting) == 0 || len(sentTo) == 0 {
		t.Fatal("nothing was shown")
	}
	polltest.Eventually(t, "all that were sent their event finish", func() bool {
		return len(c.list(t, c.any(), "/api/v1/instances?subStatus=Finished")) == len(sentTo)
	})
	c.waitAtOneBookmark(t, waiting)
	c.fsckFindsNothing(t)

	concurrently(len(waiting), 8, func(i int) {
		id := waiting[i]
		if a := c.call(t, c.any(), "POST", "/api/v1/events/go", fmt.Sprintf(`{"correlationId": %q, "payload": {"token": "for %s"}}`, id, id)); !acknowledged(a) {
			t.Errorf("event: %s", a)
		}
	})
	all := append(slices.Clone(sentTo), waiting...)
	polltest.Eventually(t, "all finish", func() bool {
		return len(c.list(t, c.any(), "/api/v1/instances?subStatus=Finished")) == len(all)
	})
	concurrently(len(all), 8, func(i int) { c.wantLines(t, c.any(), all[i], "for "+all[i]) })
	c.nothingLeft(t)
	c.fsckFindsNothing(t)
	c.checkHistories(t)
}

// waitAtOneBookmark checks that the instances that run are these, and that each
// has one bookmark, and that there are no other bookmarks.
func (c *cluster) waitAtOneBookmark(t *testing.T, want []string) {
	t.Helper()
	var suspended []string
	for _, in := range c.list(t, c.any(), "/api/v1/instances?status=Running") {
		id, _ := in["instanceId"].(string)
		if in["subStatus"] != "Suspended" {
			t.Errorf("%s is %v", id, in["subStatus"])
		}
		suspended = append(suspended, id)
	}
	var marked []string
	for _, key := range c.keys(t) {
		if parts := strings.Split(key, "/"); parts[0] == "bookmark" {
			marked = append(marked, parts[len(parts)-2]) // bookmark/<hash>/<slice>/<id>/<bookmark>
		}
	}
	want = slices.Sorted(slices.Values(want))
	slices.Sort(suspended)
	slices.Sort(marked)
	if !slices.Equal(suspended, want) {
		t.Errorf("%d instances wait, want %d: %q and not %q", len(suspended), len(want), suspended, want)
	}
	if !slices.Equal(marked, want) {
		t.Errorf("%d bookmarks, want one for each of the %d that wait: %q and not %q", len(marked), len(want), marked, want)
	}
}

// A node is killed while it is inside of an activity of several instances at
// once, with the commit strategies that there are. Each goes on with another node
// within the session's TTL and two seconds; what was committed is not done again.
func TestE02ToE05_KilledInsideOfABurst(t *testing.T) {
	t.Parallel()
	c := processes(t, "--session-ttl", shortTTL.String())
	out := newOutside(t)
	steps := func(id, options, begin string) {
		c.publish(t, fmt.Sprintf("id: %s\n%sinputs: {url: string}\nroot:\n%s  - sendHttpRequest: \"${{ inputs.url }}/first\"\n  - writeLine: first\n"+
			"  - sendHttpRequest: \"${{ inputs.url }}/held\"\n  - writeLine: held\n", id, options, begin))
	}
	steps("burst", "", "")
	steps("later", "", "  - event: go\n")
	steps("each", "options: {commit: ActivityExecuted}\n", "")
	steps("begun", "options: {commit: WorkflowExecuting}\n", "")
	victim := c.members[0]
	body := func(id string) string {
		out.hold("/" + id + "/held")
		return fmt.Sprintf(`{"correlationId": %q, "input": {"url": "%s/%s"}}`, id, out.URL, id)
	}
	c.execute(t, c.any(), "later", "E03", body("E03"))
	var calls sync.WaitGroup
	defer calls.Wait()
	// Each call is answered with 202 when its work is durable, a second later.
	for _, how := range [][2]string{{"burst", "E02"}, {"each", "E04"}, {"begun", "E05"}} {
		calls.Go(func() { c.execute(t, victim, how[0], how[1], body(how[1])) })
	}
	calls.Go(func() {
		if a := c.event(t, victim, "go", "E03", "Idempotency-Key: E03"); kind(a) != "accepted" {
			t.Errorf("event: %s", a)
		}
	})
	calls.Wait()
	ids := []string{"E02", "E03", "E04", "E05"}
	for _, id := range ids {
		out.wait(t, "/"+id+"/held", 1)
		if c.holder(t, c.any(), id) != victim {
			t.Fatalf("%s is not in the hands of %s", id, victim.id)
		}
	}
	// And a start whose caller is told nothing, as the node dies before.
	unsaid := make(chan answer, 1)
	start := `{"correlationId": "unsaid", "input": {"url": "` + out.URL + `/unsaid"}}`
	out.hold("/unsaid/held")
	calls.Go(func() {
		unsaid <- c.call(t, victim, "POST", "/api/v1/definitions/burst/execute", start, "Idempotency-Key: unsaid")
	})
	out.wait(t, "/unsaid/held", 1)
	killed, bound := time.Now(), takeoverBound(t)
	victim.kill(t)
	t.Logf("the caller of the start that was not acknowledged hears: %s", <-unsaid)
	for _, id := range ids {
		c.waitFor(t, c.any(), id, "Finished")
	}
	took := time.Since(killed)
	t.Logf("all went on and finished %v after the kill", took.Round(time.Millisecond))
	if took > bound() {
		t.Errorf("it took %v, longer than session TTL + 2 s", took)
	}
	again := func(t *testing.T, path string, times int) {
		t.Helper()
		keys := out.keys(path)
		if len(keys) != times || keys[0] == "" || slices.ContainsFunc(keys, func(key string) bool { return key != keys[0] }) {
			t.Errorf("the outside saw the keys %q at %s, want the same one %d times", keys, path, times)
		}
	}
	// ran checks an instance that calls below a path; its first call was made so often.
	ran := func(t *testing.T, id, path string, first int) {
		t.Helper()
		c.wantLines(t, c.any(), id, "first", "held")
		again(t, path+"/first", first)
		again(t, path+"/held", 2)
		started := map[any]int{}
		for _, item := range c.journal(t, c.any(), id) {
			if item["event"] == "Started" {
				started[item["activityId"]]++
			}
		}
		for activity, n := range started {
			if n != 1 {
				t.Errorf("%s: %v is in the journal as started %d times", id, activity, n)
			}
		}
		if started["root"] != 1 {
			t.Errorf("%s: the root was started %d times", id, started["root"])
		}
	}
	t.Run("E02_TheFirstBurstIsDoneByAnother", func(t *testing.T) {
		ran(t, "E02", "/E02", 2)
		a := c.persist(t, c.live(), "/api/v1/definitions/burst/execute", start, "unsaid")
		c.waitFor(t, c.any(), a.text("instanceId"), "Finished")
		ran(t, a.text("instanceId"), "/unsaid", 2)
		if n := len(c.list(t, c.any(), "/api/v1/instances?correlationId=unsaid")); n != 1 {
			t.Errorf("%d instances were started with one key", n)
		}
	})
	t.Run("E03_TheEventOfALaterBurstIsNotLost", func(t *testing.T) {
		ran(t, "E03", "/E03", 2)
		if a := c.persist(t, c.live(), "/api/v1/events/go", `{"correlationId": "E03"}`, "E03"); a.outcomes()["E03"] == "" {
			t.Errorf("the event again: %s", a)
		}
		ran(t, "E03", "/E03", 2)
	})
	t.Run("E04_WithACommitAfterEachActivityOnlyTheLastIsRepeated", func(t *testing.T) { ran(t, "E04", "/E04", 1) })
	t.Run("E05_WithACommitAtTheBeginningItGoesOn", func(t *testing.T) { ran(t, "E05", "/E05", 2) })
	if dead := c.list(t, c.any(), "/api/v1/dead-letters"); len(dead) != 0 {
		t.Errorf("dead letters: %v", dead)
	}
	c.nothingLeft(t)
	c.fsckFindsNothing(t)
	c.checkHistories(t)
}

// fiveSteps takes five events, and calls the outside at the path of each.
const fiveSteps = `
id: steps
inputs: {url: string}
variables: {n: 0, e: object}
root:
  - while: ${{ variables.n < 5 }}
    body:
      - event: step
        result: e
      - setVariable: {variable: n, value: "${{ variables.n + 1 }}"}
      - sendHttpRequest: "${{ inputs.url + variables.e.path }}"
      - writeLine: "${{ variables.e.path }}"
`

// fiveStepsOf is an instance of fiveSteps whose owner gets lost in the second.
type fiveStepsOf struct {
	*cluster
	t    *testing.T
	out  *outside
	id   string
	sent sync.WaitGroup
}

// path is of a step's event, and where its activity calls.
func (f *fiveStepsOf) path(step int) string { return fmt.Sprintf("/%s/s%d", f.id, step) }

// step sends an event through these nodes, under its key.
func (f *fiveStepsOf) step(n int, members ...*member) answer {
	f.t.Helper()
	return f.persist(f.t, members, "/api/v1/events/step", fmt.Sprintf(`{"instanceId": %q, "payload": {"path": %q}}`, f.id, f.path(n)), fmt.Sprintf("%s-%d", f.id, n))
}

// inTheSecond starts an instance and sends it two events through one node, which
// then holds it, inside the activity of the second.
func (c *cluster) inTheSecond(t *testing.T, out *outside, id string, owner *member) *fiveStepsOf {
	t.Helper()
	f := &fiveStepsOf{cluster: c, t: t, out: out, id: id}
	t.Cleanup(f.sent.Wait)
	c.execute(t, owner, "steps", id, fmt.Sprintf(`{"input": {"url": %q}}`, out.URL))
	f.step(0, owner)
	out.hold(f.path(1))
	f.sent.Go(func() { f.step(1, owner) }) // answered with 202 after a second
	out.wait(t, f.path(1), 1)
	f.sent.Wait()
	if c.holder(t, c.any(), id) != owner {
		t.Fatalf("%s is not in the hands of %s", id, owner.id)
	}
	return f
}

// tookAll checks that each event had its effect once, in this order, as one of
// the nodes sees it.
func (f *fiveStepsOf) tookAll(m *member) {
	f.t.Helper()
	f.waitFor(f.t, m, f.id, "Finished")
	var want []string
	for n := range 5 {
		want = append(want, f.path(n))
	}
	f.wantLines(f.t, m, f.id, want...)
	for n := range 5 {
		keys, times := f.out.keys(f.path(n)), 1
		if n == 1 {
			times = 2 // by the owner, and by who took over
		}
		if len(keys) != times || keys[0] != keys[len(keys)-1] {
			f.t.Errorf("the outside saw the keys %q at %s", keys, f.path(n))
		}
	}
}

// The owner stands still past its session's end, inside of an activity; another
// goes on and takes more events, one of which was sent to the sleeping owner first;
// then the owner wakes, with the answer to its activity in hand. It overwrites
// nothing, repeats nothing, and no event is swallowed.
func TestE06_AWokenOwnerOverwritesNothing(t *testing.T) {
	t.Parallel()
	c := processes(t, "--session-ttl", shortTTL.String())
	out := newOutside(t)
	c.publish(t, fiveSteps)
	for run := range runs(t, 2) {
		owner := c.members[run%3]
		f := c.inTheSecond(t, out, fmt.Sprintf("woken%d", run), owner)
		lost := func() float64 {
			return c.metric(t, owner, "weft_commits_total", `outcome="fenced"`) + c.metric(t, owner, "weft_commits_total", `outcome="abandoned"`)
		}
		before := lost()
		owner.pause(t)
		out.release(f.path(1)) // the answer waits in the stopped process's socket
		others := c.others(owner)
		out.wait(t, f.path(1), 2)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if a := c.callContext(ctx, owner, "POST", "/api/v1/events/step", fmt.Sprintf(`{"instanceId": %q, "payload": {"path": %q}}`, f.id, f.path(2)), fmt.Sprintf("Idempotency-Key: %s-2", f.id)); a.outcome != unknown {
			t.Errorf("the stopped process answers: %s", a)
		}
		cancel()
		f.step(2, others...)
		c.waitForLines(t, others[0], f.id, 3)
		owner.proceed(t)
		f.step(3, others[1])
		c.waitForLines(t, others[0], f.id, 4)
		polltest.Eventually(t, "the owner's lost burst is counted", func() bool { return lost()-before >= 1 })
		f.step(4, owner, others[0])
		f.tookAll(others[1])
		polltest.Eventually(t, "the owner is back", func() bool { return c.call(t, owner, "GET", "/readyz", "").status == 200 })
		f.tookAll(owner)
		c.nothingLeft(t)
	}
	c.fsckFindsNothing(t)
	c.checkHistories(t)
}

// waitForLines waits until an instance has written so many lines.
func (c *cluster) waitForLines(t *testing.T, m *member, id string, n int) {
	t.Helper()
	polltest.Eventually(t, fmt.Sprintf("%s has written %d lines", id, n), func() bool { return len(c.lines(t, m, id)) >= n })
}

// The owner's session ends in etcd, without any pause, while the owner is inside
// of an activity whose answer comes at that moment: what it then commits is
// refused, another does it, and all go on together.
func TestE07_AnOwnerWhoseSessionEndedCommitsNothing(t *testing.T) {
	t.Parallel()
	c := inProcess(t, func(cfg *node.Config) { cfg.SessionTTL = shortTTL })
	out := newOutside(t)
	etcd := c.etcd.Client(t)
	c.publish(t, fiveSteps)
	for run := range runs(t, 6) {
		owner := c.members[run%3]
		f := c.inTheSecond(t, out, fmt.Sprintf("ended%d", run), owner)
		locks, err := etcd.Get(t.Context(), c.root()+"lock/", clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		var lease clientv3.LeaseID
		for _, kv := range locks.Kvs {
			if strings.Contains(string(kv.Key), "/"+f.id+"/") {
				lease = clientv3.LeaseID(kv.Lease)
			}
		}
		if lease == 0 {
			t.Fatalf("there is no lock of %s", f.id)
		}
		if _, err := etcd.Revoke(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		out.release(f.path(1))
		for n := 2; n < 5; n++ {
			f.step(n, c.members[(run+n)%3], c.members[(run+n+1)%3], c.members[(run+n+2)%3])
			c.waitForLines(t, c.others(owner)[0], f.id, n+1)
		}
		f.tookAll(c.others(owner)[1])
		for _, m := range c.members {
			polltest.Eventually(t, m.id+" is ready", func() bool { return c.call(t, m, "GET", "/readyz", "").status == 200 })
		}
	}
	if lost := c.total(t, "weft_commits_total", `outcome="fenced"`) + c.total(t, "weft_commits_total", `outcome="abandoned"`); lost < float64(runs(t, 6)) {
		t.Errorf("%v bursts were lost, want one in each run", lost)
	}
	c.nothingLeft(t)
	c.fsckFindsNothing(t)
	c.checkHistories(t)
}

// The owner stands still, and its session has not ended yet: whoever sends to the
// instance meanwhile does not wait for the lock. It is acknowledged while the
// owner still has it, and takes effect when another has taken over.
func TestE08_NobodyWaitsForTheLockOfAStoppedOwner(t *testing.T) {
	t.Parallel()
	const ttl = 10 * time.Second // the others are answered long before
	c := processes(t, "--session-ttl", ttl.String())
	out := newOutside(t)
	c.publish(t, fiveSteps)
	owner := c.members[0]
	f := c.inTheSecond(t, out, "stopped", owner)
	owner.pause(t)
	others := c.others(owner)
	answers := make([]answer, 3)
	atOnce(len(answers), func(i int) { answers[i] = f.step(2+i, others[i%2]) })
	holder := c.holder(t, others[0], f.id)
	for i, a := range answers {
		if !acknowledged(a) || a.status != 202 {
			t.Errorf("event %d: %s", 2+i, a)
		}
	}
	if holder != owner {
		t.Error("the owner's session has ended before all were answered: this shows nothing")
	}
	c.waitFor(t, others[1], f.id, "Finished")
	want := []string{f.path(0), f.path(1), f.path(2), f.path(3), f.path(4)}
	c.sameLines(t, others[0], f.id, want)
	owner.proceed(t)
	polltest.Eventually(t, "the owner is back", func() bool { return c.call(t, owner, "GET", "/readyz", "").status == 200 })
	c.sameLines(t, owner, f.id, want)
	c.nothingLeft(t)
	c.fsckFindsNothing(t)
	c.checkHistories(t)
}
