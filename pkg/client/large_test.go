package client_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// bulk is a text of n characters that takes n bytes in the store, and three quarters of that in the record of an
// instance that lies in one key, which is compressed with more care.
func bulk(n int, seed uint64) string {
	raw := make([]byte, n*3/4)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// publishes waits for e<n> in its nth branch and then publishes that many
// characters, beside a branch that keeps the instance busy.
func publishes(sizes ...int) *workflow.Definition {
	branches := []*workflow.Activity{seq(waitFor("hold"), through())}
	for i, n := range sizes {
		branches = append(branches, seq(waitFor(fmt.Sprint("e", i)), &workflow.Activity{Type: "Elsa.PublishEvent", Inputs: map[string]workflow.Expression{
			"eventName": workflow.Lit("out"), "payload": workflow.Lit(bulk(n, uint64(i)))}}))
	}
	def := define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: branches})
	def.Options.LogPersistence = "Exclude"
	return def
}

// Commands that fit a commit one by one, and not together, are applied in several;
// one that does not fit alone is refused to its caller, and to no other.
func TestABurstThatIsTooLargeIsRunWithHalfOfItsCommands(t *testing.T) {
	t.Parallel()
	const k = 1000
	for name, tt := range map[string]struct {
		doc     int   // of the instance's input
		sizes   []int // of what each event publishes
		tooMuch int   // the one that never fits; -1: all fit
	}{
		"three of five are too much":     {950 * k, []int{500 * k, 500 * k, 500 * k, 500 * k, 500 * k}, -1},
		"two are too much":               {1200 * k, []int{800 * k, 700 * k, 800 * k}, -1},
		"one is too much, in front":      {700 * k, []int{1500 * k, 1 * k, 2 * k, 3 * k}, 0},
		"one is too much, in the middle": {700 * k, []int{1 * k, 10 * k, 1500 * k, 3 * k, 4 * k}, 2},
		"one is too much, the last":      {700 * k, []int{1 * k, 1500 * k}, 1},
		"one is too much, alone":         {700 * k, []int{1500 * k}, 0},
	} {
		for _, mode := range both {
			for _, durable := range []bool{false, true} {
				t.Run(fmt.Sprint(name, "/", mode, "/durable=", durable), func(t *testing.T) {
					if name != "three of five are too much" {
						testsize.NotRaced(t, "megabytes")
					}
					t.Parallel()
					w := newWorld(t, publishes(tt.sizes...))
					m := w.member("a", mode, slow)
					start := startOf("d", "start-i")
					start.Start.Input = map[string]any{"doc": bulk(tt.doc, 99)}
					r := must(m.open("i").Do(t.Context(), start))(t)
					cmds := make([]workflow.Command, len(tt.sizes))
					for i := range tt.sizes {
						cmds[i] = resumeOf(fmt.Sprint("c", i), r.Instance, i+1)
						st := workflow.EventStimulus(fmt.Sprint("e", i), nil)
						cmds[i].Stimulus = &st
					}
					if durable {
						for _, cmd := range cmds {
							if _, _, err := m.store.Stimuli.PutMail(t.Context(), "i", cmd, nil); err != nil {
								t.Fatal(err)
							}
						}
						m.worked("i")
					} else {
						got := m.busy(t.Context(), "i", r.Instance, cmds)
						for i, g := range got {
							a := <-g
							switch code := workflow.CodeOf(a.err); {
							case i == tt.tooMuch && code != workflow.CodeTooLarge:
								t.Errorf("the one that does not fit: %+v, %v", a.Effect, a.err)
							case i != tt.tooMuch && (a.err != nil || a.Effect.Outcome != workflow.OutcomeResumed):
								t.Errorf("command %d: %+v, %v", i, a.Effect, a.err)
							}
						}
					}
					sends, _, err := m.store.Upkeep.Sends(t.Context(), "", 100)
					if err != nil {
						t.Fatal(err)
					}
					want := len(tt.sizes)
					if tt.tooMuch >= 0 {
						want--
					}
					if len(sends) != want {
						t.Errorf("%d of %d were published", len(sends), want)
					}
					dead, _, err := m.store.Reader.DeadLetters(t.Context(), "", 100)
					if err != nil {
						t.Fatal(err)
					}
					var letters []string
					for _, d := range dead {
						letters = append(letters, d.Command.ID+" "+string(d.Reason))
					}
					wantDead := ""
					if durable && tt.tooMuch >= 0 {
						wantDead = fmt.Sprintf("c%d %s", tt.tooMuch, workflow.DeadTooLarge)
					}
					if s := strings.Join(letters, ","); s != wantDead {
						t.Errorf("dead letters %q, want %q", s, wantDead)
					}
				})
			}
		}
	}
}

// What an instance cannot go on without, and that fits neither a commit nor its
// Faulted record nor a dead letter beside it, leaves an incident, and can be replayed.
func TestAChildsEndThatFitsNowhereLeavesAnIncident(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ doc, end int }{
		"the instance is the larger": {1_400_000, 700_000},
		"the end is the larger":      {900_000, 1_200_000},
		"at the limit":               {1_730_000, 500_000},
	} {
		for _, mode := range both {
			t.Run(name+"/"+mode, func(t *testing.T) {
				if name != "the end is the larger" || mode == cluster.ModeDistributed {
					testsize.NotRaced(t, "megabytes")
				}
				t.Parallel()
				keeps := waitFor("end")
				keeps.Outputs = map[string]string{"result": "kept"}
				def := define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: []*workflow.Activity{seq(keeps, waitFor("more")), seq(waitFor("other"))}})
				def.Variables = []workflow.Variable{{ID: "kept", Name: "kept"}}
				def.Options.LogPersistence = "Exclude"
				w := newWorld(t, def)
				w.whole = true
				m := w.member("a", mode)
				start := startOf("d", "start-i")
				start.Start.Input = map[string]any{"doc": bulk(tt.doc, 1)}
				r := must(m.open("i").Do(t.Context(), start))(t)
				end := resumeOf("end", r.Instance, 0)
				end.Kind, end.Input = workflow.CommandChildEnd, map[string]any{"payload": bulk(tt.end, 2)}
				if _, _, err := m.store.Stimuli.PutMail(t.Context(), "i", end, nil); err != nil {
					t.Fatal(err)
				}
				m.worked("i")
				in := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t).Record.Header
				if in.SubStatus != workflow.Suspended || len(in.Bookmarks) != 2 || len(in.Incidents) != 1 || !strings.Contains(in.Incidents[0].Message, "bytes") {
					t.Errorf("it is %s, with %d bookmarks and the incidents %+v", in.SubStatus, len(in.Bookmarks), in.Incidents)
				}
				dead, _, err := m.store.Reader.DeadLetters(t.Context(), "", 10)
				if err != nil || len(dead) != 1 || dead[0].Reason != workflow.DeadTooLarge || dead[0].Command == nil || dead[0].Command.Input["payload"] == nil {
					t.Fatalf("dead letters: %d, %v", len(dead), err)
				}
				got := must(m.open("i").Do(t.Context(), resumeOf("other", in, 1)))(t)
				if got.Effect.Outcome != workflow.OutcomeResumed || len(got.Instance.Bookmarks) != 1 {
					t.Errorf("what else it waits for: %+v", got.Effect)
				}
			})
		}
	}
}

// What lies in one key because that was how it was written may be too much in parts, which are compressed one by
// one, each with its own loss: it stays in one key then, and goes on.
func TestWhatFitsOnlyInOneKeyStaysInIt(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(waitFor("go"), waitFor("more"))))
			w.whole = true
			m := w.member("a", mode)
			start := startOf("d", "start-i")
			start.Start.Input = map[string]any{"doc": bulk(1_600_000, 1)}
			in := must(m.open("i").Do(t.Context(), start))(t).Instance
			w.whole = false
			r := must(m.open("i").Do(t.Context(), resumeOf("go", in, 0)))(t)
			if r.Effect.Outcome != workflow.OutcomeResumed || len(r.Instance.Bookmarks) != 1 || r.Instance.Bookmarks[0].ID == in.Bookmarks[0].ID {
				t.Errorf("a resume: %+v, %s, incidents %+v", r.Effect, r.Instance.SubStatus, r.Instance.Incidents)
			}
			m.put(t, "i", workflow.Command{ID: "end", Kind: workflow.CommandCancel, CreatedAt: in.CreatedAt})
			m.worked("i")
			rec := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t).Record
			if rec.Header.SubStatus != workflow.Cancelled || rec.Header.Input["doc"] != start.Start.Input["doc"] {
				t.Errorf("after a cancel it is %s, incidents %+v", rec.Header.SubStatus, rec.Header.Incidents)
			}
			dead, _, err := m.store.Reader.DeadLetters(t.Context(), "", 10)
			if err != nil || len(dead) != 0 {
				t.Errorf("dead letters: %d, %v", len(dead), err)
			}
		})
	}
}

// worked works an instance's mailbox until it is empty.
func (m *member) worked(id string) {
	m.w.t.Helper()
	eventually(m.w.t, "the mailbox is empty", func() bool {
		if err := m.open(id).Work(m.w.t.Context(), false, nil); err != nil {
			m.w.t.Fatal(err)
		}
		return len(must(m.store.Instances.Load(m.w.t.Context(), id, "", ""))(m.w.t).Mail) == 0
	})
}

// A dead letter counts when it is durable, and once: what was too large for a commit is
// run again.
func TestADeadLetterIsCountedOnce(t *testing.T) {
	t.Parallel()
	const k = 1000
	for name, tt := range map[string]struct {
		doc   int // of the instance's input
		sizes []int
		gone  bool // the instance is deleted while they are on their way
	}{
		"one":                               {1 * k, []int{1 * k}, false},
		"many":                              {1 * k, []int{1 * k, 2 * k, 3 * k, 4 * k, 5 * k}, false},
		"too many for a commit":             {1200 * k, []int{150 * k, 150 * k, 150 * k, 150 * k}, false},
		"one that does not fit beside it":   {900 * k, []int{700 * k}, false},
		"one of them does not fit":          {900 * k, []int{1 * k, 700 * k, 2 * k}, false},
		"of an instance that is gone":       {1 * k, []int{1 * k, 2 * k}, true},
		"large, of one that is gone":        {1 * k, []int{700 * k, 800 * k}, true},
		"too many, of one that is gone":     {1 * k, []int{300 * k, 300 * k, 300 * k, 300 * k, 300 * k, 300 * k}, true},
		"too large for one, and it is gone": {1200 * k, []int{150 * k, 150 * k, 150 * k, 150 * k}, true},
	} {
		for _, mode := range both {
			t.Run(name+"/"+mode, func(t *testing.T) {
				if tt.doc > 1*k && name != "one of them does not fit" {
					testsize.NotRaced(t, "megabytes")
				}
				t.Parallel()
				w := newWorld(t, define("d", waitFor("go")))
				m := w.member("a", mode, slow)
				start := startOf("d", "start-i")
				start.Start.Input = map[string]any{"doc": bulk(tt.doc, 99)}
				in := must(m.open("i").Do(t.Context(), start))(t).Instance
				end := workflow.Command{ID: "end", Kind: workflow.CommandCancel, CreatedAt: in.CreatedAt}
				if tt.gone {
					end.Kind = workflow.CommandDelete
				}
				eventually(t, "nobody looks into the mailbox", func() bool { return m.Owned() == 0 })
				m.put(t, "i", end)
				for i, size := range tt.sizes {
					cmd := resumeOf(fmt.Sprint("c", i), in, 0)
					st := workflow.EventStimulus("go", bulk(size, uint64(i)))
					st.InstanceID = "i"
					cmd.Stimulus, cmd.Input = &st, st.Input
					m.put(t, "i", cmd)
				}
				m.worked("i")
				dead, _, err := m.store.Reader.DeadLetters(t.Context(), "", 100)
				if err != nil {
					t.Fatal(err)
				}
				if n := m.count("dead_letters_total", ""); int(n) != len(dead) || len(dead) != len(tt.sizes) {
					t.Errorf("there are %d dead letters of %d, and %g were counted", len(dead), len(tt.sizes), n)
				}
			})
		}
	}
}

// A start whose input has room in the instance, and none in the mailbox beside it, cannot
// be made durable early. Its burst goes on, and nobody is told that it came to nothing.
func TestAStartTooLargeForTheMailboxHasAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	for _, size := range []int{900_000, 1_200_000} {
		for _, mode := range both {
			t.Run(fmt.Sprint(size, "/", mode), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, define("d", seq(through(), waitFor("go"))))
				m := w.member("a", mode, slow)
				start := startOf("d", "start-i")
				start.Start.Input = map[string]any{"doc": bulk(size, 1)}
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				got := inBackground(ctx, m.open("i"), start)
				<-w.valve.entered
				leave()
				if a := <-got; workflow.CodeOf(a.err) != workflow.CodeUnknownOutcome {
					t.Errorf("while its burst goes on: %+v, %v", a.Effect, a.err)
				}
				w.valve.pass <- struct{}{}
				eventually(t, "it is committed", func() bool {
					rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
					return rec != nil && rec.Header.SubStatus == workflow.Suspended
				})
			})
		}
	}
}

// The first commit of a burst that goes on puts the lock key too. Where that does not fit
// beside the rest, the lock is taken first.
func TestWhatFitsUnderTheLockIsBegunWithoutOne(t *testing.T) {
	testsize.NotRaced(t, "it looks for a limit, one start after the other")
	t.Parallel()
	first := line(bulk(3000, 7)) // so that of all commits the first is the largest
	first.LogPersistence = "Include"
	def := define("d", seq(first, line("b"), waitFor("go")))
	def.Options.CommitStrategy, def.Options.LogPersistence = "ActivityExecutedStrict", "Exclude"
	w := newWorld(t, def)
	m := w.member("a", cluster.ModeDistributed, slow)
	n := 0
	fits := func(size int, how func(client.Client, context.Context, workflow.Command) (client.Result, error)) bool {
		n++
		start := startOf("d", "s")
		start.Start.Input = map[string]any{"doc": bulk(size, 1)}
		r, err := how(m.open(fmt.Sprintf("i%03d", n)), t.Context(), start)
		if err != nil && workflow.CodeOf(err) != workflow.CodeTooLarge {
			t.Fatal(err)
		}
		return err == nil && r.Instance.SubStatus == workflow.Suspended
	}
	most, tooMuch := 1_000_000, 2_000_000
	for tooMuch-most > 20 {
		if half := (most + tooMuch) / 2; fits(half, client.Client.Do) {
			most = half
		} else {
			tooMuch = half
		}
	}
	if most == 1_000_000 || n < 5 {
		t.Fatalf("at most %d characters fit", most)
	}
	for size := most - 50; size > most-800; size -= 150 {
		if !fits(size, client.Client.Begin) {
			t.Errorf("%d characters do not fit without a lock, and %d do under it", size, most)
		}
	}
}
