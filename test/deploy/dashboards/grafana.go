package main

import (
	"fmt"
	"strings"
)

// The shape that Grafana reads: only what differs from its defaults.

type dashboard struct {
	UID           string         `json:"uid"`
	Title         string         `json:"title"`
	Description   string         `json:"description"`
	Tags          []string       `json:"tags"`
	Editable      bool           `json:"editable"`
	GraphTooltip  int            `json:"graphTooltip"` // 1: one crosshair over all panels
	Refresh       string         `json:"refresh"`
	SchemaVersion int            `json:"schemaVersion"`
	Time          timeRange      `json:"time"`
	Links         []link         `json:"links"`
	Templating    map[string]any `json:"templating"`
	Panels        []panel        `json:"panels"`
}

type timeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type link struct {
	Title       string   `json:"title"`
	Type        string   `json:"type"`
	Tags        []string `json:"tags"`
	AsDropdown  bool     `json:"asDropdown"`
	IncludeVars bool     `json:"includeVars"`
	KeepTime    bool     `json:"keepTime"`
}

type panel struct {
	ID          int            `json:"id"`
	Type        string         `json:"type"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Datasource  source         `json:"datasource"`
	GridPos     gridPos        `json:"gridPos"`
	Targets     []target       `json:"targets"`
	FieldConfig fieldConfig    `json:"fieldConfig"`
	Options     map[string]any `json:"options"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type gridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type target struct {
	RefID        string `json:"refId"`
	Datasource   source `json:"datasource"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
	Instant      bool   `json:"instant,omitempty"`
	Range        bool   `json:"range,omitempty"`
	Exemplar     bool   `json:"exemplar,omitempty"`
	Format       string `json:"format,omitempty"`
}

type fieldConfig struct {
	Defaults  fieldDefaults `json:"defaults"`
	Overrides []any         `json:"overrides"`
}

type fieldDefaults struct {
	Unit       string         `json:"unit"`
	Min        int            `json:"min"`
	NoValue    string         `json:"noValue,omitempty"`
	Custom     map[string]any `json:"custom,omitempty"`
	Thresholds *thresholds    `json:"thresholds,omitempty"`
}

type thresholds struct {
	Mode  string      `json:"mode"`
	Steps []threshold `json:"steps"`
}

type threshold struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

// prometheus is the data source that the reader of a dashboard chooses: where it is
// imported, ours has another id.
var prometheus = source{Type: "prometheus", UID: "${datasource}"}

// variables are what a reader chooses at the top of each dashboard. A cluster is one name in one namespace, and exactly
// one is shown: sums and maxima over two of them tell of none. Where targets have no namespace, that choice is empty,
// and so it is in the queries.
var variables = map[string]any{"list": []any{
	map[string]any{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
	choice("namespace", "Namespace", `label_values(weft_nodes, namespace)`),
	choice("cluster", "Cluster", `label_values(weft_nodes{namespace="$namespace"}, cluster)`),
	several(choice("node", "Node", `label_values(weft_nodes{cluster="$cluster",namespace="$namespace"}, instance)`)),
	choice("etcd", "Namespace of etcd", `label_values(etcd_server_has_leader{job="etcd"}, namespace)`),
}}

func choice(name, label, query string) map[string]any {
	return map[string]any{
		"name": name, "label": label, "type": "query", "datasource": prometheus, "refresh": 2, "sort": 1,
		"definition": query, "query": map[string]any{"query": query, "refId": name},
	}
}

func several(choice map[string]any) map[string]any {
	choice["multi"], choice["includeAll"], choice["allValue"] = true, true, ".*"
	choice["current"] = map[string]any{"text": "All", "value": "$__all"}
	return choice
}

// chosen restricts a query to the cluster and the nodes that the reader chose. Prometheus' own series know of no
// cluster, and the members of etcd may be in another namespace than the nodes.
func chosen(expr string) string {
	expr = strings.ReplaceAll(expr, `job="weft"`, `job="weft",cluster="$cluster",namespace="$namespace",instance=~"$node"`)
	expr = strings.ReplaceAll(expr, `up{job="weft",cluster="$cluster",`, `up{job="weft",`)
	expr = strings.ReplaceAll(expr, `job="haproxy"`, `job="haproxy",namespace=~"$namespace|"`)
	return strings.ReplaceAll(expr, `job="etcd"`, `job="etcd",namespace="$etcd"`)
}

// draw turns a page into what Grafana reads: rows of three tiles or two graphs.
func draw(p page) dashboard {
	d := dashboard{
		UID: "weft-" + p.id, Title: "Weft / " + p.title, Description: p.about, Tags: []string{"weft"}, GraphTooltip: 1,
		Refresh: "10s", SchemaVersion: 39, Time: timeRange{"now-1h", "now"},
		Links:      []link{{Title: "Weft", Type: "dashboards", Tags: []string{"weft"}, AsDropdown: true, KeepTime: true, IncludeVars: true}},
		Templating: variables,
	}
	const columns = 24
	x, y, height := 0, 0, 0
	for i, v := range p.views {
		w, h := v.kind.size()
		if x+w > columns || height != 0 && h != height {
			x, y = 0, y+height
		}
		height = h
		d.Panels = append(d.Panels, v.panel(i+1, gridPos{H: h, W: w, X: x, Y: y}))
		x += w
	}
	return d
}

// size is in Grafana's units; a dashboard is 24 wide.
func (k kind) size() (w, h int) {
	if k == tile {
		return 4, 4
	}
	return 12, 8
}

func (v view) panel(id int, at gridPos) panel {
	p := panel{
		ID: id, Type: string(v.kind), Title: v.title, Description: v.about, Datasource: prometheus, GridPos: at,
		FieldConfig: fieldConfig{Defaults: fieldDefaults{Unit: v.unit, NoValue: v.empty}, Overrides: []any{}},
	}
	for i, q := range v.queries {
		t := target{RefID: string(rune('A' + i)), Datasource: prometheus, Expr: chosen(q.expr), LegendFormat: q.legend}
		t.Instant, t.Range = v.kind != graph, v.kind == graph
		t.Exemplar = v.kind == graph && traced.MatchString(q.expr)
		if v.kind == table {
			t.Format = "table"
		}
		p.Targets = append(p.Targets, t)
	}
	switch v.kind {
	case tile:
		p.Options = map[string]any{"colorMode": "background", "graphMode": "none", "reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}}}
		p.FieldConfig.Defaults.Thresholds = v.limits()
	case graph:
		p.Options = map[string]any{"legend": map[string]any{"displayMode": "list", "placement": "bottom"}, "tooltip": map[string]any{"mode": "multi", "sort": "desc"}}
		p.FieldConfig.Defaults.Custom = map[string]any{"fillOpacity": 10, "showPoints": "never", "spanNulls": false}
		if v.stacked {
			p.FieldConfig.Defaults.Custom["stacking"] = map[string]any{"mode": "normal"}
		}
		if v.bad > 0 {
			p.FieldConfig.Defaults.Thresholds = v.limits()
			p.FieldConfig.Defaults.Custom["thresholdsStyle"] = map[string]any{"mode": "dashed"}
		}
	case table:
		p.Options = map[string]any{"showHeader": true}
	default:
		panic(fmt.Sprintf("no such kind of panel: %s", v.kind))
	}
	return p
}

// limits colours what is bad: red from bad on, or below it.
func (v view) limits() *thresholds {
	t := &thresholds{Mode: "absolute", Steps: []threshold{{Color: "green"}}}
	if v.bad > 0 {
		t.Steps = append(t.Steps, threshold{Color: "red", Value: &v.bad})
	}
	if v.badBelow > 0 {
		t.Steps = []threshold{{Color: "red"}, {Color: "green", Value: &v.badBelow}}
	}
	return t
}
