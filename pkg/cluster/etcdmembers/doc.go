// Package etcdmembers keeps a client of etcd off the members that do not answer.
//
// The client itself notices that a connection is dead after 13 s, which is longer
// than a session lives: a member that was stopped, whose machine is frozen or whose
// network swallows everything looks like a slow one until then, and every third call
// goes to it. Here each connection is asked for the member's state all the time, and
// what the answers say decides where calls go:
//
//	members := etcdmembers.New(etcdmembers.Config{SessionTTL: 10 * time.Second})
//	dial.DialOptions = append(dial.DialOptions, members.DialOptions()...)
//	client, err := clientv3.New(dial)
//	…
//	members.Close()
//	client.Close()
//
// # What is guaranteed
//
//   - A connection on which nothing was answered for [Config.SessionTTL]/25, at least
//     0.3 s and at most 1 s, while another one answered, is closed: its calls end with
//     "unavailable", which says nothing about their outcome, and watches and renewals go
//     on over another member. The connection is asked again after each quarter of that
//     time, so at a TTL of 10 s no call waits for a hung member for more than 0.5 s. If no other one
//     answers, it is closed after four times as long: behind a load balancer the next
//     one may lead to another member.
//   - A new connection is used after its member has answered on it. Until then, and
//     while no member is fit, calls go over what there is.
//   - A member that has no leader, has heard of no leader as new as another one's, has
//     not applied what was committed that long ago, or is a learner, gets no calls while
//     another member is fit. Its calls in hand end as above after twice the time.
//   - When a new leader is there, calls that were made before end 0.1 s later as above:
//     what was on its way to the old leader is lost, and etcd says so only after 7 s.
//     So do renewals.
//   - Reads that end as above are repeated. Nothing that writes ever is: who sent it
//     knows whether it may be, and how to learn what became of it.
//   - An endpoint's name that has several addresses is a way to each of them: the one
//     that was silent last is tried last.
//
// # What is not
//
//   - That a call is answered in this time: an etcd that has no leader, or is slow in
//     all its members, answers nobody. A slow member that answers is not left out.
//   - That a connection which is closed led to a member that hangs: on a machine that has
//     too much to do it may have been slow. Then it is made again at once, and answers of that
//     member may take up to four times as long until there was a minute without.
//   - Behind one address that leads to several members at once, for each call to another
//     one, nothing of this is true.
//
// # Concurrency
//
// A [Members] belongs to one client, also when that is made again. It has one goroutine for
// each connection, which ends with the connection. All methods may be called from any
// goroutine.
package etcdmembers
