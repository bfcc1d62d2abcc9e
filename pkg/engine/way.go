package engine

import "github.com/weft-run/weft/pkg/workflow"

// A command may run any number of activities before it waits: a loop has as many rounds as it has. After
// [Limits].Activities of them the burst asks for a commit and gives way, so that a long loop, or one without
// an end, keeps nobody from the node, nor a cancel, a timer or an event from its instance.

// giveWay notes that others have their turn before cmd goes on.
func giveWay(b *Burst, cmd *command) {
	cmd.Before += int64(cmd.Count)
	b.lastWay, b.givesWay = int64(cmd.Count), true
	cmd.Count = 0
	b.doing.ran.Store(cmd.Before)
}

// GivesWay tells that the commit which the last [Burst.Run] asked for is one after which others should have
// their turn: commands of the instance that wait, and other instances. ran is how many activities its
// command has run since it began, or since an operator retried it; last, how many of them since it gave
// way before.
func GivesWay(b *Burst) (ran, last int64, ok bool) {
	return b.doing.ran.Load(), b.lastWay, b.givesWay
}

// scheduledAtOnce is how much should be scheduled at once: each commit on the way writes all of it.
const scheduledAtOnce = 1000

// ScheduleRoom is how many more activities an activity that schedules one for each item should schedule at
// once, at least 1. It schedules the others after [Execution.ScheduleRest].
func (x *Execution) ScheduleRoom() int {
	return max(1, scheduledAtOnce-len(x.b.schedule.left()))
}

// ScheduleRest has the engine call Resume with the callback when the rest of the schedule has run, as
// [Execution.Yield] does, for an activity that has more to schedule. A program that does not know this
// would leave that out: it leaves the instance to others.
func (x *Execution) ScheduleRest(callback string) {
	x.pending++
	x.b.schedule.push(work{kind: workResume, x: x, resume: &Resume{Callback: workflow.ValidText(callback)}, cmd: x.b.cmd, rest: true})
}
