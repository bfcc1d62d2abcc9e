package main

// bodyGuards are those of what a call says that is made again with its key.
var bodyGuards = []patch{
	{"what runs for a command is told one time", "pkg/engine/clock.go",
		"t := cmp.Or(b.cmd.At, b.saved)", "t := b.env.Now().UnixMilli() + 0*cmp.Or(b.cmd.At, b.saved)", inActivities, "TestAKeyHasOneBody"},
	{"who runs again with a key is told what its key was told", "pkg/engine/clock.go",
		"if x.key != \"\" {", "if false {", inActivities, "TestAKeyHasOneBody"},
	{"a save by the clock does not move the time", "pkg/engine/loop.go",
		"\tcase s.every > 0:\n", "\tcase s.every > 0:\n\t\tmoveOn(b)\n", inActivities, "TestAKeyHasOneBody"},
	{"an interrupted call says what it said", "pkg/engine/interrupt.go",
		"w.times, w.began = keptTimes(x), x.number", "w.began = x.number", inActivities, "TestAKeyHasOneBody"},
	{"an interrupt shifts no key", "pkg/engine/interrupt.go",
		"\tb.cmd.Ords[x.node.id] = ord\n", "\t_ = ord\n", inActivities, "TestAnInterruptShiftsNoKey"},
	{"an interrupt moves no commit", "pkg/engine/interrupt.go",
		"\tb.cmd.Count--\n", "", inActivities, "TestAnInterruptShiftsNoKey"},
	{"a call that an operator repeats is told what it was told", "pkg/engine/clock.go",
		"case b.asAt != 0 && b.calling == x:", "case false:", inActivities, "TestWhatAnOperatorRepeats"},
	{"a call that an operator repeats draws what it drew", "pkg/engine/loop.go",
		"\t\tx.drawn = drawn //", "\t\t_ = drawn //", inActivities, "TestWhatAnOperatorRepeats"},
	{"the time does not go back", "pkg/engine/state.go",
		"Cancel: b.cancelling, Clock: b.clock,", "Cancel: b.cancelling,", inActivities, "TestTheTimeDoesNotGoBack"},
	{"a keyed request is durable before what was told the time goes outside", "pkg/client/burst.go",
		"if work.repeats() {", "if false {", inClient, "TestTheSameKeyBringsTheSameBody"},
}
