package main

// interruptGuards are those of a cancel that ends a call.
var interruptGuards = []patch{
	{"only a call that may have an effect outside is interrupted", "pkg/engine/interrupt.go",
		"if !x.node.desc.NoEffect {", "if true {", inClient, "TestACancelWaitsForWhat"},
	{"a call is interrupted once", "pkg/engine/interrupt.go",
		"again: key == b.stopped.Key", "again: key == \"\"", inActivities, "TestAnInterruptedCall"},
	{"an interrupt just before a call ends it", "pkg/engine/interrupt.go",
		"if b.interrupted.Load() && !call.again {", "if false {", inActivities, "TestAnInterruptBetween"},
	{"an interrupted call keeps its key", "pkg/engine/interrupt.go",
		"\tw.key, w.inner = x.CallKeys()\n", "", inActivities, "TestAnInterruptedCall"},
	{"an interrupted call is no fault", "pkg/engine/loop.go",
		"\tcase stopped:\n\t\tsetBack(x, c)\n\t\treturn\n", "", inClient, "TestACancelInterruptsACall"},
	{"what an interrupted call left is taken back", "pkg/engine/loop.go",
		"\t\tb.undo(x, before)\n", "\t\t_ = before\n", inActivities, "TestAnInterruptedCall"},
	{"what ends an instance goes before all that was accepted", "pkg/client/choosing.go",
		"if o.base != nil && o.endsIn(c, mail) {", "if false {", inClient, "TestAnEndGoesBefore"},
	{"what could bring an instance back is refused with its end", "pkg/client/ending.go",
		"case !returns(m.Command.Kind):", "case true:", inClient, "TestAnEndGoesBefore"},
	{"what could bring an instance back is found behind what waits", "pkg/client/ending.go",
		"func(c *workflow.Command) bool { return returns(c.Kind) }", "func(c *workflow.Command) bool { return false }", inClient, "TestAnEndGoesBefore"},
	{"an interrupt before the burst is not lost", "pkg/client/working.go",
		"if o.interrupted.Swap(false) && !s.work.ending {", "if false {", inClient, "TestAnInterruptBeforeTheBurst"},
	{"a cancel ends also a call that was interrupted for nothing", "pkg/client/owner.go",
		"\t\t\tb.End()\n", "\t\t\t_ = b\n", inClient, "TestACancelEndsACall"},
	{"an interrupted resume is no new command", "pkg/engine/interrupt.go",
		"\tb.fresh = false // the command did something\n", "", inActivities, "TestAnInterruptedCall"},
}
