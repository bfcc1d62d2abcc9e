// Package loadbalancer puts HAProxy and nginx, as Debian has them and with the
// configurations of deploy/haproxy and deploy/nginx, in front of real node
// processes and of servers that only behave like nodes, and checks what the load
// balancer owes to users: that no request fails while nodes restart one after
// the other, and that a request is repeated only if that cannot do it twice.
//
// The tests are skipped where the program is missing, unless
// WEFT_REQUIRE_TOOLS=1 says that this is a failure. HAProxy's configuration in
// containers is tested by test/compose.
package loadbalancer
