package etcdmembers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// dial connects to an address of the client's. A name may have several: each is tried,
// the one that was silent last at the end.
func (m *Members) dial(ctx context.Context, addr string) (net.Conn, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return m.connect(ctx, addr, "unix", strings.TrimPrefix(path, "//"))
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address of an etcd endpoint: %w", err)
	}
	found, err := m.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	for i, ip := range found {
		found[i] = net.JoinHostPort(ip, port)
	}
	m.mu.Lock()
	slices.SortStableFunc(found, func(a, b string) int { return m.silent[a].Compare(m.silent[b]) })
	m.mu.Unlock()
	var errs []error
	for i, at := range found {
		part := ctx
		if deadline, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			part, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(found)-i))
			defer cancel()
		}
		conn, err := m.connect(part, addr, "tcp", at)
		if err == nil {
			return conn, nil
		}
		m.gaveUp(at)
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (m *Members) connect(ctx context.Context, addr, network, at string) (net.Conn, error) {
	raw, err := new(net.Dialer).DialContext(ctx, network, at)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, m: m, addr: addr, at: at}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conns[addr] == nil {
		m.conns[addr] = map[net.Conn]bool{}
	}
	m.conns[addr][c] = true
	return c, nil
}

// gaveUp notes that there was no answer from a remote address.
func (m *Members) gaveUp(at string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent[at] = time.Now()
}

// cut closes the connections to addr: what is under way on them ends now. mu is held.
func (m *Members) cut(addr string) {
	for c := range m.conns[addr] {
		c := c.(*conn)
		m.silent[c.at] = time.Now()
		_ = c.Conn.Close() // who reads from it is told, and closes c
	}
}

// conn is a connection that can be closed from outside.
type conn struct {
	net.Conn

	m        *Members
	addr, at string // of the client; where it leads
	heard    sync.Once
	spoke    bool // it was read from; written once, before Close looks
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard.Do(func() { c.m.spoke(c) })
	}
	return n, err
}

// spoke notes that somebody is there.
func (m *Members) spoke(c *conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.spoke = true
	delete(m.silent, c.at)
}

func (c *conn) Close() error {
	c.m.mu.Lock()
	if !c.spoke { // it was accepted, and nothing was ever said
		c.m.silent[c.at] = time.Now()
	}
	delete(c.m.conns[c.addr], c)
	c.m.mu.Unlock()
	return c.Conn.Close()
}
