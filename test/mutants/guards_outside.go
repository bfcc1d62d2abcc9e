package main

const (
	inOutgoing = "./internal/outgoing"
	inMail     = "./pkg/activities/mail"
	inSQL      = "./pkg/activities/sql"
)

// outsideGuards are those of what activities send to others: credentials and mail.
var outsideGuards = []patch{
	{"a client's certificate is shown to its server only", "internal/outgoing/identity.go",
		"s.Identity == nil || s.origin != Origin(req.URL)", "s.Identity == nil", inOutgoing, "TestAnIdentityIsShown"},
	{"a client's certificate is not shown to who is sent back", "internal/outgoing/client.go",
		"\tanonymous(req)\n", "", inOutgoing, "TestAnIdentityIsShown"},
	{"connections of one identity serve no other", "internal/outgoing/identity.go",
		"if own, ok := t.others.Get(id.key); ok {", "if own := t.others.Values(); len(own) > 0 {\n\t\treturn own[0]\n\t}\n\tif own, ok := t.others.Get(id.key); ok {", inOutgoing, "TestAnIdentityTrusts"},
	{"a secret is looked up when the call is made", "pkg/engine/secrets.go",
		"e.Present != nil {", "e.Present != nil && false {", inActivities, "TestCredentialsAreLookedUp"},
	{"a mail is for all of its recipients or for none", "pkg/activities/mail/server.go",
		"\tif err := s.recipients(c, e.to); err != nil {\n", "\tif err := s.recipients(c, e.to); err != nil && err.Error() == \"\" {\n", inMail, "TestWhatTheServerRefuses"},
	{"a mail without an answer may have been sent", "pkg/activities/mail/server.go",
		"return &failure{codeUnknown,", "return &failure{codeUnreachable,", inMail, "TestWhatTheServerRefuses"},
	{"no mail goes over a connection that should be encrypted", "pkg/activities/mail/server.go",
		"if s.cfg.Security == StartTLS {\n\t\tif ok", "if has, _ := c.Extension(\"STARTTLS\"); has && s.cfg.Security == StartTLS {\n\t\tif ok", inMail, "TestHowTheServerIsReached"},
	{"a repeat of a mail has its Message-ID", "pkg/activities/mail/message.go",
		"workflow.DeriveID(\"mail\", x.InstanceID(), x.IdempotencyKey())", "workflow.NewID()", inMail, "TestAMail|TestRetriesOfAMail"},
	{"a text begins no header of a mail", "pkg/activities/mail/message.go",
		"case strings.ContainsAny(text, \"\\r\\n\\x00\"):", "case false:", inMail, "TestWhatIsNoMail"},
	{"who is named as bcc stands in no header", "pkg/activities/mail/message.go",
		"{\"bcc\", func(...*netmail.Address) {}}", "{\"bcc\", m.CcMailAddress}", inMail, "TestAMail"},
	{"what is refused for good is not tried again", "pkg/activities/retry/policy.go",
		"case len(s.On) == 0 && errors.As(failure, &lasting):", "case false && errors.As(failure, &lasting):", inMail, "TestRetriesOfAMail"},
	{"a value in quotes of a statement is refused", "pkg/activities/sql/text.go",
		"case in != \"\":", "case false:", inSQL, "TestWhatIsRefused"},
	{"the text of a statement is not computed", "pkg/activities/sql/text.go",
		"if len(pieces) == 1 && pieces[0].Code {", "if false {", inSQL, "TestWhatIsRefused"},
	{"a connection is the value of a secret", "pkg/activities/sql/activities.go",
		"if m == nil {", "if m == nil {\n\t\treturn text, \"x\", nil\n\t}\n\tif m == nil {", inSQL, "TestSQLite"},
	{"a command with once takes effect once", "pkg/activities/sql/run.go",
		"if before != nil || err != nil {", "if err != nil {", inSQL, "TestOnce"},
	{"a statement of SQLite reaches no other file", "pkg/activities/sql/sqlite/sqlite.go",
		"lib.SQLITE_LIMIT_ATTACHED, 0)", "lib.SQLITE_LIMIT_ATTACHED, 10)", inSQL, "TestSQLite"},
	{"the rows of a query are bounded", "pkg/activities/sql/run.go",
		"if bytes += len(raw); bytes > maxBytes {", "if bytes += len(raw); false {", inSQL, "TestSQLite"},
	{"the end of a node waits for statements", "pkg/activities/sql/databases.go",
		"\tif !d.closed && d.running == 0 {\n", "\tif !d.closed {\n", inSQL, "TestTheEndWaits"},
}
