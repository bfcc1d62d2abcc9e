package instances

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/waitflag"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) runCommand() *cobra.Command {
	var body apiclient.StartRequest
	var inputs []string
	var wait time.Duration
	var follow, exitStatus bool
	cmd := &cobra.Command{
		Use: "run DEFINITION|FILE", Short: "Start an instance; of a FILE after publishing it", Args: cobra.ExactArgs(1), ValidArgsFunction: ask.OrFiles(a.ask.Completes("definitions")),
		Example: "  weft run order-approval -i orderId=o-2 -i amount=1200 --correlation o-2 --wait 30s\n  weft run flow.yaml -i @input.json -f",
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			var typed map[string]string
			if body.Input, typed, err = a.ask.Inputs(inputs); err != nil {
				return err
			}
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			id, err := a.startable(cmd.Context(), c, args[0], &body)
			if err != nil {
				return err
			}
			if err := textsAsTyped(cmd.Context(), c, id, &body, typed); err != nil {
				return err
			}
			var opts []apiclient.Option
			if wait >= time.Second && !follow {
				opts = append(opts, apiclient.WaitUpTo(min(wait, time.Minute)))
			}
			in, err := c.ExecuteDefinition(cmd.Context(), id, body, append(opts, a.ask.Opts()...)...)
			if err != nil {
				return err
			}
			if follow {
				fmt.Fprintln(a.ask.ErrOut, "instance", in.Body.InstanceID)
				return a.follow(cmd.Context(), c, in.Body.InstanceID, exitStatus)
			}
			return a.started(cmd.Context(), c, in, wait, exitStatus)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&inputs, "input", "i", nil, "name=value, value as JSON, a text or @file; or @file with an object")
	f.StringVar(&body.CorrelationID, "correlation", "", "correlation id")
	f.StringVar(&body.InstanceID, "id", "", "id of the instance (default: a new one)")
	f.StringVar(&body.Name, "name", "", "name of the instance")
	f.Int64Var(&body.Version, "version", 0, "version of the definition (default: the published one)")
	waitflag.Add(cmd, &wait, 30*time.Second, "wait so long for its end; exit code 6 if it is not over by then")
	f.BoolVarP(&follow, "follow", "f", false, "a line for each change until its end")
	f.BoolVar(&exitStatus, "exit-status", false, "exit code 1 if it ends faulted or cancelled")
	return cmd
}

// started shows an instance that was started, after its end if that is waited for.
func (a commands) started(ctx context.Context, c *apiclient.Client, in *apiclient.Answer[apiclient.Instance], wait time.Duration, exitStatus bool) (err error) {
	if wait > 0 && in.Body.Status != "Finished" {
		if in, err = awaited(ctx, c, in.Body.InstanceID, wait); err != nil {
			return err
		}
	}
	if err := a.ask.Show(instanceFullView, in.Bytes); err != nil {
		return err
	}
	if a.ask.ForPeople() && in.Body.Status == "Finished" && len(in.Body.Output) > 0 {
		fmt.Fprintln(a.ask.Out, "output", ask.Compact(in.Body.Output))
	}
	return over(&in.Body, wait, exitStatus)
}

// textsAsTyped gives inputs that are texts what was typed, where that looks like something else: 1.10, 5e10, null.
func textsAsTyped(ctx context.Context, c *apiclient.Client, id string, body *apiclient.StartRequest, typed map[string]string) error {
	if len(typed) == 0 {
		return nil
	}
	is, err := c.GetInterface(ctx, id, apiclient.GetInterfaceQuery{Version: body.Version})
	var problem *apiclient.ProblemError
	if errors.As(err, &problem) && problem.Status == http.StatusNotFound {
		return nil // the start says it better
	}
	if err != nil {
		return err
	}
	for _, in := range is.Body.Inputs {
		if text, ok := typed[in.Name]; ok && in.Type == "String" && !in.List {
			body.Input[in.Name] = text
		}
	}
	return nil
}

// startable is the id of the definition to start: that of a file is published first, as a
// draft, and its version started.
func (a commands) startable(ctx context.Context, c *apiclient.Client, arg string, body *apiclient.StartRequest) (string, error) {
	if !ask.LooksLikeFile(arg) {
		return strings.TrimPrefix(arg, "definitions/"), nil
	}
	src, err := a.ask.ReadDefinition(arg)
	if err != nil {
		return "", err
	}
	made, err := c.PublishDefinition(ctx, src, apiclient.PublishDefinitionQuery{Publish: new(false), File: filepath.Base(arg)}, ask.ContentType(arg))
	if err != nil {
		return "", ask.InFile(err, arg)
	}
	if body.Version != 0 {
		return "", ask.Usage("--version is of a published definition, and %s is a file", arg)
	}
	body.Version = made.Body.Version
	fmt.Fprintf(a.ask.ErrOut, "%s v%d is a draft: it starts this instance only\n", made.Body.ID, made.Body.Version)
	return made.Body.ID, nil
}
