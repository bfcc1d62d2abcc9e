package promises

import "testing"

// The guards of bodies (docs/notation.md, "The same key says the same"; keys.md, idem/k).
const (
	bodyTime    guards = 1 << iota // the time that is told is that of the command, or of a save that stands
	bodySecured                    // a command with a key is durable before what was told the time goes outside
	bodyTwin                       // who makes it durable and finds it there runs what is there
	bodySaves                      // the time moves on with saves at fixed places only
	bodyMoves                      // where such a save is missing, the time is that of before
	bodySame                       // a record of the key answers the request with its body only
	bodyKey                        // a command in hand is committed while no record of its key is there
	bodyAll     = 1<<iota - 1
)

const bodyNodes = 2

// bodyState is one command with an Idempotency-Key that is sent to two nodes, and whose burst calls the
// outside under a key that follows from the command.
type bodyState struct {
	clock   uint8
	mail    stamp // as it lies in the mailbox; at 0: it does not
	saved   uint8 // the time of the save that stands before the call; 0: there is none
	key     stamp // that the record of the caller's key is of; at 0: there is no record
	done    bool  // the burst is committed
	said    uint8 // the bodies that the outside has heard under the key of the call, as a set
	effects uint8
	in      [bodyNodes]bodyNode
	left    struct{ ticks, crashes uint8 }
	sends   [bodyNodes]uint8 // the body of the request to each node, from 1; 0: none is sent
	saves   bool             // a save stands at a fixed place before the call
	period  bool             // saves stand where they happen to
}

// stamp is when a command came, and with which body.
type stamp struct{ at, body uint8 }

// bodyNode is a node with what it has in hand.
type bodyNode struct {
	phase   bodyPhase
	hand    stamp
	runs    stamp // what the burst runs
	durable bool  // as mail
	told    uint8 // the time that the burst was told
	answer  bodyAnswer
}

type bodyPhase uint8

const (
	bodyNew bodyPhase = iota
	bodyIdle
	bodySends  // makes the command durable
	bodyRuns   // before the save
	bodyCalls  // before the call
	bodyCalled // before the commit
	bodyOver
)

type bodyAnswer uint8

const (
	bodyUnknown bodyAnswer = iota
	bodyDone
	bodyReused // the key was used with another body
)

func bodyNext(s bodyState, less guards) (all []step[bodyState]) {
	add := func(what string, n bodyState, bad string) {
		all = append(all, step[bodyState]{what: what, to: n, bad: bad})
	}
	if s.left.ticks > 0 {
		n := s
		n.left.ticks--
		n.clock++
		add("the clock goes on", n, "")
		all[0].fault = true
	}
	for i := range s.in {
		s.nodeNext(i, less, add)
		if d := &s.in[i]; s.left.crashes > 0 && d.phase != bodyNew && d.phase != bodyOver {
			n := s
			n.left.crashes--
			n.in[i] = bodyNode{phase: bodyIdle, answer: d.answer}
			all = append(all, step[bodyState]{what: "THE NODE ENDS, and another one is there", to: n, fault: true})
		}
	}
	return all
}

// tell answers a request, whose body is not that of what was done.
func (s *bodyState) tell(i int, body uint8, less guards) (bad string) {
	d := &s.in[i]
	d.phase, d.answer = bodyIdle, bodyDone
	if !less.ok(bodySame, s.key.body == body) {
		d.answer = bodyReused
	}
	if d.answer == bodyDone && s.key.body != body {
		return "a request is told that it was done, and another one was"
	}
	return ""
}

func (s *bodyState) nodeNext(i int, less guards, add func(string, bodyState, string)) {
	d := &s.in[i]
	who := []string{"node 0: ", "node 1: "}[i]
	n := *s
	o := &n.in[i]
	switch d.phase {
	case bodyNew:
		if s.sends[i] == 0 {
			o.phase = bodyIdle
			add(who+"nobody asks it", n, "")
			return
		}
		o.hand = stamp{s.clock, s.sends[i]}
		bad := ""
		if o.runs, o.phase = o.hand, bodyRuns; s.key.at != 0 {
			bad = n.tell(i, o.hand.body, less)
		}
		add(who+"the request comes", n, bad)
	case bodyIdle:
		if s.mail.at != 0 && !s.done {
			o.phase, o.runs, o.durable, o.told = bodyRuns, s.mail, true, 0
			add(who+"takes the mail over", n, "")
		}
	case bodyRuns:
		if s.done {
			n.finished(i, less, add, who)
			return
		}
		o.told = o.runs.at
		if !less.ok(bodyTime, false) {
			o.phase = bodyCalls
			n.save(i, less, add, who)
			return
		}
		o.phase, o.told = bodyCalls, s.clock
		add(who+"the burst is told the time of the clock", n, "")
	case bodyCalls:
		if !d.durable && !less.lack(bodySecured) {
			o.phase = bodySends
			add(who+"is to make the command durable", n, "")
			return
		}
		o.phase = bodyCalled
		n.said |= 1 << o.told
		bad := ""
		if n.said&(n.said-1) != 0 {
			bad = "under one key the outside has heard two bodies"
		}
		add(who+"calls the outside", n, bad)
	case bodySends:
		n.secure(i, less, add, who)
	case bodyCalled:
		n.commit(i, less, add, who)
	case bodyOver:
	}
}

// save: the time moves on to that of a save that stands at a fixed place, and with no other.
func (s *bodyState) save(i int, less guards, add func(string, bodyState, string), who string) {
	o := &s.in[i]
	stands := s.saved != 0 && !less.lack(bodyMoves)
	if stands {
		o.told = s.saved
	}
	if !s.saves || stands {
		add(who+"the burst is told the time", *s, "")
	}
	switch n := *s; {
	case s.saves && !stands && !o.durable:
		n.in[i].phase = bodySends
		add(who+"is to make the command durable", n, "")
	case s.saves && !stands:
		n.saved, n.in[i].told = s.clock, s.clock
		add(who+"a save stands, and the burst is told its time", n, "")
	case s.period && o.durable:
		if less.lack(bodySaves) {
			n.in[i].told = s.clock
		}
		add(who+"there happens to be a save", n, "")
	}
}

// secure: the command is not there, and no record of its key.
func (s *bodyState) secure(i int, less guards, add func(string, bodyState, string), who string) {
	o := &s.in[i]
	switch {
	case s.key.at == 0 && s.mail.at == 0:
		s.mail, s.key = o.hand, o.hand
		if o.durable, o.phase = true, bodyCalls; s.saves {
			o.phase = bodyRuns
		}
		add(who+"makes the command durable", *s, "")
	case less.lack(bodyTwin):
		o.durable, o.phase = true, bodyCalls
		add(who+"takes its own for the command that is there", *s, "")
	default:
		bad := s.tell(i, o.hand.body, less)
		add(who+"finds the key used", *s, bad)
	}
}

// commit: the command as it lies there, or no record of its key.
func (s *bodyState) commit(i int, less guards, add func(string, bodyState, string), who string) {
	o := &s.in[i]
	if s.done && o.durable || !o.durable && !less.ok(bodyKey, s.key.at == 0) {
		s.finished(i, less, add, who)
		return
	}
	bad := ""
	if s.effects++; s.effects > 1 {
		bad = "a command has had two effects"
	}
	s.done, s.mail, s.key = true, stamp{}, o.runs
	o.phase, o.answer = bodyIdle, bodyDone
	add(who+"commits", *s, bad)
}

// finished: others were faster, and the record says what there is to answer.
func (s *bodyState) finished(i int, less guards, add func(string, bodyState, string), who string) {
	bad := ""
	if o := &s.in[i]; o.hand.at == 0 || s.key.at == 0 {
		o.phase = bodyIdle
	} else {
		bad = s.tell(i, o.hand.body, less)
	}
	add(who+"finds that it was done", *s, bad)
}

// bodyRest: what is durable is done.
func bodyRest(s bodyState) string {
	if s.mail.at != 0 && !s.done {
		return "what was accepted is not done"
	}
	return ""
}

// TestUnderOneKeyOneBody: a call that is made again says the same, and a key answers the request that it was used with.
func TestUnderOneKeyOneBody(t *testing.T) {
	t.Parallel()
	first := func(a, b, crashes uint8, saves, period bool) bodyState {
		s := bodyState{clock: 1, sends: [bodyNodes]uint8{a, b}, saves: saves, period: period}
		s.left.ticks, s.left.crashes = 3, crashes
		return s
	}
	worlds := []world[bodyState]{
		{"one request, taken over", first(1, 0, 2, false, false)},
		{"one key on two nodes", first(1, 1, 1, false, false)},
		{"one key on two nodes, with two bodies", first(1, 2, 1, false, false)},
		{"a save before the call", first(1, 0, 2, true, false)},
		{"saves now and then", first(1, 0, 2, false, true)},
	}
	holds(t, rules[bodyState]{bodyNext, bodyRest}, worlds, bodyAll, []taken{
		{guard: "the time is that of the command", less: bodyTime, in: "one request, taken over"},
		{guard: "a command with a key is durable before the call", less: bodySecured, in: "one key on two nodes"},
		{guard: "who makes it durable and finds it there runs what is there", less: bodyTwin, in: "one key on two nodes"},
		{guard: "the time moves on at fixed places", less: bodySaves, in: "saves now and then"},
		{guard: "the time of a save that stands is that of the save", less: bodyMoves, in: "a save before the call"},
		{guard: "a record answers the request with its body", less: bodySame, in: "one key on two nodes, with two bodies"},
		{guard: "commit: no record of a key in hand, where it was not made durable", less: bodyKey | bodySecured, in: "one key on two nodes"},
		{guard: "commit: no record of a key in hand", less: bodyKey, why: "the command is durable before the call, and in these worlds each burst calls"},
	})
}
