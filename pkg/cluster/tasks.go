package cluster

import "sync"

// taskGroup owns background goroutines that start at any time until it is
// closed. Starting races with waiting, so both go through the mutex.
type taskGroup struct {
	mu     sync.Mutex
	closed bool // guarded by mu
	wg     sync.WaitGroup
}

// start runs f in the background, or reports false if the group is closed.
func (g *taskGroup) start(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.wg.Go(f)
	return true
}

func (g *taskGroup) closeAndWait() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.wg.Wait()
}
