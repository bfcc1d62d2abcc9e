// Package flight has the calls to the outside that a burst makes, of which several may be in flight at once, although
// only one goroutine at a time may touch the burst: who may has the baton.
//
// The owner of the burst has it first. It launches a step on a goroutine of its own and waits. The step gives the baton
// up while it calls the outside ([Calls.Away]), and the owner goes on; a step that came back has the baton when the owner
// gives it ([Calls.Next]), and the owner waits again until the step is away or over. So nothing of a burst needs a lock.
//
// Guaranteed: the owner and the steps run one at a time, each sees what the one before did; steps get the baton in the
// order in which they came back, or were launched, as the owner asks; a panic of a step is one of the owner.
// Not guaranteed: that a step comes back. It has to when the context of its call ends ([Call.Stop]).
//
// [Calls] also knows the calls that are made in turn, so that any goroutine can end all ([Calls.Hint], [Calls.Stop]).
package flight
