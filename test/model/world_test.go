package model

// world is a small cluster with what it is asked to do.
type world struct {
	name   string
	nodes  uint8
	events []event
	calls  []request
	script []place // what the instance does, from stage 1 on
	exists uint8   // the stage at which the instance waits when the world begins; 0: there is none
	faults faults
	late   bool // commands in hand are made durable
	sweeps bool // the sweep behind the queue runs; without it nothing may be left to it
	prompt bool // no sweep behind the mailboxes either: who puts mail tells its own node, once
	resume resuming
	locks  nodes // that resume with the lock, whatever the others do
	recall bool  // a resume may go by what its node committed last, or knew when the world began
	// follows: what waits is followed, and not compared where an event is put into the queue: a look follows.
	follows bool
	// boxes: the mailbox is followed. No commit and no release compares it, and a look follows.
	boxes bool
	full  nodes // that have no place for a burst: they run only what ends an instance
	back  uint8 // the stage to which a way back leads
	joins uint8 // how many activities may join the save of the one before them
}

// event is one command of a caller, with its id for life.
type event struct {
	is    deed
	hash  uint8 // that it resumes, from 1
	keyed bool
}

type deed uint8

const (
	resumes deed = iota
	starts
	deletes
	cancels
	retries // brings an instance back that has ended
	imports // takes the place of what is there
)

// stageEnded is where an instance is that was cancelled.
const stageEnded = 14

// ends tells whether it ends the instance.
func (d deed) ends() bool { return d == deletes || d == cancels }

// returns tells whether it may bring back an instance that has ended.
func (d deed) returns() bool { return d == retries || d == imports }

// request is one call with an event; a keyed one may be sent twice.
type request struct{ event, node uint8 }

// place is where an instance comes to.
type place struct {
	waits uint8 // for this hash; 0: it goes on, or has ended if it is the last
	calls bool  // the outside is called on the way to it
}

// resuming is how a command in hand resumes an instance.
type resuming uint8

const (
	withLock   resuming = iota
	conclusive          // without the lock; a refusal is taken for conclusive
	lasting             // without the lock; a refusal is made to last
)

func eventOf(c uint8) uint8 { return c % maxEvents }

func (w *world) of(c uint8) *event { return &w.events[eventOf(c)] }

func (w *world) keyed(c uint8) bool { return c != continueCmd && w.of(c).keyed }

// hash is what a command resumes; 0 if it is no event.
func (w *world) hash(c uint8) uint8 {
	if c == continueCmd || int(eventOf(c)) >= len(w.events) {
		return 0
	}
	return w.of(c).hash
}

func (w *world) place(stage uint8) place {
	if stage == 0 || int(stage) > len(w.script) {
		return place{}
	}
	return w.script[stage-1]
}

// waits is for which hash an instance waits; 0: for none.
func (w *world) waits(stage uint8) uint8 { return w.place(stage).waits }

// goesOn tells whether a burst goes on from a stage after a commit.
func (w *world) goesOn(stage uint8) bool {
	return stage > 0 && int(stage) < len(w.script) && w.waits(stage) == 0
}

// first is how a world begins.
func (w *world) first() state {
	s := state{now: 1, left: w.faults}
	s.up, s.alive = 1<<w.nodes-1, 1<<w.nodes-1
	if w.exists > 0 {
		s.instance = instance{created: 1, mod: 1, seq: 1, stage: w.exists, bookmark: 1}
		if w.waits(w.exists) == 0 {
			s.instance.bookmark = 0
		}
		for n := range w.nodes {
			if w.recall {
				s.last[n] = memory{1, 1, w.exists}
			}
		}
	}
	return s
}
