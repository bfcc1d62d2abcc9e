package model

// visit is called with each state that can follow, and what leads to it.
type visit func(a action, s *state)

// way is what can become of a request to etcd: it is answered, or applied without an
// answer, or the network keeps it. Without an answer the identical one is sent again,
// unless the sender does otherwise.
func (m *model) way(s *state, a action, of func(*state) *txn, answered func(*state, result), unanswered func(*state), v visit) {
	c := *s
	t := *of(&c)
	r := m.apply(&c, &t)
	if r == ended {
		m.drop(&c, t.node)
	} else {
		answered(&c, r)
	}
	v(a.as(isAnswered), &c)
	if s.left.lost > 0 {
		c = *s
		c.left.lost--
		m.apply(&c, &t)
		unanswered(&c)
		v(a.as(isLost), &c)
	}
	if s.left.late > 0 {
		for i := range s.copies {
			if s.copies[i].kind == none {
				c = *s
				c.left.late--
				c.copies[i] = t
				unanswered(&c)
				v(a.as(isLate), &c)
				break
			}
		}
	}
}

func again(*state) {}

// ownerSteps are what a node's owner can do.
func (m *model) ownerSteps(s *state, n uint8, v visit) {
	o := &s.owner[n]
	a := action{what: ownerStep, a: n, b: uint8(o.phase)}
	of := func(s *state) *txn { return &s.owner[n].t }
	unanswered := again
	var answered func(*state, result)
	switch o.phase {
	case nobody:
		m.idleSteps(s, n, v)
		return
	case working:
		m.workSteps(s, n, v)
		return
	case loading, erasing:
		c := *s
		if o.phase == loading {
			m.load(&c, n)
			if m.recall {
				c := *s
				if m.remember(&c, n) {
					v(action{what: recallStep, a: n}, &c)
				}
			}
		} else {
			m.erase(&c, n)
		}
		v(a, &c)
		return
	case asking:
		if m.resume != lasting || o.t.kind != settle {
			c := *s
			m.judge(&c, n)
			v(a, &c)
			return
		}
		answered = func(c *state, _ result) { m.judge(c, n) }
	case taking:
		answered = func(c *state, r result) { m.tried(c, n, r) }
		unanswered = func(c *state) { c.owner[n].phase = erasing }
	case relocking:
		answered = func(c *state, r result) { m.relocked(c, n, r) }
		unanswered = func(c *state) { c.owner[n].phase = working }
	case unlocking:
		answered = func(c *state, _ result) { m.end(c, n) }
	case securing:
		answered = func(c *state, r result) { m.secured(c, n, r) }
	case committing:
		answered = func(c *state, r result) { m.sent(c, n, r) }
	case claiming:
		answered = func(c *state, r result) {
			o := &c.owner[n]
			if r != refused {
				o.mail |= only(o.t.cmd)
			}
			o.goTo(working)
		}
	case discarding:
		answered = func(c *state, r result) {
			if r == refused {
				m.fail(c, n)
				return
			}
			m.reload(c, n)
		}
	case leaving:
		answered = func(c *state, r result) { m.left(c, n, r) }
		unanswered = func(c *state) {
			o := &c.owner[n]
			o.phase, o.t = unlocking, txn{kind: deleteKey, node: n, at: o.fence}
		}
	}
	if m.prompt && (o.phase == taking || o.phase == relocking || o.phase == unlocking || o.phase == leaving) {
		c := *s // what follows a fault here is left to the sweep
		c.left = faults{}
		m.way(&c, a, of, answered, unanswered, func(a action, c *state) {
			c.left = s.left
			v(a, c)
		})
		return
	}
	m.way(s, a, of, answered, unanswered, v)
}

func (o *owner) goTo(p phase) { o.phase, o.t = p, txn{} }

// idleSteps: a sweep finds mail, the janitor a lock key that nobody here holds.
func (m *model) idleSteps(s *state, n uint8, v visit) {
	if !s.alive.has(n) {
		return
	}
	lock := s.instance.lock
	// Without a place a sweep would only find that out again.
	may := !m.full.has(n) || !m.lacks(endPlace) && m.anyEnd(s.instance.mailbox())
	if may && (m.prompt && s.hinted.has(n) || !m.prompt && lock.by == 0 && s.instance.mailbox() != 0) {
		c := *s
		c.take(n)
		v(action{what: sweep, a: n}, &c)
	}
	if lock.by == n+1 {
		c := *s
		c.owner[n] = owner{phase: unlocking, t: txn{kind: deleteKey, node: n, at: lock.at}}
		v(action{what: janitor, a: n}, &c)
	}
}

func (s *state) take(n uint8) {
	s.hinted &^= 1 << n
	s.owner[n] = owner{phase: taking, t: txn{kind: try, node: n}}
}

// begin makes an owner for what callers have handed in.
func (m *model) begin(s *state, n uint8) {
	m.callsAt(s, n, func(c *call, _ request) {
		if c.phase == callInHand && c.told != toldNothing {
			*c = call{phase: callOver, told: c.told} // nobody waits
		}
	})
	hands := m.inHand(s, n)
	switch {
	case hands == 0:
		s.owner[n] = owner{}
	case m.exactly(hands, func(e *event) bool { return e.is == starts && !e.keyed }):
		s.owner[n] = owner{phase: working, free: true}
	case m.resume != withLock && !m.locks.has(n) && m.exactly(hands, func(e *event) bool { return e.is == resumes }):
		s.owner[n] = owner{phase: loading}
	default:
		s.take(n)
	}
}

func (m *model) exactly(hands cmds, is func(*event) bool) bool {
	all := true
	hands.each(func(c uint8) { all = all && is(m.of(c)) })
	return all
}

// inHand are the commands of callers that wait.
func (m *model) inHand(s *state, n uint8) (hands cmds) {
	m.callsAt(s, n, func(c *call, r request) {
		if c.phase == callInHand {
			hands |= only(r.event)
		}
	})
	return hands
}

func (m *model) callsAt(s *state, n uint8, f func(*call, request)) {
	for i, r := range m.calls {
		if r.node == n {
			f(&s.call[i], r)
		}
	}
}

// reload reads the instance and its mailbox.
func (m *model) reload(s *state, n uint8) {
	o, in := &s.owner[n], &s.instance
	o.base, o.seq, o.stage, o.seen, o.mail = in.mod, in.seq, in.stage, s.now, in.mailbox()
	m.callsAt(s, n, func(c *call, r request) { c.read = c.phase == callInHand && m.of(r.event).is.ends() && m.bringsBack() })
	o.goTo(working)
}

// tried is the answer to a try, which has loaded the instance.
func (m *model) tried(s *state, n uint8, r result) {
	if r == refused {
		m.busy(s, n)
		return
	}
	s.owner[n] = owner{fence: s.instance.lock.at}
	m.reload(s, n)
	m.answerTwins(s, n)
}

// answerTwins answers those whose key was used.
func (m *model) answerTwins(s *state, n uint8) {
	m.callsAt(s, n, func(c *call, r request) {
		if k := s.key[r.event]; c.phase == callInHand && m.keyed(r.event) && k != unanswered {
			m.tellKey(s, c, r)
		}
	})
}

// busy: another node has the lock. Commands in hand go into the mailbox.
func (m *model) busy(s *state, n uint8) {
	s.owner[n] = owner{}
	m.callsAt(s, n, func(c *call, r request) {
		e := m.of(r.event)
		if c.phase != callInHand && c.phase != callRuns {
			return
		}
		switch {
		case c.told != toldNothing:
			c.phase = callOver
		case e.is != starts:
			c.phase, c.t = callMails, txn{kind: putMail, node: n, cmd: r.event, met: c.met}
			if c.met == 0 {
				c.t.seen = s.now
			}
		case m.keyed(r.event) && s.key[r.event] != unanswered:
			m.tellKey(s, c, r)
		default:
			c.phase = callInHand
		}
	})
	m.begin(s, n)
}

// load is the look of a resume that takes no lock.
func (m *model) load(s *state, n uint8) {
	in := &s.instance
	s.hinted &^= 1 << n
	switch {
	case in.lock.by != 0:
		m.busy(s, n)
	case in.mailbox() != 0 || in.mod == 0:
		s.take(n)
	default:
		s.owner[n] = owner{free: true}
		m.reload(s, n)
		m.answerTwins(s, n)
	}
}

// remember is a resume without a look, of what the node committed last: it may be older
// than all that happens meanwhile, and nothing is known of the mailbox. The node does so
// only if the instance waited there for what is in hand.
func (m *model) remember(s *state, n uint8) bool {
	k, waits := s.last[n], true
	m.inHand(s, n).each(func(c uint8) { waits = waits && m.hash(c) == m.waits(k.stage) })
	if k.mod == 0 || !waits {
		return false
	}
	s.owner[n] = owner{phase: working, free: true, base: k.mod, seq: k.seq, stage: k.stage}
	return true
}

// erase looks for the key that a try without an answer may have put.
func (m *model) erase(s *state, n uint8) {
	if lock := s.instance.lock; lock.by == n+1 {
		s.owner[n] = owner{phase: unlocking, t: txn{kind: deleteKey, node: n, at: lock.at}}
		return
	}
	m.end(s, n)
}

// end gives the owner up; who still waits tries again.
func (m *model) end(s *state, n uint8) {
	s.owner[n] = owner{}
	m.begin(s, n)
}

// left is the answer to a release.
func (m *model) left(s *state, n uint8, r result) {
	switch r {
	case done:
		m.lookBehind(s, n, &s.owner[n].t)
		m.end(s, n)
	case adopted:
		m.reload(s, n)
	default:
		m.fail(s, n)
	}
}

// lookBehind is the look at a mailbox that is followed, behind what freed the lock: mail of before counts on this owner.
func (m *model) lookBehind(s *state, n uint8, t *txn) {
	if m.boxes && !m.lacks(boxBehind) && !s.instance.noneNewer(t.seen) {
		s.hinted |= 1 << n
	}
}

// fail drops everything: who waits is told what is durable.
func (m *model) fail(s *state, n uint8) {
	mail := s.owner[n].mail
	s.owner[n] = owner{}
	m.callsAt(s, n, func(c *call, r request) {
		switch {
		case c.phase != callInHand && c.phase != callRuns:
		case mail.has(r.event):
			m.tell(s, c, r, toldAccepted)
		default:
			m.tell(s, c, r, toldError)
		}
	})
}

// relocked is the answer to the try for an instance that is worked without its lock.
func (m *model) relocked(s *state, n uint8, r result) {
	o := &s.owner[n]
	switch {
	case r == refused:
		m.busy(s, n)
	case !m.ok(relockInstance, s.instance.mod == o.base):
		fence := s.instance.lock.at
		if o.base != 0 { // it begins again, under the lock
			s.owner[n] = owner{fence: fence}
			m.reload(s, n)
			return
		}
		m.fail(s, n)
		s.owner[n] = owner{phase: unlocking, t: txn{kind: deleteKey, node: n, at: fence}}
	default:
		o.free, o.fence, o.seen, o.mail = false, s.instance.lock.at, s.now, s.instance.mailbox()
		o.goTo(working)
	}
}

// secured is the answer to a request to make a command durable.
func (m *model) secured(s *state, n uint8, r result) {
	o := &s.owner[n]
	c := o.t.cmd
	if r == done || r == earlier {
		o.mail |= only(c)
		if o.base == 0 {
			o.base, o.stage, o.seq = s.instance.mod, 0, s.instance.seq
		}
	}
	m.callsAt(s, n, func(call *call, req request) {
		if req.event != c || call.phase != callInHand {
			return
		}
		if call.told = toldError; r == done || r == earlier {
			call.told = toldNothing
			m.say(s, call, req, toldAccepted)
		}
	})
	o.goTo(working)
}
