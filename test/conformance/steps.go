package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Step is one thing that is done, or expected. One of the first six is given.
type Step struct {
	Execute string   `json:"execute"` // a definition
	Resume  string   `json:"resume"`  // an activity that waits
	Event   string   `json:"event"`   // its name
	API     []any    `json:"api"`     // method, path and body
	End     string   `json:"end"`     // an instance: all its bookmarks are resumed until it has ended
	HTTP    *HTTP    `json:"http"`
	Expect  *Outcome `json:"expect"`

	As     string         `json:"as"`     // the name of the instance that is started; "": it
	Input  map[string]any `json:"input"`  // of the start, the resume or the event; {node} is the address of a node
	Token  bool           `json:"token"`  // the start runs flowcharts by tokens
	Within float64        `json:"within"` // seconds in which what is expected comes true; 0: 60
}

// HTTP is a request to an endpoint of a definition, and what its answer has to be.
type HTTP struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	JSON    any               `json:"json"`
	Form    map[string]string `json:"form"`
	Files   [][4]string       `json:"files"` // field, name, type and content of each
	Code    int               `json:"code"`  // 0: 200
	Is      *string           `json:"is"`    // the body
	Has     string            `json:"has"`
	Lacks   string            `json:"lacks"`
}

// Outcome is what must hold of an instance.
type Outcome struct {
	Of        string         `json:"of"`  // its name, or a definition that it is of; "": it
	Own       bool           `json:"own"` // lines of the instance alone, without those of its children
	Status    string         `json:"status"`
	SubStatus string         `json:"subStatus"`
	Lines     []string       `json:"lines"`
	Contains  []string       `json:"contains"`
	Lacks     []string       `json:"lacks"`
	Output    map[string]any `json:"output"` // at least these
	Incidents *int           `json:"incidents"`
	Bookmarks *int           `json:"bookmarks"`
	Count     *int           `json:"count"`   // of instances of the definition
	Journal   [][3]any       `json:"journal"` // activity, event, how often
	Logged    [][3]any       `json:"logged"`  // activity, input, whether its value is in the journal
}

func (s Step) check() error {
	n := 0
	for _, given := range []bool{s.Execute != "", s.Resume != "", s.Event != "", s.API != nil, s.End != "", s.HTTP != nil, s.Expect != nil} {
		if given {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("it says %d things to do; it must be one", n)
	}
	if o := s.Expect; o != nil && o.Status == "" && o.SubStatus == "" && (o.Lacks != nil || o.Lines != nil) {
		return errors.New("what is not there, or all that is, is known of a status only")
	}
	if s.API != nil && len(s.API) != 3 {
		return errors.New("api has a method, a path and a body")
	}
	return nil
}

// steps does them in order. Names of instances are those that the steps before gave.
func (c *cluster) steps(ctx context.Context, steps []Step) error {
	names := map[string]string{}
	for i, s := range steps {
		if err := c.step(ctx, s, names); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

func (c *cluster) step(ctx context.Context, s Step, names map[string]string) error {
	s.Input = maps.Clone(s.Input)
	for name, v := range s.Input {
		if text, ok := v.(string); ok {
			s.Input[name] = strings.ReplaceAll(text, "{node}", c.addrs[0])
		}
	}
	switch {
	case s.Execute != "":
		start := map[string]any{"input": s.Input}
		if s.Token {
			start["properties"] = map[string]any{"Flowchart:ExecutionMode": "TokenBased"}
		}
		var in instance
		err := c.postJSON(ctx, "/api/v1/definitions/"+s.Execute+"/execute", start, &in)
		names[named(s.As)] = in.InstanceID
		return err
	case s.Event != "":
		return c.postJSON(ctx, "/api/v1/events/"+s.Event, map[string]any{"payload": s.Input}, nil)
	case s.API != nil:
		return c.postJSON(ctx, fmt.Sprint(s.API[1]), s.API[2], nil)
	case s.End != "":
		return c.drive(ctx, names[s.End])
	case s.HTTP != nil:
		return c.endpoint(ctx, s.HTTP)
	}
	seconds := s.Within
	if seconds == 0 {
		seconds = 60 // of a machine that has much to do
	}
	for until := time.Now().Add(time.Duration(seconds * float64(time.Second))); ; {
		var err error
		if s.Resume != "" {
			err = c.resume(ctx, names, s)
		} else {
			err = c.holds(ctx, names, s.Expect)
		}
		if err == nil || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func named(as string) string {
	if as == "" {
		return "it"
	}
	return as
}

func (c *cluster) resume(ctx context.Context, names map[string]string, s Step) error {
	family, err := c.family(ctx, names[named(s.As)])
	if err != nil {
		return err
	}
	for _, in := range family {
		for _, b := range in.Bookmarks {
			if b.ActivityID == s.Resume {
				return c.postJSON(ctx, "/api/v1/bookmarks/"+b.BookmarkID+"/resume", map[string]any{"input": s.Input}, nil)
			}
		}
	}
	return fmt.Errorf("nothing waits at %s%s", s.Resume, why(family))
}

// endpoint sends a request to an endpoint.
func (c *cluster) endpoint(ctx context.Context, r *HTTP) error {
	header, body := http.Header{}, []byte(r.Body)
	switch {
	case r.JSON != nil:
		raw, err := json.Marshal(r.JSON)
		if err != nil {
			return err
		}
		body = raw
		header.Set("Content-Type", "application/json")
	case r.Form != nil || r.Files != nil:
		var text bytes.Buffer
		w := multipart.NewWriter(&text)
		for name, value := range r.Form {
			if err := w.WriteField(name, value); err != nil {
				return err
			}
		}
		for _, f := range r.Files {
			part, err := w.CreatePart(textproto.MIMEHeader{
				"Content-Disposition": {fmt.Sprintf("form-data; name=%q; filename=%q", f[0], f[1])}, "Content-Type": {f[2]},
			})
			if err == nil {
				_, err = part.Write([]byte(f[3]))
			}
			if err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = text.Bytes()
		header.Set("Content-Type", w.FormDataContentType())
	}
	for name, value := range r.Headers {
		header.Set(name, value)
	}
	method, want := r.Method, r.Code
	if method == "" {
		method = http.MethodGet
	}
	if want == 0 {
		want = http.StatusOK
	}
	code, answer, err := c.send(ctx, method, r.Path, header, body)
	text := string(answer)
	if err != nil {
		return err
	}
	if code != want || r.Is != nil && text != *r.Is || !strings.Contains(text, r.Has) || r.Lacks != "" && strings.Contains(text, r.Lacks) {
		return fmt.Errorf("%s %s: got %d %q, want %d and %+v", method, r.Path, code, text, want, *r)
	}
	return nil
}

// holds reports what does not hold yet.
func (c *cluster) holds(ctx context.Context, names map[string]string, o *Outcome) error {
	id, given := names[named(o.Of)]
	if !given {
		all, err := pages[instance](ctx, c, "/api/v1/instances")
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(in instance) bool { return in.DefinitionID != o.Of })
		if o.Count != nil && len(all) != *o.Count {
			return fmt.Errorf("there are %d instances of %s, want %d", len(all), o.Of, *o.Count)
		}
		if len(all) == 0 {
			if o.Count != nil {
				return nil
			}
			return fmt.Errorf("there is no instance of %s", o.Of)
		}
		id = all[0].InstanceID
	}
	family, err := c.family(ctx, id)
	if err != nil {
		return err
	}
	in := family[0]
	if o.Own {
		family = family[:1]
	}
	lines, err := c.lines(ctx, family)
	if err != nil {
		return err
	}
	return errors.Join(o.wrong(in, lines, why(family)), c.journaled(ctx, id, o))
}

func (o *Outcome) wrong(in instance, lines []string, why string) error {
	switch {
	case o.Status != "" && in.Status != o.Status || o.SubStatus != "" && in.SubStatus != o.SubStatus:
		return fmt.Errorf("it is %s/%s, want %s/%s%s", in.Status, in.SubStatus, o.Status, o.SubStatus, why)
	case o.Lines != nil && !slices.Equal(lines, o.Lines):
		return fmt.Errorf("it wrote %q, want %q%s", lines, o.Lines, why)
	case o.Incidents != nil && len(in.Incidents) != *o.Incidents:
		return fmt.Errorf("it has %d incidents, want %d%s", len(in.Incidents), *o.Incidents, why)
	case o.Bookmarks != nil && len(in.Bookmarks) != *o.Bookmarks:
		return fmt.Errorf("it waits at %d places, want %d%s", len(in.Bookmarks), *o.Bookmarks, why)
	}
	for _, want := range o.Contains {
		if !slices.Contains(lines, want) {
			return fmt.Errorf("it wrote %q, want %q among them%s", lines, want, why)
		}
	}
	for _, not := range o.Lacks {
		if slices.Contains(lines, not) {
			return fmt.Errorf("it wrote %q, and %q is among them", lines, not)
		}
	}
	for name, want := range o.Output {
		if got := in.Output[name]; !reflect.DeepEqual(got, want) {
			return fmt.Errorf("its output %s is %v, want %v%s", name, got, want, why)
		}
	}
	return nil
}

// journaled looks at what is expected of the instance's journal.
func (c *cluster) journaled(ctx context.Context, id string, o *Outcome) error {
	if o.Journal == nil && o.Logged == nil {
		return nil
	}
	items, err := pages[journalItem](ctx, c, "/api/v1/instances/"+id+"/journal")
	if err != nil {
		return err
	}
	for _, want := range o.Journal {
		n := 0
		for _, item := range items {
			if item.ActivityID == want[0] && item.Event == want[1] {
				n++
			}
		}
		if float64(n) != want[2] {
			return fmt.Errorf("%v was %v %d times, want %v", want[0], want[1], n, want[2])
		}
	}
	for _, want := range o.Logged {
		there := slices.ContainsFunc(items, func(item journalItem) bool {
			inputs, _ := item.Data["inputs"].(map[string]any)
			_, has := inputs[fmt.Sprint(want[1])]
			return item.ActivityID == want[0] && has
		})
		if there != want[2] {
			return fmt.Errorf("%v of %v is in the journal: %t, want %v", want[1], want[0], there, want[2])
		}
	}
	return nil
}
