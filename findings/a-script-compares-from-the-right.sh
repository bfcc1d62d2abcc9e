#!/usr/bin/env bash
# What:      github.com/dop251/goja v0.0.0-20260917113740-793a2a65c13b (2026), the JavaScript engine of many Go programs (k6, PocketBase, Grafana).
# Behaviour: comparisons are read from the right: 3 > 2 > 1 is 3 > (2 > 1), so true, where JavaScript has false; 1 < 2 < 3 is false, where it
#            has true. \p{L} in a regular expression with the flag u is the letter p: it finds no letter, and says nothing. [-0].includes(0) is false.
# Guess:     what the parser takes means what it means in Node; what is missing is refused.
# Who:       those who check ranges (1 < x < 10), names and addresses of people (\p{L}) in rules, hooks and workflows.
# Written down before the run: a table of 1,190 one-liners, each with "as in Node".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'END'
module finding

go 1.26

require github.com/dop251/goja v0.0.0-20260917113740-793a2a65c13b
END
cat >main.go <<'END'
package main

import (
	"fmt"

	"github.com/dop251/goja"
)

func main() {
	for _, s := range []string{"3 > 2 > 1", "1 < 2 < 3", `/\p{L}/u.test("é")`, `/\p{Lu}/u.test("É")`, "[-0].includes(0)", "new Date('2026-031').getTime()"} {
		v, err := goja.New().RunString(s)
		fmt.Println(s, "=", v, err)
	}
}
END
got=$(GOFLAGS=-mod=mod GOMODCACHE="$dir/mod" go run .)
echo "$got"
want='3 > 2 > 1 = true <nil>
1 < 2 < 3 = false <nil>
/\p{L}/u.test("é") = false <nil>
/\p{Lu}/u.test("É") = false <nil>
[-0].includes(0) = false <nil>
new Date('"'2026-031'"').getTime() = -61188912000000 <nil>'
if [[ $got != "$want" ]]; then
    echo "this has changed; it was:"
    echo "$want"
    exit 1
fi
