package main

// moveGuards are of what is brought over from Elsa.
var moveGuards = []patch{
	{"an instance of Elsa that is in the middle of a step is not taken over", "internal/elsastate/move.go",
		"flag(s, \"isExecuting\"), sub == workflow.Executing, ", "", "./internal/elsastate", "TestWhatCannotBeTakenOver"},
	{"rules of an endpoint for files are not lost where Elsa did not keep them", "internal/elsastate/wait.go",
		"if missing != \"\" {", "if missing == \"all\" {", "./internal/elsastate", "TestWhatCannotBeTakenOver"},
	{"an endpoint of Elsa's that was locked stays locked", "internal/elsastate/wait.go",
		"authorize || flag(payload, \"authorize\")", "authorize", "./internal/elsastate", "TestEachWaitIsMapped"},
	{"a child whose parent stays in Elsa stays too", "internal/people/command/remote/definitions/migrate_instances.go",
		"if m.in.Awaited && m.verdict == goesOn", "if m.verdict == ended && m.verdict == goesOn", "./internal/people/command/remote", "TestMigrateElsaInstances"},
	{"a refusal that asks to be repeated is no result of an alteration", "internal/httpapi/elsa/alterations.go",
		" || serve.AsksToRepeat(refused.Code)", "", inAPI, "TestAlterationsThatAreToBeRepeated"},
	{"branches that begin together and race to a join are warned of", "internal/authoring/check/ignored/differences.go",
		"if len(lead) > 1 &&", "if false &&", "./internal/authoring/check/ignored", "TestDifferences"},
	{"what waits before a join is no difference", "internal/authoring/check/ignored/differences.go",
		"byID[id] != nil && !waits(byID[id])", "byID[id] != nil", "./internal/authoring/check/ignored", "TestDifferences"},
	{"a child that is not waited for is warned of", "internal/authoring/check/ignored/differences.go",
		"is(a, \"Elsa.ExecuteWorkflow\") && !waitsForChildren(a)", "false", "./internal/authoring/check/ignored", "TestDifferences"},
}
