#!/usr/bin/env bash
# What:      github.com/expr-lang/expr v1.17.8 (2026), the expression language of many Go programs with rules and workflows.
# Behaviour: a number that came from outside (int64, float64) equals a literal, and an object that holds it does not equal the
#            same object as literal: o.a == 1 is true, o == {"a": 1} is false, and so are `in` and findIndex. groupBy has
#            one group for 0 and another for 0.0, although 0 == 0.0. keys() and values() of one object have another order at
#            each evaluation.
# Guess:     equality of objects is that of what they hold, groups are by what == says, and one evaluation is like the next.
# Who:       those who compare payloads with literals in rules, group by an amount, or sign, hash or correlate by what keys() gives.
# Written down before the run: "true true, one group, one order in 50 evaluations".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'EOF'
module finding

go 1.26

require github.com/expr-lang/expr v1.17.8
EOF
cat >main.go <<'EOF'
package main

import (
	"fmt"

	"github.com/expr-lang/expr"
)

func main() {
	object := map[string]any{"a": int64(1)}
	env := map[string]any{"o": object, "many": map[string]any{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}}
	for _, source := range []string{`o.a == 1`, `o == {"a": 1}`, `o in [{"a": 1}]`, `0 == 0.0`, `len(groupBy([0, 0.0], #))`} {
		v, err := expr.Eval(source, env)
		fmt.Println(source, "=", v, err)
	}
	orders := map[string]bool{}
	for range 50 {
		v, _ := expr.Eval(`join(keys(many), "")`, env)
		orders[fmt.Sprint(v)] = true
	}
	fmt.Println("keys of one object in 50 evaluations: more than one order =", len(orders) > 1)
}
EOF
got=$(GOFLAGS=-mod=mod GOMODCACHE="$dir/mod" go run .)
echo "$got"
want='o.a == 1 = true <nil>
o == {"a": 1} = false <nil>
o in [{"a": 1}] = false <nil>
0 == 0.0 = true <nil>
len(groupBy([0, 0.0], #)) = 2 <nil>
keys of one object in 50 evaluations: more than one order = true'
if [[ $got != "$want" ]]; then
    echo "this has changed; it was:"
    echo "$want"
    exit 1
fi
