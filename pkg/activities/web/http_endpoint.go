package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

func trimPath(p string) string { return strings.Trim(strings.TrimSpace(p), "/") }

// HTTPEndpoint waits for a request, or starts with one.
func HTTPEndpoint() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: workflow.EndpointType, NoEffect: true, Main: "path", Trigger: true,
		Description: "Waits for an HTTP request to a path below /workflows; as a trigger, starts an instance for each. WriteHttpResponse answers it.",
		Inputs: []workflow.InputDescriptor{
			{Name: "path", Type: "String", Required: true, Description: "The path, such as orders/{id} or orders/{nr:int}."},
			{Name: "supportedMethods", Type: "String[]", Default: []any{"GET"}, Usual: usualMethods, Description: "The methods."},
			{Name: "authorize", Type: "Boolean", Description: "Only authenticated callers."},
			{Name: "policy", Type: "String", Description: "What else the caller must satisfy."},
			{Name: "requestTimeout", Type: "TimeSpan", Description: "How long the caller waits for what the workflow writes; 20s if it is not given, at most 5m."},
			{Name: "requestSizeLimit", Type: "Int64", Description: "The largest body, in bytes."},
			{Name: "exposeRequestTooLargeOutcome", Type: "Boolean", Description: `Whether a larger body goes on along "Request too large" instead of being refused.`},
			{Name: "fileSizeLimit", Type: "Int64", Description: "The largest file of a form, in bytes."},
			{Name: "allowedFileExtensions", Type: "String[]", Description: "The extensions that files may have, one an entry, such as .pdf; any if it is empty."},
			{Name: "blockedFileExtensions", Type: "String[]", Description: "Extensions that no file may have, one an entry."},
			{Name: "allowedMimeTypes", Type: "String[]", Description: "The MIME types that files may have, one an entry, as declared and by their content; any if it is empty. By their first bytes are known PDF, zip, gzip, rar, wasm, HTML, fonts, and the usual images, sounds and films; other bytes are no image, audio, video or font, text is no PNG, JPEG, GIF, WebP, BMP or PDF, and what else there is (office documents, CSV, JSON) is taken to be what it is declared as."},
			{Name: "exposeFileTooLargeOutcome", Type: "Boolean", Description: `Whether a form with a larger file goes on along "File too large", without its files, instead of being refused.`},
			{Name: "exposeInvalidFileExtensionOutcome", Type: "Boolean", Description: `The same for extensions, along "Invalid file extension".`},
			{Name: "exposeInvalidFileMimeTypeOutcome", Type: "Boolean", Description: `The same for MIME types, along "Invalid file MIME type".`},
		},
		Outputs: []workflow.OutputDescriptor{
			{Name: "result", Type: "Object", Fields: []string{"method", "path", "routeData", "query", "headers", "contentType", "body", "parsedBody", "files", "refused", "tooLarge"}, Description: "The request."},
			{Name: "parsedContent", Type: "Object", Description: "The body: JSON and forms as values, other text as text."},
			{Name: "files", Type: "Object[]", Description: "The files of a form, or the body if that is one, each with name (of its field), fileName, contentType, length and sha256. ReadFile gives what is in one."},
			{Name: "file", Type: "Object", Fields: []string{"name", "fileName", "contentType", "length", "Name", "FileName", "ContentType", "Length", "sha256", "content"}, Description: "The first of them."},
			{Name: "routeData", Type: "Object", Fields: []string{}, Description: "The parameters of the path."},
			{Name: "queryStringData", Type: "Object", Fields: []string{}, Description: "The parameters of the query."},
			{Name: "headers", Type: "Object", Fields: []string{}, Description: "The headers."},
		},
		Outcomes: []string{engine.DoneOutcome, tooLargeOutcome, files.TooLarge, files.Extension, files.Type},
	}, httpEndpointActivity{}
}

const tooLargeOutcome = "Request too large"

type httpEndpointActivity struct{}

// Execute takes the request that started the instance, or waits for one: a
// bookmark for each method, as [workflow.Endpoint] has it.
//
// The input of a start or resume has the keys method, path, routeData, query
// and headers (objects of texts), contentType, body (text, or base64 if it is
// none), parsedBody, files, refused (the outcome for files that are not there, as they do not
// keep the rules) and tooLarge (true: the body was too large and is not there).
func (a httpEndpointActivity) Execute(_ context.Context, x *engine.Execution) error {
	if in, ok := x.TriggerInput(); ok {
		return a.received(x, in)
	}
	path := trimPath(x.Text("path"))
	if err := checkTemplate(path); err != nil {
		return err
	}
	methods, err := checkMethods(x.Texts("supportedMethods"))
	if err != nil {
		return err
	}
	limits := workflow.EndpointLimits{
		Authorize: x.Bool("authorize"), Policy: x.Text("policy"),
		Timeout: x.Duration("requestTimeout"), MaxBody: x.Int("requestSizeLimit"), TooLarge: x.Bool("exposeRequestTooLargeOutcome"),
		Files: &files.Rules{
			MaxSize: largestFile(x.Value("fileSizeLimit")), Allowed: x.Texts("allowedFileExtensions"), Blocked: x.Texts("blockedFileExtensions"), Types: x.Texts("allowedMimeTypes"),
			SizeGoesOn: x.Bool("exposeFileTooLargeOutcome"), ExtensionGoesOn: x.Bool("exposeInvalidFileExtensionOutcome"), TypeGoesOn: x.Bool("exposeInvalidFileMimeTypeOutcome"),
		},
	}
	for _, l := range fileLists {
		if err := l.check(l.of(limits.Files)); err != nil {
			return fmt.Errorf("%s: %w", l.input, err)
		}
	}
	for _, m := range methods {
		e := workflow.Endpoint{Method: m, Template: path, EndpointLimits: limits}
		if _, err := x.Wait(engine.Wait{Name: m + " /" + path, Payload: e.Payload(), Metadata: e.Metadata()}); err != nil {
			return err
		}
	}
	return nil
}

// fileLists are the inputs that list what files may be. An entry that none can be would be a lock that locks nothing.
var fileLists = []struct {
	input string
	of    func(*files.Rules) []string
	check func([]string) error
}{
	{"allowedFileExtensions", func(r *files.Rules) []string { return r.Allowed }, files.CheckExtensions},
	{"blockedFileExtensions", func(r *files.Rules) []string { return r.Blocked }, files.CheckExtensions},
	{"allowedMimeTypes", func(r *files.Rules) []string { return r.Types }, files.CheckTypes},
}

// locks are the inputs that keep requests out.
var locks = []string{"authorize", "policy", "requestSizeLimit", "fileSizeLimit", "allowedFileExtensions", "blockedFileExtensions", "allowedMimeTypes"}

// Prepare refuses locks that cannot be read, and lists with entries that no file can be.
func (httpEndpointActivity) Prepare(p *engine.Preparation) {
	a := p.Node.Activity()
	for _, name := range locks {
		var in struct{ Expression struct{ Type string } }
		if raw := a.Extra[name]; !p.Node.Given(name) && json.Unmarshal(raw, &in) == nil && strings.EqualFold(in.Expression.Type, "Delegate") {
			p.Problem("unreadable-lock", a.Place, "%s of %s is code of an application of Elsa (Delegate), which is not in its JSON, and it keeps requests out: write its value, or an expression", name, p.Node.LocalID())
		}
	}
	for _, l := range fileLists {
		if v, ok := p.Constant(l.input); ok {
			badFileRule(p, l.input, l.check(textsOf(v)))
		}
	}
}

func badFileRule(p *engine.Preparation, input string, err error) {
	if err != nil {
		p.Problem("bad-file-rule", p.Place(input), "%s of %s: %v", input, p.Node.LocalID(), err)
	}
}

func textsOf(v any) (out []string) {
	items, _ := v.([]any)
	for _, e := range items {
		out = append(out, engine.Text(e))
	}
	return out
}

func (a httpEndpointActivity) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	x.Unwait(func(workflow.Bookmark) bool { return true }) // those of the other methods
	return a.received(x, r.Input)
}

func (httpEndpointActivity) received(x *engine.Execution, in map[string]any) error {
	if large, _ := in["tooLarge"].(bool); large {
		x.SetOutcomes(tooLargeOutcome)
	}
	if outcome, _ := in["refused"].(string); outcome != "" {
		x.SetOutcomes(outcome)
	}
	all, _ := in["files"].([]any)
	var first any
	if len(all) > 0 {
		first = all[0]
	}
	return errors.Join(
		x.TakeOutput("files", all),
		x.TakeOutput("file", first),
		x.TakeOutput("parsedContent", in["parsedBody"]),
		x.TakeOutput("routeData", in["routeData"]),
		x.TakeOutput("queryStringData", in["query"]),
		x.TakeOutput("headers", in["headers"]),
		x.TakeOutput("result", in),
	)
}

func (httpEndpointActivity) Triggers(p *engine.Preparation) []engine.Trigger {
	path, ok := p.TriggerValue("path")
	list, ok2 := p.TriggerValue("supportedMethods")
	if !ok || !ok2 || path == nil {
		return nil
	}
	template := trimPath(engine.Text(path))
	if err := checkTemplate(template); err != nil {
		p.Problem("bad-route", p.Place("path"), "%v", err)
		return nil
	}
	methods, err := checkMethods(textsOf(list))
	if err != nil {
		p.Problem("bad-route", p.Place("supportedMethods"), "%v", err)
		return nil
	}
	var limits workflow.EndpointLimits
	value := func(name string) any { v, _ := p.TriggerValue(name); return v }
	limits.Authorize, _ = value("authorize").(bool)
	limits.Policy, _ = value("policy").(string)
	limits.Timeout, _ = value("requestTimeout").(time.Duration)
	limits.MaxBody, _ = value("requestSizeLimit").(int64)
	limits.TooLarge, _ = value("exposeRequestTooLargeOutcome").(bool)
	limits.Files = filesOf(p)
	var out []engine.Trigger
	for _, m := range methods {
		e := &workflow.Endpoint{Method: m, Template: template, EndpointLimits: limits}
		out = append(out, engine.Trigger{Name: m + " /" + template, Payload: e.Payload(), Route: e})
	}
	return out
}

// filesOf are the rules for files that a trigger has. One that cannot be known is a problem of the definition.
func filesOf(p *engine.Preparation) *files.Rules {
	value := func(name string) any { v, _ := p.TriggerValue(name); return v }
	texts := func(name string) []string { return textsOf(value(name)) }
	yes := func(name string) bool { v, _ := value(name).(bool); return v }
	rules := &files.Rules{
		MaxSize: largestFile(value("fileSizeLimit")), Allowed: texts("allowedFileExtensions"), Blocked: texts("blockedFileExtensions"), Types: texts("allowedMimeTypes"),
		SizeGoesOn: yes("exposeFileTooLargeOutcome"), ExtensionGoesOn: yes("exposeInvalidFileExtensionOutcome"), TypeGoesOn: yes("exposeInvalidFileMimeTypeOutcome"),
	}
	for _, l := range fileLists {
		if _, constant := p.Constant(l.input); !constant { // Prepare looks at those that are
			badFileRule(p, l.input, l.check(l.of(rules)))
		}
	}
	return rules
}

// largestFile is the limit for the size of a file as the rules have it: 0 as a limit is none there.
func largestFile(limit any) int64 {
	switch n, given := limit.(int64); {
	case !given:
		return 0
	case n <= 0:
		return -1
	default:
		return n
	}
}

func checkMethods(list []string) ([]string, error) {
	var out []string
	for _, m := range list {
		m = strings.ToUpper(strings.TrimSpace(m))
		if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}, m) {
			return nil, fmt.Errorf("%q is not one of GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS", m)
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		out = []string{"GET"}
	}
	return out, nil
}

// checkTemplate checks a route: segments between slashes, each a text or one
// parameter such as {id} or {nr:int}; the last may be {*rest}.
func checkTemplate(t string) error {
	optional := strings.NewReplacer("?}", "}") // said below
	if strings.ContainsFunc(optional.Replace(t), func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`?#\%`, r) }) {
		return fmt.Errorf(`the path %q has spaces or one of ? # \ %% in it`, t)
	}
	if t == "" {
		return nil
	}
	if err := workflow.CheckRouteSize(t); err != nil {
		return err
	}
	seen := map[string]bool{}
	segments := strings.Split(t, "/")
	for i, s := range segments {
		isParam := strings.HasPrefix(s, "{")
		switch {
		case s == "" || s == "." || s == "..":
			return fmt.Errorf("the path %q has an empty segment, or one of dots", t)
		case !isParam && strings.ContainsAny(s, "{}*"):
			return fmt.Errorf("the path %q: a parameter such as {id} fills a whole segment", t)
		case !isParam:
			continue
		}
		p, err := workflow.ParseRouteParameter(s)
		switch name := strings.ToLower(p.Name); {
		case err != nil:
			return fmt.Errorf("the path %q: %w", t, err)
		case p.Rest && i != len(segments)-1:
			return fmt.Errorf("the path %q: %s can only be the last segment", t, s)
		case seen[name]:
			return fmt.Errorf("the path %q: the name of the parameter %q is used twice", t, s)
		default:
			seen[name] = true
		}
	}
	return nil
}
