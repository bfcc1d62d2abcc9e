package main

const (
	inOutgoing = "./internal/outgoing"
	inMail     = "./pkg/activities/mail"
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
}
