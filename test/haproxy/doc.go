// Package haproxy puts HAProxy, as Debian has it and with the configuration of
// deploy/haproxy, in front of real node processes and of servers that only
// behave like nodes, and checks what the load balancer owes to users: that no
// request fails while nodes restart one after the other, and that a request is
// repeated only if that cannot do it twice.
//
// The tests are skipped where there is no haproxy, unless WEFT_REQUIRE_TOOLS=1
// says that this is a failure. The same configuration in containers is tested
// by test/compose.
package haproxy
