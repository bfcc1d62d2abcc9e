package remote

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/remote/cluster"
	"github.com/weft-run/weft/internal/people/command/remote/definitions"
	"github.com/weft-run/weft/internal/people/command/remote/events"
	"github.com/weft-run/weft/internal/people/command/remote/exports"
	"github.com/weft-run/weft/internal/people/command/remote/here"
	"github.com/weft-run/weft/internal/people/command/remote/instances"
	"github.com/weft-run/weft/internal/people/command/remote/worker"
)

// Add adds the commands of all families to a root. version is that of the program, commit what it was built from.
func Add(root *cobra.Command, s ask.Streams, environ []string, version, commit string) {
	a := ask.New(s, environ, version, commit)
	inCluster := cluster.Commands(a)
	for _, c := range inCluster {
		if c.Name() == "jobs" {
			c.AddCommand(instances.JobCommand(a))
		}
	}
	for _, g := range []ask.Group{
		{ID: "work", Title: "Workflows:", Commands: definitions.Commands(a)},
		{ID: "instances", Title: "Instances and events:", Commands: slices.Concat(instances.Commands(a), events.Commands(a), worker.Commands(a), exports.Commands(a))},
		{ID: "cluster", Title: "The cluster:", Commands: inCluster},
		{ID: "here", Title: "This machine:", Commands: here.Commands(a)},
	} {
		a.Add(root, g)
	}
}
