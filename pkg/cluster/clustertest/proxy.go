package clustertest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Proxy is a TCP connection to etcd that can be broken. It ends with the test.
type Proxy struct {
	target   string
	listener net.Listener
	wg       sync.WaitGroup

	mu     sync.Mutex
	open   chan struct{}     // closed while bytes may flow; guarded by mu
	conns  map[net.Conn]bool // guarded by mu
	closed bool              // guarded by mu
	done   chan struct{}
}

// Proxy starts a proxy in front of etcd.
func (e *Etcd) Proxy(tb testing.TB) *Proxy {
	tb.Helper()
	u, err := url.Parse(e.Endpoints()[0])
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{target: u.Host, listener: l, open: make(chan struct{}), conns: map[net.Conn]bool{}, done: make(chan struct{})}
	close(p.open)
	p.wg.Go(p.accept)
	tb.Cleanup(p.stop)
	return p
}

// Client dials etcd through the proxy. The client is closed with the test.
func (p *Proxy) Client(tb testing.TB) *clientv3.Client {
	tb.Helper()
	return dial(tb, p.Endpoint())
}

// Endpoint is the address for clients, such as a whole node.
func (p *Proxy) Endpoint() string { return "http://" + p.listener.Addr().String() }

// BlackHole stops all bytes in both directions; connections stay open, new ones
// are accepted and stay silent. What is under way arrives after [Proxy.Heal].
func (p *Proxy) BlackHole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		p.open = make(chan struct{})
	default:
	}
}

// Heal lets the bytes flow again.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

// Cut breaks all connections; what is under way is lost. New ones work.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

func (p *Proxy) stop() {
	p.mu.Lock()
	p.closed = true
	close(p.done)
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.listener.Close()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		if !p.keep(in) {
			return
		}
		p.wg.Go(func() { p.connect(in) })
	}
}

// connect goes on to etcd, in a black hole when it is healed: of a connection that
// stays silent etcd awaits the first bytes for ever, also when it is told to stop.
func (p *Proxy) connect(in net.Conn) {
	if p.gate() {
		if out, err := net.Dial("tcp", p.target); err == nil && p.keep(out) {
			p.wg.Go(func() { p.pipe(in, out) })
			p.pipe(out, in)
			return
		}
	}
	p.forget(in)
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.closed {
			c.Close()
		}
		p.conns[c] = true
	}
	return !p.closed
}

func (p *Proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.conns, c)
	}
}

func (p *Proxy) pipe(from, to net.Conn) {
	defer p.forget(from, to)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !p.gate() {
				return
			}
			if _, werr := to.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				p.gate() // the end of the stream does not overtake a black hole
			}
			return
		}
	}
}

// gate waits while the proxy is a black hole.
func (p *Proxy) gate() bool {
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	select {
	case <-open:
		return true
	case <-p.done:
		return false
	}
}
