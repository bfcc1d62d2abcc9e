package node

import (
	"net"
	"sync"
	"time"
)

// maxConnections is the default while there are descriptors enough.
const maxConnections = 10_000

// connectionsFor leaves half of the descriptors to etcd's files, whose want ends
// the process, and to outgoing connections.
func connectionsFor(files uint64) int { return int(max(1, min(maxConnections, files/2))) }

// limitedListener closes at once what it has no room for. A connection left in the
// backlog would keep its client waiting, and the next ones with it.
type limitedListener struct {
	net.Listener
	most, each int
	refused    func() // is told of each that was closed

	mu     sync.Mutex
	open   int
	by     map[string]int // open ones by address
	shedAt time.Time
}

func newLimitedListener(l net.Listener, most, each int, refused func()) *limitedListener {
	return &limitedListener{Listener: l, most: most, each: each, refused: refused, by: map[string]int{}}
}

// Accept gives the next connection that there is room for.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := addressOf(c)
		if l.take(from) {
			return &limitedConn{Conn: c, done: sync.OnceFunc(func() { l.give(from) })}, nil
		}
		_ = c.Close() // it was nobody's yet
		l.refused()
	}
}

func (l *limitedListener) take(from string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	// The last ones are for those who have fewer than are left: some addresses
	// together keep out nobody who comes from another.
	left := l.most - l.open
	if l.open >= l.most || l.by[from] >= l.each || left <= l.most/16 && l.by[from] >= left {
		l.shedAt = time.Now()
		return false
	}
	l.open++
	l.by[from]++
	return true
}

func (l *limitedListener) give(from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.by[from]--; l.by[from] == 0 {
		delete(l.by, from)
	}
}

// shedding tells whether connections were closed for their number a moment ago.
func (l *limitedListener) shedding() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.shedAt.IsZero() && time.Since(l.shedAt) < 10*time.Second
}

// addressOf is whose share a connection counts against. A client that has one IPv6
// address has its whole network.
func addressOf(c net.Conn) string {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return c.RemoteAddr().String()
	}
	if ip := tcp.IP.To4(); ip != nil {
		return ip.String()
	}
	return tcp.IP.Mask(net.CIDRMask(64, 128)).String()
}

// limitedConn gives its room back when it is closed.
type limitedConn struct {
	net.Conn
	done func()
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.done()
	return err
}

// CloseWrite is how net/http ends a connection whose client still sends.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
