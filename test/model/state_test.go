package model

import "slices"

const (
	maxNodes  = 3
	maxEvents = 3
	maxCmds   = 2*maxEvents + 1 // each event, once more after it went back to be resolved, and ~continue
	maxCalls  = 4
	maxSeq    = 8
	maxCopies = 2
	maxVoids  = 3
)

// continueCmd is ~continue.
const continueCmd = maxCmds - 1

// rev is a revision of etcd; 0 stands for what is not there.
type rev uint8

// commitID is the id that a commit leaves in the journal; 0 is of none that matters.
type commitID uint8

// cmds is a set of commands.
type cmds uint8

func only(c uint8) cmds         { return 1 << c }
func (s cmds) has(c uint8) bool { return s&only(c) != 0 }

func (s cmds) each(f func(c uint8)) {
	for c := uint8(0); s != 0; c, s = c+1, s>>1 {
		if s&1 != 0 {
			f(c)
		}
	}
}

// state is all of a world at one moment. Two states that differ only in how far their
// revisions are apart are one: see canonical.
type state struct {
	now rev // etcd's revision
	ids commitID

	// What lies in etcd.
	instance instance
	queue    [maxCmds]rev // items, by their create revision
	mark     [maxCmds]rev
	queued   cmds // ~queue records
	send     [maxCmds]rev
	key      [maxEvents]answer
	voids    [maxVoids]void
	alive    nodes // whose session lives

	// What nodes and the network have in their memory.
	up     nodes
	hinted nodes // of mail
	owner  [maxNodes]owner
	last   [maxNodes]memory
	outbox [maxNodes]txn
	call   [maxCalls]call
	copies [maxCopies]txn // that the network keeps

	// What really happened.
	effect [maxEvents]uint8
	dead   uint8          // events that are dead letters
	ended  rev            // when the newest command came that ended the instance
	came   [maxEvents]rev // when each command came that ends it, if others bring it back

	left faults
}

// nodes is a set of nodes.
type nodes uint8

func (s nodes) has(n uint8) bool { return s&(1<<n) != 0 }

// faults are those that may still come.
type faults struct{ late, lost, crashes, ends uint8 }

// instance is one instance with its mailbox, records, journal and lock.
type instance struct {
	created  rev
	mod      rev
	seq      uint8
	stage    uint8 // where in the script; 0: it never ran
	bookmark rev   // create revision of the one that waits
	deleted  commitID
	from     rev // what was deleted
	journal  [maxSeq]commitID
	mail     [maxCmds]rev
	records  cmds
	lock     lockKey
}

// memory is the instance as a node committed it last.
type memory struct {
	mod   rev
	seq   uint8
	stage uint8
}

// lockKey is the key below the lock's name; a try puts none beside another.
type lockKey struct {
	by uint8 // its node, from 1
	at rev
}

// void is a record that refuses one attempt.
type void struct {
	what kind
	cmd  uint8
	at   rev
	id   commitID
}

// answer is what the record of a caller's key says.
type answer uint8

const (
	unanswered answer = iota
	answerAccepted
	answerQueued
	answerApplied
	answerRefused
)

// owner is a node's owner of the instance.
type owner struct {
	phase phase
	free  bool // it works without the lock
	fence rev
	base  rev // of the instance as loaded
	seq   uint8
	stage uint8
	seen  rev
	mail  cmds // known to lie in the mailbox
	t     txn  // under way
}

type phase uint8

const (
	nobody     phase = iota
	taking           // the try is under way
	loading          // a look without the lock
	erasing          // a try had no answer
	unlocking        // the delete of the lock key is under way
	working          // the burst runs
	relocking        // the lock is taken for a burst that began without
	securing         // a command is made durable
	committing       // the commit is under way
	asking           // why was it refused
	claiming         // an item of the queue is taken
	discarding       // mail for nobody
	leaving          // the release is under way
)

// call is one request of a caller to one node.
type call struct {
	phase callPhase
	told  told
	met   rev  // create revision of the bookmark that it met
	read  bool // the mailbox was read since it came to hand
	t     txn
}

type callPhase uint8

const (
	callNew callPhase = iota
	callLooks
	callInHand
	callRuns // its command is in the commit under way
	callMails
	callQueues
	callLooksBehind // what it put into the queue may have missed what waits
	callOver
)

// told is what the caller heard.
type told uint8

const (
	toldNothing told = iota
	toldApplied
	toldAccepted
	toldError // which says nothing
	toldRefused
)

// txn is a transaction on its way, with what it compares and writes.
type txn struct {
	kind    kind
	node    uint8
	cmd     uint8
	seq     uint8
	stage   uint8
	at      rev // fence, look, or the create or mod revision of what it takes
	base    rev // mod revision of the instance
	seen    rev
	met     rev
	id      commitID
	mail    cmds // consumed from the mailbox
	hands   cmds // consumed in hand
	applied cmds
	again   cmds // go back to be resolved
	how     how
}

type how uint8

const (
	freely  how = 1 << iota // without the lock
	removes                 // the instance
	goesOn                  // the burst goes on after the commit
)

// canonical gives equal states one form: what nobody can ask for is forgotten, copies are
// in order, and revisions and ids keep their order only.
func (s *state) canonical() {
	s.forget()
	slices.SortFunc(s.copies[:], compareTxn)
	var used [256]bool
	s.eachRev(func(r *rev) { used[*r] = true })
	var rank [256]rev
	next := rev(0)
	for i := range used {
		if i == 0 || used[i] {
			rank[i] = next
			next++
		}
	}
	s.eachRev(func(r *rev) { *r = rank[*r] })
	var usedID [256]bool
	s.eachID(func(r *commitID) { usedID[*r] = true })
	var rankID [256]commitID
	nextID := commitID(0)
	for i := range usedID {
		if i == 0 || usedID[i] {
			rankID[i] = nextID
			nextID++
		}
	}
	s.eachID(func(r *commitID) { *r = rankID[*r] })
	s.ids = nextID - 1
}

// forget drops journal ids and void records that no transaction under way can meet.
func (s *state) forget() {
	var ids [256]bool
	s.eachTxn(func(t *txn) { ids[t.id] = true })
	in := &s.instance
	for i := range in.journal {
		if !ids[in.journal[i]] {
			in.journal[i] = 0
		}
	}
	for i := range s.voids {
		v, asked := &s.voids[i], false
		s.eachTxn(func(t *txn) { asked = asked || voidOf(t) == *v })
		if !asked {
			*v = void{}
		}
	}
	slices.SortFunc(s.voids[:], func(a, b void) int {
		return slices.Compare([]uint8{uint8(b.what), b.cmd, uint8(b.at), uint8(b.id)}, []uint8{uint8(a.what), a.cmd, uint8(a.at), uint8(a.id)})
	})
}

func compareTxn(a, b txn) int { return slices.Compare(bytesOf(&b), bytesOf(&a)) }

func bytesOf(t *txn) []uint8 {
	return []uint8{uint8(t.kind), t.node, t.cmd, t.seq, t.stage, uint8(t.at), uint8(t.base), uint8(t.seen), uint8(t.met), uint8(t.id),
		uint8(t.mail), uint8(t.hands), uint8(t.applied), uint8(t.again), uint8(t.how)}
}

// eachTxn visits all that is under way.
func (s *state) eachTxn(f func(*txn)) {
	for i := range s.owner {
		f(&s.owner[i].t)
		f(&s.outbox[i])
	}
	for i := range s.call {
		f(&s.call[i].t)
	}
	for i := range s.copies {
		f(&s.copies[i])
	}
}

func (s *state) eachRev(f func(*rev)) {
	f(&s.now)
	f(&s.ended)
	for i := range s.came {
		f(&s.came[i])
	}
	in := &s.instance
	f(&in.created)
	f(&in.mod)
	f(&in.from)
	f(&in.bookmark)
	f(&in.lock.at)
	for c := range maxCmds {
		f(&in.mail[c])
		f(&s.queue[c])
		f(&s.mark[c])
		f(&s.send[c])
	}
	for i := range s.voids {
		f(&s.voids[i].at)
	}
	for i := range s.owner {
		o := &s.owner[i]
		f(&o.fence)
		f(&o.base)
		f(&o.seen)
	}
	for i := range s.last {
		f(&s.last[i].mod)
	}
	for i := range s.call {
		f(&s.call[i].met)
	}
	s.eachTxn(func(t *txn) {
		f(&t.at)
		f(&t.base)
		f(&t.seen)
		f(&t.met)
	})
}

func (s *state) eachID(f func(*commitID)) {
	in := &s.instance
	for i := range in.journal {
		f(&in.journal[i])
	}
	f(&in.deleted)
	for i := range s.voids {
		f(&s.voids[i].id)
	}
	s.eachTxn(func(t *txn) { f(&t.id) })
}
