#!/usr/bin/env bash
# What:      go.yaml.in/yaml v4.0.0 (2026) and v3.0.5, the YAML library of most Go programs.
# Behaviour: a document that says "%YAML 1.2" is refused ("found incompatible YAML document"), and one that says
#            "%YAML 1.1" is read, by both. The text below the directive may be the same, and is read without one.
# Guess:     a library whose pages say that it reads most of YAML 1.2 takes a document that says it is YAML 1.2; at
#            worst a later minor version is read with a warning, as the specification asks (YAML 1.2.2, 6.8.1).
# Who:       people whose editor, generator or style guide begins each file with the directive, and whose file is
#            then "not YAML" to Kubernetes tools, Prometheus' rules and workflow definitions alike.
# Written down before the run: "both versions read both directives".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'EOF'
module finding

go 1.26

require (
	go.yaml.in/yaml/v3 v3.0.5
	go.yaml.in/yaml/v4 v4.0.0
)
EOF
cat >main.go <<'EOF'
package main

import (
	"fmt"

	v3 "go.yaml.in/yaml/v3"
	v4 "go.yaml.in/yaml/v4"
)

func main() {
	for _, head := range []string{"", "%YAML 1.1\n", "%YAML 1.2\n"} {
		doc := []byte(head + "---\na: 1\n")
		var three, four any
		fmt.Printf("%q: v3 %v, v4 %v\n", head, v3.Unmarshal(doc, &three) == nil, v4.Unmarshal(doc, &four) == nil)
	}
}
EOF
got=$(GOFLAGS=-mod=mod GOMODCACHE="$dir/mod" go run .)
echo "$got"
want='"": v3 true, v4 true
"%YAML 1.1\n": v3 true, v4 true
"%YAML 1.2\n": v3 false, v4 false'
if [[ $got != "$want" ]]; then
    echo "this has changed; it was:"
    echo "$want"
    exit 1
fi
