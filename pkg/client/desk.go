package client

import "sync"

// desk is where callers ask for their commands to be made durable, and a burst for the lock. It is open while a
// burst runs: then requests are served one after the other, by a goroutine that is there
// as long as there are any.
type desk struct {
	mu       sync.Mutex
	requests []request     // guarded by mu
	by       *owner        // whose burst runs; nil: it is closed; guarded by mu
	served   chan struct{} // closed when who serves has gone; nil: nobody serves; guarded by mu
	bell     chan struct{} // closed with the next request; nil: nobody has asked for it; guarded by mu
}

// request is done with the owner while its burst runs.
type request func(o *owner)

// ask leaves a request, which waits until the desk is open.
func (d *desk) ask(r request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = append(d.requests, r)
	if d.bell != nil {
		close(d.bell)
		d.bell = nil
	}
	d.call()
}

// rings gives a channel that is closed once a request is there, for an owner that waits.
func (d *desk) rings() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	bell := make(chan struct{})
	if len(d.requests) > 0 {
		close(bell)
	} else {
		d.bell = bell
	}
	return bell
}

// open has requests served, with what the owner has, until close.
func (d *desk) open(o *owner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.by = o
	d.call()
}

// close lets requests wait, and waits for the one that is served.
func (d *desk) close() {
	d.mu.Lock()
	d.by = nil
	served := d.served
	d.mu.Unlock()
	if served != nil {
		<-served
	}
}

// call needs mu. It calls somebody to serve, if there is need.
func (d *desk) call() {
	if d.by == nil || d.served != nil || len(d.requests) == 0 {
		return
	}
	served := make(chan struct{})
	d.served = served
	go func() {
		defer close(served)
		for o, r := d.next(); o != nil; o, r = d.next() {
			r(o)
		}
	}()
}

// next is the oldest request, and the owner to serve it; nil: there is none, or the desk
// is closed, and who asks is gone.
func (d *desk) next() (o *owner, r request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == nil || len(d.requests) == 0 {
		d.served = nil
		return nil, r
	}
	r, d.requests = d.requests[0], d.requests[1:]
	return d.by, r
}
