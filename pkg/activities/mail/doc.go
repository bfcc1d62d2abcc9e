// Package mail has the activity that sends mail, by the SMTP server of the node.
//
// Guaranteed: a mail is for all of its recipients or for none: where the server refuses one, nothing is sent. Each call
// has one Message-ID, made of the instance and the call, which a repeat of the call has too. No text of a definition adds
// a header or a recipient. The password is looked up for each mail, and stands in no error.
//
// Not guaranteed: that a mail is sent once. SMTP has no repeat that a server recognises: where the answer to a whole
// message is lost, the mail may have been sent, and the fault mail-unknown says so. A node that dies between the answer
// and the commit leaves it to another one to send the mail again. Both are the same mail to a reader that looks at
// Message-ID. Nor is it known what becomes of a mail that the server took.
//
// A [Server] is safe for concurrent use.
package mail
