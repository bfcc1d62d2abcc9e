package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/testsize"
)

// The same Idempotency-Key at three nodes at once: one effect, three equal
// answers, and the same answer again later. The same key with another body is
// refused.
func TestSameKeyAtThreeNodesAtOnceHasOneEffectAndOneAnswer(t *testing.T) {
	t.Parallel()
	c := inProcess(t, outcomes)
	c.publish(t, "id: once\ninputs: {n: number}\nroot:\n  - writeLine: ${{ inputs.n }}\n  - event: go\n  - writeLine: gone\n")
	c.publish(t, "id: begun\nroot:\n  - event: begin\n    trigger: true\n  - writeLine: begun\n")
	c.publish(t, "id: singleton\noptions: {activation: CorrelatedSingleton}\nroot:\n  - event: never\n")
	instances := func(query string) int { return len(c.list(t, c.any(), "/api/v1/instances?"+query)) }
	tests := []struct {
		name string
		// prepare brings about what a round needs; path and body are the request.
		prepare    func(t *testing.T, round int)
		path, body func(round int) string
		status     int
		effects    func(t *testing.T, round int, a answer)
	}{
		{
			name: "execute", status: 200,
			path: func(int) string { return "/api/v1/definitions/once/execute" },
			body: func(i int) string { return fmt.Sprintf(`{"input": {"n": %d}, "correlationId": "x%d"}`, i, i) },
			effects: func(t *testing.T, i int, a answer) {
				t.Helper()
				if n := instances(fmt.Sprintf("correlationId=x%d", i)); n != 1 {
					t.Errorf("%d instances", n)
				}
				c.wantLines(t, c.any(), a.text("instanceId"), strconv.Itoa(i))
			},
		},
		{
			name: "dispatch", status: 202,
			path: func(int) string { return "/api/v1/definitions/once/dispatch" },
			body: func(i int) string { return fmt.Sprintf(`{"input": {"n": %d}, "correlationId": "d%d"}`, i, i) },
			effects: func(t *testing.T, i int, a answer) {
				t.Helper()
				c.waitFor(t, c.any(), a.text("instanceId"), "Suspended")
				if n := instances(fmt.Sprintf("correlationId=d%d", i)); n != 1 {
					t.Errorf("%d instances", n)
				}
				c.wantLines(t, c.any(), a.text("instanceId"), strconv.Itoa(i))
			},
		},
		{
			name: "execute behind a gate", status: 200,
			path: func(int) string { return "/api/v1/definitions/singleton/execute" },
			body: func(i int) string { return fmt.Sprintf(`{"correlationId": "g%d"}`, i) },
			effects: func(t *testing.T, i int, _ answer) {
				t.Helper()
				if n := instances(fmt.Sprintf("correlationId=g%d", i)); n != 1 {
					t.Errorf("%d instances", n)
				}
			},
		},
		{
			name: "an event that resumes", status: 200,
			prepare: func(t *testing.T, i int) {
				t.Helper()
				c.execute(t, c.any(), "once", fmt.Sprintf("r%d", i), fmt.Sprintf(`{"correlationId": "r%d", "input": {"n": 1}}`, i))
			},
			path: func(int) string { return "/api/v1/events/go" },
			body: func(i int) string { return fmt.Sprintf(`{"correlationId": "r%d"}`, i) },
			effects: func(t *testing.T, i int, a answer) {
				t.Helper()
				if kind(a) != "resumed" {
					t.Errorf("answer %s", a)
				}
				c.wantLines(t, c.any(), fmt.Sprintf("r%d", i), "1", "gone")
			},
		},
		{
			name: "an event that starts", status: 200,
			path: func(int) string { return "/api/v1/events/begin" },
			body: func(i int) string { return fmt.Sprintf(`{"correlationId": "b%d"}`, i) },
			effects: func(t *testing.T, i int, a answer) {
				t.Helper()
				if kind(a) != "started" {
					t.Errorf("answer %s", a)
				}
				if n := instances(fmt.Sprintf("correlationId=b%d", i)); n != 1 {
					t.Errorf("%d instances", n)
				}
			},
		},
		{
			name: "an event that nothing waits for", status: 202,
			path: func(int) string { return "/api/v1/events/later" },
			body: func(i int) string { return fmt.Sprintf(`{"correlationId": "q%d"}`, i) },
			effects: func(t *testing.T, i int, _ answer) {
				t.Helper()
				n := 0
				for _, item := range c.list(t, c.any(), "/api/v1/queue") {
					if item["correlationId"] == fmt.Sprintf("q%d", i) {
						n++
					}
				}
				if n != 1 {
					t.Errorf("%d items in the queue", n)
				}
			},
		},
		{
			name: "an event for three instances", status: 200,
			prepare: func(t *testing.T, i int) {
				t.Helper()
				for k := range 3 {
					c.execute(t, c.any(), "once", fmt.Sprintf("m%d-%d", i, k), fmt.Sprintf(`{"correlationId": "m%d", "input": {"n": %d}}`, i, k))
				}
			},
			path: func(int) string { return "/api/v1/events/go" },
			body: func(i int) string { return fmt.Sprintf(`{"correlationId": "m%d"}`, i) },
			effects: func(t *testing.T, i int, a answer) {
				t.Helper()
				if n := len(a.outcomes()); n != 3 {
					t.Errorf("%d outcomes: %s", n, a)
				}
				for k := range 3 {
					c.waitFor(t, c.any(), fmt.Sprintf("m%d-%d", i, k), "Finished")
					c.wantLines(t, c.any(), fmt.Sprintf("m%d-%d", i, k), strconv.Itoa(k), "gone")
				}
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range testsize.Of(15, 4) {
				if tt.prepare != nil {
					tt.prepare(t, i)
				}
				key := fmt.Sprintf("Idempotency-Key: %s-%d", strings.ReplaceAll(tt.name, " ", "-"), i)
				answers := make([]answer, 4)
				ask := func(k int, m *member) { answers[k] = c.call(t, m, "POST", tt.path(i), tt.body(i), key) }
				atOnce(3, func(k int) { ask(k, c.members[k]) })
				ask(3, c.any())
				again := answers[3]
				for k, a := range answers {
					if a.status != tt.status || a.raw != answers[0].raw {
						t.Errorf("round %d: answer %d is %s, the first %s", i, k, a, answers[0])
					}
				}
				tt.effects(t, i, again)
				other := strings.Replace(tt.body(i), "{", `{"instanceId": "other", `, 1)
				if a := c.call(t, c.any(), "POST", tt.path(i), other, key); a.status != 422 || a.text("code") != "idempotency-key-reused" {
					t.Errorf("round %d: with another body: %s", i, a)
				}
			}
		})
	}
	c.checkHistories(t)
}
