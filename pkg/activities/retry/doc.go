// Package retry has the retry policy: an activity runs again after a pause while it fails, as
// often and as long as the policy says, and what it does in the end when it does not succeed.
//
// Guaranteed: a pause survives its node; each attempt is counted once. What it remembers is [State].
package retry
