package instances

import "testing"

// What the API advises is told as commands of this program, and what no command does as it is.
func TestAdviceIsToldAsCommands(t *testing.T) {
	t.Parallel()
	for advice, want := range map[string]string{
		`POST /events/approved {"correlationId":"o-2"}`:                                         `weft events send approved --correlation o-2`,
		`POST /events/approved`:                                                                 `weft events send approved`,
		`POST /events/a%20b%27c {"correlationId":"it's {1}"}`:                                   `weft events send 'a b'\''c' --correlation 'it'\''s {1}'`,
		`mend the cause, then POST /instances/o-1/retry`:                                        `mend the cause, then weft instances retry o-1`,
		`POST /instances/o-1/cancel ends it, and the call that it waits for`:                    `weft instances cancel o-1 ends it, and the call that it waits for`,
		`if it is the one: POST /queue/q-7/send {"instanceId":"o-1","name":"paid"}`:             `if it is the one: weft queue send q-7 --instance o-1 --name paid`,
		`POST /dead-letters/d-1/replay`:                                                         `weft dead-letters replay d-1`,
		`GET /instances/kid%2F1/explain`:                                                        `weft explain kid/1`,
		`GET /tasks names the task; its worker reports the result`:                              `weft tasks list names the task; its worker reports the result`,
		`nothing for as long as the session's TTL; after that look at GET /nodes and at etcd's`: `nothing for as long as the session's TTL; after that look at weft nodes list and at etcd's`,
		`POST /bookmarks/b~1/resume tries it now`:                                               `weft bookmarks resume 'b~1' tries it now`,
		`POST /unpause`: `weft cluster unpause`,
		`run weft fsck, which names an instance without a cause; then POST /instances/x/cancel, or`: `run weft fsck, which names an instance without a cause; then weft instances cancel x, or`,
		`make room in etcd: docs/runbooks/etcd-near-quota.md`:                                       `make room in etcd: docs/runbooks/etcd-near-quota.md`,
		`POST /new/thing {"a":"b"}`:          `POST /new/thing {"a":"b"}`,
		`POST /events/x {"payload":{"a":1}}`: `POST /events/x {"payload":{"a":1}}`,
	} {
		if got := asCommand(advice); got != want {
			t.Errorf("%s\nis told as %s\nwant       %s", advice, got, want)
		}
	}
}
