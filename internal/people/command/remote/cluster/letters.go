package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/effect"
	"github.com/weft-run/weft/pkg/apiclient"
)

// editFlags are what a stimulus may be sent again with.
func editFlags(cmd *cobra.Command) func(a *ask.Asker) (apiclient.EditRequest, error) {
	f := cmd.Flags()
	correlation := f.String("correlation", "", "with another correlation id; empty: none")
	instance := f.String("instance", "", "to this instance only; empty: to all who wait for it")
	name := f.String("name", "", "as another event")
	data := f.StringP("data", "d", "", "with another payload: JSON, @file, @- or a text")
	return func(a *ask.Asker) (apiclient.EditRequest, error) {
		var body apiclient.EditRequest
		for flag, to := range map[string]struct {
			value *string
			field **string
		}{"correlation": {correlation, &body.CorrelationID}, "instance": {instance, &body.InstanceID}, "name": {name, &body.Name}} {
			if f.Changed(flag) {
				*to.field = to.value
			}
		}
		if f.Changed("data") {
			v, err := a.JSONArg(*data)
			if err != nil {
				return body, err
			}
			body.Payload = v
		}
		return body, nil
	}
}

// which are the flags that say for which of many something is done, and whether it is only tried.
type which struct {
	all                       bool
	reason, typ, event, older string
	before                    *time.Time // that older says
	dry                       bool
}

const dryRunFlag = "only say what it would do; exit code 1 if something would be refused"

func (w *which) flags(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	f.BoolVar(&w.all, "all", false, "all "+what+", or with the filters below all of these")
	if what == "dead letters" {
		f.StringVar(&w.reason, "reason", "", "all with this reason")
	}
	f.StringVar(&w.typ, "type", "", "all of this type of activity")
	f.StringVar(&w.event, "event", "", "all of this event")
	f.StringVar(&w.older, "older", "", "all that are older than this, such as 1h")
	f.BoolVar(&w.dry, "dry-run", false, dryRunFlag)
}

// said tells whether a filter was given, and reads it; either that, or ids have to be.
func (w *which) said(args []string) (bool, error) {
	filter := w.all || w.reason != "" || w.typ != "" || w.event != "" || w.older != ""
	if filter == (len(args) > 0) {
		return false, ask.Usage("give ids, or a filter, such as --all")
	}
	if w.older == "" {
		return filter, nil
	}
	d, err := time.ParseDuration(w.older)
	if err != nil || d < 0 {
		return false, ask.Usage("--older is %q; it must be a duration, such as 90s or 1h30m", w.older)
	}
	t := time.Now().Add(-d)
	w.before = &t
	return filter, nil
}

// dryRun is left out unless it is asked for: a node of an older version does not know it, and refuses what it does not know.
func (w *which) dryRun() *bool {
	if w.dry {
		return &w.dry
	}
	return nil
}

func (a commands) queueCommand() *cobra.Command {
	v := ask.View{Name: "queue/id", Empty: "the queue is empty", Columns: []ask.Column{
		{Head: "ID", Path: "id"}, {Head: "EVENT", Path: "name"}, {Head: "TYPE", Path: "activityType", Wide: true}, {Head: "CORRELATION", Path: "correlationId"},
		{Head: "INSTANCE", Path: "instanceId"}, {Head: "GATED", Path: "gated"}, {Head: "CREATED", Path: "createdAt", Show: ask.When}, {Head: "EXPIRES", Path: "expiresAt", Show: ask.When},
	}}
	queue := &cobra.Command{Use: "queue", Short: "Stimuli that nothing waits for yet"}
	queue.AddCommand(
		a.ask.ListCommand("List the queue, the oldest first", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
			return ask.BytesOf(c.ListQueue(ctx, apiclient.ListQueueQuery{Limit: limit, Cursor: cursor}))
		}),
		a.ask.ShowCommand("show ID", "One, with what it brings and whom it would reach now", v, func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
			return ask.BytesOf(c.GetQueueItem(ctx, id))
		}),
		a.queueSend(), a.queueDelete())
	return queue
}

func (a commands) queueSend() *cobra.Command {
	cmd := &cobra.Command{Use: "send ID...|--all|--event NAME", Short: "Take stimuli out of the queue and send them again, edited", Args: cobra.ArbitraryArgs, ValidArgsFunction: a.ask.Completes("queue")}
	var w which
	w.flags(cmd, "items")
	edited := editFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		many, err := w.said(args)
		if err != nil {
			return err
		}
		edit, err := edited(a.ask)
		if err != nil {
			return err
		}
		c, err := a.ask.Client()
		if err != nil {
			return err
		}
		if many {
			return a.several(&w, "send", "queue items", func(cursor string) (*apiclient.Answer[apiclient.Several], error) {
				return c.SendQueueItems(cmd.Context(), apiclient.SendItemsRequest{All: w.all, ActivityType: w.typ, Name: w.event, Before: w.before, Edit: edit, Limit: ask.MaxPage, Cursor: cursor}, apiclient.SendQueueItemsQuery{DryRun: w.dryRun()})
			})
		}
		return a.ask.Each("queue", args, func(id string, opts []apiclient.Option) error {
			return a.sentAgain(c.SendQueueItem(cmd.Context(), id, edit, apiclient.SendQueueItemQuery{DryRun: w.dryRun()}, opts...))
		})
	}
	return cmd
}

func (a commands) queueDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete ID...|--all|--event NAME", Short: "Forget stimuli of the queue", Args: cobra.ArbitraryArgs, ValidArgsFunction: a.ask.Completes("queue")}
	var w which
	w.flags(cmd, "items")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		many, err := w.said(args)
		if err != nil {
			return err
		}
		c, err := a.ask.Client()
		if err != nil {
			return err
		}
		if many {
			return a.several(&w, "delete", "queue items", func(cursor string) (*apiclient.Answer[apiclient.Several], error) {
				return c.DeleteQueueItems(cmd.Context(), apiclient.ItemsRequest{All: w.all, ActivityType: w.typ, Name: w.event, Before: w.before, Limit: ask.MaxPage, Cursor: cursor}, apiclient.DeleteQueueItemsQuery{DryRun: w.dryRun()})
			})
		}
		return a.deleteEach(&w, "queue", args, func(id string) error {
			if w.dry {
				_, err := c.GetQueueItem(cmd.Context(), id)
				return err
			}
			_, err := c.DeleteQueueItem(cmd.Context(), id)
			return err
		})
	}
	return cmd
}

func (a commands) lettersCommand() *cobra.Command {
	v := ask.View{Name: "dead-letters/id", Empty: "no dead letters", Columns: []ask.Column{
		{Head: "ID", Path: "id"}, {Head: "REASON", Path: "reason"}, {Head: "EVENT", Path: "name"}, {Head: "CORRELATION", Path: "correlationId"}, {Head: "INSTANCE", Path: "instanceId"},
		{Head: "TYPE", Path: "activityType", Wide: true}, {Head: "CREATED", Path: "createdAt", Show: ask.When}, {Head: "DETAIL", Path: "detail"},
	}}
	letters := &cobra.Command{Use: "dead-letters", Aliases: []string{"dead-letter", "letters"}, Short: "Work that could not be done"}
	var q apiclient.ListDeadLettersQuery
	list := a.ask.ListCommand("List dead letters, with the reason", v, func(ctx context.Context, c *apiclient.Client, limit int64, cursor string) ([]byte, error) {
		q.Limit, q.Cursor = limit, cursor
		return ask.BytesOf(c.ListDeadLetters(ctx, q))
	})
	list.Flags().StringVar(&q.Reason, "reason", "", "only with this reason")
	list.Flags().StringVar(&q.Name, "name", "", "only of this event")
	list.Flags().StringVar(&q.CorrelationID, "correlation", "", "only with this correlation id")
	list.Flags().StringVar(&q.InstanceID, "instance", "", "only of this instance")
	letters.AddCommand(list,
		a.ask.ShowCommand("show ID", "One, with what it brings and whom it would reach now", v, func(ctx context.Context, c *apiclient.Client, id string) ([]byte, error) {
			return ask.BytesOf(c.GetDeadLetter(ctx, id))
		}),
		a.replayCommand(), a.lettersDelete())
	return letters
}

func (a commands) replayCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "replay ID...|--all|--reason REASON", Short: "Do the work of dead letters again, as it was or edited", Args: cobra.ArbitraryArgs, ValidArgsFunction: a.ask.Completes("dead-letters")}
	var w which
	w.flags(cmd, "dead letters")
	edited := editFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		many, err := w.said(args)
		if err != nil {
			return err
		}
		edit, err := edited(a.ask)
		if err != nil {
			return err
		}
		c, err := a.ask.Client()
		if err != nil {
			return err
		}
		if many {
			return a.several(&w, "replay", "dead letters", func(cursor string) (*apiclient.Answer[apiclient.Several], error) {
				return c.ReplayDeadLetters(cmd.Context(), apiclient.ReplayLettersRequest{All: w.all, Reason: w.reason, ActivityType: w.typ, Name: w.event, Before: w.before, Edit: edit, Limit: ask.MaxPage, Cursor: cursor}, apiclient.ReplayDeadLettersQuery{DryRun: w.dryRun()})
			})
		}
		return a.ask.Each("dead-letters", args, func(id string, opts []apiclient.Option) error {
			return a.sentAgain(c.ReplayDeadLetter(cmd.Context(), id, edit, apiclient.ReplayDeadLetterQuery{DryRun: w.dryRun()}, opts...))
		})
	}
	return cmd
}

func (a commands) lettersDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete ID...|--all|--reason REASON", Short: "Forget dead letters", Args: cobra.ArbitraryArgs, ValidArgsFunction: a.ask.Completes("dead-letters")}
	var w which
	w.flags(cmd, "dead letters")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		many, err := w.said(args)
		if err != nil {
			return err
		}
		c, err := a.ask.Client()
		if err != nil {
			return err
		}
		if many {
			return a.several(&w, "delete", "dead letters", func(cursor string) (*apiclient.Answer[apiclient.Several], error) {
				return c.DeleteDeadLetters(cmd.Context(), apiclient.LettersRequest{All: w.all, Reason: w.reason, ActivityType: w.typ, Name: w.event, Before: w.before, Limit: ask.MaxPage, Cursor: cursor}, apiclient.DeleteDeadLettersQuery{DryRun: w.dryRun()})
			})
		}
		return a.deleteEach(&w, "dead-letters", args, func(id string) error {
			if w.dry {
				_, err := c.GetDeadLetter(cmd.Context(), id)
				return err
			}
			_, err := c.DeleteDeadLetter(cmd.Context(), id)
			return err
		})
	}
	return cmd
}

// deleteEach deletes by ids, or only says that they are there.
func (a commands) deleteEach(w *which, kind string, ids []string, do func(id string) error) error {
	did := "would be deleted"
	if !w.dry {
		did = "deleted"
		if err := a.ask.Confirm("delete %s", strings.Join(ids, ", ")); err != nil {
			return err
		}
	}
	return a.ask.Each(kind, ids, func(id string, _ []apiclient.Option) error {
		if err := do(id); err != nil {
			return err
		}
		return a.ask.Done(nil, false, did, "%s", id)
	})
}

// sentAgain tells what became of one, or what would.
func (a commands) sentAgain(answer *apiclient.Answer[apiclient.SentOrEffectOrQueued], err error) error {
	switch {
	case err != nil:
		return err
	case answer.Body.Queued != nil && !a.ask.AsData():
		_, err := fmt.Fprintf(a.ask.Out, "sent again  %s\n", answer.Body.Queued.Queued)
		return err
	case answer.Body.Effect == nil:
		return a.ask.Sent(answer.Body.Sent, answer.Body.Queued, answer.Bytes)
	}
	if err := effect.Show(a.ask, answer.Body.Effect, answer.Bytes); err != nil {
		return err
	}
	if answer.Body.Effect.Refused != nil {
		return ask.Exit(ask.ExitBad, nil)
	}
	return nil
}

// several does something to all of a filter, page by page, or only tries it, and tells of how many it was done
// and why the others refused. Where a page fails behind others it tells of those, and ends with its error.
func (a commands) several(w *which, verb, what string, do func(cursor string) (*apiclient.Answer[apiclient.Several], error)) error {
	if !w.dry {
		if err := a.ask.Confirm("%s all %s of the filter", verb, what); err != nil {
			return err
		}
	}
	done, refused, by := []any{}, []any{}, map[string]int{}
	var broke error
	for cursor := ""; ; {
		answer, err := do(cursor)
		if err != nil && cursor == "" {
			return err
		}
		if broke = err; err != nil {
			break
		}
		for _, id := range answer.Body.Done {
			done = append(done, id)
		}
		for _, r := range answer.Body.Refused {
			refused, by[r.Code] = append(refused, map[string]any{"id": r.ID, "code": r.Code, "detail": r.Detail}), by[r.Code]+1
			a.ask.Note(fmt.Sprintf("weft: %s: %s (%s)", r.ID, r.Detail, r.Code))
		}
		if answer.Body.NextCursor == nil {
			break
		}
		cursor = *answer.Body.NextCursor
	}
	text := fmt.Sprintf("%s  %d done, %d refused", verb, len(done), len(refused))
	switch {
	case broke != nil && !w.dry:
		text += ", and then it failed: there may be more"
	case w.dry:
		text = fmt.Sprintf("would %s %d of %d %s, %d would be refused", verb, len(done), len(done)+len(refused), what, len(refused))
	}
	if len(by) > 0 {
		var why []string
		for _, code := range slices.Sorted(maps.Keys(by)) {
			why = append(why, fmt.Sprintf("%s %d", code, by[code]))
		}
		text += " (" + strings.Join(why, ", ") + ")"
	}
	var err error
	if a.ask.AsData() {
		err = a.ask.Data(map[string]any{"done": done, "refused": refused})
	} else {
		_, err = fmt.Fprintln(a.ask.Out, text)
	}
	switch {
	case broke != nil:
		return broke
	case err != nil || len(refused) == 0:
		return err
	case w.dry:
		return ask.Exit(ask.ExitBad, nil)
	}
	return ask.Exit(ask.ExitRefused, nil)
}
