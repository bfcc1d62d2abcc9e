package cluster

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/apiclient"
)

func (a commands) storeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "store", Short: "What fills etcd: by kind and definition, the largest instances, days until it is full", Args: cobra.NoArgs,
		Long: "What fills etcd: by kind and by definition, the largest instances, growth, and days until starts are refused. One look reads up to\n" +
			"256 MiB and takes up to 8 seconds; of a larger store some is read, and ± says by how much an estimate may be wrong.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.ask.Client()
			if err != nil {
				return err
			}
			answer, err := c.GetStore(cmd.Context())
			if err != nil {
				return err
			}
			if a.ask.AsData() {
				return a.ask.Show(ask.View{}, answer.Bytes)
			}
			return a.filling(&answer.Body)
		},
	}
}

// filling shows the answer: how full etcd is in a line, and a table for each way to divide it.
func (a commands) filling(f *apiclient.Filling) error {
	var b strings.Builder
	if f.Store.Text != "" {
		fmt.Fprintf(&b, "%s\ndo this: %s\n", ask.OneLine(f.Store.Text), ask.OneLine(f.Store.Advice))
	}
	fmt.Fprintf(&b, "%s of keys and values; etcd has %s in use, %s allocated, quota %s\n", bytesText(f.Bytes), bytesText(f.Store.InUse), bytesText(f.Store.Allocated), bytesText(f.Store.Quota))
	if f.Store.DiskSize > 0 {
		fmt.Fprintf(&b, "its disk has %s free of %s\n", bytesText(f.Store.DiskFree), bytesText(f.Store.DiskSize))
	}
	if !f.Whole {
		fmt.Fprintf(&b, "some of it was read, in %.1f s; the rest is taken to be like that\n", f.TookSeconds)
	}
	switch g := f.Growth; {
	case g == nil:
		b.WriteString("growth: not known yet, the node looks for ten minutes first\n")
	case g.DaysLeft != nil:
		fmt.Fprintf(&b, "growth: %s a day, over %s: starts are refused in %.1f days\n", bytesText(int64(g.BytesADay)), ask.Short(time.Duration(g.OverSeconds*float64(time.Second))), *g.DaysLeft)
	default:
		fmt.Fprintf(&b, "growth: %s a day, over %s\n", bytesText(int64(g.BytesADay)), ask.Short(time.Duration(g.OverSeconds*float64(time.Second))))
	}
	if _, err := io.WriteString(a.ask.Out, b.String()+"\n"); err != nil {
		return err
	}
	var kinds, definitions, largest []any
	for _, k := range f.Kinds {
		text := bytesText(k.Bytes)
		if k.Off > 0 {
			text += " ± " + bytesText(k.Off)
		}
		kinds = append(kinds, map[string]any{"kind": k.Kind, "keys": fmt.Sprint(k.Keys), "bytes": text})
	}
	for i, d := range f.Definitions {
		if i == mostDefinitions {
			break
		}
		definitions = append(definitions, map[string]any{"definition": d.DefinitionID, "instances": fmt.Sprint(d.Instances), "bytes": bytesText(d.Bytes)})
	}
	for _, in := range f.Largest {
		largest = append(largest, map[string]any{"instance": in.InstanceID, "definition": in.DefinitionID, "keys": fmt.Sprint(in.Keys), "bytes": bytesText(in.Bytes)})
	}
	for _, t := range []struct {
		view ask.View
		rows []any
	}{
		{ask.View{Columns: []ask.Column{{Head: "KIND", Path: "kind"}, {Head: "KEYS", Path: "keys"}, {Head: "BYTES", Path: "bytes"}}}, kinds},
		{ask.View{Columns: []ask.Column{{Head: "DEFINITION", Path: "definition"}, {Head: "INSTANCES", Path: "instances"}, {Head: "BYTES", Path: "bytes"}}}, definitions},
		{ask.View{Columns: []ask.Column{{Head: "LARGEST", Path: "instance"}, {Head: "DEFINITION", Path: "definition"}, {Head: "KEYS", Path: "keys"}, {Head: "BYTES", Path: "bytes"}}}, largest},
	} {
		if len(t.rows) == 0 {
			continue
		}
		if err := a.ask.Table(t.view, t.rows); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(a.ask.Out); err != nil {
			return err
		}
	}
	return nil
}

// mostDefinitions is how many are shown; -o json has all.
const mostDefinitions = 30

func bytesText(n int64) string {
	v, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for len(units) > 1 && (v >= 1024 || v <= -1024) {
		v, units = v/1024, units[1:]
	}
	if units[0] == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[0])
}
