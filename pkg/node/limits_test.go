package node

import (
	"net"
	"strconv"
	"testing"
	"time"
)

func TestConnectionsLeaveRoomForFiles(t *testing.T) {
	t.Parallel()
	for files, want := range map[uint64]int{1024: 512, 1500: 750, 20_000: 10_000, 1 << 40: 10_000, 1: 1} {
		if got := connectionsFor(files); got != want {
			t.Errorf("%d descriptors: %d connections, want %d", files, got, want)
		}
	}
}

// More connections than may be are closed at once, and room comes back with each
// that ends.
func TestALimitedListenerClosesWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ most, each, fit int }{{3, 100, 3}, {100, 2, 2}} {
		var lc net.ListenConfig
		inner, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		shed := make(chan struct{}, 1)
		l := newLimitedListener(inner, c.most, c.each, func() { shed <- struct{}{} })
		t.Cleanup(func() { l.Close() })
		taken := make(chan net.Conn, 10)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				taken <- conn
			}
		}()
		dial := func() net.Conn {
			var d net.Dialer
			conn, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			return conn
		}
		var open []net.Conn
		for range c.fit {
			dial()
			open = append(open, <-taken)
		}
		refused := dial()
		closed := func() {
			t.Helper()
			select {
			case <-shed:
			case <-taken:
				t.Fatal("there is one more than there may be")
			}
		}
		closed()
		_ = refused.SetReadDeadline(time.Now().Add(20 * time.Second))
		if n, err := refused.Read(make([]byte, 1)); err == nil || n != 0 {
			t.Error("it was not closed")
		}
		if !l.shedding() {
			t.Error("nobody would know")
		}
		open[0].Close()
		open[0].Close() // net/http closes more than once
		dial()
		<-taken
		dial()
		closed()
	}
}

// However few addresses fill a node, and however many connections each of them
// makes, somebody at another one finds room: an admin, a probe.
func TestSomeAddressesKeepOutNobodyElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ most, each, addresses, others int }{
		{10_000, 5_000, 1, 300}, {10_000, 5_000, 2, 200}, {10_000, 10_000, 2, 200}, {10_000, 100, 1_000, 5}, {512, 256, 2, 10}, {64, 64, 1, 2}, {64, 32, 2, 1},
	} {
		l := newLimitedListener(nil, c.most, c.each, func() {})
		for range c.most { // in turns
			for i := range c.addresses {
				l.take(strconv.Itoa(i))
			}
		}
		if l.open < c.most*3/4 && c.each*c.addresses >= c.most {
			t.Errorf("%+v: they have but %d", c, l.open)
		}
		for i := range c.others {
			if !l.take("another" + strconv.Itoa(i)) {
				t.Errorf("%+v: with %d taken no other address has a connection, after %d", c, l.open, i)
				break
			}
		}
	}
}

// Who has a network of IPv6 addresses has the share of one address.
func TestOneNetworkIsOneAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "2001:db8:1:2::9": "2001:db8:1:2::", "2001:db8:1:3::9": "2001:db8:1:3::",
	} {
		if got := addressOf(from{addr: &net.TCPAddr{IP: net.ParseIP(text), Port: 1}}); got != want {
			t.Errorf("%s counts as %s, want %s", text, got, want)
		}
	}
}

// from is a connection of which only the other end's address is known.
type from struct {
	net.Conn
	addr net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.addr }
