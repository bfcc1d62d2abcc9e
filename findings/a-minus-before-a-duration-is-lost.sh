#!/usr/bin/env bash
# What:      iso8601-duration 2.1.2, tinyduration 3.3.1 and luxon 3.7.1 (npm), which read durations such as PT5M.
# Behaviour: -PT5M is 300 seconds forward in iso8601-duration, and 300 backward in the others. PT5M3H is five minutes in two of them, which leave
#            the three hours out, and PT1H30 is an hour. P and PT are no time at all in luxon, and refused by the others.
# Guess:     what a reader takes it reads to its end, and a sign counts; an empty duration is refused.
# Who:       those who take deadlines, reminders ("-PT15M" before a meeting, as calendars write it) and limits from texts of others.
# Written down before the run: "all three read PT1.5H and -PT5M the same, and refuse P and PT5M3H".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund iso8601-duration@2.1.2 tinyduration@3.3.1 luxon@3.7.1 >/dev/null
cat >main.js <<'END'
const { parse, toSeconds } = require('iso8601-duration'), tiny = require('tinyduration'), { Duration } = require('luxon')
const seconds = f => { try { const n = f(); return Number.isNaN(n) ? 'refused' : n } catch { return 'refused' } }
const added = d => (d.negative ? -1 : 1) * ((((d.weeks || 0) * 7 + (d.days || 0)) * 24 + (d.hours || 0)) * 3600 + (d.minutes || 0) * 60 + (d.seconds || 0))
for (const s of ['PT1.5H', '-PT5M', 'PT-5M', 'PT5M3H', 'PT1H30', 'P', 'PT'])
  console.log(s, 'iso8601-duration', seconds(() => toSeconds(parse(s), new Date(0))), 'tinyduration', seconds(() => added(tiny.parse(s))), 'luxon', seconds(() => Duration.fromISO(s).as('seconds')))
END
got=$(TZ=UTC node main.js)
echo "$got"
want='PT1.5H iso8601-duration 5400 tinyduration 5400 luxon 5400
-PT5M iso8601-duration 300 tinyduration -300 luxon -300
PT-5M iso8601-duration refused tinyduration -300 luxon -300
PT5M3H iso8601-duration 300 tinyduration 300 luxon refused
PT1H30 iso8601-duration 3600 tinyduration 3600 luxon refused
P iso8601-duration refused tinyduration refused luxon 0
PT iso8601-duration refused tinyduration refused luxon 0'
if [[ $got != "$want" ]]; then
    echo "this has changed; it was:"
    echo "$want"
    exit 1
fi
