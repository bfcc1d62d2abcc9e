package main

const (
	inUserTask = "./pkg/workflow/usertask"
)

// peopleGuards are those of tasks that people do.
var peopleGuards = []patch{
	{"who is excluded may not complete a user task", "pkg/workflow/usertask/task.go",
		"return candidate && !t.Excludes(p)", "return candidate", inUserTask, "TestWhoMay"},
	{"an operator who is excluded may not complete a user task", "pkg/workflow/usertask/task.go",
		"p.Operator && !t.Excludes(p) }", "p.Operator }", inUserTask, "TestWhoMay"},
	{"a name that says key: or oidc: is all of a name", "pkg/workflow/usertask/task.go",
		"!whole && name == short", "name == short || whole && name == p.Name", inUserTask, "TestWhoMay"},
	{"the patterns of a form are bounded", "pkg/workflow/usertask/form.go",
		"f.steps > mostSteps {", "f.steps < 0 {", inUserTask, "TestFormsAreBounded"},
	{"a number of a form is bounded", "pkg/workflow/usertask/form.go",
		"return err != nil || len(n) > mostDigits", "return err != nil && len(n) > mostDigits", inUserTask, "TestEachWrongFieldIsTold"},
	{"a group is no person of its name", "pkg/activities/user_task.go",
		"strings.EqualFold(is, \"Group\") != (input == \"candidateGroups\")", "strings.EqualFold(is, \"\")", "./pkg/activities", "TestAUserTaskIsBounded"},
	{"a page of user tasks looks a bounded number of times", "internal/inspect/user_tasks.go",
		"max(ask, leastAsked)", "min(ask, leastAsked)", inHTTP, "TestAPageOfOneLooksFewTimes"},
	{"what is masked is no part of an error", "internal/people/console/act/input.go",
		"if masked {", "if masked && name == \"\" {", "./test/console", "TestWhatIsMaskedIsNotShownAgain"},
	{"a user task is shown to who may complete it", "pkg/runtime/user_tasks.go",
		"if t == nil || !t.May(who) {", "if t == nil {", inHTTP, "TestOnlyCandidatesMay"},
	{"a list has the user tasks that its reader may complete", "pkg/runtime/user_tasks.go",
		"case !t.May(who):", "case false:", inHTTP, "TestOnlyCandidatesMay"},
	{"who does not have a user task does not complete it", "pkg/runtime/user_tasks.go",
		"(t.Claim.Worker != who.Claims() || revision", "(t.Claim.Worker == \"\" || revision", inHTTP, "TestOnlyCandidatesMay"},
	{"a claim that has ended completes no user task", "pkg/runtime/user_tasks.go",
		"|| revision != 0 && revision != t.Claim.Revision):", "):", inHTTP, "TestOnlyCandidatesMay"},
	{"what does not fit the form claims nothing", "pkg/runtime/user_tasks.go",
		"if problems != nil {", "if problems != nil && len(problems) == 0 {", inHTTP, "TestAFormIsHeld"},
	{"no worker completes a user task", "pkg/runtime/bookmarks.go",
		"usertask.Is(is) && claim == nil {", "usertask.Is(is) && claim != nil {", inHTTP, "TestAUserTaskHasOneDoor"},
	{"no worker claims a user task", "pkg/runtime/tasks.go",
		"if slices.Contains(ask.Names, task.UserName) {", "if slices.Contains(ask.Names, \"\") {", inHTTP, "TestAUserTaskHasOneDoor"},
	{"viewers see no user task among the tasks", "internal/inspect/lists.go",
		"\t\t\tt.Bookmark.Metadata = nil // it is for its candidates\n", "", inHTTP, "TestOnlyCandidatesMay"},
	{"what nobody is named for is no decision", "pkg/activities/user_task.go",
		"case who != \"\":", "case who != \"\" || len(r.Input) > 0:", "./pkg/activities", "TestOnlyAPersonDecides"},
	{"a masked field is in no journal", "pkg/engine/strategy.go",
		"if o.Sensitive || names.Excluded(", "if names.Excluded(", "./pkg/activities", "TestAPersonDecides"},
	{"a key without its end is no end of an entry", "internal/auth/keys.go",
		"(line[0] != '-' || at != dash)", "(line[0] != '-' || at < dash)", "./internal/auth", "TestAFileThatIsEmptyOrCut"},
	{"a page forgets what is masked", "internal/people/console/page/form.go",
		"f.Value = \"\" // it is typed again, and shown nowhere", "f.Long = false", "./test/console", "TestAPersonDecidesOnAPage"},
}
