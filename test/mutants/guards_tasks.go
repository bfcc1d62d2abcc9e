package main

const (
	inTasks  = "./internal/tasks"
	inRemote = "./internal/people/command/remote"
	inWorker = "internal/people/command/remote/worker"

	inDeclared = "./pkg/activities/declared"
	inClients  = "./clients"
)

// taskGuards are those of tasks that workers claim.
var taskGuards = []patch{
	{"a claim is of a task that is free as it was read", "internal/store/etcdstore/claims/claims.go",
		"db.CreatedAt(task, free[i].Created), db.Absent(taken)", "db.Absent(taken)", inStore, "TestALateCopy|TestATaskHasOneClaim"},
	{"a claim that another put is not one's own", "internal/store/etcdstore/claims/claims.go",
		"err == nil && is.ID == c.ID", "err == nil", inStore, "TestATaskHasOneClaim"},
	{"a task that waits no more is not given", "internal/store/etcdstore/claims/claims.go",
		"if is := &r.Header.Bookmarks[i]; is.ID == b.ID &&", "if is := &r.Header.Bookmarks[i]; is.ID != \"\" &&", inStore, "TestManyAreClaimed|TestWhatANodeOfBefore"},
	{"who heartbeats has the claim", "internal/store/etcdstore/claims/claims.go",
		"if err == nil && (is == nil || is.Revision != c.Revision) {", "if err == nil && is == nil {", inStore, "TestATaskHasOneClaim"},
	{"a heartbeat does not shorten the lease", "internal/store/etcdstore/claims/claims.go",
		"until.After(is.Until) {", "!until.IsZero() {", inStore, "TestAHeartbeatExtends"},
	{"a lease that was extended does not end", "internal/store/etcdstore/claims/claims.go",
		"over := kv != nil && c.ID == d.Claim && !c.Until.After(now)", "over := kv != nil && c.ID == d.Claim", inStore, "TestAHeartbeatExtends"},
	{"a lease that ends is the one of the claim that there is", "internal/store/etcdstore/claims/claims.go",
		"over := kv != nil && c.ID == d.Claim && !c.Until.After(now)", "over := kv != nil && !c.Until.After(now)", inStore, "TestALateCopy|TestALeaseOfBefore"},
	{"a commit compares the claim by which it completes a task", "internal/store/etcdstore/claims/commits.go",
		"return []clientv3.Cmp{s.ClaimStands(task, claim)}", "return nil", inStore, "TestATaskHasOneClaim"},
	{"mail compares the claim by which it completes a task", "internal/store/etcdstore/internal/record/mail.go",
		"\tif cmd.Claim != nil {\n\t\tt.When(s.ClaimStands(cmd.Bookmark, cmd.Claim))\n\t}\n", "", inStore, "TestWhatMovedIsRefused"},
	{"what is made durable compares the claim", "internal/store/etcdstore/commits/fenced.go",
		"\t\tt.When(s.conn.ClaimStands(cmd.Bookmark, cmd.Claim))\n", "", inStore, "TestWhatMovedIsRefused"},
	{"a commit that burns a task deletes its claim", "internal/store/etcdstore/internal/lookup/index.go",
		"\t\to.Del(s.Conn.Keys.Taken.Task(b)) // by whom it may be\n", "", inStore, "TestATaskHasOneClaim"},
	{"who lost the claim is told", "pkg/client/failure.go",
		"if err != nil || stands {\n\t\treturn nil, err\n\t}", "if err != nil || stands || !stands {\n\t\treturn nil, err\n\t}", "./internal/httpapi", "TestATaskComesBack"},
	{"a feed goes on where its page ended", "internal/tasks/feed.go",
		"\t\tf.upTo = free.Place\n", "", inTasks, "TestAClaimCosts"},
	{"a feed reads in spans beside many", "internal/tasks/feed.go",
		"\t\tf.span = firstSpan\n", "", inTasks, "TestAClaimCosts"},
	{"who waits is woken by what comes", "internal/tasks/desk.go",
		"\t\t\tif f.tell(n, now); !n.Gone {\n\t\t\t\tf.wake()\n\t\t\t}\n", "\t\t\tf.tell(n, now)\n", inTasks, "TestWhoWaits"},
	{"what a worker said stays until it says something else", "internal/store/etcdstore/claims/claims.go",
		"cmp.Or(beat.Text, is.Text)", "cmp.Or(beat.Text)", inStore, "TestAHeartbeatExtends"},
	{"what was asked to end has no result", inWorker + "/task.go",
		"case err == nil && !p.asked:", "case err == nil:", inRemote, "TestAnInterruptedWorker"},
	{"what nobody waits for is ended with what it has started", inWorker + "/process_unix.go",
		"syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)", "syscall.Kill(cmd.Process.Pid, syscall.SIGCONT)", inRemote, "TestAWorkerWhoseTaskIsGone"},
	{"a result is reported until there is an answer", inWorker + "/task.go",
		"if err == nil || !passing(err) || ctx.Err() != nil {", "if err == nil || err != nil {", inRemote, "TestAWorkerBears"},
	{"what failed often enough is not tried again", inWorker + "/task.go",
		"again := t.Attempt < int64(c.attempts)", "again := t.Attempt > 0", inRemote, "TestAWorkerThatFails"},
	{"a result that does not fit its declaration is refused", "pkg/runtime/bookmarks.go",
		"if !errors.As(d.Fits(input[\"result\"]), &no) {", "if !errors.As(d.Fits(input[\"result\"]), &no) || no != nil {", inAPI, "TestAResultIsOfItsType"},
	{"a version runs by the declarations that it was published with", "internal/catalog/compile.go",
		"view, err := c.types.Of(v.Types)", "view, err := c.types.Now(), error(nil)", inCatalog, "TestAVersionKeeps"},
	{"another meaning is another version", "internal/catalog/publish.go",
		"\td.hash = c.types.Now().Hash(d.hash, d.def)\n", "", inCatalog, "TestAVersionKeeps"},
	{"what is used means the same in both", "internal/catalog/compile.go",
		"if r.err = r.view.Agrees(v.ID, v.Version, v.Types); r.err != nil {", "if false {", inCatalog, "TestAUsedDefinitionHas"},
	{"a type is declared once", "pkg/activities/declared/read.go",
		"before != \"\" {", "false && before != \"\" {", inDeclared, "TestAFolderHas"},
	{"a report of the library is sent until there is an answer", "clients/worker/report.go",
		"if err == nil || !passing(err) || ctx.Err() != nil {", "if err == nil || err != nil {", inClients, "TestAReportIsSentUntil"},
	{"a handler of the library is told when nobody waits", "clients/worker/loop.go",
		"\t\t\tstop(ErrInVain)\n", "", inClients, "TestAWorkerInGo"},
}
