package apiclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/apiclient"
)

// answering is a server that gives its answers in turn, the last one for ever, and keeps
// what it was asked.
type answering struct {
	mu    sync.Mutex
	asked []*http.Request // guarded by mu
	give  []http.HandlerFunc
}

func (a *answering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.asked = append(a.asked, r)
	give := a.give[min(len(a.asked), len(a.give))-1]
	a.mu.Unlock()
	give(w, r)
}

func (a *answering) client(t *testing.T) *apiclient.Client {
	t.Helper()
	srv := httptest.NewServer(a)
	t.Cleanup(srv.Close)
	return newClient(t, apiclient.Config{Server: srv.URL, Token: "weft_key"})
}

func problem(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"status": %d, "title": "T", "code": %q, "detail": "it is so"}`, status, code)
	}
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func paused(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"paused": true}`)
}

func TestWhatIsRepeatedAndWhatIsNot(t *testing.T) {
	t.Parallel()
	pause := func(ctx context.Context, c *apiclient.Client) error { _, err := c.Pause(ctx); return err }
	remove := func(ctx context.Context, c *apiclient.Client) error {
		_, err := c.DeleteDeadLetter(ctx, "x")
		return err
	}
	put := func(ctx context.Context, c *apiclient.Client) error {
		_, err := c.ImportState(ctx, "x", apiclient.StateRequest{}, apiclient.IfMatch(`"1"`))
		return err
	}
	isCode := func(code string) func(error) bool {
		return func(err error) bool {
			var p *apiclient.ProblemError
			return errors.As(err, &p) && p.Code == code
		}
	}
	noAnswer := func(err error) bool {
		var n *apiclient.NoAnswerError
		return errors.As(err, &n)
	}
	done := func(err error) bool { return err == nil }
	for name, c := range map[string]struct {
		give  []http.HandlerFunc
		do    func(context.Context, *apiclient.Client) error
		asked int
		want  func(error) bool
	}{
		"no answer, then one":          {[]http.HandlerFunc{hangUp, paused}, pause, 2, done},
		"busy, then not":               {[]http.HandlerFunc{problem(503, "busy"), problem(503, "outcome-unknown"), paused}, pause, 3, done},
		"a balancer without nodes":     {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "bad", http.StatusBadGateway) }, paused}, pause, 2, done},
		"never an answer":              {[]http.HandlerFunc{hangUp}, pause, 4, noAnswer},
		"never known":                  {[]http.HandlerFunc{problem(503, "outcome-unknown")}, pause, 4, isCode("outcome-unknown")},
		"refused":                      {[]http.HandlerFunc{problem(409, "instance-finished")}, pause, 1, isCode("instance-finished")},
		"paused is no passing thing":   {[]http.HandlerFunc{problem(503, "paused")}, pause, 1, isCode("paused")},
		"removed by the lost one":      {[]http.HandlerFunc{hangUp, problem(404, "dead-letter-not-found")}, remove, 2, done},
		"not there at first":           {[]http.HandlerFunc{problem(404, "dead-letter-not-found")}, remove, 1, isCode("dead-letter-not-found")},
		"an import may have been made": {[]http.HandlerFunc{hangUp}, put, 1, noAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &answering{give: c.give}
			err := c.do(t.Context(), a.client(t))
			if !c.want(err) {
				t.Errorf("it ends with %v", err)
			}
			if len(a.asked) != c.asked {
				t.Errorf("asked %d times, want %d", len(a.asked), c.asked)
			}
			key := a.asked[0].Header.Get("Idempotency-Key")
			for _, r := range a.asked {
				if got := r.Header.Get("Idempotency-Key"); got != key || (got == "") != (r.Method != http.MethodPost) {
					t.Errorf("%s with the key %q after %q", r.Method, got, key)
				}
				if r.Header.Get("Authorization") != "Bearer weft_key" {
					t.Errorf("Authorization is %q", r.Header.Get("Authorization"))
				}
			}
			var lost *apiclient.NoAnswerError
			if errors.As(err, &lost) && lost.Key != key {
				t.Errorf("the error has the key %q, sent was %q", lost.Key, key)
			}
		})
	}
}

func TestTheCallerEndsTheWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	c := newClient(t, apiclient.Config{Server: "http://127.0.0.1:1", Attempts: 100, OnRepeat: func(error, time.Duration) { cancel(reason) }})
	var lost *apiclient.NoAnswerError
	if _, err := c.Pause(ctx); !errors.As(err, &lost) || lost.Key == "" || strings.Contains(err.Error(), "Post") {
		t.Errorf("it ends with %v", err)
	}
}

func TestATokenGoesNowhereElse(t *testing.T) {
	t.Parallel()
	elsewhere := &answering{give: []http.HandlerFunc{paused}}
	other := httptest.NewServer(elsewhere)
	t.Cleanup(other.Close)
	a := &answering{give: []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}}}
	if _, err := a.client(t).Pause(t.Context()); err == nil || !strings.Contains(err.Error(), "give that address") {
		t.Errorf("it ends with %v", err)
	}
	if len(elsewhere.asked) != 0 {
		t.Errorf("the redirect was followed: %v", elsewhere.asked[0].Header)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for server, fine := range map[string]bool{
		"http://localhost:8080": true, "https://weft.example/prefix/": true, "localhost:8080": false, "": false, "ftp://x": false,
		"http://user:secret@x": false, "http://x?a=b": false, "http://%zz": false, "http://": false,
	} {
		_, err := apiclient.New(apiclient.Config{Server: server})
		if (err == nil) != fine {
			t.Errorf("%q: %v", server, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q is told whole: %v", server, err)
		}
	}
	if _, err := apiclient.New(apiclient.Config{Server: "http://x", Token: "weft_key"}); err != nil {
		t.Errorf("a token: %v", err)
	}
	if _, err := apiclient.New(apiclient.Config{Server: "http://x", Token: "weft_key\n"}); err == nil || strings.Contains(err.Error(), "weft_key") {
		t.Errorf("a token with the end of a line: %v", err)
	}
}

const waiting = `id: %s
inputs: {n: {type: number}}
outputs: {n: "${{ inputs.n }}"}
root:
  - event: %s
`

func publish(t *testing.T, c *apiclient.Client, source string) {
	t.Helper()
	if _, err := c.PublishDefinition(t.Context(), []byte(source), apiclient.PublishDefinitionQuery{}); err != nil {
		t.Fatal(err)
	}
}

// losing stands before a node and loses the answers to the first request of each method and path.
func losing(t *testing.T) *apiclient.Client {
	t.Helper()
	target, err := url.Parse(sharedServer(t))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			mu.Lock()
			defer mu.Unlock()
			what := r.Request.Method + r.Request.URL.Path
			if !seen[what] {
				seen[what] = true
				_, _ = io.Copy(io.Discard, r.Body) // the node has done it
				return errors.New("lost")
			}
			return nil
		},
		ErrorHandler: hangUpOn,
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(srv.Close)
	return newClient(t, apiclient.Config{Server: srv.URL})
}

func hangUpOn(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

// Each answer is lost once: what was asked for is done once.
func TestLostAnswersHaveOneEffect(t *testing.T) {
	t.Parallel()
	c := losing(t)
	ctx := t.Context()
	publish(t, c, fmt.Sprintf(waiting, "lost", "lost-event"))
	in, err := c.ExecuteDefinition(ctx, "lost", apiclient.StartRequest{Input: map[string]any{"n": json.Number("12345678901234567890")}, CorrelationID: "lost-1"})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := c.SendEvent(ctx, "lost-event", apiclient.EventRequest{CorrelationID: "lost-1"}, apiclient.SendEventQuery{})
	if err != nil || sent.Body.Sent == nil || sent.Body.Queued != nil || len(sent.Body.Sent.Outcomes) != 1 {
		t.Fatalf("%v, %+v", err, sent)
	}
	at, err := c.GetInstance(ctx, in.Body.InstanceID, apiclient.WaitUpTo(20*time.Second))
	if err != nil || at.Body.SubStatus != "Finished" || at.Body.Output["n"] != json.Number("12345678901234567890") {
		t.Fatalf("%v, %+v", err, at.Body)
	}
	all := 0
	for row, err := range c.AllSummaries(ctx, apiclient.ListInstancesQuery{DefinitionID: "lost"}) {
		if err != nil || row.InstanceID != in.Body.InstanceID {
			t.Fatalf("%v, %+v", err, row)
		}
		all++
	}
	if all != 1 {
		t.Errorf("%d instances", all)
	}
	if _, err := c.DeleteInstance(ctx, in.Body.InstanceID); err != nil {
		t.Errorf("delete: %v", err)
	}
	var p *apiclient.ProblemError
	if _, err := c.GetInstance(ctx, in.Body.InstanceID); !errors.As(err, &p) || p.Code != "instance-not-found" || p.RequestID == "" {
		t.Errorf("after the delete: %v", err)
	}
}

// All pages of a part of a journal are gone through, and no others.
func TestPagesOfAJournalAreGoneThrough(t *testing.T) {
	t.Parallel()
	c := newClient(t, apiclient.Config{Server: sharedServer(t)})
	publish(t, c, "id: strictly\noptions: {commit: ActivityExecutedStrict}\nroot:\n  - writeLine: a\n  - writeLine: b\n  - writeLine: c\n  - writeLine: d\n")
	if _, err := c.ExecuteDefinition(t.Context(), "strictly", apiclient.StartRequest{InstanceID: "strictly-1"}); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it has ended", func() bool {
		in, err := c.GetInstance(t.Context(), "strictly-1")
		if err != nil {
			t.Fatal(err)
		}
		return in.Body.Status == "Finished"
	})
	commits := func(query apiclient.GetJournalQuery) (of []int64) {
		for item, err := range c.AllJournal(t.Context(), "strictly-1", query) {
			if err != nil {
				t.Fatal(err)
			}
			if n := len(of); n == 0 || of[n-1] != item.Commit {
				of = append(of, item.Commit)
			}
		}
		return of
	}
	all := commits(apiclient.GetJournalQuery{})
	if len(all) < 4 {
		t.Fatalf("commits %v", all)
	}
	after, before := int64(1), int64(4)
	if got := commits(apiclient.GetJournalQuery{After: &after, Limit: 1}); !slices.Equal(got, all[1:]) {
		t.Errorf("after the first of %v are %v", all, got)
	}
	if got := commits(apiclient.GetJournalQuery{After: &after, Before: &before}); !slices.Equal(got, all[1:3]) {
		t.Errorf("of %v between 1 and 4 are %v", all, got)
	}
	if got := commits(apiclient.GetJournalQuery{Tail: 2}); !slices.Equal(got, all[len(all)-2:]) {
		t.Errorf("the last two of %v are %v", all, got)
	}
}

func TestPagesAreGoneThrough(t *testing.T) {
	t.Parallel()
	c := newClient(t, apiclient.Config{Server: sharedServer(t)})
	publish(t, c, fmt.Sprintf(waiting, "paged", "paged-event"))
	var want []string
	for range 5 {
		in, err := c.DispatchDefinition(t.Context(), "paged", apiclient.StartRequest{})
		if err != nil || !in.Accepted || in.Location == "" || in.Key == "" {
			t.Fatalf("%v %+v", err, in)
		}
		want = append(want, in.Body.InstanceID)
	}
	query := apiclient.ListInstancesQuery{DefinitionID: "paged", Limit: 2}
	polltest.Eventually(t, "all are listed", func() bool {
		var got []string
		for in, err := range c.AllInstances(t.Context(), query) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, in.InstanceID)
		}
		slices.Sort(got)
		slices.Sort(want)
		return slices.Equal(got, want)
	})
	seen := 0
	for _, err := range c.AllInstances(t.Context(), query) { // and who stops early asks no more
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 1 {
			break
		}
	}
	for _, err := range c.AllInstances(t.Context(), apiclient.ListInstancesQuery{Q: "statsu:x"}) {
		var p *apiclient.ProblemError
		if !errors.As(err, &p) || len(p.Errors) != 1 || p.Errors[0].Column != 1 {
			t.Errorf("a wrong filter: %v", err)
		}
	}
}

// A stream that breaks off goes on behind its last event.
func TestStreamGoesOn(t *testing.T) {
	t.Parallel()
	node := sharedServer(t)
	c := newClient(t, apiclient.Config{Server: node})
	publish(t, c, fmt.Sprintf(waiting, "streamed", "streamed-event"))
	in, err := c.ExecuteDefinition(t.Context(), "streamed", apiclient.StartRequest{})
	if err != nil {
		t.Fatal(err)
	}
	target, _ := url.Parse(node)
	srv := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1})
	t.Cleanup(srv.Close)
	broken := newClient(t, apiclient.Config{Server: srv.URL})
	last, events := "", []string{}
	for e, err := range broken.Stream(t.Context(), []string{"instance:" + in.Body.InstanceID}, "") {
		if err != nil {
			t.Fatal(err)
		}
		var told struct{ Instance struct{ SubStatus string } }
		if err := e.Decode(&told); err != nil || e.Name != "instance" || e.ID == "" || e.ID == last {
			t.Fatalf("%v: %+v", err, e)
		}
		last = e.ID
		if events = append(events, told.Instance.SubStatus); told.Instance.SubStatus == "Finished" {
			break
		}
		srv.CloseClientConnections()
		if _, err := c.SendEvent(t.Context(), "streamed-event", apiclient.EventRequest{InstanceID: in.Body.InstanceID}, apiclient.SendEventQuery{}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(events, []string{"Suspended", "Finished"}) {
		t.Errorf("told %q", events)
	}
	for _, err := range c.Stream(t.Context(), []string{"nothing:1"}, "") {
		var p *apiclient.ProblemError
		if !errors.As(err, &p) || p.Code != "invalid-request" {
			t.Errorf("a topic that is none: %v", err)
		}
	}
	unreachable := newClient(t, apiclient.Config{Server: "http://127.0.0.1:1", Attempts: 2})
	for _, err := range unreachable.Stream(t.Context(), []string{"cluster"}, "") {
		var lost *apiclient.NoAnswerError
		if !errors.As(err, &lost) {
			t.Errorf("nobody there: %v", err)
		}
	}
}

// A quiet stream is cut by whatever is between, again and again: what brought a comment was no failure, what brought nothing was one.
func TestAQuietStreamLasts(t *testing.T) {
	t.Parallel()
	const attempts = 2
	for _, comment := range []string{":\n\n", ""} {
		var came atomic.Int64
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "retry: 10\n\n")
			if came.Add(1) <= attempts+1 {
				fmt.Fprint(w, comment)
				return
			}
			fmt.Fprint(w, "event: cluster\ndata: {}\n\n")
		}))
		t.Cleanup(srv.Close)
		c := newClient(t, apiclient.Config{Server: srv.URL, Attempts: attempts})
		for e, err := range c.Stream(t.Context(), []string{"cluster"}, "") {
			var lost *apiclient.NoAnswerError
			switch {
			case comment != "" && (err != nil || e.Name != "cluster"):
				t.Errorf("behind comments: %+v, %v", e, err)
			case comment == "" && (!errors.As(err, &lost) || came.Load() != attempts):
				t.Errorf("behind nothing, %d times: %+v, %v", came.Load(), e, err)
			}
			break
		}
	}
}

// A node of an older version lacks fields of an answer that are new: it is still known which one it is. What is something
// else is none.
func TestAnAnswerOfAnOlderNodeIsKnownByWhatIsThere(t *testing.T) {
	t.Parallel()
	const (
		job    = `{"id": "j", "kind": "alter", "state": "done", "query": "", "by": null, "reason": null, "createdAt": "2026-11-29T18:43:14Z", "updatedAt": "2026-11-29T18:43:14Z", "endedAt": null, "node": null, "done": 60, "accepted": 0, "refused": 0, "unknown": 0, "refusals": []}`
		effect = `{"resumes": [], "starts": [], "resumed": 1, "started": 0, "queued": true, "more": false, "others": [], "revision": 1}`
	)
	var made apiclient.JobPreviewOrJob
	if err := json.Unmarshal([]byte(job), &made); err != nil || made.JobPreview != nil || made.Job == nil || made.Job.ID != "j" || made.Job.Done != 60 {
		t.Errorf("%+v, %v", made, err)
	}
	var sent apiclient.SentOrEffectOrQueued
	if err := json.Unmarshal([]byte(effect), &sent); err != nil || sent.Sent != nil || sent.Queued != nil || sent.Effect == nil || !sent.Effect.Queued {
		t.Errorf("%+v, %v", sent, err)
	}
	for text, is := range map[string]func(apiclient.SentOrEffectOrQueued) bool{
		`{"queued": "q"}`: func(u apiclient.SentOrEffectOrQueued) bool { return u.Queued != nil && u.Queued.Queued == "q" },
		`{"outcomes": []}`: func(u apiclient.SentOrEffectOrQueued) bool {
			return u.Sent != nil && u.Effect == nil && u.Queued == nil
		},
	} {
		var u apiclient.SentOrEffectOrQueued
		if err := json.Unmarshal([]byte(text), &u); err != nil || !is(u) {
			t.Errorf("%s: %+v, %v", text, u, err)
		}
	}
	for _, text := range []string{`{}`, `{"id": "j", "query": "", "refusals": []}`, `{"title": "a page of somebody"}`} {
		var u apiclient.JobPreviewOrJob
		if err := json.Unmarshal([]byte(text), &u); err == nil {
			t.Errorf("%s is taken for %+v", text, u)
		}
	}
}
