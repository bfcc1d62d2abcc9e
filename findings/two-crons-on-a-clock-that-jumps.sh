#!/usr/bin/env bash
# What:      croner 9.1.0 and cron-parser 5.4.0 (npm), the two most used readers of cron expressions in Node.
# Behaviour: where midnight does not exist (America/Santiago, 2026-09-06) "0 0 * * *" comes an hour later in croner, and cron-parser leaves the day
#            out, though it moves 02:30 in Berlin to 03:30. Where 02:30 is there twice, croner takes the second one and cron-parser the
#            first. "*/30 2 * * *" comes twice on that day in both, not four times, and not in the same hour.
# Guess:     a daily job comes once on each day; a doubled time the first time; what comes each half hour comes in both hours.
# Who:       those who move schedules from one library, or one language, to another, and see a night without its job.
# Written down before the run: "both come at the jump, 04:00Z; both come once, at the first 02:30".
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund croner@9.1.0 cron-parser@5.4.0 >/dev/null
cat >main.js <<'END'
const { Cron } = require('croner'), { CronExpressionParser } = require('cron-parser')
const rows = [['0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00Z'], ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z'],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z'], ['*/30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z']]
const short = d => d.toISOString().replace(':00.000', '')
for (const [e, zone, from] of rows) {
  console.log('croner     ', e, zone, new Cron(e, { timezone: zone }).nextRuns(3, new Date(from)).map(short).join(' '))
  const p = CronExpressionParser.parse(e, { tz: zone, currentDate: new Date(from) })
  console.log('cron-parser', e, zone, [1, 2, 3].map(() => short(p.next().toDate())).join(' '))
}
END
got=$(node main.js)
echo "$got"
want='croner      0 0 * * * America/Santiago 2026-09-06T04:00Z 2026-09-07T03:00Z 2026-09-08T03:00Z
cron-parser 0 0 * * * America/Santiago 2026-09-07T03:00Z 2026-09-08T03:00Z 2026-09-09T03:00Z
croner      30 2 * * * Europe/Berlin 2026-03-29T01:30Z 2026-03-30T00:30Z 2026-03-31T00:30Z
cron-parser 30 2 * * * Europe/Berlin 2026-03-29T01:30Z 2026-03-30T00:30Z 2026-03-31T00:30Z
croner      30 2 * * * Europe/Berlin 2026-10-25T01:30Z 2026-10-26T01:30Z 2026-10-27T01:30Z
cron-parser 30 2 * * * Europe/Berlin 2026-10-25T00:30Z 2026-10-26T01:30Z 2026-10-27T01:30Z
croner      */30 2 * * * Europe/Berlin 2026-10-25T01:00Z 2026-10-25T01:30Z 2026-10-26T01:00Z
cron-parser */30 2 * * * Europe/Berlin 2026-10-25T00:00Z 2026-10-25T00:30Z 2026-10-26T01:00Z'
if [[ $got != "$want" ]]; then
    echo "this has changed; it was:"
    echo "$want"
    exit 1
fi
