package run

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// maxLinkBody is more than the form of the page sends.
const maxLinkBody = 4 << 10

func linkRoutes() []serve.Route {
	page := serve.TextOf{"text/html"}
	return []serve.Route{
		{Method: "GET", Path: serve.LinkPath + "{token}", Bare: true, Name: "showLink", Role: auth.Anyone, Tag: "links", Kind: serve.Reads,
			Summary: "A page that asks whether to follow a resume link; it changes nothing", AnyQuery: true,
			Answers: map[int]any{200: page, 404: page, 410: page}, Serve: showLink},
		{Method: "POST", Path: serve.LinkPath + "{token}", Bare: true, Name: "followLink", Role: auth.Anyone, Tag: "links", Kind: serve.Changes, Target: "no link",
			Summary: "Resume the one place that a link is for, once; 410 when it was followed before or has expired", AnyQuery: true,
			MaxBody: maxLinkBody, Answers: map[int]any{200: page, 202: page, 404: page, 410: page}, Serve: followLink},
	}
}

// The pages of links. They say nothing about the workflow but the outcome, which
// the maker of the link chose for its reader.
func linkPage(status int, title, text, form string) serve.Reply {
	body := fmt.Sprintf("<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"+
		"<meta name=\"robots\" content=\"noindex\"><title>%s</title></head>\n<body>\n<h1>%s</h1>\n<p>%s</p>\n%s</body>\n</html>\n",
		html.EscapeString(title), html.EscapeString(title), html.EscapeString(text), form)
	return serve.Reply{Status: status, Raw: []byte(body), RawType: "text/html; charset=utf-8", Headers: map[string]string{
		// A form of this page may be sent here and nowhere else; no other page may frame it.
		"Content-Security-Policy": "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		"X-Frame-Options":         "DENY",
		"X-Robots-Tag":            "noindex",
	}}
}

var (
	unknownLink = linkPage(http.StatusNotFound, "Unknown link", "This link is not one that was made here. It may have been cut off on its way to you.", "")
	expiredLink = linkPage(http.StatusGone, "Link expired", "This link was good for a limited time, which is over.", "")
	usedLink    = linkPage(http.StatusGone, "Link no longer good", "This link was followed before, or what it was for is no longer waited for. Nothing was changed.", "")
)

// linkOf checks the token of the path; a page says why it is no good.
func linkOf(c *serve.Call) (l resumelink.Link, page *serve.Reply) {
	l, err := c.API.Config.LinkKeys.Open(c.Request.PathValue("token"), c.API.Config.Now())
	switch {
	case errors.Is(err, resumelink.ErrExpired):
		c.About("", l.Bookmark)
		return l, &expiredLink
	case err != nil:
		return l, &unknownLink
	}
	c.About("", l.Bookmark)
	return l, nil
}

// showLink asks for a confirmation. It changes nothing, since mail scanners and
// previews follow every link of a mail.
func showLink(c *serve.Call) (serve.Reply, error) {
	l, page := linkOf(c)
	if page != nil {
		return *page, nil
	}
	waits, err := waitsFor(c, l)
	switch {
	case err != nil:
		return serve.Reply{}, err
	case !waits:
		return usedLink, nil
	}
	question, button := "Do you want to go on?", "Go on"
	if l.Outcome != "" {
		question, button = fmt.Sprintf("Do you want to answer “%s”?", l.Outcome), l.Outcome
	}
	return linkPage(http.StatusOK, "Please confirm", question,
		"<form method=\"post\"><button type=\"submit\">"+html.EscapeString(button)+"</button></form>\n"), nil
}

// waitsFor reports whether the bookmark of a link is there. A link that was made a
// moment ago may be here before the commit that makes its bookmark: then it is
// looked for again.
func waitsFor(c *serve.Call, l resumelink.Link) (bool, error) {
	instance, ok := workflow.BookmarkInstance(l.Bookmark)
	if !ok {
		return false, nil
	}
	found := false
	err := soon(c, l, func(ctx context.Context) error {
		in, err := c.API.Config.Runtime.Inspector.Instance(ctx, instance)
		if err != nil {
			return err
		}
		for _, b := range in.Bookmarks {
			found = found || b.ID == l.Bookmark
		}
		if !found {
			return workflow.Fail(workflow.CodeBookmarkNotFound, "it does not wait there")
		}
		return nil
	})
	if isGone(err) {
		return false, nil
	}
	return found, err
}

// soon does what a link asks for, again and again for a moment if the link is new
// and what it is for is not there yet.
func soon(c *serve.Call, l resumelink.Link, do func(context.Context) error) error {
	const young, patience, pause = time.Minute, 2 * time.Second, 100 * time.Millisecond
	ctx := c.Request.Context()
	deadline := time.Now().Add(patience)
	for {
		err := do(ctx)
		if !isGone(err) || workflow.CodeOf(err) == workflow.CodeInstanceFinished || c.API.Config.Now().Sub(l.Made) > young || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-c.API.Draining():
			return err
		case <-time.After(pause):
		}
	}
}

func isGone(err error) bool {
	switch workflow.CodeOf(err) {
	case workflow.CodeBookmarkNotFound, workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished:
		return true
	}
	return false
}

// followLink resumes the bookmark, which burns: a second time finds nothing.
func followLink(c *serve.Call) (serve.Reply, error) {
	l, page := linkOf(c)
	if page != nil {
		return *page, nil
	}
	answer := map[string]any{"outcome": l.Outcome}
	// The names under which an Event, a RunTask and anything else look for it.
	input := map[string]any{workflow.EventInput: answer, "result": answer, "outcome": l.Outcome}
	var res runtime.SendResult
	err := soon(c, l, func(ctx context.Context) (err error) {
		res, err = c.API.Config.Runtime.Bookmarks.AnswerBookmark(ctx, l.Bookmark, input)
		return err
	})
	if isGone(err) {
		return usedLink, nil
	}
	if err != nil {
		return serve.Reply{}, err
	}
	for _, o := range res.Outcomes {
		if o.Outcome == workflow.OutcomeAccepted {
			return linkPage(http.StatusAccepted, "Thank you", "Your answer was taken and will be worked on in a moment.", ""), nil
		}
		if o.Outcome == workflow.OutcomeRefused {
			return usedLink, nil
		}
	}
	return linkPage(http.StatusOK, "Thank you", "Your answer was taken.", ""), nil
}
