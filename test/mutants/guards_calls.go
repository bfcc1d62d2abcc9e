package main

// callGuards are those of calls that are in flight beside each other.
var callGuards = []patch{
	{"a save waits for all calls in flight", "pkg/engine/loop.go",
		"if a.land(); way {", "if way {", inActivities, "TestASaveWaits"},
	{"what the order of answers decided is saved before it goes outside", "pkg/engine/aside.go",
		"(!n.desc.NoEffect || n.stirs) && a.b.calls.Raced()", "false", inActivities, "TestWhatAnswersDecide"},
	{"a call that was cut counts for nothing", "pkg/engine/aside.go",
		"b.fatal != nil || x.status != running {", "b.fatal != nil {", inActivities, "TestTheFirstAnswer"},
	{"the journal says that a call was cut", "pkg/engine/aside.go",
		"\treturn \"its call was cut\"\n", "\treturn \"\"\n", inActivities, "TestTheFirstAnswer"},
	{"calls are set back in the order of the schedule", "pkg/engine/work.go",
		"for at < len(s.items) && s.items[at].began > 0", "for at < 0 && s.items[at].began > 0", inActivities, "TestACancelEndsAllCalls"},
	{"a hint ends no call that is beside others", "pkg/engine/flight/calls.go",
		"!c.Unwinds && len(s.calls) == 1 && !s.raced", "!c.Unwinds", inActivities, "TestACancelEndsAllCalls"},
	{"a burst that is dropped ends its calls", "pkg/engine/loop.go",
		"\tdefer fly.recall()\n", "", inActivities, "TestABurstThatIsDropped"},
}
