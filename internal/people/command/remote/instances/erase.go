package instances

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/internal/people/command/waitflag"
	"github.com/weft-run/weft/pkg/apiclient"
)

// erasure is a receipt: what was erased of one correlation, and nothing of what stood in it.
type erasure struct {
	CorrelationID string   `json:"correlationId"`
	Server        string   `json:"server"`
	Begun         string   `json:"begun"`
	Ended         string   `json:"ended,omitempty"` // when a look found nothing any more; absent: it is not over
	Instances     []erased `json:"instances"`
	Queued        []string `json:"queued"`      // ids of events that waited in the queue
	DeadLetters   []string `json:"deadLetters"` // ids

	noted map[string]bool // of all these
}

// note tells whether something was not noted yet.
func (e *erasure) note(what string) bool {
	if e.noted[what] {
		return false
	}
	e.noted[what] = true
	return true
}

type erased struct {
	InstanceID   string `json:"instanceId"`
	DefinitionID string `json:"definitionId"`
	CreatedAt    string `json:"createdAt"`
	Archived     bool   `json:"archived"`
}

func (e *erasure) counts() string {
	archived := 0
	for _, in := range e.Instances {
		if in.Archived {
			archived++
		}
	}
	return fmt.Sprintf("%d instances (%d of them in the archive), %d events of the queue, %d dead letters", len(e.Instances), archived, len(e.Queued), len(e.DeadLetters))
}

func (a commands) eraseCommand() *cobra.Command {
	var e erasure
	var file string
	var dryRun bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "erase --correlation ID", Short: "Remove all that is kept of one correlation, in etcd and in the archive", Args: cobra.NoArgs,
		Long: "Remove all instances of a correlation with their journals, running ones too, from etcd and from the archive, its events in the queue and its dead letters, and look again until there is\n" +
			"nothing. The receipt names what went, and has nothing of what stood in it. Not removed: answers to Idempotency-Keys (--retain-idempotency), what other instances were told, logs, webhooks' receivers and backups.",
		Example: "  weft erase --correlation customer-4711 --dry-run\n  weft erase --correlation customer-4711 --receipt erased-4711.json --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if e.CorrelationID == "" {
				return ask.Usage("say whose with --correlation")
			}
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			e.Begun, e.Server = time.Now().UTC().Format(time.RFC3339), c.Server()
			e.Instances, e.Queued, e.DeadLetters, e.noted = []erased{}, []string{}, []string{}, map[string]bool{}
			if _, err := e.look(ctx, c, false); err != nil {
				return err
			}
			if dryRun {
				return a.eraseShown(&e, "would erase "+e.counts())
			}
			if err := a.ask.Confirm("erase %s of correlation %q for good", e.counts(), e.CorrelationID); err != nil {
				return err
			}
			err = e.erase(ctx, c, wait)
			if file != "" {
				raw, _ := json.MarshalIndent(&e, "", "  ")
				err = errors.Join(err, ask.WriteFile(file, append(raw, '\n')))
			}
			if err != nil {
				return errors.Join(a.eraseShown(&e, "asked to erase "+e.counts()+", and did not see the end"), err)
			}
			return a.eraseShown(&e, "erased "+e.counts())
		},
	}
	f := cmd.Flags()
	f.StringVar(&e.CorrelationID, "correlation", "", "correlation id, all of it")
	f.StringVar(&file, "receipt", "", "write the receipt into this file, as JSON")
	f.BoolVar(&dryRun, "dry-run", false, "only say what there is")
	waitflag.Add(cmd, &wait, time.Minute, "wait so long until nothing is left; exit code 6 if something is")
	return cmd
}

func (a commands) eraseShown(e *erasure, line string) error {
	if a.ask.AsData() {
		raw, err := json.Marshal(e)
		if err != nil {
			return err
		}
		return a.ask.Show(ask.View{}, raw)
	}
	fmt.Fprintln(a.ask.Out, line)
	return nil
}

// erase removes all that there is until a look finds nothing: what is removed on the way moves what comes behind it, and what runs may
// make more.
func (e *erasure) erase(ctx context.Context, c *apiclient.Client, wait time.Duration) error {
	until, cancel := context.WithTimeout(ctx, max(wait, time.Second))
	defer cancel()
	for {
		left, err := e.look(until, c, true)
		switch {
		case err != nil && until.Err() == nil:
			return err
		case err == nil && left == 0:
			e.Ended = time.Now().UTC().Format(time.RFC3339)
			return nil
		case err != nil || !pace.Pause(until, 200*time.Millisecond):
			return ask.Exit(ask.ExitNotOver, fmt.Errorf("after %s something of correlation %s is still there; repeat the command", wait, e.CorrelationID))
		}
	}
}

// look goes over all that there is of the correlation, notes it, and removes it if it is to. It gives how many there were.
func (e *erasure) look(ctx context.Context, c *apiclient.Client, remove bool) (n int, err error) {
	may := func(do func() error) error {
		if n++; !remove {
			return nil
		}
		return gone(do())
	}
	for in, err := range c.AllSummaries(ctx, apiclient.ListInstancesQuery{CorrelationID: e.CorrelationID, Limit: 500}) {
		if err != nil {
			return n, err
		}
		it := erased{in.InstanceID, in.DefinitionID, in.CreatedAt.UTC().Format(time.RFC3339Nano), in.Archived}
		if e.note("instance " + it.InstanceID + it.CreatedAt) {
			e.Instances = append(e.Instances, it)
		}
		if err := may(func() error { _, err := c.DeleteInstance(ctx, it.InstanceID); return err }); err != nil {
			return n, err
		}
	}
	for q, err := range c.AllQueue(ctx, apiclient.ListQueueQuery{CorrelationID: e.CorrelationID, Limit: 500}) {
		if err != nil {
			return n, err
		}
		if e.note("event " + q.ID) {
			e.Queued = append(e.Queued, q.ID)
		}
		if err := may(func() error { _, err := c.DeleteQueueItem(ctx, q.ID); return err }); err != nil {
			return n, err
		}
	}
	for d, err := range c.AllDeadLetters(ctx, apiclient.ListDeadLettersQuery{CorrelationID: e.CorrelationID, Limit: 500}) {
		if err != nil {
			return n, err
		}
		if e.note("letter " + d.ID) {
			e.DeadLetters = append(e.DeadLetters, d.ID)
		}
		if err := may(func() error { _, err := c.DeleteDeadLetter(ctx, d.ID); return err }); err != nil {
			return n, err
		}
	}
	return n, nil
}

// gone is err, unless it says that there is no such thing.
func gone(err error) error {
	var problem *apiclient.ProblemError
	if errors.As(err, &problem) && problem.Status == http.StatusNotFound {
		return nil
	}
	return err
}
