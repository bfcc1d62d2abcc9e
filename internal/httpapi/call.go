package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// request is what a client sent, as far as it was read, and what that takes of the
// node until it is answered.
type request struct {
	api   *API
	w     http.ResponseWriter
	r     *http.Request
	body  []byte // read and within its limit
	query url.Values

	charged    int64  // bytes of the budget for bodies
	payer      string // whose they count as
	manyValues bool   // the body may have any number of values
}

// call is one request on its way through a handler.
type call struct {
	request

	found runtime.EndpointRequest // if it is one, as far as its head says
}

// reply is what a handler answers with; zero fields are left out.
type reply struct {
	status   int // 0: 200
	body     any // as JSON
	raw      []byte
	rawType  string // Content-Type of raw
	location string
	etag     string
	headers  map[string]string
	handler  http.Handler // answers instead of all of this
}

// decode reads the JSON body into the struct that into points to. An empty body
// is an empty object.
func (c *request) decode(into any) error {
	if len(strings.TrimSpace(string(c.body))) == 0 {
		return nil
	}
	switch typ := c.mediaType(); {
	case typ == "", typ == formType, isJSON(typ): // told by content, which has to be JSON
	default:
		return &workflow.Error{Code: codeMediaType, Detail: fmt.Sprintf("the body is %s; send application/json", shorten(typ))}
	}
	if err := c.weigh(); err != nil {
		return err
	}
	if problems := decodeStrict(c.body, into); problems != nil {
		return &workflow.Error{Code: workflow.CodeInvalid, Detail: "the body is not valid", Problems: problems}
	}
	return nil
}

// formType is what curl says when it is told nothing.
const formType = "application/x-www-form-urlencoded"

func isJSON(typ string) bool {
	return typ == "application/json" || typ == "text/json" || strings.HasPrefix(typ, "application/") && strings.HasSuffix(typ, "+json")
}

func isYAML(typ string) bool {
	switch typ {
	case "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml":
		return true
	}
	return false
}

// mediaType is the bare type of the body, lower case, "" if there is none.
func (c *request) mediaType() string {
	raw := c.r.Header.Get("Content-Type")
	typ, _, err := mime.ParseMediaType(raw)
	if err != nil {
		typ, _, _ = strings.Cut(raw, ";")
	}
	return strings.ToLower(strings.TrimSpace(typ))
}

// id is the path parameter, checked as an id chosen by a client.
func (c *request) id() (string, error) {
	id := c.r.PathValue("id")
	if err := workflow.CheckID("the id in the path", id); err != nil {
		return "", invalid("bad-id", "", err.Error())
	}
	return id, nil
}

// madeID is the path parameter, an id that Weft made: what is not one does not
// exist.
func (c *request) madeID(missing workflow.Code) (string, error) {
	id := c.r.PathValue("id")
	const most = 512
	if len(id) > most || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' || r == '/' }) {
		return "", workflow.Fail(missing, "there is nothing with this id")
	}
	return id, nil
}

// checkIDs and checkNames check fields of a body; empty ones were not given.
func checkIDs(fields ...[2]string) error {
	return checkFields(fields, "bad-id", workflow.CheckID)
}

func checkNames(fields ...[2]string) error {
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

// key is the caller's Idempotency-Key; nil if there is none.
func (c *request) key() (*runtime.Key, error) {
	values := c.r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	value := values[0]
	if len(values) > 1 || !isKey(value) {
		return nil, invalid("bad-idempotency-key", "", fmt.Sprintf("there may be one Idempotency-Key of 1 to %d printable ASCII characters", mostKey))
	}
	// Another caller's key is another key. Who calls an endpoint is asked later, and
	// perhaps not at all: there the guard holds for the answer too.
	scope, caller := c.r.Method+" "+c.r.URL.Path, ""
	request := workflow.CutBytes(scope, mostRequest)
	if x := exchangeOf(c.r); x.caller != nil && x.served.role > auth.Anyone {
		caller = x.caller.Name
		scope += " " + caller
	}
	sum := sha256.New()
	for _, part := range []string{string(c.body), c.query.Encode(), c.r.Header.Get("X-Correlation-Id"), c.r.Header.Get("X-Workflow-Instance-Id")} {
		fmt.Fprintf(sum, "%d %s\n", len(part), part)
	}
	return &runtime.Key{Scope: scope, Value: value, BodyHash: hex.EncodeToString(sum.Sum(nil)),
		Request: request, Caller: workflow.CutBytes(caller, mostRequest), At: c.api.cfg.Now().UTC().Truncate(time.Millisecond)}, nil
}

const (
	mostKey     = 255 // characters of an Idempotency-Key
	mostRequest = 512 // bytes that its receipt says of the request
)

func isKey(value string) bool {
	return value != "" && len(value) <= mostKey && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' })
}

// wait is what Prefer: wait=N asks for, within bounds (RFC 7240). Preferences
// that make no sense are ignored, as the standard wants.
func (c *request) wait() time.Duration {
	for _, header := range c.r.Header.Values("Prefer") {
		for _, pref := range strings.FieldsFunc(header, func(r rune) bool { return r == ',' || r == ';' }) {
			name, value, ok := strings.Cut(pref, "=")
			if !ok || !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			n, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`))
			if err != nil || n <= 0 {
				return 0
			}
			wait := min(time.Duration(min(n, 1<<20))*time.Second, c.api.cfg.MaxWait)
			c.w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
			return wait
		}
	}
	return 0
}

// page reads limit and cursor.
func (c *request) page() (cursor string, limit int, err error) {
	limit = 50
	if text := c.query.Get("limit"); text != "" {
		limit, err = strconv.Atoi(text)
		if err != nil || limit < 1 || limit > 500 {
			return "", 0, invalid("bad-limit", "", "limit must be a whole number from 1 to 500")
		}
	}
	return c.query.Get("cursor"), limit, nil
}

// flag reads a query parameter that is true or false; absent is ifAbsent.
func (c *request) flag(name string, ifAbsent bool) (bool, error) {
	switch c.query.Get(name) {
	case "":
		return ifAbsent || c.query.Has(name), nil // ?force alone says yes
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, invalid("bad-parameter", "", name+" must be true or false")
}

// dryRun reads whether the call is to change nothing, which the audit log tells too.
func (c *request) dryRun() (bool, error) {
	dryRun, err := c.flag("dryRun", false)
	exchangeOf(c.r).dryRun = dryRun
	return dryRun, err
}

// readBody reads at most limit bytes, if before has nothing against it.
func (c *request) readBody(limit int64, before func() error) error {
	if c.r.ContentLength > limit {
		c.swallow()
		return tooLarge(limit)
	}
	if err := before(); err != nil {
		return err
	}
	body, err := io.ReadAll(&bodyReader{c, http.MaxBytesReader(c.w, c.r.Body, limit), freeBody})
	var refused *workflow.Error
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		c.swallow()
		return tooLarge(limit)
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, os.ErrDeadlineExceeded):
		return workflow.Fail(codeTimeout, "the body did not arrive in time")
	case err != nil:
		return invalid("broken-body", "", "the body could not be read to its end")
	}
	c.body = body
	exchangeOf(c.r).unread = false
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{}) // else the server takes it for the end of the client
	return nil
}

// swallow reads on for a while after a body was found too large: a client that
// still sends when the connection closes sees a reset and not the answer. One
// that asked first (Expect: 100-continue) has sent nothing.
func (c *request) swallow() {
	if c.r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, c.r.Body, maxSwallow)
	}
}

const maxSwallow = 16 << 20

func tooLarge(limit int64) error {
	return workflow.Fail(workflow.CodeTooLarge, fmt.Sprintf("the body has more than %d bytes", limit))
}

// checkQuery refuses parameters that the route does not have, and values that
// are none of those that a parameter may have.
func (c *request) checkQuery(rt *route) error {
	for name, values := range c.query {
		i := slices.IndexFunc(rt.query, func(p param) bool { return p.takes(name) })
		if i < 0 {
			known := make([]string, len(rt.query))
			for i, p := range rt.query {
				known[i] = p.name
			}
			return invalid("unknown-parameter", "", fmt.Sprintf("there is no query parameter %q here%s", shorten(name), workflow.DidYouMean(name, known)))
		}
		allowed := rt.query[i].values
		for _, v := range values {
			if v != "" && allowed != nil && !slices.Contains(allowed, v) {
				return invalid("bad-parameter", "", fmt.Sprintf("%s must be one of %s", name, strings.Join(allowed, ", ")))
			}
		}
	}
	return nil
}
