package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/charset"
	"github.com/weft-run/weft/internal/httpapi/strictjson"
	"github.com/weft-run/weft/internal/httpapi/wire"
	"github.com/weft-run/weft/internal/inflate"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Call is one request on its way through a handler: what a client sent, as far as it
// was read, and what that takes of the node until it is answered.
type Call struct {
	API     *API
	Writer  http.ResponseWriter
	Request *http.Request
	Body    []byte // read and within its limit
	Query   url.Values

	charged    int64  // bytes of the budget for bodies
	payer      string // whose they count as
	manyValues bool   // the body may have any number of values

	Found runtime.EndpointRequest // if it is one, as far as its head says
}

// Reply is what a handler answers with; zero fields are left out.
type Reply struct {
	Status   int // 0: 200
	Body     any // as JSON
	Raw      []byte
	RawType  string // Content-Type of raw
	Location string
	ETag     string
	Headers  map[string]string
	Handler  http.Handler // answers instead of all of this
}

// Decode reads the JSON body into the struct that into points to. An empty body
// is an empty object.
func (c *Call) Decode(into any) error {
	if len(strings.TrimSpace(string(c.Body))) == 0 {
		return nil
	}
	switch typ := c.MediaType(); {
	case typ == "", typ == wire.FormType, wire.IsJSON(typ): // told by content, which has to be JSON
	default:
		return &workflow.Error{Code: CodeMediaType, Detail: fmt.Sprintf("the body is %s; send application/json", Shorten(typ))}
	}
	if err := c.Weigh(); err != nil {
		return err
	}
	if problems := strictjson.Decode(c.Body, into); problems != nil {
		return &workflow.Error{Code: workflow.CodeInvalid, Detail: "the body is not valid", Problems: problems}
	}
	return nil
}

// MediaType is the bare type of the body, lower case, "" if there is none.
func (c *Call) MediaType() string {
	raw := c.Request.Header.Get("Content-Type")
	typ, _, err := mime.ParseMediaType(raw)
	if err != nil {
		typ, _, _ = strings.Cut(raw, ";")
	}
	return strings.ToLower(strings.TrimSpace(typ))
}

// ID is the path parameter, checked as an id chosen by a client.
func (c *Call) ID() (string, error) {
	id := c.Request.PathValue("id")
	if err := workflow.CheckID("the id in the path", id); err != nil {
		return "", Invalid("bad-id", "", err.Error())
	}
	return id, nil
}

// MadeID is the path parameter, an id that Weft made: what is not one does not
// exist.
func (c *Call) MadeID(missing workflow.Code) (string, error) {
	id := c.Request.PathValue("id")
	const most = 512
	if len(id) > most || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || r == '/' }) {
		return "", workflow.Fail(missing, "there is nothing with this id")
	}
	return id, nil
}

// GivenEmpty are those of these fields that a body which was decoded before gives as empty texts, and does not leave out.
func (c *Call) GivenEmpty(names ...string) (empty []string) {
	if !bytes.Contains(c.Body, []byte(`""`)) {
		return nil
	}
	var given map[string]json.RawMessage
	_ = json.Unmarshal(c.Body, &given)
	for _, name := range names {
		if string(given[name]) == `""` {
			empty = append(empty, name)
		}
	}
	return empty
}

// CheckIDs and checkNames check fields of a body; empty ones were not given.
func CheckIDs(fields ...[2]string) error {
	return checkFields(fields, "bad-id", workflow.CheckID)
}

// CheckNames checks fields of a body as names; empty ones were not given.
func CheckNames(fields ...[2]string) error {
	return checkFields(fields, "bad-name", workflow.CheckName)
}

func checkFields(fields [][2]string, code string, check func(what, value string) error) error {
	var problems workflow.Problems
	for _, f := range fields {
		if f[1] == "" {
			continue
		}
		if err := check(f[0], f[1]); err != nil {
			problems = append(problems, workflow.Problem{Code: code, Detail: err.Error(), Place: workflow.Place{Pointer: "/" + f[0]}})
		}
	}
	if problems == nil {
		return nil
	}
	return &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
}

// CheckEventName checks the name of an event in a path or a query.
func CheckEventName(name string) error {
	if err := workflow.CheckName("the event's name", name); err != nil {
		return Invalid("bad-name", "", err.Error())
	}
	return nil
}

// InvalidFields is a 422 about several things; nil if there are none.
func InvalidFields(problems workflow.Problems) error {
	if problems == nil {
		return nil
	}
	return &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
}

// EmptyFilters are the fields of a filter that are given and empty: who wrote one meant to restrict, and its variable was
// empty; the rest of the filter, or all there are, would be taken.
func (c *Call) EmptyFilters(names ...string) (problems workflow.Problems) {
	for _, name := range c.GivenEmpty(names...) {
		problems = append(problems, workflow.Problem{Code: "empty-filter", Detail: name + " is empty: leave it out to mean any", Place: workflow.Place{Pointer: "/" + name}})
	}
	return problems
}

// Key is the caller's Idempotency-Key; nil if there is none.
func (c *Call) Key() (*runtime.Key, error) {
	values := c.Request.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	value, err := keyOf(values)
	if err != nil {
		return nil, err
	}
	// Another caller's key is another key. Who calls an endpoint is asked later, and
	// perhaps not at all: there the guard holds for the answer too.
	scope, caller := c.Request.Method+" "+c.Request.URL.Path, ""
	request := workflow.CutBytes(scope, mostRequest)
	if x := ExchangeOf(c.Request); x.Caller != nil && x.served.Role > auth.Anyone {
		caller = x.Caller.Name
		scope += " " + caller
	}
	sum, body := sha256.New(), string(wire.Unbound(c.Body, c.Request.Header.Get("Content-Type")))
	if typ := c.MediaType(); wire.IsJSON(typ) || typ == "" || typ == wire.FormType {
		body = wire.Tight(body) // white space makes no other request
	}
	for _, part := range []string{body, c.Query.Encode(), c.Request.Header.Get("X-Correlation-Id"), c.Request.Header.Get("X-Workflow-Instance-Id")} {
		fmt.Fprintf(sum, "%d %s\n", len(part), part)
	}
	return &runtime.Key{Scope: scope, Value: value, BodyHash: hex.EncodeToString(sum.Sum(nil)),
		Request: request, Caller: workflow.CutBytes(caller, mostRequest), At: c.API.Config.Now().UTC().Truncate(time.Millisecond)}, nil
}

func keyOf(values []string) (string, error) {
	if len(values) > 1 || !wire.IsKey(values[0]) {
		return "", Invalid("bad-idempotency-key", "", fmt.Sprintf("there may be one Idempotency-Key of 1 to %d printable ASCII characters", wire.MostKey))
	}
	return values[0], nil
}

// mostRequest is how many bytes the receipt of an Idempotency-Key says of its request.
const mostRequest = 512

// Wait is what Prefer: wait=N asks for, within bounds (RFC 7240). Preferences
// that make no sense are ignored, as the standard wants.
func (c *Call) Wait() time.Duration {
	for _, header := range c.Request.Header.Values("Prefer") {
		for _, pref := range strings.FieldsFunc(header, func(r rune) bool { return r == ',' || r == ';' }) {
			name, value, ok := strings.Cut(pref, "=")
			if !ok || !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			n, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`))
			if err != nil || n <= 0 {
				return 0
			}
			wait := min(time.Duration(min(n, 1<<20))*time.Second, c.API.Config.MaxWait)
			c.Writer.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
			return wait
		}
	}
	return 0
}

// Page reads limit and cursor.
func (c *Call) Page() (cursor string, limit int, err error) {
	limit = 50
	if text := c.Query.Get("limit"); text != "" {
		limit, err = strconv.Atoi(text)
		if err != nil || limit < 1 || limit > 500 {
			return "", 0, Invalid("bad-limit", "", "limit must be a whole number from 1 to 500")
		}
	}
	return c.Query.Get("cursor"), limit, nil
}

// Flag reads a query parameter that is true or false; absent is ifAbsent.
func (c *Call) Flag(name string, ifAbsent bool) (bool, error) {
	switch c.Query.Get(name) {
	case "":
		return ifAbsent || c.Query.Has(name), nil // ?force alone says yes
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, Invalid("bad-parameter", "", name+" must be true or false")
}

// DryRun reads whether the call is to change nothing, which the audit log tells too.
func (c *Call) DryRun() (bool, error) {
	dryRun, err := c.Flag("dryRun", false)
	ExchangeOf(c.Request).DryRun = dryRun
	return dryRun, err
}

// readBody reads at most limit bytes, if before has nothing against it.
func (c *Call) readBody(limit int64, before func() error) error {
	if c.Request.ContentLength > limit {
		c.swallow()
		return c.tooLarge(limit)
	}
	if err := before(); err != nil {
		return err
	}
	plain, err := inflate.Plain(c.Request.Header, http.MaxBytesReader(c.Writer, c.Request.Body, limit), limit)
	if err != nil {
		c.Writer.Header().Set("Accept-Encoding", inflate.Codings)
		return workflow.Fail(CodeMediaType, err.Error())
	}
	body, err := io.ReadAll(&bodyReader{c, plain, freeBody})
	var refused *workflow.Error
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		c.swallow()
		return c.tooLarge(limit)
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, os.ErrDeadlineExceeded):
		return workflow.Fail(codeTimeout, "the body did not arrive in time")
	case errors.Is(err, inflate.ErrNotCompressed):
		return Invalid("broken-body", "", "the body could not be read: "+err.Error())
	case err != nil:
		return Invalid("broken-body", "", "the body could not be read to its end")
	}
	if c.Body, err = c.text(body); err != nil {
		return err
	}
	if int64(len(c.Body)) > limit { // as UTF-8 it is longer
		return c.tooLarge(limit)
	}
	if method := c.Request.Method; ExchangeOf(c.Request).served.takesNone() && !slices.Contains([]string{"", "{}"}, strings.TrimSpace(string(body))) {
		return Invalid("body", "", "nothing was done: "+method+" takes no body here")
	}
	ExchangeOf(c.Request).unread = false
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Time{}) // else the server takes it for the end of the client
	return nil
}

// text is a body as UTF-8. A form says its charset of what its escapes mean.
func (c *Call) text(body []byte) ([]byte, error) {
	typ := c.Request.Header.Get("Content-Type")
	if charset.Plain(body, typ) || strings.HasPrefix(typ, "multipart/") || c.MediaType() == wire.FormType {
		return body, nil
	}
	text, err := charset.Text(body, typ)
	var unknown *charset.UnknownError
	switch {
	case errors.As(err, &unknown):
		return nil, workflow.Fail(CodeMediaType, err.Error())
	case err != nil:
		return nil, Invalid("bad-text", "", err.Error())
	}
	return text, nil
}

// swallow reads on for a while after a body was found too large: a client that
// still sends when the connection closes sees a reset and not the answer. One
// that asked first (Expect: 100-continue) has sent nothing.
func (c *Call) swallow() {
	if c.Request.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, c.Request.Body, maxSwallow)
	}
}

const maxSwallow = 16 << 20

// tooLarge says how much a body may have, and of one that a workflow gets, how more comes to it.
func (c *Call) tooLarge(limit int64) error {
	text := fmt.Sprintf("the body has more than %d bytes", limit)
	rt := ExchangeOf(c.Request).served
	if given := rt.Kind == Starts || rt.Tag == "stimuli" || rt.Tag == "tasks"; given && limit < files.MaxSize {
		text += fmt.Sprintf("; what is larger is a file, of up to %d bytes: send it to an HTTP endpoint of the workflow, as multipart/form-data or with its type (such as application/octet-stream), or send the address where it lies", files.MaxSize)
	}
	return workflow.Fail(workflow.CodeTooLarge, text)
}

// checkHead refuses headers that ask for something which the route does not do.
func (c *Call) checkHead(rt *Route) error {
	if wrong := wire.Dropped(c.Request.Header, wire.Takes{Endpoint: rt.AnyQuery && rt.MayWait, Changes: rt.Kind >= Changes, IfMatch: rt.IfMatch != ""}); wrong != "" {
		return Invalid("bad-header", "", "nothing was done: "+wrong)
	}
	key := c.Request.Header["Idempotency-Key"]
	switch {
	case key == nil:
		return nil
	case rt.Kind >= Changes && !rt.keyed():
		return Invalid("bad-header", "", "nothing was done: this route takes no Idempotency-Key; what it does it does once")
	}
	_, err := keyOf(key)
	return err
}

// checkQuery refuses parameters that the route does not have, and values that
// are none of those that a parameter may have.
func (c *Call) checkQuery(rt *Route) error {
	for name, values := range c.Query {
		i := slices.IndexFunc(rt.Query, func(p Param) bool { return p.takes(name) })
		if i < 0 {
			known := make([]string, len(rt.Query))
			for i, p := range rt.Query {
				known[i] = p.Name
			}
			return Invalid("unknown-parameter", "", fmt.Sprintf("there is no query parameter %q here%s", Shorten(name), workflow.DidYouMean(name, known)))
		}
		if n := len(values); n > 1 && !rt.Query[i].Several {
			return Invalid("bad-parameter", "/"+Shorten(name), fmt.Sprintf("%s is given %d times; give it one value", Shorten(name), n))
		}
		allowed := rt.Query[i].Values
		for n, v := range values {
			if at := slices.IndexFunc(allowed, func(a string) bool { return strings.EqualFold(a, v) }); at >= 0 {
				values[n] = allowed[at] // as in q, whose words have no case either
				continue
			}
			if v == "" && rt.Query[i].filters() {
				return Invalid("bad-parameter", "/"+Shorten(name), Shorten(name)+" is empty: leave it out to mean any")
			}
			if v != "" && allowed != nil && !slices.Contains(allowed, v) {
				return Invalid("bad-parameter", "", fmt.Sprintf("%s must be one of %s", name, strings.Join(allowed, ", ")))
			}
		}
	}
	return nil
}

// Within reads a whole number between 1 and most.
func Within(c *Call, name string, usual, most int) (int, error) {
	text := c.Query.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, Invalid("bad-parameter", "/"+name, fmt.Sprintf("%s must be a whole number from 1 to %d", name, most))
	}
	return n, nil
}

// Version is a version of a definition that a parameter names, 0 if it is absent.
func (c *Call) Version(name string) (int, error) {
	text := c.Query.Get(name)
	if text == "" {
		return 0, nil
	}
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 {
		return 0, Invalid("bad-version", "", name+" must be a whole number from 1")
	}
	return version, nil
}

// Notation is the content type that a definition is sent with; "": it is told by its look.
func (c *Call) Notation() (string, error) {
	typ := c.MediaType()
	switch {
	case typ == wire.FormType, typ == "text/plain":
		return "", nil
	case typ == "", wire.IsJSON(typ), wire.IsYAML(typ):
		return typ, nil
	}
	return "", workflow.Fail(CodeMediaType, "the body is "+Shorten(typ)+"; send application/yaml or application/json")
}
