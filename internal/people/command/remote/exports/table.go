package exports

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	parquetgo "github.com/parquet-go/parquet-go"
)

// rowsInGroup is how many rows are held in memory, and written as a group.
const rowsInGroup = 20_000

// row is an instance in a table: a column each, in this order. Times are in milliseconds, in UTC.
type row struct {
	InstanceID       string            `parquet:"instance_id"`
	DefinitionID     string            `parquet:"definition_id,dict"`
	Version          int64             `parquet:"version"`
	SubStatus        string            `parquet:"sub_status,dict"`
	Name             string            `parquet:"name"`
	CorrelationID    string            `parquet:"correlation_id"`
	ParentInstanceID string            `parquet:"parent_instance_id"`
	CreatedAt        time.Time         `parquet:"created_at,timestamp(millisecond)"`
	UpdatedAt        time.Time         `parquet:"updated_at,timestamp(millisecond)"`
	FinishedAt       *time.Time        `parquet:"finished_at,optional,timestamp(millisecond)"`
	Incidents        int32             `parquet:"incidents"`
	Labels           map[string]string `parquet:"labels"`
	Input            string            `parquet:"input,json"`
	Output           string            `parquet:"output,json"`
	Archived         bool              `parquet:"archived"`
}

// table writes instances as rows of a file of Parquet.
func table(to io.Writer) (write func(json.RawMessage) error, end func() error) {
	w := parquetgo.NewGenericWriter[row](to, parquetgo.Compression(&parquetgo.Zstd), parquetgo.MaxRowsPerRowGroup(rowsInGroup), parquetgo.CreatedBy("weft", "", ""))
	write = func(raw json.RawMessage) error {
		var in instance
		if err := json.Unmarshal(raw, &in); err != nil {
			return fmt.Errorf("an instance of the list cannot be read: %w", err)
		}
		_, err := w.Write([]row{{
			in.InstanceID, in.DefinitionID, in.Version, in.SubStatus, in.Name, in.CorrelationID, in.ParentInstanceID,
			in.CreatedAt, in.UpdatedAt, in.FinishedAt, int32(len(in.Incidents)), in.Labels, text(in.Input), text(in.Output), in.Archived,
		}})
		return err
	}
	return write, w.Close
}

// text is JSON as it is written; nothing is null.
func text(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "null"
	}
	return string(raw)
}
