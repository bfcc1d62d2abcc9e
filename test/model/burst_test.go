package model

// workSteps: the burst ends in a commit, or a command is made durable first.
func (m *model) workSteps(s *state, n uint8, v visit) {
	c := *s
	m.burst(&c, n, 0)
	v(action{what: ownerStep, a: n, b: uint8(working)}, &c)
	for ahead := uint8(1); ahead <= m.joins; ahead++ {
		c := *s
		m.burst(&c, n, ahead)
		v(action{what: aheadStep, a: n, b: ahead}, &c)
	}
	if !m.late {
		return
	}
	for i, r := range m.calls {
		o := &s.owner[n]
		if r.node != n || s.call[i].phase != callInHand || s.call[i].told != toldNothing || o.mail.has(r.event) || o.base == 0 && m.of(r.event).is != starts {
			continue
		}
		c := *s
		if o := &c.owner[n]; o.free {
			o.phase, o.t = relocking, txn{kind: try, node: n}
		} else {
			o.phase, o.t = securing, txn{kind: secure, node: n, cmd: r.event, at: o.fence, base: o.base}
		}
		v(action{what: persist, a: n, b: r.event}, &c)
	}
}

// run is what a burst makes of its commands.
type run struct {
	m       *model
	stage   uint8
	saved   uint8 // the stage that is durable
	ahead   uint8 // how many activities may still run before what is owed is saved
	removed bool
	ending  bool // what ends the instance is known, and did not run yet
	calls   bool
	t       txn
	took    cmds
}

// burst runs what is known of the mailbox and what is in hand, and builds the commit.
func (m *model) burst(s *state, n, ahead uint8) {
	o := &s.owner[n]
	hands := m.inHand(s, n) &^ o.mail
	if o.base == 0 && !m.anyStart(o.mail|hands) {
		m.nothingThere(s, n, hands)
		return
	}
	if !o.free && o.base != 0 && m.bringsBack() && !m.lacks(endReads) && m.endUnread(s, n) {
		m.reload(s, n)
		return
	}
	ending := m.anyEnd(o.mail|hands) && !(m.full.has(n) && m.lacks(endPlace))
	if m.full.has(n) && !ending {
		m.crowded(s, n)
		return
	}
	x := run{m: m, ending: ending, stage: o.stage, saved: s.instance.stage, ahead: ahead, t: txn{kind: commit, node: n, at: o.fence, base: o.base, seen: o.seen, seq: o.seq + 1, id: s.ids + 1}}
	x.all(s, o.mail, hands)
	if o.free && (x.t.how&(goesOn|removes) != 0 || x.calls && !m.lacks(barrier)) {
		o.phase, o.t = relocking, txn{kind: try, node: n}
		return
	}
	m.callOutside(s, n, &x)
	x.t.stage = x.stage
	if o.free {
		x.t.how |= freely
	} else {
		s.hinted &^= 1 << n // the commit looks into the mailbox
	}
	nothing := x.t.mail|x.t.hands == 0
	m.callsAt(s, n, func(c *call, r request) {
		switch {
		case c.phase != callInHand || !x.took.has(r.event):
		case nothing:
			m.looksAgain(c)
		default:
			c.phase = callRuns
		}
	})
	if nothing {
		m.leave(s, n)
		return
	}
	s.ids++
	o.phase, o.t = committing, x.t
}

// all runs what is known of the mailbox and what is in hand. What ends the instance goes first, and with it what could bring
// it back and is older.
func (x *run) all(s *state, mail, hands cmds) {
	m := x.m
	runs := func(some cmds, durable bool, which func(c uint8) bool) {
		some.each(func(c uint8) {
			if x.t.how&goesOn == 0 && which(c) {
				x.one(c, durable)
			}
		})
	}
	is := func(c uint8, of func(deed) bool) bool { return c != continueCmd && of(m.of(c).is) }
	end := func(c uint8) bool { return is(c, deed.ends) }
	over := func(uint8) bool { return false }
	if x.ending && !m.lacks(endFirst) {
		runs(mail, true, end)
		runs(hands, false, end)
		x.ending = false
		if !m.lacks(endOvertakes) {
			over = func(c uint8) bool { return is(c, deed.returns) && m.overtaken(s, c, mail, hands) }
			mail.each(func(c uint8) {
				if over(c) {
					x.took |= only(c)
					x.t.mail |= only(c)
				}
			})
		}
	} else {
		end = func(uint8) bool { return false }
	}
	if mail.has(continueCmd) {
		x.one(continueCmd, true)
	}
	runs(mail, true, func(c uint8) bool { return c != continueCmd && !end(c) && !over(c) })
	runs(hands, false, func(c uint8) bool { return !end(c) })
}

// endUnread tells whether what ends the instance came to hand since the mailbox was read.
func (m *model) endUnread(s *state, n uint8) bool {
	found := false
	m.callsAt(s, n, func(c *call, r request) {
		found = found || c.phase == callInHand && c.told == toldNothing && m.of(r.event).is.ends() && !c.read
	})
	return found
}

// overtaken tells whether mail is older than what ends the instance.
func (m *model) overtaken(s *state, c uint8, mail, hands cmds) bool {
	newer := m.anyEnd(hands)
	mail.each(func(e uint8) {
		newer = newer || e != continueCmd && m.of(e).is.ends() && s.instance.mail[e] > s.instance.mail[c]
	})
	return newer
}

func (m *model) anyEnd(all cmds) bool {
	found := false
	all.each(func(c uint8) {
		found = found || c != continueCmd && int(eventOf(c)) < len(m.events) && m.of(c).is.ends()
	})
	return found
}

// crowded: there is no place to run it. The callers hear so, and what is durable waits.
func (m *model) crowded(s *state, n uint8) {
	m.callsAt(s, n, func(c *call, r request) {
		if c.phase == callInHand {
			m.tell(s, c, r, toldError)
		}
	})
	m.leave(s, n)
}

// callOutside: the outside is called by who has the lock, as far as it can know.
func (m *model) callOutside(s *state, n uint8, x *run) {
	if !x.calls {
		return
	}
	if o := &s.owner[n]; s.alive.has(n) && s.instance.lock != (lockKey{n + 1, o.fence}) {
		m.violated("the outside was called without the lock, by a node whose session lives")
	}
}

// advance runs an activity, and those that follow while their saves may be joined.
func (x *run) advance() {
	x.activity()
	for ; x.ahead > 0 && x.mayWait(); x.ahead-- {
		x.activity()
	}
}

// mayWait tells whether the next activity may run before what is owed is saved: not if
// it calls the outside, and not behind one that did.
func (x *run) mayWait() bool {
	return x.m.goesOn(x.stage) && (x.m.lacks(saveFirst) || !x.calls && !x.m.place(x.stage+1).calls)
}

func (x *run) activity() {
	x.stage++
	if !x.m.place(x.stage).calls {
		return
	}
	x.calls = true
	if x.ending {
		x.m.violated("the outside was called by who knew that the instance was to end")
	}
	if x.m.joins > 0 && x.saved+1 < x.stage {
		x.m.violated("the outside was called before what came before was durable")
	}
}

func (m *model) anyStart(all cmds) bool {
	found := false
	all.each(func(c uint8) { found = found || c != continueCmd && m.of(c).is == starts })
	return found
}

// nothingThere: there is no such instance.
func (m *model) nothingThere(s *state, n uint8, hands cmds) {
	o := &s.owner[n]
	m.callsAt(s, n, func(c *call, r request) {
		switch {
		case c.phase != callInHand || !hands.has(r.event):
		case m.of(r.event).is == resumes:
			m.looksAgain(c)
		default:
			m.tell(s, c, r, toldError)
		}
	})
	if o.mail == 0 {
		m.leave(s, n)
		return
	}
	m.callsAt(s, n, func(c *call, r request) {
		if c.phase == callInHand {
			m.tell(s, c, r, toldError)
		}
	})
	o.phase, o.t = discarding, txn{kind: discard, node: n, at: o.fence, seen: o.seen, mail: o.mail}
}

func (m *model) leave(s *state, n uint8) {
	o := &s.owner[n]
	if o.free {
		m.end(s, n)
		return
	}
	s.hinted &^= 1 << n
	o.phase, o.t = leaving, txn{kind: release, node: n, at: o.fence, seen: o.seen}
}

// one runs one command. In hand it is not durable.
func (x *run) one(c uint8, durable bool) {
	x.took |= only(c)
	consumed, effect := durable, false
	switch {
	case c == continueCmd:
		effect = x.m.goesOn(x.stage) && !x.removed
	case x.removed:
	case x.m.of(c).is == deletes:
		x.removed, effect = true, true
		x.t.how |= removes
	case x.m.of(c).is == cancels:
		effect = x.stage != stageEnded
	case x.m.of(c).is.returns():
		effect = x.stage == stageEnded || x.m.of(c).is == imports
	case x.m.of(c).is == starts:
		effect = x.stage == 0
		consumed = durable || x.m.keyed(c)
	default:
		effect = x.m.waits(x.stage) == x.m.hash(c)
	}
	if effect {
		x.t.applied |= only(c)
		switch {
		case x.removed:
		case c != continueCmd && x.m.of(c).is == cancels:
			x.stage = stageEnded
		default:
			if c != continueCmd && x.m.of(c).is.returns() {
				x.stage = x.m.back - 1
			}
			x.advance()
			if x.m.goesOn(x.stage) {
				x.t.how |= goesOn
			}
		}
	}
	switch {
	case durable:
		x.t.mail |= only(c)
		if !effect && c != continueCmd && x.m.of(c).is == resumes {
			x.t.again |= only(c)
		}
	case effect, consumed:
		x.t.hands |= only(c)
	}
}

// sent is the answer to a commit.
func (m *model) sent(s *state, n uint8, r result) {
	o := &s.owner[n]
	if r == refused {
		o.phase = asking
		if o.free && o.base != 0 {
			o.t.kind = settle
		}
		return
	}
	m.committed(s, n)
}

// committed answers, and goes on with what came since.
func (m *model) committed(s *state, n uint8) {
	o := &s.owner[n]
	t := o.t
	if s.last[n] = (memory{}); m.recall && o.phase == committing && s.instance.mod != 0 {
		s.last[n] = memory{s.instance.mod, s.instance.seq, s.instance.stage}
	}
	m.callsAt(s, n, func(c *call, r request) {
		switch e := r.event; {
		case c.phase != callRuns:
		case t.applied.has(e):
			m.tell(s, c, r, toldApplied)
		case t.again.has(e):
			m.tell(s, c, r, toldAccepted)
		case (t.mail | t.hands).has(e):
			m.tell(s, c, r, toldRefused)
		default:
			m.looksAgain(c)
		}
	})
	if t.how&freely != 0 && s.instance.mail[continueCmd] != 0 {
		s.hinted |= 1 << n
	}
	if t.how&freely != 0 || !s.isMine(&txn{node: n, at: o.fence}) {
		if t.how&freely == 0 {
			m.lookBehind(s, n, &t)
		}
		m.end(s, n)
		return
	}
	m.reload(s, n)
	if t.how&goesOn == 0 {
		m.claimNext(s, n)
	}
}

// claimNext takes an item of the queue for which the instance waits now.
func (m *model) claimNext(s *state, n uint8) {
	o, hash := &s.owner[n], m.waits(s.instance.stage)
	if hash == 0 {
		return
	}
	there, first := 0, uint8(0)
	for c := uint8(continueCmd); c > 0; c-- {
		if s.queue[c-1] != 0 && m.hash(c-1) == hash {
			there, first = there+1, c-1
		}
	}
	if there == 0 {
		return
	}
	o.phase, o.t = claiming, txn{kind: claim, node: n, cmd: first, at: s.queue[first]}
	if there == 1 {
		o.t.seen = s.now
	}
}

// judge reads why a commit was refused, in the order of docs/keys.md.
func (m *model) judge(s *state, n uint8) {
	o, in := &s.owner[n], &s.instance
	t := &o.t
	proof := in.mod != 0 && in.seq >= t.seq && in.journal[t.seq] == t.id || t.how&removes != 0 && in.deleted == t.id
	used := !m.keysUnused(s, t, noGuard)
	moved := in.mod != t.base
	switch {
	case proof && !m.lacks(judgeProof):
		t.kind = commit
		m.committed(s, n)
	case t.how&freely != 0:
		m.judgeFree(s, n, moved, used)
	case in.lock != lockKey{n + 1, o.fence} && !m.lacks(judgeFenced):
		m.fail(s, n)
	case moved && t.base == 0, !moved && used && !m.lacks(judgeKey):
		m.conflict(s, n)
	default:
		m.violated("a breach: the instance moved under its lock")
	}
}

// judgeFree is for commits without the lock.
func (m *model) judgeFree(s *state, n uint8, moved, used bool) {
	start := s.owner[n].t.base == 0
	unproven := moved && s.instance.from != s.owner[n].t.base // else what was deleted is what was loaded
	switch {
	case !s.alive.has(n):
		m.fail(s, n)
	case start && s.instance.deleted != 0 && !m.lacks(judgeStartGone):
		m.fail(s, n) // an earlier copy made what was deleted, and nothing proves it
	case start:
		m.conflict(s, n)
	case unproven && (s.instance.mod == 0 || s.instance.seq < s.owner[n].t.seq) && !m.lacks(judgeGone):
		m.fail(s, n) // the journal is gone, and with it the proof
	case unproven && s.instance.created > s.owner[n].t.base && !m.lacks(judgeCreated):
		m.fail(s, n) // another one, with a journal of its own
	case moved || used:
		m.conflict(s, n)
		s.take(n)
	default:
		m.busy(s, n)
	}
}

// conflict: something that the lock does not protect moved.
func (m *model) conflict(s *state, n uint8) {
	m.callsAt(s, n, func(c *call, r request) {
		if c.phase != callRuns {
			return
		}
		if c.phase = callInHand; m.keyed(r.event) && s.key[r.event] != unanswered {
			m.tellKey(s, c, r)
		}
	})
	m.reload(s, n)
}
