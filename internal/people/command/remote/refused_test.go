package remote_test

import "testing"

// An event that nobody takes is no success, whatever form the answer has.
func TestARefusedEventIsNoSuccess(t *testing.T) {
	t.Parallel()
	u := at(t)
	u.wants(0, "*", "apply", u.file("alone.yaml", "id: alone\noptions: {activation: Singleton}\nroot:\n  - event: alone-begins\n    trigger: true\n  - event: alone-ends\n"))
	u.wants(0, "*", "events", "send", "alone-begins", "-d", "1")
	u.wants(0, "*", "why-not", "alone-ends")
	u.refuses(3, "instance-refused", "events", "send", "alone-begins", "-d", "2", "--timeout", "20s")
	u.refuses(3, "instance-refused", "events", "send", "alone-begins", "-d", "3", "-o", "json")
}
