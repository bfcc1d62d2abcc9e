package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// patch takes away one guard that is no compare of the store. What it replaces
// stands exactly once in its file; a test of this package says if it does not any
// more.
type patch struct {
	guard    string // what is taken away, in words, for the table
	file     string
	old, now string
	pkg      string // of the tests that must fail
	run      string // which of them; "" is all
}

const (
	inCluster = "./pkg/cluster"
	inGroup   = "./pkg/cluster/groupcommit"
	inStore   = "./pkg/store/etcdstore"
	inClient  = "./pkg/client"
	inRuntime = "./pkg/runtime"
	inCatalog = "./pkg/catalog"
)

// patches; note n is that of the etcd notes (pkg/cluster/doc.go).
var patches = []patch{
	{"note 1: a process-local lock in front of the mutex, which is re-entrant per session", "pkg/cluster/locks.go",
		"if !e.local.TryLock(r.key) {\n\t\t\treturn nil, l.heldHere", "if !e.local.TryLock(r.key) && false {\n\t\t\treturn nil, l.heldHere", inCluster, "TestNote01"},
	{"note 2: an acquisition without an answer keeps the name closed until its key is gone", "pkg/cluster/cleanup.go",
		"\ts.cleanUp(e, r.key, r.rev)\n}", "\te.local.Unlock(r.key)\n}", inCluster, "TestNote02|TestNote03"},
	{"note 2: a clean-up goes on until etcd has said that the key is gone", "pkg/cluster/cleanup.go",
		"\t\tif gone {\n", "\t\tif gone || err != nil {\n", inCluster, "TestAnUnknownRelease|TestNote02"},
	{"notes 2, 4: the janitor", "pkg/cluster/run.go",
		"\tloops.Go(func() { s.janitor(ctx, e) })\n", "", inCluster, "TestNote02|TestNote04"},
	{"note 2: the janitor leaves alone what somebody here holds", "pkg/cluster/janitor.go",
		"if !e.local.TryLock(key) {", "if !e.local.TryLock(key) && false {", inCluster, "TestNote02"},
	{"note 3: the mutex's own clean-up ends with the context of the acquisition", "pkg/cluster/ride.go",
		"client := clientv3.NewCtxClient(ctx,", "client := clientv3.NewCtxClient(context.WithoutCancel(ctx),", inCluster, "TestNote03|TestNote04"},
	{"notes 3, 25: every call has a deadline", "pkg/cluster/errors.go",
		"\treturn context.WithTimeoutCause(ctx, callTimeout, errNoAnswer)\n", "\treturn context.WithCancel(ctx)\n", inCluster, "TestNote0[23]|TestNote12|TestCloseDoesNot|TestAnUnknownRelease"},
	{"note 5: a try puts no key where somebody has one", "pkg/cluster/ride.go",
		"\tif r.try {\n", "\tif r.try && false {\n", inCluster, "TestNote05"},
	{"note 5: a refusal is confirmed by reading the holder", "pkg/cluster/locks.go",
		"if held.Confirmed || i == tries ||", "if true || i == tries ||", inCluster, "TestNote05"},
	{"notes 4, 6: after a wait the owner is the oldest", "pkg/cluster/ride.go",
		",\n\t\t\tclientv3.Compare(clientv3.CreateRevision(r.prefix), \">\", r.rev-1).WithPrefix()).", ").", inCluster, "TestNote04|TestNote06|TestNote10|TestReads"},
	{"note 7: a release deletes the key of its own acquisition only", "pkg/cluster/ride.go",
		"\t\tIf(clientv3.Compare(clientv3.CreateRevision(key), \"=\", rev)).\n\t\tThen(clientv3.OpDelete(key)).", "\t\tThen(clientv3.OpDelete(key)).", inCluster, "TestNote07"},
	{"note 8: the fence is the create revision of the key", "pkg/cluster/ride.go",
		"r.rev = mine.CreateRevision", "r.rev = resp.Header.Revision", inCluster, "TestALeftover|TestNote08"},
	{"note 9: names hold no slash", "pkg/cluster/names.go",
		"fmt.Fprintf(&b, \"%%%02X\", c)", "fmt.Fprintf(&b, \"%c\", c)", inCluster, "TestN"},
	{"note 10: watches end when their member loses its leader", "pkg/cluster/errors.go",
		"{ return clientv3.WithRequireLeader(ctx) }", "{ _ = clientv3.WithRequireLeader; return ctx }", inCluster, "TestNote10"},
	{"note 12: after a pause the epoch is not believed in", "pkg/cluster/epoch.go",
		"return e.ctx.Err() == nil && time.Since", "return e.ctx.Err() == nil || time.Since", inCluster, "TestNote12"},
	{"note 12: without renewals the epoch ends", "pkg/cluster/run.go",
		"\t\t\treturn fmt.Sprintf(\"no renewal for a whole TTL of %v\", e.TTL)\n", "", inCluster, "TestNote12"},
	{"note 13: the granted TTL counts, not the one that was asked for", "pkg/cluster/session.go",
		"ttl := time.Duration(granted.TTL) * time.Second", "ttl := s.cfg.TTL", inCluster, "TestNote13"},
	{"note 15: with the epoch the contexts of its locks end", "pkg/cluster/epoch.go",
		"\te.cancelLock(lockCause)\n", "", inCluster, "TestNote12|TestNote15|TestRunEnds|TestALock"},
	{"note 15: a lost session is rebuilt as a new epoch", "pkg/cluster/run.go",
		"s.begin(ctx, old.Number+1)", "s.begin(ctx, old.Number)", inCluster, "TestNote15"},
	{"an unknown release keeps the name closed until the key is gone", "pkg/cluster/lock.go",
		"\t\t\tl.s.cleanUp(l.e, l.fence.Key, l.fence.Revision)\n\t\t\tl.err", "\t\t\tl.e.local.Unlock(l.fence.Key)\n\t\t\tl.err", inCluster, "TestAnUnknownRelease"},
	{"nobody joins beside a node that joined since the look", "pkg/cluster/register.go",
		",\n\t\t\t// No node joined since the look. On an empty range this holds.\n\t\t\tclientv3.Compare(clientv3.CreateRevision(s.nodesPrefix()), \"<\", seen.rev+1).WithPrefix()).", ").", inCluster, "TestNodesThatStart|TestALocalNode"},
	{"a second live node of one id is refused", "pkg/cluster/register.go",
		"if r.modRev != 0 && (r.lease", "if false && (r.lease", inCluster, "TestASecond"},
	{"the sweep behind the watch of the members", "pkg/cluster/members.go",
		"context.WithTimeout(requireLeader(ctx), jitter(membersSweep))", "context.WithTimeout(requireLeader(ctx), 100*jitter(membersSweep))", inCluster, "TestTheSweepFinds"},

	{"a cancel does not take away the retry of a faulted instance", "pkg/engine/loop.go",
		"(b.header.SubStatus != workflow.Faulted || cmd.Kind == workflow.CommandCancel) {", "b.header.SubStatus != workflow.Faulted {", "./pkg/activities", "TestCancelOfAFaulted"},
	{"an input that the activity does not know burns no bookmark", "pkg/runtime/instances.go",
		"if d == nil || d.Type != activityType || d.Resume == nil {", "if true || d == nil || d.Type != activityType || d.Resume == nil {", "./pkg/httpapi", "TestWhatWould"},
	{"an imported header names only its own instance", "pkg/client/burst.go",
		"if why := x.unfit(&in.Instance); why != \"\" {", "if why := x.unfit(&in.Instance); why != \"\" && false {", "./pkg/httpapi", "TestWhatWould"},
	{"a page of values ends at its bytes", "pkg/store/etcdstore/pages.go",
		"if b.values > 0 && b.taken+size > PageBytes {", "if false && b.taken+size > PageBytes {", inStore, "TestPagesAreBounded"},
	{"the sweep of the queue reads keys", "pkg/store/etcdstore/queue.go",
		"s.page(ctx, \"list queue\", s.keys.queues()+shard, cursor, limit, clientv3.WithKeysOnly())", "s.page(ctx, \"list queue\", s.keys.queues()+shard, cursor, limit)", inRuntime, "TestTheSweepOfTheQueue"},
	{"without space a delete is not refused with the put that shares its proposal", "pkg/cluster/groupcommit/batch.go",
		"\tcase errors.Is(err, rpctypes.ErrNoSpace):\n\t\tb.tellFull(err)\n", "", inGroup, "TestDeletesComeThrough"},
	{"note 18: requests that share a proposal do not write the same", "pkg/cluster/groupcommit/footprint.go",
		"!t.writes.overlapAny(f.writes) && ", "", inGroup, ""},
	{"note 18: none writes what an earlier one reads", "pkg/cluster/groupcommit/footprint.go",
		" && !t.reads.overlapAny(f.writes)", "", inGroup, ""},
	{"note 18: none reads what an earlier one writes", "pkg/cluster/groupcommit/footprint.go",
		" && !t.writes.overlapAny(f.reads)", "", inGroup, ""},
	{"note 18: branches that are not taken count", "pkg/cluster/groupcommit/footprint.go",
		"[][]clientv3.Op{then, other}", "[][]clientv3.Op{then}", inGroup, ""},
	{"note 18: compares count as reads", "pkg/cluster/groupcommit/footprint.go",
		"\t\tf.reads = append(f.reads, spanOf(c.GetKey(), c.GetRangeEnd()))\n", "", inGroup, ""},
	{"note 20: a refused proposal is sent again one by one", "pkg/cluster/groupcommit/batch.go",
		"\tcase refused(err):\n", "\tcase refused(err) && false:\n", inGroup, ""},

	{"a start in hand goes on with what its twin made", "pkg/store/etcdstore/fenced.go",
		"\t\t\t\t*fresh = *made\n", "\t\t\t\t_ = made\n", inStore, "TestAStartInHandGoesOn"},
	{"note 17: what does not fit on a level is nested", "pkg/store/etcdstore/ops.go",
		"levelBudget = 128", "levelBudget = 4096", inStore, "TestDefinitions|Limit|Large|Many|Wide|Size"},
	{"note 19: one operation a key", "pkg/store/etcdstore/ops.go",
		"if i, ok := o.places[key]; ok {", "if i, ok := o.places[key]; ok && false {", inStore, "TestDefinitions|TestCommands|TestEvery"},
	{"notes 22, 24: what is not a definite refusal is unknown", "pkg/store/etcdstore/store.go",
		"\treturn fmt.Errorf(\"%w: %w\", ErrUnknown, err)\n", "\treturn err\n", inStore, "TestEvery"},
	{"note 23: the commit's id in the journal proves that it was applied", "pkg/store/etcdstore/judge.go",
		"\t\tif e.Commit == c.ID {\n\t\t\treturn &store.Committed{Resolved: true, Modified", "\t\tif false {\n\t\t\treturn &store.Committed{Resolved: true, Modified", inStore, "TestClassification|TestEvery"},
	{"another commit of the same number is no proof", "pkg/store/etcdstore/judge.go",
		"\t\tif e.Commit == c.ID {\n\t\t\treturn &store.Committed{Resolved: true, Modified", "\t\tif true {\n\t\t\treturn &store.Committed{Resolved: true, Modified", inStore, "TestClassification"},
	{"a lock that is gone is told from a breach", "pkg/store/etcdstore/judge.go",
		"\t\t\treturn nil, metrics.CommitFenced, store.ErrFenced\n\t\t}\n\t}\n", "\t\t}\n\t}\n", inStore, "TestClassification|TestWithout"},

	{"a commit without an answer is sent again as it is", "pkg/client/commit.go",
		"\t\t\treturn retry.RetryableError(last)\n", "\t\t\treturn last\n", inClient, "TestLostAnswers"},
	{"answers are given before late durability may look", "pkg/client/commit.go",
		"\t\th.serve(x, after)\n\t}\n\tif errors.Is(err, store.ErrStale)", "\t\tdefer h.serve(x, after)\n\t}\n\tif errors.Is(err, store.ErrStale)", inClient, "TestACommittedCommand"},
	{"a call that gives up frees its twin", "pkg/client/late.go",
		"\t\t\tw.finish(Result{}, ErrBusy)\n", "", inClient, "TestACallThatGivesUp"},
	{"a call whose twin is in the mailbox is not taken back", "pkg/client/late.go",
		"\tif w.taken || w.created > 0 {\n", "\tif w.taken {\n", inClient, "TestOnlyACallWithoutMail"},
	{"a call whose twin is mail is judged as mail", "pkg/client/burst.go",
		"inHand := w != nil && created == 0", "inHand := w != nil", inClient, "TestACallWhoseTwinIsMail"},
	{"what was accepted is not judged as a call, whenever it was accepted", "pkg/client/commit.go",
		"\tx.leaveMail()\n", "", inClient, "TestTwinsAreNotTold"},
	{"what came to nothing is not part of a burst that goes on", "pkg/client/commit.go",
		"\t\tif s.nothing() { // whatever", "\t\tif false { // whatever", inClient, "TestACallThatFindsNothingIsNot"},
	{"commands that are too much for one commit together go in several", "pkg/client/batch.go",
		"\tif n < 2 {\n", "\tif n > 0 {\n", inClient, "TestABurstThatIsTooLarge"},
	{"what is in hand is not run as mail too", "pkg/client/batch.go",
		"endsFirst(h.withoutTwins(mail))", "endsFirst(mail)", inClient, "TestACallWhoseTwinIsMail"},
	{"a process that is there is no death", "pkg/client/deaths.go",
		"if d := n.cfg.Gone(b.Process); d > 0 && b.Process", "if d := n.cfg.Gone(b.Process) + time.Hour; b.Process", inClient, "TestWhatIsNoDeath"},
	{"a death counts only when it is sure", "pkg/client/deaths.go",
		"left > 0 {\n", "left > 1<<62 {\n", inClient, "TestACommandThatEnds"},
	{"who gives a command up takes its mark back", "pkg/client/holding.go",
		"\th.takeBackMark(ctx) // before others have the instance\n", "", inClient, "TestLostSessionsAndDrains"},
	{"marks are old after a while", "pkg/client/deaths.go",
		"return now.Sub(b.At) > markLife", "return now.Sub(b.At) > 1000*markLife", inClient, "TestWhatIsNoDeath"},
	{"an instance faults without what it cannot go on without", "pkg/client/deaths.go",
		"\tif !held(&cmd) {\n", "\tif true {\n", inClient, "TestACommandThatEnds"},
	{"while a start rests only what ends the instance goes on", "pkg/client/deaths.go",
		"blocked = blocked || begins(m.Command.Kind)", "_ = begins", inClient, "TestWhatRests"},
	{"a process that takes a command over marks it", "pkg/client/deaths.go",
		"\tcmd.Begun = append(cmd.Begun, workflow.Begun{", "\t_ = append(cmd.Begun, workflow.Begun{", inClient, "TestProcessesThatEnd"},
	{"an attempt is taken back only if nobody counted another", "pkg/store/etcdstore/fenced.go",
		"[]clientv3.Cmp{modifiedAt(key, counted)},", "[]clientv3.Cmp{exists(key)},", inStore, "TestALateCopy"},
	{"a command is replayed for an instance that is there", "pkg/store/etcdstore/lists.go",
		"exists(s.keys.instance(d.InstanceID)), absent(mail), absent(void)}", "absent(mail), absent(void)}", inStore, "TestReplaysOf"},
	{"what fits nowhere leaves the mailbox without a write of its instance", "pkg/client/failure.go",
		"\t\treturn h.oneByOne(ctx, x, c.Consumed)\n", "\t\treturn batch{}, false, h.fail(nil, err)\n", inRuntime, "TestWhatFitsNowhere"},
	{"what comes too late is a dead letter, however large", "pkg/client/commit.go",
		"ErrTooLarge) && x.buries():", "ErrTooLarge) && x.buries() && false:", inRuntime, "TestWhatFitsNowhere"},
	{"a dead letter always fits", "pkg/store/etcdstore/dead.go",
		"len(raw) > maxDead {", "len(raw) > 100*maxDead {", inStore, "TestADeadLetterAlwaysFits"},
	{"mail is set aside only where its instance is as it was loaded", "pkg/store/etcdstore/fenced.go",
		"\t\tstands = modifiedAt(s.keys.instance(id), base.Modified)\n", "\t\tstands = exists(s.keys.instance(id))\n", inStore, "TestWhatMovedIsRefused"},
	{"an import shares no burst", "pkg/client/batch.go",
		"return c.Kind == workflow.CommandImport", "return false", inClient, "TestAnImportSharesNoBurst"},
	{"commits on the way are blind for queued stimuli", "pkg/client/commit.go",
		"\t\th.blind = true\n", "", inClient, "TestStimuliQueuedBefore"},
	{"a deletion waits for the children", "pkg/client/burst.go",
		"if out == engine.CommitFirst {", "if out == \"never\" {", inRuntime, "TestDeletingAParent"},
	{"a command whose bookmark is gone goes back to the queue", "pkg/client/burst.go",
		"\t\tx.requeue = append(x.requeue, store.QueueItem{ID: id, Stimulus: st, Trace: x.trace})\n", "\t\t_ = st\n", inClient, "TestOneOfSeveral"},
	{"one of several goes back to its instance only", "pkg/client/burst.go",
		"\t\tif cmd.Several {\n", "\t\tif false {\n", inClient, "TestOneOfSeveral"},
	{"takeovers of a command are counted", "pkg/client/deaths.go",
		"\tcmd.Attempts++\n\tcmd.Begun = slices", "\tcmd.Begun = slices", inClient, "TestATakeoverIsCounted"},
	{"a queued stimulus that was met is claimed until etcd has said so", "pkg/client/queue.go",
		"tries == insistTries", "true", inClient, "TestAQueuedStimulus"},
	{"a commit that goes on leaves work in the mailbox", "pkg/client/commit.go",
		"\tif x.goOn {\n\t\tc.Continue = ", "\tif false {\n\t\tc.Continue = ", inClient, "TestCommitsThatDoNot"},

	{"the queue is swept when a node vanishes", "pkg/runtime/queue.go",
		"vanished.Store(true)", "vanished.Store(false)", inRuntime, "TestAnEventThatWasMet"},
	{"the sweep of the mailboxes behind the hints", "pkg/runtime/mailboxes.go",
		"\t\t\t\tr.cfg.Work.add(e.InstanceID, true)\n", "", inRuntime, "TestTheSweepFinds"},
	{"a fixed list starts what it saw", "pkg/runtime/sends.go",
		"\t\t\tds[i].New.Trigger = nil\n", "\t\t\t_ = i\n", inRuntime, "TestAFixedList"},
	{"a fixed list starts what it saw behind a gate", "pkg/runtime/sends.go",
		"\t\tp.trigger = nil\n", "", inRuntime, "TestAFixedList"},
	{"the shape of an endpoint is put with its bookmark", "pkg/store/etcdstore/endpoints.go",
		"\t\to.putRaw(s.keys.shape(e.Method, e.Template), nil)\n", "\t\t_ = e\n", inRuntime, "TestEveryEndpoint"},
	{"the shape of an endpoint is put with its route", "pkg/store/etcdstore/definitions_index.go",
		"\t\tc.ops.putRaw(s.keys.shape(r.Method, r.Template), nil)\n", "", inRuntime, "TestEndpointLimits"},
	{"an endpoint's answer is found when nothing waits there any more", "pkg/runtime/endpoint.go",
		"\tcase at == nil && req.Key != nil:\n", "\tcase false:\n", inRuntime, "TestARepeatFindsItsAnswer"},
	{"templates are bounded", "pkg/activities/http_endpoint.go",
		"\tif err := workflow.CheckRouteSize(t); err != nil {\n\t\treturn err\n\t}\n", "", inRuntime, "TestAPathBeyondTheLimits"},
	{"an item is put with a mark of its slice", "pkg/store/etcdstore/queue.go",
		"\tif item.Held == nil {\n\t\to.putRaw(s.keys.mark", "\tif false {\n\t\to.putRaw(s.keys.mark", inStore, "TestFsck|TestWhoTakesTheLast|TestNoStimulus"},
	{"only the last of a slice takes its marks", "pkg/store/etcdstore/release.go",
		"if len(slice.Kvs) == 1 && !slice.More && len(items) > n {", "if len(items) > n {", inStore, "TestWhoTakesTheLast"},
	{"what is too much is not read", "pkg/store/etcdstore/look.go",
		"\tif first.Count > MaxTargets {", "\tif false {", inStore, "TestOfTooMany"},
	{"an accepted start whose gate is held waits", "pkg/runtime/sends.go",
		"\t\tif !free {\n", "\t\tif !free && false {\n", inRuntime, "TestAnAcceptedEventWaits"},
	{"the only target of a stimulus keeps its id behind a gate", "pkg/runtime/sends.go",
		"\tif len(send.Targets) > 1 {\n\t\titem.ID", "\tif true {\n\t\titem.ID", inRuntime, "TestAnAcceptedEventWaits"},
	{"who frees a gate looks behind it", "pkg/client/commit.go",
		"\t\tn.cfg.Freed(*g)\n", "", inRuntime, "TestManyEventsForOneSingleton"},
	{"a sweep looks behind the gates that a dead node freed", "pkg/runtime/gates.go",
		"\t\t\tr.cfg.Work.Freed(g)\n", "\t\t\t_ = g\n", inRuntime, "TestAGateThatADeadNode"},
	{"what waited too long behind a gate is for that start only", "pkg/store/etcdstore/gated.go",
		"d.Reason, d.Targets = store.DeadGated, []store.Target{{Trigger: &h.Trigger}}", "d.Reason = store.DeadGated", inRuntime, "TestAnEventThatWaitedTooLong"},
	{"a sweep looks only behind gates that nobody holds", "pkg/store/etcdstore/gated.go",
		"\t\t\tif r.GetResponseRange().Count == 0 {\n\t\t\t\tfreed", "\t\t\tif r != nil {\n\t\t\t\tfreed", inStore, "TestGatesAreFound"},
	{"what waits for a queued event and is another program's holds up no other", "pkg/runtime/queue.go",
		"\t\tif workflow.CodeOf(err) == workflow.CodeNotRunnable {\n", "\t\tif false {\n\t\t\t_ = workflow.CodeNotRunnable\n", inRuntime, "TestWhatAnotherProgramWrote"},
	{"a send record that meets what is another program's is left to that", "pkg/runtime/sends.go",
		"\tif workflow.CodeOf(err) == workflow.CodeNotRunnable {\n", "\tif false {\n", inRuntime, "TestWhatAnotherProgramWrote"},
	{"an import that no live node can read is refused", "pkg/runtime/instances.go",
		"\tif err := r.importable(ctx, &in); err != nil {\n\t\treturn StateExport{}, err\n\t}\n", "", inRuntime, "TestAnImportThatNobody"},
	{"what cannot be read holds up nobody behind its gate", "pkg/store/etcdstore/gated.go",
		"\t\t\tif bad == nil {\n\t\t\t\tbad = fmt.Errorf(\"queue item", "\t\t\tif err != nil {\n\t\t\t\treturn held, nil, err, nil\n\t\t\t}\n\t\t\tif bad == nil {\n\t\t\t\tbad = fmt.Errorf(\"queue item", inStore, "TestAnItemThatCannotBeRead"},
	{"what is too large for one slice goes in smaller ones", "pkg/runtime/sends.go",
		"\t\tcase n == 1:\n", "\t\tdefault:\n", inRuntime, "TestALarge"},
	{"a clock that is off fires nothing", "pkg/runtime/timers.go",
		"skew > maxSkew || skew < -maxSkew", "skew > 1000*maxSkew", inRuntime, "TestANodeWithAWrongClock"},
	{"who joins others compares its clock first", "pkg/cluster/clock.go",
		"m.compared = m.compared || alone", "m.compared = true", inCluster, "TestWhoJoinsOthers"},
	{"finished instances go by their age", "pkg/runtime/retention.go",
		"\t\tis := age.Of(f.Created)\n", "\t\tis := time.Since(f.At)\n\t\t_ = age\n", inRuntime, "TestEachKind"},
	{"what the order of the ends hides is found", "pkg/runtime/retention.go",
		"old := keep.Finished > 0 && has > keep.Finished", "old := false", inRuntime, "TestAClockThatIsBehind"},
	{"dead letters go by their age", "pkg/runtime/retention.go",
		"age.Of(all[n].Created) > keep.DeadLetters", "age != nil", inRuntime, "TestEachKind"},
	{"queued events go by their age", "pkg/runtime/expiry.go",
		"return q.Created > revision", "return false", inRuntime, "TestQueuedEventsExpire"},
	{"records go by their age", "pkg/store/etcdstore/records.go",
		"return kv.ModRevision > over.upTo", "return false", inStore, "TestExpiryGoes"},
	{"versions go an hour after they were retired", "pkg/store/etcdstore/definitions_versions.go",
		"age.Of(since) >= versionsSettle", "age.Of(since) >= 0", inRuntime, "TestVersionsThatNothingNeedsGo"},
	{"a retired version is not begun with", "pkg/store/etcdstore/definitions_versions.go",
		" && resp.Responses[2].GetResponseRange().Count == 0, err", ", err", inRuntime, "TestVersionsThatNothingNeedsGo"},
	{"a start of a named version compares the head", "pkg/runtime/start.go",
		"return req.Version, head.Modified, err", "return req.Version, 0, err", inRuntime, "TestAStartRacesWithTheEnd"},
	{"a version that a dead letter means stays", "pkg/store/etcdstore/definitions_users.go",
		"u.targets(d.Targets,", "u.targets(nil,", inRuntime, "TestAGatedStartNeeds"},
	{"a version that starts behind a gate stays", "pkg/store/etcdstore/definitions_users.go",
		"if h := item.Held; h != nil {", "if h := item.Held; false {", inRuntime, "TestAGatedStartNeeds"},
	{"a version that another definition runs stays", "pkg/store/etcdstore/definitions_write.go",
		"for _, u := range v.Uses {", "for _, u := range v.Uses[:0] {", inRuntime, "TestVersionsOfConsumers"},
	{"deleted definitions go by their age", "pkg/catalog/table.go",
		"age.Of(h.Modified) < purgeAfter", "age == nil", inCatalog, "TestADeletedDefinition"},
	{"marks of another etcd do not count", "pkg/store/etcdstore/age.go",
		"if stored.Etcd == etcdID(a.Etcd) && ", "if ", inStore, "TestMarksOfAnother"},
	{"marks are revisions of their own key", "pkg/store/etcdstore/age.go",
		"return m[0] < resp.Kvs[0].CreateRevision || m[0] >= resp.Kvs[0].ModRevision", "return false", inStore, "TestMarksOfACopy"},
	{"an age that stands still goes on at each node", "pkg/runtime/age.go",
		"!seen.is(next) {", "true {", inRuntime, "TestWithoutANewAge"},
	{"a clock that is behind keeps no others", "pkg/runtime/retention.go",
		"&keep, excess(total, s.mean, &keep))", "&keep, 0)", inRuntime, "TestAClockThatIsBehind"},
	{"slow heartbeats are no wrong clock", "pkg/cluster/clock.go",
		"return min(max(0, best.low), best.high), true", "return best.high, true", inCluster, "TestSlowHeartbeats"},
	{"a slow watch is no wrong clock", "pkg/cluster/clock.go",
		"high - n.Last.Took - m.lag.most, high", "high - n.Last.Took, high", inCluster, "TestSlowHeartbeats"},
	{"bursts go by the node's clock", "pkg/node/build.go",
		"return n.cfg.Now().UTC()", "return time.Now().UTC()", "./pkg/node", "TestEveryClock"},
	{"the watch of heads claims only what it gave", "pkg/store/etcdstore/definitions.go",
		"\t\t\t\tc.Revision = h.Modified\n", "\t\t\t\tc.Revision = resp.Header.Revision\n", inStore, "TestTheWatchOfHeads"},
	{"a full sweep behind the table of definitions", "pkg/catalog/table.go",
		"\t\t\t\tafter = 0\n", "\t\t\t\t_ = after\n", inCatalog, "TestAFullSweep"},
	{"what this node's program cannot run stays where it is", "pkg/client/failure.go",
		"workflow.CodeBusy, workflow.CodeNotRunnable:", "workflow.CodeBusy:", inRuntime, "TestWorkOfANewer|TestWorkThatNoLive"},
	{"what this node's program cannot run counts no attempt", "pkg/client/commit.go",
		"\tx, err := h.open(ctx, &work)\n\tif err != nil {\n\t\treturn h.unopened", "\tx, err := h.open(ctx, &work)\n\tif err != nil {\n\t\tif len(work.mail) > 0 {\n\t\t\t_ = h.countAttempt(ctx, &work)\n\t\t}\n\t\treturn h.unopened", inRuntime, "TestWorkThatNoLive"},
	{"a record of which a node does not know all stays as it is", "pkg/store/etcdstore/codec.go",
		"workflow.UnmarshalKnown(raw, v)", "workflow.Unmarshal(raw, v)", inRuntime, "TestRecordsOfANewer"},
	{"a state of which a node does not know all stays as it is", "pkg/engine/state_decode.go",
		"workflow.UnmarshalKnown(raw, &d)", "workflow.Unmarshal(raw, &d)", "./pkg/engine", "TestLoadSaysWhatIsWrong"},
	{"a node that runs ends when the data is of another format", "pkg/store/etcdstore/format.go",
		"\t\t\t\ts.halted.Store(", "\t\t\t\t_ = (", inStore, "TestAFormatThatChanges"},
	{"another format is noticed by a watch", "pkg/store/etcdstore/format.go",
		"<-s.client.Watch(ctx, s.keys.format(), clientv3.WithRev(from))", "<-ctx.Done()", inStore, "TestAFormatThatChanges"},
	{"what newer code of an activity saved is left to a node that has it", "pkg/engine/execution.go",
		"workflow.UnmarshalKnown(x.raw, p)", "workflow.Unmarshal(x.raw, p)", "./pkg/engine", "TestWhatNewer"},
	{"a call is left only to nodes that can run what it needs", "pkg/cluster/abilities.go",
		"!known || has(all, needs)", "true", inCluster, "TestAbleNodes"},
	{"a node seldom tries what its program cannot run", "pkg/runtime/aside.go",
		"time.Now().Before(b.till)", "false && time.Now().Before(b.till)", inRuntime, "TestWorkThatNoLive"},
	{"each definition has places of its own", "pkg/client/places.go",
		"\treturn u.bursts < p.limits.PerDefinition && !w.memory\n", "\treturn !w.memory\n", inRuntime, "TestADefinitionThatHangs"},
	{"the first burst of a definition always has a place", "pkg/client/places.go",
		"\tif u == nil {\n\t\treturn true\n\t}\n\tw.memory = u.bytes+w.bytes > p.limits.Bytes-p.bytes\n", "\tif u == nil {\n\t\tu = &usage{}\n\t}\n\tw.memory = u.bytes+w.bytes > p.limits.Bytes-p.bytes\n", inClient, "TestPlaces"},
	{"what is taken over has places beside what is new", "pkg/client/places.go",
		"compartment{x.definition, h.recovered}", "compartment{x.definition, false}", inRuntime, "TestADefinitionThatHangs"},
	{"a burst that runs leaves its worker to others", "pkg/runtime/mailboxes.go",
		"Work(ctx, recovered, opened)", "Work(ctx, recovered, func() {})", inRuntime, "TestADefinitionThatHangs"},
	{"who is called and finds nothing to do calls the next", "pkg/client/places.go",
		"\t\tdelete(p.called, id)\n\t\tp.call(in)\n", "\t\tdelete(p.called, id)\n\t\t_ = in\n", inClient, "TestPlaces"},
	{"what is stored keeps numbers beyond 2^53", "pkg/store/etcdstore/codec.go",
		"\t\terr = workflow.UnmarshalKnown(raw, v)\n", "\t\terr = json.Unmarshal(raw, v)\n", inRuntime, "TestNumbersKeepTheirValue|TestAStoredStimulus"},
	{"a stimulus hashes as what is stored of it", "pkg/workflow/stimulus.go",
		"\tcase float64: // of decimals, the nearest is kept\n\t\ttext = strconv.FormatFloat(v, 'e', -1, 64)\n", "", "./pkg/workflow", "TestStorageChangesNoValue|TestSpellingsOfANumber"},
	{"a paused cluster takes up nothing", "pkg/runtime/control.go",
		"{ return r.paused.paused.Load() || r.paused.draining.Load() }", "{ return r.paused.draining.Load() }", inRuntime, "TestAPausedNode"},
}

// patched are the patches as mutants.
func patched() []*mutant {
	out := make([]*mutant, len(patches))
	for i := range patches {
		p := &patches[i]
		suite := []string{p.pkg}
		if p.run != "" {
			suite = append(suite, "-run", p.run)
		}
		out[i] = &mutant{in: filepath.Base(p.file), text: p.guard, suites: [][]string{suite}, sources: func() (map[string]string, error) {
			changed, err := p.apply(".")
			return map[string]string{p.file: changed}, err
		}}
	}
	return out
}

// apply gives the file without the guard; an error if the guard is not there as
// the patch knows it.
func (p *patch) apply(root string) (string, error) {
	src, err := os.ReadFile(filepath.Join(root, p.file))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(src), p.old); n != 1 {
		return "", fmt.Errorf("patch %q does not apply: %d places of %s read\n%s\nchange the patch with the code, so that the guard stays proven", p.guard, n, p.file, p.old)
	}
	return strings.Replace(string(src), p.old, p.now, 1), nil
}
