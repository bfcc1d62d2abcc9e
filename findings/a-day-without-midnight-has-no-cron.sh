#!/usr/bin/env bash
# What:      github.com/netresearch/go-cron v0.9.1 (2026), a kept fork of the most used cron library of Go.
# Behaviour: "0 0 * * *" in a zone whose clocks jump over midnight (America/Santiago, 2026-09-06, 00:00 to 01:00) leaves the
#            whole day out, while "30 2 * * *" in Europe/Berlin on 2026-03-29, which jumps from 02:00 to 03:00, comes at 03:30. In
#            the hour that there is twice (2026-10-25, 02:30) it comes twice.
# Guess:     a daily job runs once each day: at the jump, or an hour later, at midnight as at half past two.
# Who:       nightly closings, reminders and reports in Chile, Cuba, Paraguay, Lebanon or Egypt.
# Written down before the run: "2026-09-06T01:00:00-03:00, the moment of the jump; 02:30 once in October".
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'EOF'
module finding

go 1.26

require github.com/netresearch/go-cron v0.9.1
EOF
cat >main.go <<'EOF'
package main

import (
	"fmt"
	"time"
	_ "time/tzdata"

	"github.com/netresearch/go-cron"
)

func main() {
	for _, c := range []struct{ expr, zone, from string }{
		{"0 0 * * *", "America/Santiago", "2026-09-05T00:00:00"},
		{"30 1 * * *", "Europe/Berlin", "2026-10-24T12:00:00"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00"},
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			panic(err)
		}
		t, err := time.ParseInLocation("2006-01-02T15:04:05", c.from, zone)
		if err != nil {
			panic(err)
		}
		s, err := cron.ParseStandard(c.expr)
		if err != nil {
			panic(err)
		}
		fmt.Print(c.expr, " ", c.zone)
		for range 3 {
			t = s.Next(t)
			fmt.Print(" ", t.Format(time.RFC3339))
		}
		fmt.Println()
	}
}
EOF
got=$(GOFLAGS=-mod=mod GOMODCACHE="$dir/mod" go run .)
echo "$got"
want='0 0 * * * America/Santiago 2026-09-07T00:00:00-03:00 2026-09-08T00:00:00-03:00 2026-09-09T00:00:00-03:00
30 1 * * * Europe/Berlin 2026-10-25T01:30:00+02:00 2026-10-26T01:30:00+01:00 2026-10-27T01:30:00+01:00
30 2 * * * Europe/Berlin 2026-10-25T02:30:00+02:00 2026-10-25T02:30:00+01:00 2026-10-26T02:30:00+01:00
30 2 * * * Europe/Berlin 2026-03-29T03:30:00+02:00 2026-03-30T02:30:00+02:00 2026-03-31T02:30:00+02:00'
if [[ $got != "$want" ]]; then
    echo "this has changed; it was:"
    echo "$want"
    exit 1
fi
