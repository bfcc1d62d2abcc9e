// Package workflowtest runs workflows in a test: on the real engine, without a
// node and without etcd, with activities that are mocked and a clock that the
// test moves.
//
//	func TestApprovedInTime(t *testing.T) {
//		w := workflowtest.Start(t, workflowtest.Config{
//			File:  "order-approval.yaml",
//			Input: map[string]any{"orderId": "o-1", "amount": 2000},
//			Mocks: workflowtest.Mocks{"sendHttpRequest": workflowtest.Reply{Outputs: map[string]any{"statusCode": 200}}},
//		})
//		w.Advance(47 * time.Hour)
//		w.Event("approved", map[string]any{"by": "Ann"})
//		w.Want(workflowtest.Expect{Status: workflow.Finished, Output: map[string]any{"approvedBy": "Ann"}})
//	}
//
// The same as a file, without Go, is run by the command weft test (see
// docs/testing.md) and by [RunFile].
//
// Guaranteed: what is not mocked is the code that a node runs. Between any two
// commands the instance is encoded and loaded again, as on a cluster where each
// burst runs on another node. Nothing waits for real time, nothing goes over the
// network unless [Config].HTTP is set, and the same test gives the same ids,
// times and lines.
//
// Not guaranteed: anything about the cluster. There are no locks, no retries
// after a lost node, no idempotency keys, no limits of the store; activation
// strategies (Singleton) are not applied, and catch-up options of triggers have
// no effect. A published event reaches the instance under test and its children;
// it starts nothing. Of timers and cron expressions that are triggers the first one
// starts the instance under test, if nothing else did; those after it start no others. A definition that is used as an
// activity cannot be mocked as a whole; mock the activities in it.
//
// # Words
//
// An activity is chosen by its id (also the path of one inside a definition that
// is used as an activity, such as greet/writeLine1), else by its name, else by
// its type (Elsa.SendHttpRequest or sendHttpRequest): the first that a mock is
// given for decides.
//
// # Concurrency
//
// A [Run] belongs to one goroutine. Different runs are independent, so tests may
// be parallel.
package workflowtest
