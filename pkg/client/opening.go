package client

// opening is the state in which the burst is made, and gets what it needs before it
// may run: a place, and for a command that was taken over its mark.
type opening struct{ *round }

func (s opening) next(o *owner) state {
	if o.free() && !s.work.onlyResumes() {
		return o.conflict(s.round, s.work) // mail may have gone without a write of the instance since it was read
	}
	if !o.endsApart(&s.work) {
		if err := o.whole(s.ctx); err != nil {
			return s.failed(o.fail(err))
		}
	}
	x, err := o.open(s.ctx, &s.work)
	if err != nil {
		return o.unopened(s.round, x, s.work, err)
	}
	if s.work.why == "" && !o.enter(x, &s.work) { // what is set aside does not run
		o.seat.refused = true
		o.inbox.giveBack(s.work.hands)
		return s.again(o) // what ends it may be behind this
	}
	// What this node cannot run, or has no place for, counts no attempt.
	if s.work.counted && s.work.why == "" && !o.marked(s.work.mail[0].Command.ID) {
		if !o.isolate(s.ctx, &s.work.mail[0].Command) {
			return s.again(o) // others of this instance go on
		}
		if err := o.countAttempt(s.ctx, &s.work); err != nil {
			return s.failed(o.fail(err))
		}
	}
	return working{s.round, x}
}
