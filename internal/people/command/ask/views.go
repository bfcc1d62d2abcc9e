package ask

import (
	"encoding/json"
	"fmt"
	"strings"
)

// InstanceView shows the summaries of instances.
var InstanceView = View{Name: "instances/instanceId", Empty: "no instances", Columns: []Column{
	{Head: "INSTANCE", Path: "instanceId"}, {Head: "DEFINITION", Path: "definitionId", Show: DefinitionVersion}, {Head: "STATUS", Path: "subStatus", Unless: NoStatus},
	{Head: "CORRELATION", Path: "correlationId"}, {Head: "NAME", Path: "name", Wide: true}, {Head: "LABELS", Path: "labels", Wide: true, Show: labels},
	{Head: "WAITS FOR", Path: "waitsFor", Show: waitsFor}, {Head: "INCIDENTS", Path: "incidents", Wide: true}, {Head: "PARENT", Path: "parentInstanceId", Wide: true},
	{Head: "CREATED", Path: "createdAt", Show: When}, {Head: "UPDATED", Path: "updatedAt", Show: When},
}}

// DefinitionVersion shows a definition with its version.
func DefinitionVersion(_ *Asker, v, row any) string { return Text(v) + " v" + Text(At(row, "version")) }

// NoStatus are what an instance in a list may be instead of having a status: its record is gone, or cannot be read.
var NoStatus = []string{"gone", "damaged"}

func labels(_ *Asker, v, _ any) string {
	all, _ := v.(map[string]any)
	var out []string
	for _, k := range SortedKeys(all) {
		out = append(out, k+"="+Text(all[k]))
	}
	if out == nil {
		return "-"
	}
	return strings.Join(out, ",")
}

func waitsFor(_ *Asker, v, row any) string {
	list, _ := v.([]any)
	if len(list) == 0 {
		return "-"
	}
	out := Text(At(list[0], "kind"))
	if name := Text(At(list[0], "name")); name != "-" {
		out += " " + name
	}
	if all, ok := At(row, "waits").(json.Number); ok && all.String() != "1" {
		out += " +" + fmt.Sprint(mustInt(all)-1)
	}
	return out
}

func mustInt(n json.Number) int64 { i, _ := n.Int64(); return i }
