package etcdstore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/fsck"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/format"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// furnished is a sound world with what [sound] has none of.
func furnished(t *testing.T) *world {
	t.Helper()
	w := sound(t)
	w.ok(w.CheckFormat(w.ctx()))
	_, err := w.LinkKey(w.ctx(), bytes.Repeat([]byte{7}, resumelink.MinKey))
	w.ok(err)
	_, err = w.SetPaused(w.ctx(), true)
	w.ok(err)
	for _, content := range []string{"a", "b", "c"} { // the first is needed by nothing
		st, err := w.ReadDefinition(w.ctx(), "shop", content)
		w.ok(err)
		_, err = w.PublishDefinition(w.ctx(), st, store.DefinitionVersion{Hash: content, Source: content, VersionID: "v-" + content, Uses: []store.Use{{ID: "order", Version: 1}}}, definitions.Published{Name: "Shop", Index: store.DefinitionIndex{
			Triggers:  []store.TriggerEntry{{ActivityID: "a", ActivityType: workflow.EventType, Hash: hashOf("bought")}},
			Schedules: []store.CronEntry{{ActivityID: "c", ActivityType: "x", Kind: store.ScheduleCron, Expression: "0 0 0 1 1 *", Due: w.now.Add(time.Hour)}},
			Routes:    []store.RouteEntry{{ActivityID: "r", Hash: "h", Method: "GET", Template: "Shop/{id}"}},
		}}, w.now)
		w.ok(err)
	}
	targets := []store.Target{{Trigger: &store.TriggerRef{Hash: hashOf("bought"), DefinitionID: "shop", Version: 3, ActivityID: "a"}}}
	w.ok(w.PutSend(w.ctx(), store.Send{ID: "sent", Stimulus: event("bought"), Targets: append(targets, targets...), CreatedAt: w.now}, nil))
	_, err = w.raw.Put(w.ctx(), w.Keys.Sent("sent"), `{"done":1}`)
	w.ok(err)
	o := db.NewOps()
	w.PutDead(o, store.DeadLetter{ID: "dead", Reason: workflow.DeadExpired, CreatedAt: w.now})
	w.Conn.PutMail(o, "i", workflow.Command{ID: "m", Kind: workflow.CommandResume, Bookmark: "i~b", CreatedAt: w.now})
	w.Conn.PutMail(o, "i", workflow.Command{ID: "stop", Kind: workflow.CommandCancel, CreatedAt: w.now})
	_, err = w.raw.Txn(w.ctx()).Then(o.List()...).Commit()
	w.ok(err)
	return w
}

// only gives the one key below a prefix.
func (w *world) only(prefix string) string {
	w.tb.Helper()
	resp, err := w.raw.Get(w.ctx(), w.Keys.Root+prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	w.ok(err)
	if len(resp.Kvs) != 1 {
		w.tb.Fatalf("%d keys below %s", len(resp.Kvs), prefix)
	}
	return string(resp.Kvs[0].Key)
}

func (w *world) value(key string) []byte {
	w.tb.Helper()
	resp, err := w.raw.Get(w.ctx(), key)
	w.ok(err)
	if len(resp.Kvs) == 0 {
		return nil
	}
	return resp.Kvs[0].Value
}

func (w *world) spoil(key string, value []byte) (modified int64) {
	w.tb.Helper()
	resp, err := w.raw.Put(w.ctx(), key, string(value))
	w.ok(err)
	return resp.Header.Revision
}

func (w *world) fsck() *fsck.Check {
	w.tb.Helper()
	check, err := w.Fsck(w.ctx())
	w.ok(err)
	return check
}

// written tells the last change below the root.
func (w *world) written() [2]int64 {
	w.tb.Helper()
	resp, err := w.raw.Get(w.ctx(), w.Keys.Root, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	w.ok(err)
	last := int64(0)
	for _, kv := range resp.Kvs {
		last = max(last, kv.ModRevision)
	}
	return [2]int64{last, resp.Count}
}

func (w *world) locks() func(string) string {
	return func(id string) string { return w.Keys.Root + "lock/" + id + "/" }
}

// repaired repairs, and checks that it does so once.
func (w *world) repaired() *fsck.Repairs {
	w.tb.Helper()
	done, err := w.Repair(w.ctx(), w.locks())
	w.ok(err)
	before := w.written()
	again, err := w.Repair(w.ctx(), w.locks())
	w.ok(err)
	if now := w.written(); now != before || len(again.Done) > 0 {
		w.tb.Errorf("a second repair wrote (%v, now %v) and did %+v", before, now, again.Done)
	}
	return done
}

// rules are the rules of findings, but for what is passing.
func rules(check *fsck.Check) []string {
	out := []string{}
	for _, f := range check.Bad() {
		out = append(out, f.Rule)
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// What is damaged is one finding, with its key; looking writes nothing; it is set
// aside as it was or made again, all else fits then, and a second repair does nothing.
func TestWhatIsDamagedIsRepaired(t *testing.T) {
	t.Parallel()
	bomb, huge := db.Encoder.EncodeAll(bytes.Repeat([]byte{'x'}, db.MaxDecoded+1), nil), []byte(random(1_500_000))
	forms := map[string]func(old []byte) []byte{
		"cut":    func(old []byte) []byte { return old[:len(old)*2/3] },
		"shape":  func([]byte) []byte { return []byte(`["junk"]`) },
		"object": func([]byte) []byte { return []byte(`{}`) },
		"bytes":  func([]byte) []byte { return []byte("junk\x00\xff") },
		"empty":  func([]byte) []byte { return nil },
		"bomb":   func([]byte) []byte { return bomb },
		"huge":   func([]byte) []byte { return huge },
	}
	for kind, tt := range map[string]struct {
		key  func(w *world) string
		made bool     // again, and nothing is kept aside
		left []string // rules of what people have to do
		not  string   // a form that is no damage
	}{
		"instance":           {key: func(w *world) string { return w.Keys.Instance("i") }},
		"parent":             {key: func(w *world) string { return w.Keys.Instance("p") }},
		"child":              {key: func(w *world) string { return w.Keys.Instance("j") }},
		"journal":            {key: func(w *world) string { return w.Keys.Journal("i", 1) }},
		"bookmark":           {key: func(w *world) string { return w.Keys.Bookmark(hashOf("approved"), "c", "i~b") }, made: true},
		"timer":              {key: func(w *world) string { return w.Keys.Timer("i~t", timerDue) }, made: true},
		"mail":               {key: func(w *world) string { return w.Keys.Mail("i", "m") }},
		"cancel's mail":      {key: func(w *world) string { return w.Keys.Mail("i", "stop") }},
		"start":              {key: func(w *world) string { return w.Keys.Mail("j", "s") }},
		"continue":           {key: func(w *world) string { return w.Keys.Mail("k", workflow.ContinueID) }},
		"queue item":         {key: func(w *world) string { return w.only("queue/" + hashOf("nothing")) }},
		"gated":              {key: func(w *world) string { return w.only("queue/~gated/") }},
		"send record":        {key: func(w *world) string { return w.Keys.Send("sent") }},
		"count of a send":    {key: func(w *world) string { return w.Keys.Sent("sent") }, not: "object"},
		"dead letter":        {key: func(w *world) string { return w.Keys.Dead("dead") }},
		"gate":               {key: func(w *world) string { return w.only("gate/") }, made: true},
		"head":               {key: func(w *world) string { return w.Keys.Head("shop") }},
		"version":            {key: func(w *world) string { return w.Keys.Body("shop", 1) }},
		"version of a child": {key: func(w *world) string { return w.Keys.Body("order", 1) }, made: true, left: []string{"damaged"}},
		"published version":  {key: func(w *world) string { return w.Keys.Body("shop", 3) }, made: true, left: []string{"damaged"}},
		"content":            {key: func(w *world) string { return w.Keys.Content("shop", "b") }, made: true},
		"reference":          {key: func(w *world) string { return w.Keys.VersionID("v-b", "shop") }, made: true},
		"index":              {key: func(w *world) string { return w.Keys.Indexed("shop") }, made: true, not: "object"},
		"trigger":            {key: func(w *world) string { return w.only("trigger/") }, left: []string{"trigger-missing"}},
		"route":              {key: func(w *world) string { return w.only("route/") }, left: []string{"trigger-missing"}},
		"schedule":           {key: func(w *world) string { return w.only("cron/") }},
		"format":             {key: func(w *world) string { return w.Keys.Format() }},
		"key of links":       {key: func(w *world) string { return w.Keys.Links() }},
		"pause":              {key: func(w *world) string { return w.Keys.Pause() }},
	} {
		for form, spoil := range forms {
			if large := form == "bomb" || form == "huge"; form == tt.not || large && !slices.Contains([]string{"instance", "bookmark", "mail", "head", "gate"}, kind) {
				continue
			}
			t.Run(kind+"/"+form, func(t *testing.T) {
				t.Parallel()
				w := furnished(t)
				if found := w.fsck().Findings; len(found) > 0 {
					t.Fatalf("before: %+v", found)
				}
				key := tt.key(w)
				value := spoil(w.value(key))
				modified := w.spoil(key, value)
				name := strings.TrimPrefix(key, w.Keys.Root)

				before := w.written()
				check := w.fsck()
				if now := w.written(); now != before {
					t.Error("looking writes")
				}
				if len(check.Findings) != 1 || check.Findings[0].Rule != "damaged" || check.Findings[0].Key != name || check.Findings[0].Detail == "" {
					t.Errorf("found %+v", check.Findings)
				}
				done := w.repaired()
				if got := rules(done.Check); !slices.Equal(got, append([]string{}, tt.left...)) {
					t.Errorf("left: %+v", done.Check.Findings)
				}
				var kept []byte
				for part := range 3 {
					kept = append(kept, w.value(w.Keys.Aside(key, modified, part))...)
				}
				if some := w.has("damaged/") > 0; some && !bytes.Equal(kept, value) || some == tt.made && kind != "gate" {
					t.Errorf("%d keys aside, %d bytes of %d", w.has("damaged/"), len(kept), len(value))
				}
			})
		}
	}
}

// What a newer program wrote is no damage, is told, and is no ground to repair by.
func TestWhatANewerProgramWroteIsNotRepaired(t *testing.T) {
	t.Parallel()
	for kind, key := range map[string]func(w *world) string{
		"instance":    func(w *world) string { return w.Keys.Instance("i") },
		"mail":        func(w *world) string { return w.Keys.Mail("i", "m") },
		"queue item":  func(w *world) string { return w.only("queue/" + hashOf("nothing")) },
		"send record": func(w *world) string { return w.Keys.Send("sent") },
		"dead letter": func(w *world) string { return w.Keys.Dead("dead") },
		"bookmark":    func(w *world) string { return w.Keys.Bookmark(hashOf("approved"), "c", "i~b") },
		"timer":       func(w *world) string { return w.Keys.Timer("i~t", timerDue) },
		"head":        func(w *world) string { return w.Keys.Head("shop") },
		"version":     func(w *world) string { return w.Keys.Body("shop", 1) },
		"index":       func(w *world) string { return w.Keys.Indexed("shop") },
		"age":         func(w *world) string { w.later(time.Hour); return w.Keys.Age() },
		"balance": func(w *world) string {
			w.spoil(w.Keys.Balance(), encoded(w.tb, &store.Balance{}))
			return w.Keys.Balance()
		},
		"position": func(w *world) string {
			ok, err := w.Webhooks.PutWebhook(w.ctx(), &store.Webhook{Name: "newer", On: []store.WebhookKind{store.WebhookEnded}})
			if w.ok(err); !ok {
				w.tb.Fatal("it was not put")
			}
			return w.Keys.WebhookAt("newer")
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := furnished(t)
			at := key(w)
			value := append([]byte(`{"newer":{"x":1},`), w.value(at)[1:]...)
			w.spoil(at, value)
			check := w.fsck()
			if len(check.Bad()) > 0 || len(check.Findings) != 1 || check.Findings[0].Rule != "unavailable-here" {
				t.Errorf("found %+v", check.Findings)
			}
			if kind == "instance" { // what follows from it is not made again either
				_, err := w.raw.Delete(w.ctx(), w.Keys.Timer("i~t", timerDue))
				w.ok(err)
			}
			before := w.written()
			done := w.repaired()
			if w.written() != before || !bytes.Equal(w.value(at), value) {
				t.Errorf("it was touched: %+v", done.Done)
			}
		})
	}
	t.Run("format", func(t *testing.T) {
		t.Parallel()
		w := furnished(t)
		w.spoil(w.Keys.Format(), fmt.Appendf(nil, `{"version":%d,"shards":64,"timerShards":16}`, format.ThisFormat.Version+1))
		w.spoil(w.Keys.Instance("i"), []byte("junk"))
		before := w.written()
		if got := rules(w.repaired().Check); !slices.Equal(got, []string{"format"}) || w.written() != before {
			t.Errorf("found %v, wrote since %v", got, before)
		}
	})
	t.Run("state", func(t *testing.T) {
		t.Parallel()
		w := furnished(t)
		w.withState("i", `{"v":99,"x":[]}`)
		if found := w.fsck().Findings; len(found) > 0 {
			t.Errorf("found %+v", found)
		}
	})
}

// withState gives an instance a state.
func (w *world) withState(id, state string) {
	w.tb.Helper()
	rec := w.record(id)
	rec.State = json.RawMessage(state)
	raw, err := db.Encode(rec)
	w.ok(err)
	w.spoil(w.Keys.Instance(id), raw)
}

// An instance whose state is none is removed with what its header says.
func TestAnInstanceWithoutAStateIsRemoved(t *testing.T) {
	t.Parallel()
	for _, state := range []string{`"junk"`, `{}`, `{"v":"x"}`, `[1]`, `7`} {
		w := furnished(t)
		w.withState("i", state)
		if found := w.fsck().Findings; len(found) != 1 || found[0].Key != "instance/i" || found[0].Follows == 0 {
			t.Errorf("%s: found %+v", state, found)
		}
		if got := rules(w.repaired().Check); len(got) > 0 {
			t.Errorf("%s: left %v", state, got)
		}
		for _, prefix := range []string{"instance/i", "journal/i/", "task/", "timer/", "mailbox/" + record.ShardOf("i") + "/i/"} {
			w.want(prefix, 0)
		}
		w.want("damaged/instance/i@", 1)
		w.want("damaged/journal/i/", 1)
	}
}

// What does not fit and has one right state is put right.
func TestWhatDoesNotFitIsRepaired(t *testing.T) {
	t.Parallel()
	for rule, spoil := range misfitsAnd(map[string]func(w *world) (del, put string){
		"timer-without-bookmark":      func(w *world) (string, string) { return "", w.Keys.Timer("i~x", timerDue) },
		"journal-without-instance":    func(w *world) (string, string) { return "", w.Keys.Journal("nobody", 1) },
		"gate-not-known":              func(w *world) (string, string) { return "", w.Keys.Gate("shop", "") },
		"interrupt-without-command":   func(w *world) (string, string) { return "", w.Keys.Cancel("k") },
		"count-without-stimulus":      func(w *world) (string, string) { return "", w.Keys.Sent("nothing") },
		"schedule-without-definition": func(w *world) (string, string) { return "", w.Keys.Cron("nothing", "a", timerDue) },
	}) {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			w := furnished(t)
			whole := w.dump()
			del, put := spoil(w)
			if del != "" {
				_, err := w.raw.Delete(w.ctx(), del)
				w.ok(err)
			}
			value := "{}"
			switch rule {
			case "gate-not-known":
				value = "i"
			case "timer-without-bookmark":
				value = `{"instance":"i","bookmark":"i~x"}`
			}
			if put != "" {
				w.spoil(put, []byte(value))
			}
			if got := rules(w.fsck()); !slices.Contains(got, rule) {
				t.Errorf("found %v", got)
			}
			done := w.repaired()
			if got := rules(done.Check); len(got) > 0 || len(done.Done) == 0 {
				t.Errorf("left %+v, done %+v", done.Check.Findings, done.Done)
			}
			switch rule {
			case "bookmark-missing", "timer-missing", "index-missing", "task-missing", "user-task-missing", "shape-missing", "use-missing", "queue-item-without-mark", // all is as it was
				"bookmark-without-instance", "timer-without-bookmark", "index-outdated", "task-outdated", "user-task-outdated", "gate-not-known", "interrupt-without-command", "use-without-version":
				if now := w.dump(); !maps.Equal(now, whole) {
					t.Errorf("it is not as it was: %v", now)
				}
			}
		})
	}
}

// A parent hears how its child ended, if that is known.
func TestAParentIsToldAgain(t *testing.T) {
	t.Parallel()
	w := furnished(t)
	c := w.next("j", w.lock("j", "1"))
	c.After.Header.Status, c.After.Header.SubStatus, c.After.Header.Output = workflow.StatusFinished, workflow.Finished, map[string]any{"n": "7"}
	w.consumes(c)
	c.Release = true
	w.commit(c)
	check := w.repaired()
	if len(check.Done) != 1 || check.Done[0].Rule != "bookmark-without-child" {
		t.Fatalf("done %+v", check.Done)
	}
	mail := w.mailOf("p")
	if len(mail) != 1 || mail[0].Command.Kind != workflow.CommandChildEnd || mail[0].Command.Input["WorkflowSubStatus"] != string(workflow.Finished) || mail[0].Command.Input["WorkflowOutput"] == nil {
		t.Errorf("mail %+v", mail)
	}
}

// What was too large is a dead letter, and its instance waits on for the replay of it:
// nothing is wrong. A letter that cannot be replayed moves nothing.
func TestADeadLetterIsWhatAnInstanceWaitsFor(t *testing.T) {
	t.Parallel()
	for rule, lose := range map[string]func(w *world) (string, workflow.Command){
		"timer-missing": func(w *world) (string, workflow.Command) {
			_, err := w.raw.Delete(w.ctx(), w.Keys.Timer("i~t", timerDue))
			w.ok(err)
			return "i", workflow.Command{ID: "timer-" + workflow.DeriveID("i~t"), Kind: workflow.CommandResume, Timer: true, Bookmark: "i~t", CreatedAt: w.now}
		},
		"bookmark-without-child": func(w *world) (string, workflow.Command) {
			c := w.next("j", w.lock("j", "1"))
			c.After.Header.Status, c.After.Header.SubStatus = workflow.StatusFinished, workflow.Finished
			w.consumes(c)
			c.Release = true
			w.commit(c)
			return "p", record.ChildEnd("p~end", "j", workflow.Finished, nil, w.now)
		},
	} {
		for what, tt := range map[string]struct {
			of, command string // of another one, if given
			dropped     *store.Dropped
			sound       bool
		}{
			"it": {sound: true}, "without what it brought": {dropped: &store.Dropped{Bytes: 9}},
			"of another instance": {of: "k"}, "of another command": {command: "x"},
		} {
			t.Run(rule+"/"+what, func(t *testing.T) {
				t.Parallel()
				w := furnished(t)
				id, cmd := lose(w)
				cmd.ID = cmp.Or(tt.command, cmd.ID)
				o := db.NewOps()
				w.PutDead(o, store.DeadLetter{ID: record.DeadID(id, &cmd), Reason: workflow.DeadTooLarge, Command: &cmd, InstanceID: cmp.Or(tt.of, id), Dropped: tt.dropped, CreatedAt: w.now})
				_, err := w.raw.Txn(w.ctx()).Then(o.List()...).Commit()
				w.ok(err)
				want := []string{rule}
				if tt.sound {
					want = nil
				}
				if got := rules(w.fsck()); !slices.Equal(got, want) {
					t.Errorf("found %v, want %v", got, want)
				}
			})
		}
	}
}

// Children of an instance that is removed are named, and run on.
func TestChildrenOfADamagedInstanceAreNamed(t *testing.T) {
	t.Parallel()
	w := furnished(t)
	w.spoil(w.Keys.Instance("p"), []byte("junk"))
	done := w.repaired()
	if len(done.Done) != 1 || !strings.Contains(done.Done[0].Hint, "child j runs on") {
		t.Errorf("done %+v", done.Done)
	}
	w.want("instance/j", 1)
}

// Each repair compares what it was judged by: what moved since is left as it is.
func TestARepairLeavesWhatMoved(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		spoil, move func(w *world)
	}{
		"a timer that fired": {
			func(w *world) { _, err := w.raw.Delete(w.ctx(), w.Keys.Timer("i~t", timerDue)); w.ok(err) },
			func(w *world) {
				o := db.NewOps()
				w.Conn.PutMail(o, "i", workflow.Command{ID: "timer-" + workflow.DeriveID("i~t"), Kind: workflow.CommandResume, Timer: true, Bookmark: "i~t", CreatedAt: w.now})
				_, err := w.raw.Txn(w.ctx()).Then(o.List()...).Commit()
				w.ok(err)
			},
		},
		"an instance that went on": {
			func(w *world) { _, err := w.raw.Delete(w.ctx(), w.taskOf("i~task")); w.ok(err) },
			func(w *world) { w.spoil(w.Keys.Instance("i"), w.value(w.Keys.Instance("i"))) },
		},
		"a record that was put back": {
			func(w *world) { w.spoil(w.Keys.Dead("dead"), []byte("junk")) },
			func(w *world) { w.spoil(w.Keys.Dead("dead"), []byte(`{"id":"dead","reason":"expired"}`)) },
		},
		"a damaged instance that somebody holds": {
			func(w *world) { w.spoil(w.Keys.Instance("i"), []byte("junk")) },
			func(w *world) { w.lock("i", "1") },
		},
		"a damaged instance that is whole again": {
			func(w *world) { w.spoil(w.Keys.Instance("i"), []byte("junk")) },
			func(w *world) { w.spoil(w.Keys.Instance("i"), []byte(`{"header":{"instanceId":"i"}}`)) },
		},
		"an instance without a start that got one": {
			func(w *world) { _, err := w.raw.Delete(w.ctx(), w.Keys.Mail("j", "s")); w.ok(err) },
			func(w *world) { w.spoil(w.Keys.Instance("j"), w.value(w.Keys.Instance("j"))) },
		},
		"a head that was written": {
			func(w *world) { w.spoil(w.Keys.Head("shop"), []byte("junk")) },
			func(w *world) { w.spoil(w.Keys.Head("shop"), []byte(`{"id":"shop"}`)) },
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := furnished(t)
			tt.spoil(w)
			check := w.fsck()
			todo := fsck.ToRepair(check)
			if len(todo) != 1 {
				t.Fatalf("found %+v", check.Findings)
			}
			tt.move(w)
			before := w.dump()
			done, err := w.Mend(w.ctx(), todo, w.locks())
			w.ok(err)
			now := w.dump()
			maps.DeleteFunc(now, func(key, _ string) bool { return strings.HasPrefix(key, record.AsideDir) }) // a copy, at most
			if len(done) > 0 || !maps.Equal(now, before) {
				t.Errorf("done %v; it is now %v", done, now)
			}
		})
	}
}

// An instance keeps mail that only another version can read, and so stays.
func TestMailOfANewerProgramKeepsItsInstance(t *testing.T) {
	t.Parallel()
	w := furnished(t)
	w.spoil(w.Keys.Instance("i"), []byte("junk"))
	at := w.Keys.Mail("i", "m")
	whole := w.value(at)
	for _, value := range []string{`{"newer":1,` + string(whole[1:]), strings.Replace(string(whole), `"resume"`, `"newer"`, 1)} {
		if value == string(whole) {
			t.Fatalf("%s", whole)
		}
		w.spoil(at, []byte(value))
		if got := rules(w.repaired().Check); !slices.Equal(got, []string{"damaged"}) {
			t.Errorf("left %v", got)
		}
		w.want("instance/i", 1)
		w.want("mailbox/"+record.ShardOf("i")+"/i/m", 1)
	}
	w.spoil(at, whole)
	if got := rules(w.repaired().Check); len(got) > 0 {
		t.Errorf("left %v", got)
	}
}

// What says the format is made again only where all else fits it.
func TestTheFormatIsMadeAgainOnlyIfAllFitsIt(t *testing.T) {
	t.Parallel()
	w := furnished(t)
	w.spoil(w.Keys.Format(), []byte("junk"))
	w.spoil(w.Keys.Dead("dead"), []byte("junk")) // damage is no sign of another format
	moved := strings.Replace(w.Keys.Mail("i", "m"), "mailbox/"+record.ShardOf("i"), "mailbox/zz", 1)
	w.spoil(moved, w.value(w.Keys.Mail("i", "m"))) // mail in another shard is
	before := w.written()
	if w.repaired(); w.written() != before {
		t.Error("something was repaired")
	}
	_, err := w.raw.Delete(w.ctx(), moved)
	w.ok(err)
	if got := rules(w.repaired().Check); len(got) > 0 {
		t.Errorf("left %v", got)
	}
	w.ok(w.CheckFormat(w.ctx()))
}

// A key of links that is none is refused, and says what to do.
func TestAKeyOfLinksThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	w := furnished(t)
	for _, value := range []string{"junk", "{}", `{"key":"AAAA"}`} {
		w.spoil(w.Keys.Links(), []byte(value))
		if key, err := w.LinkKey(w.ctx(), bytes.Repeat([]byte{8}, resumelink.MinKey)); err == nil || !strings.Contains(err.Error(), "weft fsck --repair") {
			t.Errorf("%s: %x, %v", value, key, err)
		}
	}
	w.repaired()
	if key, err := w.LinkKey(w.ctx(), nil); err != nil || len(key) < resumelink.MinKey || bytes.Equal(key, bytes.Repeat([]byte{7}, resumelink.MinKey)) {
		t.Errorf("%x, %v", key, err)
	}
}

// A head that is made again gives no version's number a second time, and nothing
// starts by it until a version is published.
func TestAHeadThatIsMadeAgainKnowsAllVersions(t *testing.T) {
	t.Parallel()
	w := furnished(t)
	w.spoil(w.Keys.Head("shop"), []byte("junk"))
	done := w.repaired()
	if len(done.Done) != 1 || !strings.Contains(done.Done[0].Hint, `"version": 3`) {
		t.Errorf("done %+v", done.Done)
	}
	for _, prefix := range []string{"trigger/", "route/", "cron/", "definition-index/"} {
		w.want(prefix, 0)
	}
	st, err := w.ReadDefinition(w.ctx(), "shop", "d")
	w.ok(err)
	if st.Head.Published != 0 || st.Head.Latest != 3 || st.Head.LatestHash != "c" || st.Head.Deleted != nil {
		t.Errorf("head %+v", st.Head)
	}
	head, err := w.PublishDefinition(w.ctx(), st, store.DefinitionVersion{Hash: "d", Source: "d"}, definitions.Published{}, w.now)
	if w.ok(err); head.Published != 4 {
		t.Errorf("it is published as %d", head.Published)
	}

	w = furnished(t)
	w.spoil(w.Keys.Head("shop"), []byte("junk"))
	for n := range 3 { // of what was deleted long ago the content says that it was there
		_, err := w.raw.Delete(w.ctx(), w.Keys.Body("shop", n+1))
		w.ok(err)
	}
	w.repaired()
	if h, err := w.Definitions.Head(w.ctx(), "shop"); err != nil || h.Deleted == nil || h.Latest != 3 {
		t.Errorf("%+v, %v", h, err)
	}
}

// Many small findings are repaired in few transactions, each by what it was judged by: what moves meanwhile keeps none of
// the others back.
func TestManyFindingsAreRepairedTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 120
	w.wide("wide", n)
	moved := w.Keys.Bookmark(hashOf("e7"), "", "wide~b7")
	theirs := string(w.value(moved))
	for key := range w.dump() {
		if strings.HasPrefix(key, "bookmark/") || strings.HasPrefix(key, "task/") || strings.HasPrefix(key, "timer/") {
			w.del(w.Keys.Root + key)
		}
	}
	sent := 0
	w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if !c.Mutating {
			return false
		}
		if sent++; sent == 1 {
			if _, err := w.raw.Put(t.Context(), moved, theirs); err != nil {
				t.Error(err)
			}
		}
		return false
	}})
	done, err := w.Repair(w.ctx(), w.locks())
	w.ok(err)
	if found := 3*n - 1; len(done.Done) != found || sent > found/fsck.MostMends+3 {
		t.Errorf("%d repairs of %d in %d transactions", len(done.Done), found, sent)
	}
	if got := rules(done.Check); len(got) > 0 || string(w.value(moved)) != theirs {
		t.Errorf("left: %v", got)
	}
	w.want("bookmark/", n)
	w.want("task/", n)
}

// A repair that fills half a transaction has one of its own, wherever it stands among the others.
func TestALargeRepairHasATransactionOfItsOwn(t *testing.T) {
	t.Parallel()
	of := func(key string, bytes int) *fsck.Finding {
		m := &fsck.Mend{Ops: db.NewOps()}
		m.Ops.PutRaw(key, make([]byte, bytes))
		return &fsck.Finding{Key: key, Mend: m}
	}
	todo := []*fsck.Finding{of("a", 1), of("b", 800<<10), of("c", 1), of("d", 1300<<10), of("e", 800<<10), of("f", 1)}
	var all []string
	for want := []string{"a", "b", "c", "d", "e", "f"}; len(todo) > 0; {
		some, rest := fsck.Together(todo)
		if len(some) == 0 || len(some)+len(rest) != len(todo) {
			t.Fatalf("%d and %d of %d", len(some), len(rest), len(todo))
		}
		for _, n := range some {
			all = append(all, n.Key)
		}
		if todo = rest; len(todo) == 0 && !slices.Equal(all, want) {
			t.Errorf("%v, want %v", all, want)
		}
	}
}
