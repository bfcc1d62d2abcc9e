package console

import (
	"github.com/weft-run/weft/internal/people/console/cluster"
	"github.com/weft-run/weft/internal/people/console/definitions"
	"github.com/weft-run/weft/internal/people/console/instances"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
	"github.com/weft-run/weft/internal/people/console/signin"
	"github.com/weft-run/weft/internal/people/console/waiting"
)

// screens are the pages of the console.
var screens = []page.Screen{
	{Path: "{$}", Template: "home", Here: "home", Every: 5, Read: cluster.Home, Weft: says("top --once")},
	{Path: "instances", Template: "instances", Here: "instances", Every: 5, Read: instances.List, Weft: with("q", "instances list", "instances list")},
	{Path: "chosen", Template: "problem", Here: "instances", Read: instances.Chosen},
	{Path: "instances/{id}", Template: "instance", Here: "instances", Topics: "instance:{id}", Read: instances.One, Weft: weftInstance},
	{Path: "instances/{id}/repair", Template: "repair", Here: "instances", Read: instances.Repair},
	{Path: "compare", Template: "compare", Here: "instances", Read: instances.Compare, Weft: weftCompare},
	{Path: "definitions", Template: "definitions", Here: "definitions", Topics: "definitions", Every: 5, Read: definitions.List, Weft: says("definitions list")},
	{Path: "definitions/{id}", Template: "definition", Here: "definitions", Topics: "definitions", Every: 5, Read: definitions.One, Weft: of("definitions get", "graph")},
	{Path: "definitions/{id}/edit", Template: "edit", Here: "definitions", Read: definitions.Edit, Weft: of("definitions get")},
	{Path: "definitions/{id}/versions", Template: "versions", Here: "definitions", Read: definitions.Versions, Weft: of("definitions versions")},
	{Path: "definitions/{id}/tests", Template: "tests", Here: "definitions", Read: definitions.Tests},
	{Path: "definitions/{id}/flip", Template: "flip", Here: "definitions", Every: 1, Read: definitions.Flip, Weft: says("nodes list")},
	{Path: "publish", Template: "edit", Here: "definitions", Read: definitions.Edit},
	{Path: "events", Template: "events", Here: "events", Read: cluster.Events, Weft: weftEvents},
	{Path: "queue", Template: "queue", Here: "queue", Every: 5, Read: cluster.Queue, Weft: says("queue list")},
	{Path: "queue/{id}", Template: "letter", Here: "queue", Read: cluster.QueueItem, Weft: of("queue show")},
	{Path: "dead-letters", Template: "deadletters", Here: "dead-letters", Every: 5, Read: cluster.DeadLetters, Weft: with("reason", "dead-letters list --reason", "dead-letters list")},
	{Path: "dead-letters/{id}", Template: "letter", Here: "dead-letters", Read: cluster.DeadLetter, Weft: of("dead-letters show")},
	{Path: "tasks", Template: "tasks", Here: "tasks", Every: 5, Read: page.Plain[shape.Task]("Tasks", "/tasks", "name"), Weft: says("tasks list")},
	{Path: "waiting", Template: "waiting", Here: "waiting", Every: 5, Read: waiting.Page, Weft: says("tasks mine")},
	{Path: "jobs", Template: "jobs", Here: "jobs", Every: 2, Read: page.Plain[shape.Job]("Jobs", "/jobs"), Weft: says("jobs list")},
	{Path: "timers", Template: "timers", Here: "timers", Every: 5, Read: cluster.Timers, Weft: says("timers list", "schedules list")},
	{Path: "activities", Template: "activities", Here: "activities", Read: cluster.Activities, Weft: says("activities")},
	{Path: "audit", Template: "audit", Here: "audit", Every: 5, Read: cluster.Audit},
	{Path: "cluster", Template: "cluster", Here: "cluster", Topics: "cluster", Every: 5, Read: cluster.Cluster, Weft: says("cluster status", "cluster balance", "locks list", "top --once")},
	{Path: "served", Template: "refreshed", Here: "cluster", Every: 1, Read: cluster.Served, Weft: says("nodes list")},
	{Path: "receipts", Template: "receipts", Here: "events", Read: cluster.Receipts, Weft: with("key", "events trace", "")},
	{Path: "go", Template: "go", Here: "instances", Read: cluster.Find},
	{Path: "me", Template: "me", Here: "me", Read: signin.Me, Weft: says("whoami")},
}
