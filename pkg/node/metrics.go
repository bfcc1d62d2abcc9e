package node

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// ofCluster gives what g gives, each series with the label cluster: so two clusters in one
// Prometheus are not added up. A series that has such a label keeps its own.
func ofCluster(g prometheus.Gatherer, name string) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := g.Gather()
		label, value := "cluster", name
		for _, f := range families {
			for _, m := range f.Metric {
				at, there := slices.BinarySearchFunc(m.Label, label, func(l *dto.LabelPair, name string) int { return strings.Compare(l.GetName(), name) })
				if !there { // the slice is the collector's own
					m.Label = slices.Insert(slices.Clone(m.Label), at, &dto.LabelPair{Name: &label, Value: &value})
				}
			}
		}
		return families, err
	})
}
