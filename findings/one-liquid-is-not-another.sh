#!/usr/bin/env bash
# What:      two kept implementations of Liquid: liquidjs 10.30.1 (npm) and github.com/osteele/liquid v1.9.2 (Go).
# Behaviour: neither is the language that Shopify's documentation describes, and each in another place. liquidjs divides whole
#            numbers into decimals (7 by 2 is 3.5, documented is 3) and computes in binary. The Go library reads and, or from the
#            left (documented: from the right), cuts -7 / 2 towards zero, does not know `empty`, and renders nothing of a text
#            that is looped over, which the other renders once.
# Guess:     what the documentation shows comes out the same; differences are in rare filters.
# Who:       those who take a template from a shop, a Jekyll site or another engine, and see other sums and other branches.
# Written down before the run: "3, -4, yes, yes, 0.3, [ab] from both".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund liquidjs@10.30.1 >/dev/null
cat >templates.json <<'EOF'
["{{ 7 | divided_by: 2 }}", "{{ -7 | divided_by: 2 }}", "{% if true or true and false %}yes{% else %}no{% endif %}",
 "{% if text == empty %}yes{% else %}no{% endif %}", "{{ 0.1 | plus: 0.2 }}", "{% for c in word %}[{{ c }}]{% endfor %}"]
EOF
cat >main.js <<'EOF'
const { Liquid } = require('liquidjs')
const engine = new Liquid()
for (const t of require('./templates.json')) console.log('liquidjs  ', t, '=', engine.parseAndRenderSync(t, { text: '', word: 'ab' }))
EOF
cat >go.mod <<'EOF'
module finding

go 1.26

require github.com/osteele/liquid v1.9.2
EOF
cat >main.go <<'EOF'
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/osteele/liquid"
)

func main() {
	raw, _ := os.ReadFile("templates.json")
	var templates []string
	if err := json.Unmarshal(raw, &templates); err != nil {
		panic(err)
	}
	for _, t := range templates {
		out, err := liquid.NewEngine().ParseAndRenderString(t, map[string]any{"text": "", "word": "ab"})
		if err != nil {
			out = err.Error()
		}
		fmt.Println("osteele   ", t, "=", out)
	}
}
EOF
got=$(node main.js; GOFLAGS=-mod=mod GOMODCACHE="$dir/mod" go run .)
echo "$got"
want='liquidjs   {{ 7 | divided_by: 2 }} = 3.5
liquidjs   {{ -7 | divided_by: 2 }} = -3.5
liquidjs   {% if true or true and false %}yes{% else %}no{% endif %} = yes
liquidjs   {% if text == empty %}yes{% else %}no{% endif %} = yes
liquidjs   {{ 0.1 | plus: 0.2 }} = 0.30000000000000004
liquidjs   {% for c in word %}[{{ c }}]{% endfor %} = [ab]
osteele    {{ 7 | divided_by: 2 }} = 3
osteele    {{ -7 | divided_by: 2 }} = -3
osteele    {% if true or true and false %}yes{% else %}no{% endif %} = no
osteele    {% if text == empty %}yes{% else %}no{% endif %} = no
osteele    {{ 0.1 | plus: 0.2 }} = 0.30000000000000004
osteele    {% for c in word %}[{{ c }}]{% endfor %} ='
if [[ $(sed 's/ *$//' <<<"$got") != "$want" ]]; then
    echo "this has changed; it was:"
    echo "$want"
    exit 1
fi
