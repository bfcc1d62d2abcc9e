package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/outgoing"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// Event is the body of a request.
type Event struct {
	Type      string    `json:"type"`      // instance.finished, instance.cancelled, instance.faulted, instance.incident, deadLetter
	Timestamp time.Time `json:"timestamp"` // when it happened
	Data      Data      `json:"data"`
}

// Data says what it is about. It has a bounded size, no input, no output and no links.
type Data struct {
	Webhook    string          `json:"webhook"`
	Cluster    string          `json:"cluster"`
	Revision   int64           `json:"revision"` // of etcd, at which it was so: the later one of two events is newer
	InstanceID string          `json:"instanceId,omitempty"`
	Instance   *Instance       `json:"instance,omitempty"` // absent: it is gone
	Incident   *IncidentData   `json:"incident,omitempty"` // of instance.incident
	DeadLetter *DeadLetterData `json:"deadLetter,omitempty"`
}

// Instance is as it was at the event or, where that is forgotten, as it is.
type Instance struct {
	InstanceID       string             `json:"instanceId"`
	DefinitionID     string             `json:"definitionId"`
	Version          int                `json:"version"`
	Status           workflow.Status    `json:"status"`
	SubStatus        workflow.SubStatus `json:"subStatus"`
	Name             string             `json:"name,omitempty"`
	CorrelationID    string             `json:"correlationId,omitempty"`
	Labels           map[string]string  `json:"labels,omitempty"`
	ParentInstanceID string             `json:"parentInstanceId,omitempty"`
	CreatedAt        time.Time          `json:"createdAt"`
	FinishedAt       *time.Time         `json:"finishedAt,omitempty"`
	Commit           int64              `json:"commit"`
	Incidents        int                `json:"incidents"`
	Incident         string             `json:"incident,omitempty"` // message of the last, 1,000 characters at most
}

// IncidentData says what one commit added to the incidents of an instance.
type IncidentData struct {
	Commit int64 `json:"commit"`        // its number in the instance
	New    int   `json:"new,omitempty"` // how many; absent: etcd has forgotten it
	// Last are the last of them that the instance remembers, the newest at the end.
	Last []OneIncident `json:"last,omitempty"`
}

// OneIncident is one thing that went wrong.
type OneIncident struct {
	ActivityID   string    `json:"activityId,omitempty"`
	ActivityType string    `json:"activityType,omitempty"`
	Message      string    `json:"message"` // 300 characters at most
	Time         time.Time `json:"time"`
}

const (
	maxTold    = 10 // incidents of one commit that are told with their messages
	maxOneTold = 300
)

// DeadLetterData says what could not be done.
type DeadLetterData struct {
	ID         string    `json:"id"`
	Reason     string    `json:"reason"`
	Detail     string    `json:"detail,omitempty"`
	InstanceID string    `json:"instanceId,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`
}

const maxMessage = 1000

// The headers of a request, as Standard Webhooks has them.
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

// key is what a secret signs with.
func (h *Webhooks) key(name string) ([]byte, error) {
	value, ok := h.cfg.Secrets().Get(name)
	if !ok {
		return nil, fmt.Errorf("this node has no secret %q: a secret is a file of that name in --secrets-dir, on every node", workflow.CutChars(name, 80))
	}
	if text, ok := strings.CutPrefix(value, "whsec_"); ok {
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) == 0 {
			return nil, fmt.Errorf("the secret %q begins with whsec_, and no base64 follows", name)
		}
		return key, nil
	}
	return []byte(value), nil
}

// sign gives the header with a signature of each key.
func sign(keys [][]byte, id string, at time.Time, body []byte) string {
	var out []string
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%d.", id, at.Unix())
		mac.Write(body)
		out = append(out, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(out, " ")
}

// eventOf reads what is to be told; nil: it does not concern this webhook.
func (h *Webhooks) eventOf(ctx context.Context, d *Definition, e *store.WebhookEvent) (*Event, error) {
	out := &Event{Data: Data{Webhook: d.Name, Cluster: h.cfg.Cluster, Revision: e.Revision}}
	if e.What == string(DeadLetter) {
		out.Type = "deadLetter"
		letter, err := h.cfg.Store.DeadLetterAt(ctx, e.Subject, e.Revision)
		if err != nil {
			return nil, err
		}
		out.Data.DeadLetter = &DeadLetterData{ID: e.Subject}
		if letter != nil {
			out.Timestamp, out.Data.InstanceID = letter.CreatedAt, letter.InstanceID
			*out.Data.DeadLetter = DeadLetterData{ID: e.Subject, Reason: string(letter.Reason), Detail: workflow.CutChars(letter.Detail, maxMessage), InstanceID: letter.InstanceID, CreatedAt: letter.CreatedAt.UTC()}
		}
		return out, nil
	}
	out.Type, out.Data.InstanceID = "instance."+strings.ToLower(e.What), e.Subject
	if e.What == string(Incident) {
		out.Data.Incident = &IncidentData{Commit: e.Commit}
	}
	r, err := h.cfg.Store.InstanceAt(ctx, e.Subject, e.Revision)
	if err != nil {
		return nil, err
	}
	if r == nil { // it is gone, and which labels it had
		if len(d.Labels) > 0 {
			return nil, nil
		}
		return out, nil
	}
	in := &r.Header
	for name, value := range d.Labels {
		if in.Labels[name] != value {
			return nil, nil
		}
	}
	out.Timestamp = in.UpdatedAt
	out.Data.Instance = &Instance{
		InstanceID: in.ID, DefinitionID: in.DefinitionID, Version: in.Version, Status: in.Status, SubStatus: in.SubStatus, Name: in.Name, CorrelationID: in.CorrelationID,
		Labels: in.Labels, CreatedAt: in.CreatedAt.UTC(), FinishedAt: in.FinishedAt, Commit: r.Seq, Incidents: len(in.Incidents),
	}
	if in.FinishedAt != nil {
		out.Timestamp = *in.FinishedAt
	}
	if in.Parent != nil {
		out.Data.Instance.ParentInstanceID = in.Parent.InstanceID
	}
	if e.What == string(Incident) {
		out.Timestamp, err = h.incidentsOf(ctx, e, r, out.Data.Incident)
		if err != nil {
			return nil, err
		}
	}
	if n := len(in.Incidents); n > 0 {
		out.Data.Instance.Incident = workflow.CutChars(in.Incidents[n-1].Message, maxMessage)
	}
	return out, nil
}

// incidentsOf adds the incidents of a commit, from the instance as it was then or as it is,
// and tells when the last one was.
func (h *Webhooks) incidentsOf(ctx context.Context, e *store.WebhookEvent, r *store.Record, out *IncidentData) (time.Time, error) {
	note, err := h.cfg.Store.IncidentAt(ctx, e.DefinitionID, e.Subject, e.Commit, e.Revision)
	if err != nil || note == nil {
		return time.Time{}, err
	}
	out.New = note.New
	all := r.Header.Incidents
	for len(all) > 0 && r.Seq != e.Commit && !all[len(all)-1].Time.Equal(note.At) { // later ones
		all = all[:len(all)-1]
	}
	for _, i := range all[max(0, len(all)-min(note.New, maxTold)):] {
		out.Last = append(out.Last, OneIncident{i.ActivityID, i.ActivityType, workflow.CutChars(i.Message, maxOneTold), i.Time.UTC()})
	}
	return note.At, nil
}

// answer is what a receiver did with an event.
type answer struct {
	refusal string // why it did not take it, in words for people; "": it did
	status  int    // of its answer; 0: there was none
}

// ofTheEvent tells that the receiver is there, and refused this event for what it is. Who has no
// access, or asks at the wrong place, or too often, hears nothing of any event.
func (a answer) ofTheEvent() bool {
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests:
		return false
	}
	return a.status >= 400 && a.status < 500
}

// send makes one attempt. The error is that it could not be read what is to be told.
func (h *Webhooks) send(ctx context.Context, d *Definition, e *store.WebhookEvent) (answer, error) {
	event, err := h.eventOf(ctx, d, e)
	if err != nil || event == nil {
		return answer{}, err
	}
	if event.Timestamp.IsZero() {
		event.Timestamp = h.cfg.Now()
	}
	event.Timestamp = event.Timestamp.UTC()
	raw, err := json.Marshal(event)
	if err != nil {
		return answer{}, err
	}
	body, err := h.cfg.Secrets().RedactJSON([]byte(resumelink.Hide(string(raw))))
	if err != nil {
		return answer{}, err
	}
	status, err := h.post(ctx, d, e.ID, body)
	switch {
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	case err != nil:
		h.cfg.Metrics.WebhookRequest(metrics.WebhookFailed)
		return answer{refusal: h.cfg.Secrets().Redact(outgoing.Explain(err).Error())}, nil
	case status >= 200 && status < 300:
		h.cfg.Metrics.WebhookRequest(metrics.WebhookTaken)
		return answer{}, nil
	}
	h.cfg.Metrics.WebhookRequest(metrics.WebhookRefused)
	return answer{"the receiver answered " + strconv.Itoa(status), status}, nil
}

// post sends a body, within the time for it, and gives the status of the answer.
func (h *Webhooks) post(ctx context.Context, d *Definition, id string, body []byte) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Timeout)
	defer cancel()
	var keys [][]byte
	for _, name := range d.Secrets {
		key, err := h.key(name)
		if err != nil {
			return 0, err // unsigned it goes to nobody
		}
		keys = append(keys, key)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(body))
	if err != nil {
		return 0, outgoing.WithoutURL(err)
	}
	now := h.cfg.Now()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", outgoing.UserAgent)
	req.Header.Set(headerID, id)
	req.Header.Set(headerTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(headerSignature, sign(keys, id, now, body))
	resp, err := h.client.Do(req)
	if err != nil {
		return 0, err
	}
	_, _ = io.CopyN(io.Discard, resp.Body, drained) // a short answer leaves the connection to the next request
	_ = resp.Body.Close()                           // a longer one ends it
	return resp.StatusCode, nil
}

// drained is how much of an answer is read, and thrown away.
const drained = 4 << 10
