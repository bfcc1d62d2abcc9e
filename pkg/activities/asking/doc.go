// Package asking has the activity that asks people: a user task.
//
// It waits at the bookmark of the task, which a resume does not burn, and, where there is something to remember that changes
// while the task stands (what people wrote, what time has done), at a second one beside it. So a comment or a reminder moves
// neither the task nor somebody's claim of it. Who is to do it is said by the task itself: where that changes the task waits
// at another bookmark, with the same id, and nobody has it.
//
// Guaranteed: what resumes it changes it in the one commit that its line of the journal is in; of two decisions one counts.
// Not guaranteed: that who changes it may, which package runtime looks at.
package asking
