#!/usr/bin/env bash
# What:      github.com/prometheus/client_golang v1.25.0 (2026), the library of metrics of most Go programs.
# Behaviour: a counter whose name does not end in _total is a counter in the text format and in protobuf, and of type unknown in OpenMetrics, which
#            Prometheus asks for first.
# Guess:     one registry gives the same names and types in each format that a scraper may ask for.
# Who:       those who have counters with names of their own: tools that go by the type (hints in editors, rules that are made from metadata) see none.
# Written down before the run: "the same names in all three formats"; the names were, the types were not.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'END'
module finding

go 1.26

require github.com/prometheus/client_golang v1.25.0
END
cat >main.go <<'END'
package main

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "jobs", Help: "Jobs."}))
	for _, accept := range []string{"text/plain;version=0.0.4", "application/openmetrics-text;version=1.0.0", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text"} {
		req, w := httptest.NewRequest("GET", "/metrics", nil), httptest.NewRecorder()
		req.Header.Set("Accept", accept)
		promhttp.HandlerFor(r, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, req)
		of, _, _ := strings.Cut(accept, ";")
		for _, line := range strings.Split(strings.ToLower(w.Body.String()), "\n") {
			if f := strings.Fields(line); len(f) > 0 && (strings.HasPrefix(line, "# type") || f[0] == "type:") {
				fmt.Println(of, "is", f[len(f)-1])
			}
		}
	}
}
END
got=$(GOFLAGS=-mod=mod GOMODCACHE="$dir/mod" go run .)
echo "$got"
want='text/plain is counter
application/openmetrics-text is unknown
application/vnd.google.protobuf is counter'
if [[ $got != "$want" ]]; then
    echo "this has changed; it was:"
    echo "$want"
    exit 1
fi
