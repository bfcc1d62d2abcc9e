package main

// interruptGuards are those of a cancel that ends a call.
var interruptGuards = []patch{
	{"only a call that may have an effect outside is interrupted", "pkg/engine/interrupt.go",
		"!x.node.desc.NoEffect && key != b.stopped.Key", "key != b.stopped.Key", inClient, "TestACancelWaitsForWhat"},
	{"a call is interrupted once", "pkg/engine/interrupt.go",
		"key != b.stopped.Key", "key != \"\"", inActivities, "TestAnInterruptedCall"},
	{"an interrupt just before a call ends it", "pkg/engine/interrupt.go",
		"if b.interrupted.Load() {", "if false {", inActivities, "TestAnInterruptBetween"},
	{"an interrupted call keeps its key", "pkg/engine/interrupt.go",
		"\tw.key, w.inner = x.CallKeys()\n", "", inActivities, "TestAnInterruptedCall"},
	{"an interrupted call is no fault", "pkg/engine/loop.go",
		"\tcase stopped:\n\t\tsetBack(x, c)\n\t\treturn\n", "", inClient, "TestACancelInterruptsACall"},
	{"what an interrupted call left is taken back", "pkg/engine/loop.go",
		"\t\tb.undo(x, before)\n", "\t\t_ = before\n", inActivities, "TestAnInterruptedCall"},
	{"an interrupted resume is no new command", "pkg/engine/interrupt.go",
		"\tb.fresh = false // the command did something\n", "", inActivities, "TestAnInterruptedCall"},
}
