package outgoing

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// refusePrivate runs after the name was resolved and before the connection is
// opened.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %s: %w", address, ErrPrivateAddress)
	}
	if !isPublic(ap.Addr()) {
		return fmt.Errorf("%w (%s); allow it with --allow-private-addresses", ErrPrivateAddress, ap.Addr())
	}
	return nil
}

// reserved are ranges that are not public and that [netip.Addr] has no question
// for.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),    // shared by carriers; Alibaba's metadata
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's host
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments; Oracle's metadata
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("100:0:0:1::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("3fff::/20"), // for documentation
	netip.MustParsePrefix("5f00::/16"), // segments of routes within a network
	netip.MustParsePrefix("fec0::/10"),
}

var (
	nat64        = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4       = netip.MustParsePrefix("2002::/16")
	v4Compatible = netip.MustParsePrefix("::/96")
	v4Translated = netip.MustParsePrefix("::ffff:0:0:0/96") // SIIT
)

func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.Is6() { // addresses that carry another inside
		b := a.As16()
		switch {
		case nat64.Contains(a), v4Compatible.Contains(a), v4Translated.Contains(a):
			return isPublic(netip.AddrFrom4([4]byte(b[12:16])))
		case sixTo4.Contains(a):
			return isPublic(netip.AddrFrom4([4]byte(b[2:6])))
		}
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Loopback reports whether a host, by its name or address, is this machine.
func Loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
