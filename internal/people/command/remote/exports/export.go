package exports

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

// The formats of an export.
const (
	ndjson  = "ndjson"
	parquet = "parquet"
)

// perPage is how many instances are asked for at once.
const perPage = 500

// Commands are the commands of this package, which ask as asker does.
func Commands(asker *ask.Asker) []*cobra.Command {
	archive := &cobra.Command{Use: "archive", Short: "What has finished, for analysts"}
	archive.AddCommand(exportCommand(asker))
	return []*cobra.Command{archive}
}

func exportCommand(asker *ask.Asker) *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use: "export [QUERY]", Short: "Write finished instances into a file, of etcd and of the archive", Args: cobra.ArbitraryArgs,
		Long: "Write finished instances into a file, the oldest first, those in etcd before those in the archive. QUERY is a line such as 'def:order finished>7d'; docs/api.md has its words.\n" +
			"ndjson has an instance a line, as the API shows it; parquet a row, compressed, with input and output as JSON.",
		Example: "  weft archive export --out instances.parquet\n  weft archive export 'def:order created<30d' --format ndjson --out - | jq .correlationId",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format == "" {
				if format = strings.TrimPrefix(filepath.Ext(out), "."); format == "jsonl" || out == "-" {
					format = ndjson
				}
			}
			if format != ndjson && format != parquet {
				return ask.Usage("say which format: --format ndjson or parquet, or a file whose name ends so")
			}
			if out == "" {
				return ask.Usage("say where to with --out FILE; - is the standard output")
			}
			c, err := asker.Client()
			if err != nil {
				return err
			}
			query := strings.TrimSpace(strings.Join(args, " "))
			if out == "-" {
				_, err := export(cmd.Context(), c, query, format, asker.Out)
				return err
			}
			n, err := toFile(out, func(w io.Writer) (int64, error) { return export(cmd.Context(), c, query, format, w) })
			if err != nil {
				return err
			}
			fmt.Fprintf(asker.Out, "%s  %d instances\n", out, n)
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "ndjson or parquet (default: by the name of the file)")
	cmd.Flags().StringVar(&out, "out", "", "file to write; - is the standard output")
	return cmd
}

// toFile writes a file beside its place, and puts it there when it is whole.
func toFile(name string, write func(io.Writer) (int64, error)) (n int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".weft-*") // of mode 0600
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if n, err = write(f); err != nil {
		return n, errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return n, err
	}
	return n, os.Rename(f.Name(), name)
}

// instance is one as the API shows it, as far as a table has columns for it; what a user gave stays as it is written.
type instance struct {
	InstanceID       string            `json:"instanceId"`
	DefinitionID     string            `json:"definitionId"`
	Version          int64             `json:"version"`
	SubStatus        string            `json:"subStatus"`
	Name             string            `json:"name"`
	CorrelationID    string            `json:"correlationId"`
	ParentInstanceID string            `json:"parentInstanceId"`
	CreatedAt        time.Time         `json:"createdAt"`
	UpdatedAt        time.Time         `json:"updatedAt"`
	FinishedAt       *time.Time        `json:"finishedAt"`
	Labels           map[string]string `json:"labels"`
	Incidents        []json.RawMessage `json:"incidents"`
	Input            json.RawMessage   `json:"input"`
	Output           json.RawMessage   `json:"output"`
	Archived         bool              `json:"archived"`
}

// export writes all that fits the query, and tells how many those were.
func export(ctx context.Context, c *apiclient.Client, query, format string, to io.Writer) (n int64, err error) {
	buffered := bufio.NewWriterSize(to, 1<<20)
	write, end := lines(buffered)
	if format == parquet {
		write, end = table(buffered)
	}
	q := apiclient.ListInstancesQuery{Q: query, Status: "Finished", Sort: "created", Limit: perPage}
	for {
		page, err := c.ListInstances(ctx, q)
		if err != nil {
			return n, err
		}
		var found struct {
			Items []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(page.Bytes, &found); err != nil {
			return n, fmt.Errorf("the answer is no list of instances: %w", err)
		}
		for _, raw := range found.Items {
			if err := write(raw); err != nil {
				return n, err
			}
			n++
		}
		if page.Body.NextCursor == nil {
			break
		}
		q.Cursor = *page.Body.NextCursor
	}
	if err := end(); err != nil {
		return n, err
	}
	return n, buffered.Flush()
}

// lines writes instances as lines of JSON.
func lines(to *bufio.Writer) (write func(json.RawMessage) error, end func() error) {
	write = func(raw json.RawMessage) error {
		if _, err := to.Write(raw); err != nil { // the API writes none over several lines
			return err
		}
		return to.WriteByte('\n')
	}
	return write, func() error { return nil }
}
