package model

// kind is a transaction of docs/keys.md.
type kind uint8

const (
	none kind = iota
	try
	deleteKey
	commit
	settle // why a commit without the lock was refused, which makes the refusal last
	secure
	discard
	release
	putMail
	enqueue
	enqueueSend
	deliver
	claim
	requeue
)

// guard is one compare, or one thing that the code looks at.
type guard uint8

const (
	noGuard guard = iota
	deleteOwnKey
	commitFence
	commitInstance
	commitKey
	commitMail
	commitMarks
	startSession
	startAbsent
	startDeleted
	startMarks
	secureFence
	secureThere
	secureRecord
	secureKey
	secureInstance
	discardFence
	discardInstance
	releaseFence
	releaseMail
	mailInstance
	mailBookmark
	mailRecord
	mailThere
	mailKey
	mailVoid
	queueLook
	queueRecord
	queueKey
	queueVoid
	sendLook
	sendStands
	queueBehind
	deliverBookmark
	deliverRecord
	deliverSend
	claimItem
	claimInstance
	claimRecord
	claimMarks
	requeueItem
	judgeProof
	judgeFenced
	judgeKey
	judgeStartGone
	judgeGone
	judgeCreated
	resumeSession
	resumeInstance
	resumeFree
	resumeVoid
	resumeKey
	resumeMarks
	relockInstance
	barrier
	saveFirst
	endFirst     // what ends an instance goes before all that was sent to it
	endOvertakes // and what could bring it back, and is older, is refused with that
	endReads     // and of one in hand the mailbox was read since it came
	endPlace     // and it needs no place
	boxBehind    // where the mailbox is followed: the look behind a commit and a release
	guards       // how many there are
)

// guardSet is what is taken away.
type guardSet uint64

func less(all ...guard) (s guardSet) {
	for _, g := range all {
		s |= 1 << g
	}
	return s
}

// model is a world with its rules, less some guards.
type model struct {
	*world
	without guardSet
	bad     string // the violation that was met; "" none
	beyond  bool   // a bound of the model was met: what follows is not looked at
}

func (m *model) lacks(g guard) bool { return g != noGuard && m.without&(1<<g) != 0 }

// ok is a compare.
func (m *model) ok(g guard, holds bool) bool { return holds || m.lacks(g) }

func (m *model) violated(what string) {
	if m.bad == "" {
		m.bad = what
	}
}

// result is what etcd answers.
type result uint8

const (
	refused result = iota
	done
	adopted // the key is my own already
	earlier // an earlier copy was applied
	used    // the caller's key
	ended   // the session
)

// apply executes a transaction.
func (m *model) apply(s *state, t *txn) result {
	switch t.kind {
	case try:
		return m.applyTry(s, t)
	case deleteKey, release:
		return m.applyRelease(s, t)
	case commit:
		return m.applyCommit(s, t)
	case settle:
		return m.applySettle(s, t)
	case secure:
		return m.applySecure(s, t)
	case discard:
		return m.applyDiscard(s, t)
	case putMail:
		return m.applyMail(s, t)
	case enqueue, enqueueSend:
		return m.applyEnqueue(s, t)
	case deliver:
		return m.applyDeliver(s, t)
	case claim:
		return m.applyClaim(s, t)
	case requeue:
		if !m.ok(requeueItem, s.queue[t.cmd] == t.at) {
			return refused
		}
		s.now++
		s.queue[t.cmd] = 0
		s.putSend(m, t.cmd)
		return done
	case none:
	}
	panic("no transaction")
}

func (s *state) isMine(t *txn) bool { return s.instance.lock == lockKey{t.node + 1, t.at} }

// applyTry: nothing is below the lock's name. The put is on the session's lease.
func (m *model) applyTry(s *state, t *txn) result {
	in := &s.instance
	switch in.lock.by {
	case 0:
		if !s.alive.has(t.node) {
			return ended
		}
		s.now++
		in.lock = lockKey{t.node + 1, s.now}
		return done
	case t.node + 1:
		return adopted
	}
	return refused
}

func (m *model) applyRelease(s *state, t *txn) result {
	in := &s.instance
	mine := s.isMine(t)
	if t.kind == deleteKey {
		// A key of a later acquisition has the same name.
		if mine || m.lacks(deleteOwnKey) && in.lock.by == t.node+1 {
			s.unlock()
		}
		return done
	}
	if !mine && (!m.lacks(releaseFence) || in.lock.by != t.node+1) {
		return refused
	}
	if m.boxes || m.ok(releaseMail, in.noneNewer(t.seen)) {
		s.unlock()
		return done
	}
	return adopted // the lock is kept
}

func (s *state) unlock() {
	s.now++
	s.instance.lock = lockKey{}
}

func (in *instance) noneNewer(seen rev) bool {
	for _, r := range in.mail {
		if r > seen {
			return false
		}
	}
	return true
}

// mailbox is what lies in it.
func (in *instance) mailbox() (all cmds) {
	for c, r := range in.mail {
		if r > 0 {
			all |= only(uint8(c))
		}
	}
	return all
}

// compares of a commit.
func (m *model) mayCommit(s *state, t *txn) bool {
	in := &s.instance
	switch {
	case t.how&freely == 0:
		return m.ok(commitFence, s.isMine(t)) && m.ok(commitInstance, in.mod == t.base) && m.keysUnused(s, t, commitKey)
	case t.base == 0:
		return m.ok(startSession, s.alive.has(t.node)) && m.ok(startAbsent, in.mod == 0) && m.ok(startDeleted, in.deleted == 0)
	}
	return m.ok(resumeSession, s.alive.has(t.node)) && m.ok(resumeInstance, in.mod == t.base) &&
		m.ok(resumeFree, in.lock.by == 0) && m.ok(resumeVoid, m.resume != lasting || !s.isVoid(t)) && m.keysUnused(s, t, resumeKey)
}

// keysUnused: no record of the key of a command that was in hand only.
func (m *model) keysUnused(s *state, t *txn, g guard) bool {
	unused := true
	t.hands.each(func(c uint8) {
		unused = unused && m.ok(g, !m.keyed(c) || s.key[eventOf(c)] == unanswered)
	})
	return unused
}

func (m *model) applyCommit(s *state, t *txn) result {
	in := &s.instance
	if !m.mayCommit(s, t) {
		return refused
	}
	switch {
	case in.mod != t.base:
		m.violated("a commit was applied to a state that it was not made from (G1)")
	case t.how&freely == 0 && !s.isMine(t):
		m.violated("who had lost the lock has committed (G2)")
	case !s.alive.has(t.node):
		m.violated("who had lost its session has committed (G2)")
	case t.how&freely != 0 && in.lock.by != 0 && t.base != 0:
		m.violated("a commit came beside who holds the lock (G1)")
	}
	if int(t.seq) >= maxSeq {
		m.beyond = true
		return refused
	}
	s.now++
	m.consume(s, t)
	m.write(s, t)
	m.finish(s, t)
	return done
}

// consume takes what was dealt with out of the mailbox and leaves records.
func (m *model) consume(s *state, t *txn) {
	in := &s.instance
	m.endsAndReturns(s, t)
	(t.mail | t.hands).each(func(c uint8) {
		if !t.mail.has(c) && !m.keyed(c) {
			return // in hand, without a trace
		}
		in.mail[c] = 0
		if c == continueCmd {
			return
		}
		in.records |= only(c)
		if m.keyed(c) {
			s.key[eventOf(c)] = answerApplied
			if t.again.has(c) {
				s.key[eventOf(c)] = answerQueued
			} else if !t.applied.has(c) {
				s.key[eventOf(c)] = answerRefused
			}
		}
	})
	t.applied.each(func(c uint8) {
		if c != continueCmd {
			s.effect[eventOf(c)]++
			if s.effect[eventOf(c)] > 1 {
				m.violated("a command has had two effects (G3)")
			}
		}
	})
	t.again.each(func(c uint8) {
		if int(c)+maxEvents >= continueCmd {
			m.beyond = true
			return
		}
		s.putSend(m, c+maxEvents)
	})
}

// endsAndReturns holds that what was accepted before an end brings nothing back behind it.
func (m *model) endsAndReturns(s *state, t *txn) {
	ended := s.ended
	t.applied.each(func(c uint8) {
		if c != continueCmd && m.of(c).is.ends() {
			ended = max(ended, s.came[eventOf(c)])
		}
	})
	(t.applied & t.mail).each(func(c uint8) {
		if c != continueCmd && m.of(c).is.returns() && s.instance.mail[c] <= ended {
			m.violated("what was accepted before an end has brought the instance back behind it")
		}
	})
	s.ended = ended
}

func (s *state) putSend(m *model, c uint8) {
	if s.send[c] != 0 {
		m.violated("two send records of one id")
	}
	s.send[c] = s.now
}

// write puts the instance and its journal entry, or deletes all of it.
func (m *model) write(s *state, t *txn) {
	in := &s.instance
	if t.how&removes != 0 {
		in.from = in.mod
		in.created, in.mod, in.seq, in.stage, in.bookmark, in.journal = 0, 0, 0, 0, 0, [maxSeq]commitID{}
		in.deleted = t.id
		return
	}
	if in.stage != t.stage || in.mod == 0 {
		in.bookmark = 0
		if m.waits(t.stage) != 0 {
			in.bookmark = s.now
		}
	}
	if in.mod == 0 {
		in.created = s.now
	}
	in.mod, in.seq, in.stage = s.now, t.seq, t.stage
	in.journal[t.seq] = t.id
	if t.how&goesOn != 0 {
		in.mail[continueCmd] = s.now
	}
}

// finish is the inner transaction.
func (m *model) finish(s *state, t *txn) {
	in := &s.instance
	marked := m.waits(t.stage) != 0 && t.how&removes == 0 && s.marked(m, m.waits(t.stage))
	switch {
	case t.how&goesOn != 0:
	case t.how&freely != 0:
		g := startMarks
		if t.base != 0 {
			g = resumeMarks
		}
		if !m.ok(g, !marked) {
			in.mail[continueCmd] = s.now
		}
	case (m.boxes || m.ok(commitMail, in.noneNewer(t.seen))) && m.ok(commitMarks, !marked):
		in.lock = lockKey{}
	}
}

// marked tells whether there are marks of a hash.
func (s *state) marked(m *model, hash uint8) bool {
	for c, r := range s.mark {
		if r > 0 && c != continueCmd && m.hash(uint8(c)) == hash {
			return true
		}
	}
	return false
}

// applySettle: if the instance is as it was, void the commit.
func (m *model) applySettle(s *state, t *txn) result {
	if s.instance.mod == t.base && m.resume == lasting {
		s.void(m, voidOf(&txn{kind: commit, how: freely, id: t.id, base: t.base}))
	}
	return done
}

// applySecure: the lock is mine; the command is not there, and left no record; no record
// of its key; the instance as loaded.
func (m *model) applySecure(s *state, t *txn) result {
	in, key := &s.instance, &s.key[eventOf(t.cmd)]
	if m.ok(secureFence, s.isMine(t)) && m.ok(secureThere, in.mail[t.cmd] == 0) && m.ok(secureRecord, !in.records.has(t.cmd)) &&
		m.ok(secureKey, !m.keyed(t.cmd) || *key == unanswered) && m.ok(secureInstance, in.mod == t.base) {
		if !s.isMine(t) {
			m.violated("who had lost the lock has made a command durable (G2)")
		}
		s.now++
		if in.mod == 0 {
			in.created, in.mod, in.seq, in.stage = s.now, s.now, 0, 0
		}
		in.mail[t.cmd] = s.now
		if m.keyed(t.cmd) {
			*key = answerAccepted
		}
		return done
	}
	switch {
	case in.mail[t.cmd] != 0:
		return earlier
	case m.keyed(t.cmd) && *key != unanswered:
		return used
	}
	return refused
}

// applyDiscard: the lock is mine, there is no instance, each command as read. What is
// discarded is a dead letter.
func (m *model) applyDiscard(s *state, t *txn) result {
	in := &s.instance
	there := true
	t.mail.each(func(c uint8) { there = there && in.mail[c] != 0 && in.mail[c] <= t.seen })
	if !m.ok(discardFence, s.isMine(t)) || !m.ok(discardInstance, in.mod == 0) || !there {
		return refused
	}
	s.now++
	t.mail.each(func(c uint8) {
		in.mail[c] = 0
		if c == continueCmd {
			return
		}
		in.records |= only(c)
		e := eventOf(c)
		if s.dead |= 1 << e; s.effect[e] > 0 {
			m.violated("a command is a dead letter, and had its effect (G3)")
		}
	})
	return done
}

// applyMail: the instance exists, the bookmark stands, the command is not there and left no
// record, no record of its key, not void.
func (m *model) applyMail(s *state, t *txn) result {
	in, key := &s.instance, &s.key[eventOf(t.cmd)]
	if m.ok(mailInstance, in.mod != 0) && m.ok(mailBookmark, t.met == 0 || in.bookmark == t.met) && m.ok(mailRecord, !in.records.has(t.cmd)) &&
		m.ok(mailThere, in.mail[t.cmd] == 0) && m.ok(mailKey, !m.keyed(t.cmd) || *key == unanswered) && m.ok(mailVoid, !s.isVoid(t)) {
		s.now++
		in.mail[t.cmd] = s.now
		if m.keyed(t.cmd) {
			*key = answerAccepted
		}
		return done
	}
	isThere, consumed := in.mail[t.cmd] != 0, in.records.has(t.cmd)
	if t.met == 0 && !isThere && !consumed {
		s.void(m, voidOf(t))
	}
	switch {
	case isThere:
		return earlier
	case consumed, m.keyed(t.cmd) && *key != unanswered:
		return used
	}
	return refused
}

// applyEnqueue: no bookmark is newer than the look; of a call no record of it and of its
// key, not void; of a send record that as read.
func (m *model) applyEnqueue(s *state, t *txn) result {
	key := &s.key[eventOf(t.cmd)]
	look, g := m.hash(t.cmd) != m.waits(s.instance.stage) || s.instance.bookmark <= t.seen, queueLook
	if t.kind == enqueueSend {
		g = sendLook
	}
	ok := m.follows || m.ok(g, look)
	if t.kind == enqueueSend {
		ok = ok && m.ok(sendStands, s.send[t.cmd] == t.at)
	} else {
		ok = ok && m.ok(queueRecord, !s.queued.has(t.cmd)) && m.ok(queueVoid, !s.isVoid(t)) && m.ok(queueKey, !m.keyed(t.cmd) || *key == unanswered)
	}
	if ok {
		s.now++
		s.queue[t.cmd], s.mark[t.cmd] = s.now, s.now
		if t.kind == enqueueSend {
			s.send[t.cmd] = 0
			return done
		}
		s.queued |= only(t.cmd)
		if m.keyed(t.cmd) {
			*key = answerQueued
		}
		return done
	}
	if t.kind == enqueueSend {
		return refused
	}
	if s.queued.has(t.cmd) {
		return earlier
	}
	s.void(m, voidOf(t))
	if m.keyed(t.cmd) && *key != unanswered {
		return used
	}
	return refused
}

// applyDeliver: the bookmark stands, no record of the command, the send record as read.
func (m *model) applyDeliver(s *state, t *txn) result {
	in := &s.instance
	if !m.ok(deliverBookmark, in.bookmark == t.met) || !m.ok(deliverRecord, !in.records.has(t.cmd)) || !m.ok(deliverSend, s.send[t.cmd] == t.at) {
		return refused
	}
	s.now++
	s.send[t.cmd] = 0
	in.mail[t.cmd] = s.now
	return done
}

// applyClaim: the item as read, the instance exists, no record of the command. With the last
// item of the slice go its marks, unless one was put since the reading.
func (m *model) applyClaim(s *state, t *txn) result {
	in := &s.instance
	if m.ok(claimItem, s.queue[t.cmd] == t.at) && m.ok(claimInstance, in.mod != 0) && m.ok(claimRecord, !in.records.has(t.cmd)) {
		s.now++
		s.queue[t.cmd] = 0
		in.mail[t.cmd] = s.now
		if t.seen > 0 {
			s.unmark(m, m.hash(t.cmd), t.seen)
		}
		return done
	}
	if in.mail[t.cmd] != 0 {
		return earlier
	}
	return refused
}

func (s *state) unmark(m *model, hash uint8, seen rev) {
	for c, r := range s.mark {
		if c != continueCmd && m.hash(uint8(c)) == hash && !m.ok(claimMarks, r <= seen) {
			return
		}
	}
	for c := range s.mark {
		if c != continueCmd && m.hash(uint8(c)) == hash {
			s.mark[c] = 0
		}
	}
}

// voidOf names the attempt that a transaction is.
func voidOf(t *txn) void {
	switch {
	case t.kind == enqueue:
		return void{what: enqueue, cmd: t.cmd, at: t.seen}
	case t.kind == putMail && t.met == 0:
		return void{what: putMail, cmd: t.cmd, at: t.seen}
	case (t.kind == commit && t.how&freely != 0 || t.kind == settle) && t.base != 0:
		return void{what: commit, id: t.id}
	}
	return void{}
}

func (s *state) isVoid(t *txn) bool {
	v := voidOf(t)
	if v == (void{}) {
		return false
	}
	for _, w := range s.voids {
		if w == v {
			return true
		}
	}
	return false
}

func (s *state) void(m *model, v void) {
	free := -1
	for i, w := range s.voids {
		if w == v {
			return
		}
		if w == (void{}) {
			free = i
		}
	}
	if free < 0 {
		m.beyond = true
		return
	}
	s.now++
	s.voids[free] = v
}
