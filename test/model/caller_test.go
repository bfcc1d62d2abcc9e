package model

import "slices"

// say tells a caller, once, and holds that it is true.
func (m *model) say(s *state, c *call, r request, what told) {
	if c.told != toldNothing {
		return
	}
	c.told = what
	switch {
	case what == toldApplied && s.effect[r.event] == 0:
		m.violated("a caller was told that its command was applied, and it was not (G9)")
	case what == toldAccepted && !m.durable(s, r.event):
		m.violated("a caller was told that its command is accepted, and it is nowhere (G9)")
	}
}

// tell is say, and nothing is left of the call.
func (m *model) tell(s *state, c *call, r request, what told) {
	m.say(s, c, r, what)
	*c = call{phase: callOver, told: c.told}
}

// tellKey tells what the record of the caller's key says.
func (m *model) tellKey(s *state, c *call, r request) {
	what := toldAccepted
	switch s.key[r.event] {
	case answerApplied:
		what = toldApplied
	case answerRefused:
		what = toldRefused
	case unanswered, answerAccepted, answerQueued:
	}
	m.tell(s, c, r, what)
}

// durable tells whether a command is somewhere, or was.
func (m *model) durable(s *state, e uint8) bool {
	return s.effect[e] > 0 || s.dead&(1<<e) != 0 || m.waitsSomewhere(s, e)
}

// looksAgain: what the call was for has moved. One that was answered already is over.
func (m *model) looksAgain(c *call) {
	if *c = (call{phase: callLooks, told: c.told}); c.told != toldNothing {
		c.phase = callOver
	}
}

// callSteps are what a caller's request can do.
func (m *model) callSteps(s *state, i uint8, v visit) {
	c := &s.call[i]
	r := m.calls[i]
	a := action{what: callStep, a: i, b: uint8(c.phase)}
	if !s.up.has(r.node) {
		return
	}
	switch c.phase {
	case callNew, callLooks:
		next := *s
		m.look(&next, i)
		v(a, &next)
	case callMails, callQueues:
		of := func(s *state) *txn { return &s.call[i].t }
		m.way(s, a, of, func(s *state, res result) { m.put(s, i, res) }, again, v)
	case callLooksBehind:
		over := func(s *state) { m.tell(s, &s.call[i], r, toldAccepted) }
		if !m.missed(s, &c.t) {
			next := *s
			over(&next)
			v(a, &next)
			return
		}
		m.way(s, a, func(s *state) *txn { return &s.call[i].t }, func(s *state, _ result) { over(s) }, again, v)
	case callInHand, callRuns, callOver:
	}
}

// look finds out what the command meets, and acts on it.
func (m *model) look(s *state, i uint8) {
	c, r, in := &s.call[i], m.calls[i], &s.instance
	e := m.of(r.event)
	switch {
	case e.keyed && s.key[r.event] != unanswered:
		m.tellKey(s, c, r)
	case e.is != resumes && e.is != starts && in.mod == 0, e.is == cancels && in.stage == stageEnded, e.is == retries && in.stage != stageEnded:
		m.tell(s, c, r, toldError)
	case e.is != resumes:
		m.hand(s, i, 0)
	case in.bookmark != 0 && m.waits(in.stage) == e.hash:
		m.hand(s, i, in.bookmark)
	default:
		c.phase, c.t = callQueues, txn{kind: enqueue, node: r.node, cmd: r.event, seen: s.now}
	}
}

// hand gives the command to the node's owner.
func (m *model) hand(s *state, i uint8, met rev) {
	c, n := &s.call[i], m.calls[i].node
	*c = call{phase: callInHand, told: c.told, met: met}
	if e := m.calls[i].event; m.of(e).is.ends() && m.bringsBack() && s.came[e] == 0 {
		s.came[e] = s.now
	}
	if s.owner[n].phase == nobody {
		m.begin(s, n)
	}
}

// bringsBack tells whether there are commands that bring back what ended.
func (m *model) bringsBack() bool {
	return slices.ContainsFunc(m.events, func(e event) bool { return e.is.returns() })
}

// put is the answer to a command that was to be made durable.
func (m *model) put(s *state, i uint8, res result) {
	c, r := &s.call[i], m.calls[i]
	switch {
	case (res == done || res == earlier) && c.t.kind == enqueue && m.follows:
		c.phase, c.t = callLooksBehind, txn{kind: requeue, node: r.node, cmd: r.event, at: s.queue[r.event]}
	case res == done || res == earlier:
		if c.t.kind == putMail {
			s.hinted |= 1 << r.node
		}
		m.tell(s, c, r, toldAccepted)
	case res == used && m.judged(r.event) && s.effect[r.event] == 0:
		m.tell(s, c, r, toldRefused) // by its record: another delete was faster
	case res == used && !m.keyed(r.event):
		m.tell(s, c, r, toldAccepted) // by its record
	case m.judged(r.event):
		m.tell(s, c, r, toldRefused)
	default:
		m.looksAgain(c)
	}
}

// missed tells whether what was put into the queue lies beside what waits for it.
func (m *model) missed(s *state, t *txn) bool {
	return !m.lacks(queueBehind) && t.at != 0 && s.instance.bookmark != 0 && m.waits(s.instance.stage) == m.hash(t.cmd)
}

// outboxSteps resolve send records again.
func (m *model) outboxSteps(s *state, n uint8, v visit) {
	if s.outbox[n].kind != none {
		a := action{what: outboxStep, a: n, b: uint8(s.outbox[n].kind)}
		over := func(s *state) { s.outbox[n] = txn{} }
		unanswered := over
		if m.follows && s.outbox[n].kind != deliver {
			unanswered = again // else nobody looks behind it before the sweep
		}
		if t := &s.outbox[n]; t.kind == requeue && !m.missed(s, t) {
			next := *s
			over(&next)
			v(a, &next)
			return
		}
		m.way(s, a, func(s *state) *txn { return &s.outbox[n] }, func(s *state, r result) {
			if r == done && s.outbox[n].kind == deliver {
				s.hinted |= 1 << n
			}
			if t := &s.outbox[n]; (r == done || s.queue[t.cmd] != 0) && t.kind == enqueueSend && m.follows {
				*t = txn{kind: requeue, node: n, cmd: t.cmd, at: s.queue[t.cmd]}
				return
			}
			over(s)
		}, unanswered, v)
		return
	}
	for c := range uint8(continueCmd) {
		if s.send[c] == 0 {
			continue
		}
		next, in := *s, &s.instance
		t := txn{kind: enqueueSend, node: n, cmd: c, at: s.send[c], seen: s.now}
		if in.bookmark != 0 && m.waits(in.stage) == m.hash(c) {
			t = txn{kind: deliver, node: n, cmd: c, at: s.send[c], met: in.bookmark}
		}
		next.outbox[n] = t
		v(action{what: outboxLook, a: n, b: c}, &next)
	}
}

// queueSteps are those of the sweep behind the queue.
func (m *model) queueSteps(s *state, v visit) {
	if !m.sweeps {
		return
	}
	for c := range uint8(continueCmd) {
		if s.queue[c] == 0 || s.instance.bookmark == 0 || m.waits(s.instance.stage) != m.hash(c) {
			continue
		}
		next := *s
		m.apply(&next, &txn{kind: requeue, cmd: c, at: s.queue[c]})
		v(action{what: queueSweep, b: c}, &next)
		if s.left.late == 0 {
			continue
		}
		for i := range s.copies {
			if s.copies[i].kind == none {
				next := *s
				next.left.late--
				next.copies[i] = txn{kind: requeue, cmd: c, at: s.queue[c]}
				v(action{what: queueSweep, a: 1, b: c}, &next)
				break
			}
		}
	}
}

// next visits all states that can follow.
func (m *model) next(s *state, v visit) {
	for i := range m.calls {
		m.callSteps(s, uint8(i), v)
	}
	for n := range m.nodes {
		if s.up.has(n) {
			m.ownerSteps(s, n, v)
			m.outboxSteps(s, n, v)
		}
		m.nodeSteps(s, n, v)
	}
	m.queueSteps(s, v)
	for i := range s.copies {
		if s.copies[i].kind != none {
			c := *s
			t := c.copies[i]
			c.copies[i] = txn{}
			m.apply(&c, &t)
			v(action{what: copyComes, a: uint8(t.kind)}, &c)
		}
	}
}

// nodeSteps: a node ends, its session ends, it notices.
func (m *model) nodeSteps(s *state, n uint8, v visit) {
	up, alive := s.up.has(n), s.alive.has(n)
	others := s.up&s.alive&^(1<<n) != 0 // somebody is left to go on
	if up && alive && s.left.crashes > 0 && others {
		c := *s
		c.left.crashes--
		m.drop(&c, n)
		v(action{what: crash, a: n}, &c)
	}
	if alive && (!up || s.left.ends > 0 && others) {
		c := *s
		a := action{what: leaseEnds, a: n}
		if up {
			c.left.ends--
			a.b = 1
		}
		c.now++
		c.alive &^= 1 << n
		if c.instance.lock.by == n+1 {
			c.instance.lock = lockKey{}
		}
		v(a, &c)
	}
	if up && !alive {
		c := *s
		m.drop(&c, n)
		v(action{what: notices, a: n}, &c)
	}
}

// drop ends what a node has in its memory. Its callers get no answer.
func (m *model) drop(s *state, n uint8) {
	s.up &^= 1 << n
	s.hinted &^= 1 << n
	s.owner[n], s.outbox[n] = owner{}, txn{}
	m.callsAt(s, n, func(c *call, _ request) { *c = call{phase: callOver, told: c.told} })
}

// quiet holds a state in which nothing more happens by itself.
func (m *model) quiet(s *state) {
	for i, r := range m.calls {
		c, e := &s.call[i], r.event
		acknowledged := c.told == toldApplied || c.told == toldAccepted
		switch {
		case c.phase != callOver && s.up.has(r.node):
			m.violated("a caller waits for ever")
		case acknowledged && m.judged(e) && s.instance.records.has(e): // another one was faster, as its record says
		case acknowledged && s.instance.mail[e] != 0 && m.noPlace(s): // it waits for one
		case acknowledged && s.effect[e] == 0 && s.dead&(1<<e) == 0 && !m.waitsInQueue(s, e):
			m.violated("what was acknowledged is lost, or stuck (G3, G5)")
		case c.told == toldRefused && s.effect[e] > 0 && !m.of(e).keyed:
			m.violated("what was refused had its effect (G3)")
		case s.effect[e] > 0 && m.waitsSomewhere(s, e):
			m.violated("what had its effect is to have it again (G3)")
		}
	}
	if s.instance.mailbox() != 0 && !m.noPlace(s) {
		m.violated("mail is left that nobody works (G5)")
	}
	if s.instance.lock.by != 0 {
		m.violated("a lock is left that nobody holds (G5)")
	}
	for _, r := range s.send {
		if r != 0 {
			m.violated("a send record is left (G5)")
		}
	}
	if m.goesOn(s.instance.stage) && s.instance.mod != 0 {
		m.violated("a burst was to go on, and nobody does it (G5)")
	}
}

// judged tells whether a command says by its record what it came to: it may find that others were faster.
func (m *model) judged(e uint8) bool { return m.of(e).is != resumes && m.of(e).is != starts }

// noPlace tells whether what lies in the mailbox waits for a place: no node has one, and nothing in it goes without.
func (m *model) noPlace(s *state) bool {
	return m.full != 0 && s.up&^m.full == 0 && !m.anyEnd(s.instance.mailbox())
}

// waitsSomewhere tells whether a command is to take effect yet.
func (m *model) waitsSomewhere(s *state, e uint8) bool {
	for c := e; c < continueCmd; c += maxEvents {
		if s.instance.mail[c] != 0 || s.queue[c] != 0 || s.send[c] != 0 {
			return true
		}
	}
	return false
}

// waitsInQueue: nothing waits for it, and it waits.
func (m *model) waitsInQueue(s *state, e uint8) bool {
	for c := e; c < continueCmd; c += maxEvents {
		if s.queue[c] != 0 && m.waits(s.instance.stage) != m.hash(c) {
			return true
		}
	}
	return false
}
