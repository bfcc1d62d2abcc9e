// Package usertask has what a task for people says: what they are asked, who may complete it, and what a form takes.
//
// A user task is a task (see [github.com/weft-run/weft/pkg/workflow/task]) of the name [task.UserName]: it lies in the same
// lists, and a person's claim is kept as a worker's is. What it says beside lies in the metadata of its bookmark.
//
// Guaranteed: what is kept is within bounds, so that a list of tasks is; a form is of a subset of JSON Schema that is
// checked when the task is made, refers to nothing outside, and is checked in time linear in its data; no text of an error
// has the value of a masked field. Not guaranteed: that somebody is a candidate.
package usertask
