package webhook

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Kind is of what a webhook tells.
type Kind = store.WebhookKind

// The kinds.
const (
	Ended      = store.WebhookEnded
	Faulted    = store.WebhookFaulted
	Incident   = store.WebhookIncident
	DeadLetter = store.WebhookDeadLetter
)

// Definition says who is told of what.
type Definition = store.Webhook

var kinds = []Kind{Ended, Faulted, Incident, DeadLetter}

// kindNames are those of all kinds, for people.
const kindNames = string(Ended + ", " + Faulted + ", " + Incident + ", " + DeadLetter)

const (
	maxURL         = 2048
	maxDefinitions = 16
	maxSecrets     = 2
)

// check says what is wrong with a definition.
func (h *Webhooks) check(d *Definition) error {
	var problems workflow.Problems
	bad := func(code, pointer, format string, args ...any) {
		problems = append(problems, workflow.Problem{Code: code, Detail: fmt.Sprintf(format, args...), Place: workflow.Place{Pointer: pointer}})
	}
	if why := badURL(d.URL); why != "" {
		bad("bad-url", "/url", "%s", why)
	}
	if len(d.On) == 0 {
		bad("missing-field", "/on", "say what is told: "+kindNames)
	}
	twice(bad, "/on", d.On)
	twice(bad, "/definitions", d.Definitions)
	twice(bad, "/secrets", d.Secrets)
	for i, on := range d.On {
		if !slices.Contains(kinds, on) {
			bad("bad-kind", fmt.Sprintf("/on/%d", i), "%q is not known; there are %s", workflow.CutChars(string(on), 80), kindNames)
		}
	}
	if slices.Contains(d.On, DeadLetter) && len(d.Definitions)+len(d.Labels) > 0 {
		bad("bad-filter", "/on", "a dead letter has no definition and no labels: make a webhook of its own for deadLetter")
	}
	if len(d.Definitions) > maxDefinitions {
		bad("too-many", "/definitions", "there are %d, and may be %d; leave them out for all, or make a second webhook", len(d.Definitions), maxDefinitions)
	}
	for i, def := range d.Definitions {
		if err := workflow.CheckID("a definition's id", def); err != nil {
			bad("bad-id", fmt.Sprintf("/definitions/%d", i), "%s", err)
		}
	}
	if len(d.Labels) > workflow.MaxLabels {
		bad("too-many", "/labels", "an instance has %d labels at most", workflow.MaxLabels)
	}
	for name, value := range d.Labels {
		if err := workflow.CheckLabel(name, value); err != nil {
			bad("bad-label", "/labels", "%s", err)
		}
	}
	switch n := len(d.Secrets); {
	case n == 0:
		bad("missing-field", "/secrets", "name the secret that signs (a file in --secrets-dir)")
	case n > maxSecrets:
		bad("too-many", "/secrets", "there are %d; one signs, and a second one while it is exchanged", n)
	}
	for i, name := range d.Secrets {
		if _, err := h.key(name); err != nil {
			bad("no-secret", fmt.Sprintf("/secrets/%d", i), "%s", err)
		}
	}
	if problems == nil {
		return nil
	}
	return &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
}

// twice reports what a list has again, among its first ones: longer lists are refused anyway.
func twice[T ~string](bad func(code, pointer, format string, args ...any), pointer string, list []T) {
	for i, v := range list[:min(len(list), 2*maxDefinitions)] {
		if slices.Contains(list[:i], v) {
			bad("duplicate", fmt.Sprintf("%s/%d", pointer, i), "%s is there twice", workflow.CutChars(string(v), 80))
		}
	}
}

// badURL says why nothing can be sent to a URL. Whether its address is private shows only
// when it is dialled.
func badURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return fmt.Sprintf("it has %d bytes, and may have %d", len(text), maxURL)
	case err != nil || strings.ContainsAny(text, " \t\r\n"):
		return "it is no URL"
	case u.Scheme != "https" && u.Scheme != "http":
		return "it must begin with https:// or http://"
	case u.Hostname() == "" || u.Opaque != "":
		return "it names no server"
	case u.User != nil:
		return "it has a name or a password; what is sent is signed instead"
	case u.Fragment != "":
		return "what stands behind # is sent to nobody"
	}
	return ""
}
