package model

import (
	"slices"
	"testing"
)

// taken is one guard, or several that stand one behind the other, and the world in which
// a violation is found without them.
type taken struct {
	guard  string
	less   guardSet
	worlds []world
	in     string
}

func takenAway() []taken {
	now, free, joined, ending := today(), withoutLock(lasting), joinedSaves(), endings()
	return []taken{
		{"delete a lock key: its create revision", less(deleteOwnKey), now, "an event before its bookmark"},
		{"commit: the lock is mine", less(commitFence), now, "two events, two waits"},
		{"commit: the instance as loaded", less(commitInstance), now, "two events, two waits"},
		{"commit: no record of a key in hand", less(commitKey), free, "a key on two nodes"},
		{"commit, release: no mail is newer", less(commitMail), now, "two events, promptly"},
		{"commit, release: no mark of the queue", less(commitMarks), now, "an event before its bookmark"},
		{"start without a lock: the session", less(startSession), now, "a start without a lock"},
		{"start without a lock: absent", less(startAbsent), now, "a start without a lock"},
		{"start without a lock: no record of a delete", less(startDeleted), now, "a delete of what is new"},
		{"start without a lock: no mark of the queue", less(startMarks), now, "a start without a lock, promptly"},
		{"secure: the lock is mine", less(secureFence), now, "a key on two nodes"},
		{"secure: no record of the command, and the instance as loaded", less(secureRecord, secureInstance), now, "two events, two waits, made durable"},
		{"release: no mail is newer", less(releaseMail), now, "three events, promptly"},
		{"put mail: no record of the command", less(mailRecord), now, "two deletes and a start"},
		{"put mail: the bookmark stands, and no record of the command", less(mailBookmark, mailRecord), now, "two events, two waits"},
		{"put mail: void", less(mailVoid), now, "two deletes and a start"},
		{"enqueue: no bookmark is newer", less(queueLook), now, "an event before its bookmark"},
		{"enqueue where what waits is followed: the look behind it", less(queueBehind), now, "an event before its bookmark, followed"},
		{"enqueue: no record of the item", less(queueRecord), now, "an event before its bookmark"},
		{"enqueue: no record of the key", less(queueKey), now, "a key on two nodes, before its bookmark"},
		{"enqueue: void", less(queueVoid), now, "an event before its bookmark"},
		{"enqueue from a send record: no bookmark is newer", less(sendLook), now, "an event that goes back"},
		{"enqueue from a send record: the record as read", less(sendStands), now, "an event that goes back"},
		{"deliver: the bookmark, no record of the command, the send record", less(deliverBookmark, deliverRecord, deliverSend), now, "an event before its bookmark, nodes end"},
		{"claim: the item", less(claimItem), now, "an event before its bookmark, nodes end"},
		{"requeue: the item", less(requeueItem), now, "an event before its bookmark, nodes end"},
		{"a refusal: first the commit's id in the journal", less(judgeProof), now, "two events, two waits"},
		{"a refusal: then the lock", less(judgeFenced), now, "two events, two waits"},
		{"a refusal: then a used key", less(judgeKey), now, "a key on two nodes"},
		{"a refusal of a start without a lock: the record of a delete", less(judgeStartGone), now, "a delete of what is new"},
		{"a refusal of a resume without a lock: the journal is gone", less(judgeGone), free, "a delete"},
		{"a refusal of a resume without a lock: the instance was made again", less(judgeCreated), free, "a delete, and made again"},
		{"resume without a lock: the session", less(resumeSession), free, "two events, sessions end"},
		{"resume without a lock: the instance as loaded", less(resumeInstance), free, "two events"},
		{"resume without a lock: nobody holds the lock", less(resumeFree), free, "two events"},
		{"resume without a lock: void", less(resumeVoid), free, "two events"},
		{"resume without a lock: no mark of the queue", less(resumeMarks), free, "an event before its bookmark, promptly"},
		{"the lock for a burst that began without: the instance as loaded", less(relockInstance), free, "two events"},
		{"the barrier: the lock before the outside", less(barrier), free, "the outside is called"},
		{"the barrier: all is durable before the outside", less(saveFirst), joined, "3 joined, answers are lost"},
		{"an end goes before all that was sent", less(endFirst), ending, "a cancel behind an event"},
		{"an end refuses what could bring the instance back", less(endOvertakes), ending, "an import and a cancel"},
		{"an end in hand: the mailbox was read since it came", less(endReads), ending, "an import, an event, and a cancel beside it"},
		{"an end needs no place", less(endPlace), ending, "a cancel behind an event, no place is free"},
		{"where the mailbox is followed: the look behind a commit", less(boxBehind), ending, "two events, promptly, the mailbox is followed"},
	}
}

// spare are guards that no world misses, with what stands behind each.
var spare = map[guard]string{
	secureThere:     "the put of a command that is there writes the same",
	secureKey:       "a key's record by another route needs two instances",
	discardFence:    "nobody makes an instance of this id again",
	discardInstance: "nobody makes an instance of this id again",
	releaseFence:    "a successor that lost its key is fenced",
	mailInstance:    "the record of the delete's command, and the void",
	mailThere:       "the put of a command that is there writes the same",
	mailKey:         "the record of the command",
	claimInstance:   "what is mail of nobody is discarded, to a dead letter",
	claimRecord:     "the item, whose record refuses a second one",
	claimMarks:      "an item beside a bookmark of its hash needs two instances",
	resumeKey:       "the put of mail, whose commit deletes the twin; a key's record by another route needs two instances",
}

// TestEveryGuardIsNeeded takes each guard away, and finds what it is for.
func TestEveryGuardIsNeeded(t *testing.T) {
	t.Parallel()
	missed := map[guard]bool{}
	for _, g := range takenAway() {
		for c := noGuard + 1; c < guards; c++ {
			if g.less&less(c) != 0 {
				missed[c] = true
			}
		}
		i := slices.IndexFunc(g.worlds, func(w world) bool { return w.name == g.in })
		if i < 0 {
			t.Errorf("%s: no world is called %q", g.guard, g.in)
			continue
		}
		f := explore(&g.worlds[i], g.less, max(*limit, 400_000))
		if f.bad == "" {
			t.Errorf("%s: nobody misses it in %q, %d states", g.guard, g.in, f.states)
			continue
		}
		t.Logf("%s: in %q, %d states and %d steps: %s", g.guard, g.in, f.states, len(f.trace), f.bad)
	}
	for c := noGuard + 1; c < guards; c++ {
		if missed[c] == (spare[c] != "") {
			t.Errorf("guard %d: missed %v, and spare because of %q", c, missed[c], spare[c])
		}
	}
}
