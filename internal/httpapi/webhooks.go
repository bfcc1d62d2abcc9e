package httpapi

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/webhook"
	"github.com/weft-run/weft/pkg/workflow"
)

// webhookRoutes say who else is told. All are for admins: a webhook sends data out, and its
// URL may hold what lets others send there.
func (a *API) webhookRoutes() []route {
	if a.cfg.Webhooks == nil {
		return nil
	}
	none := []workflow.Code{workflow.CodeWebhookNotFound}
	return []route{
		{method: "GET", path: "/webhooks", name: "listWebhooks", role: auth.Admin, tag: "webhooks", kind: reads, costly: true, summary: "All webhooks, and how they are",
			answers: map[int]any{200: webhooksView{}}, serve: listWebhooks},
		{method: "GET", path: "/webhooks/{name}", name: "getWebhook", role: auth.Admin, tag: "webhooks", kind: reads, summary: "One webhook, and how it is",
			answers: map[int]any{200: webhookView{}}, problems: none, serve: getWebhook},
		{method: "PUT", path: "/webhooks/{name}", name: "putWebhook", role: auth.Admin, tag: "webhooks", kind: changes, summary: "Make or change a webhook: who is told, and of what, from now on",
			body: webhookBody{}, answers: map[int]any{200: webhookView{}, 201: webhookView{}}, serve: putWebhook},
		{method: "DELETE", path: "/webhooks/{name}", name: "deleteWebhook", role: auth.Admin, tag: "webhooks", kind: changes, summary: "Forget a webhook, with all that it has not told",
			answers: map[int]any{204: nil}, problems: none, serve: deleteWebhook},
		{method: "GET", path: "/webhooks/{name}/failed", name: "listFailedEvents", role: auth.Admin, tag: "webhooks", kind: reads, summary: "Events that the receiver did not take within a day",
			query: pageParams, answers: map[int]any{200: listView[webhookLetterView]{}}, problems: none, serve: failedEvents},
		{method: "POST", path: "/webhooks/{name}/replay", name: "replayWebhook", role: auth.Admin, tag: "webhooks", kind: changes, summary: "Try all that was given up again",
			answers: map[int]any{200: webhookAgainView{}}, problems: none, serve: func(c *call) (reply, error) { return webhookAgain(c, false) }},
		{method: "DELETE", path: "/webhooks/{name}/failed", name: "forgetFailedEvents", role: auth.Admin, tag: "webhooks", kind: changes, summary: "Forget all that was given up",
			answers: map[int]any{200: webhookAgainView{}}, problems: none, serve: func(c *call) (reply, error) { return webhookAgain(c, true) }},
	}
}

type webhookBody struct {
	URL         string            `json:"url" doc:"https or http; without a name, a password and a fragment. Private addresses are refused when it is dialled, unless the nodes have --allow-private-addresses."`
	On          []webhook.Kind    `json:"on" doc:"What is told: ended (in any way), faulted, incident (also of an instance that goes on), deadLetter."`
	Definitions []string          `json:"definitions" doc:"Only instances of these, 16 at most; none: of all."`
	Labels      map[string]string `json:"labels" doc:"Only instances with all of these."`
	Secrets     []string          `json:"secrets" doc:"The names of one or two secrets (--secrets-dir) that sign."`
	Paused      bool              `json:"paused" doc:"Nothing is sent. What happens until it goes on is told later, as far as etcd knows it then."`
}

type webhooksView struct {
	Items []webhookView `json:"items"`
}

type webhookView struct {
	Name        string            `json:"name"`
	URL         string            `json:"url"`
	On          []webhook.Kind    `json:"on"`
	Definitions []string          `json:"definitions"`
	Labels      map[string]string `json:"labels"`
	Secrets     []string          `json:"secrets" doc:"Names."`
	Paused      bool              `json:"paused"`
	Because     *string           `json:"because" doc:"Why it is paused, if nobody asked for it."`
	By          *string           `json:"by" doc:"Who put it."`
	NodeID      string            `json:"nodeId" doc:"That tells it."`
	Waiting     int64             `json:"waiting" doc:"Letters, with up to 100 events each, that were not taken yet."`
	Failed      int64             `json:"failed" doc:"Letters that were given up."`
	Next        *webhookNextView  `json:"next" doc:"Of the letters that wait the one that is tried next; null: none waits."`
	Warnings    []problemItem     `json:"warnings" doc:"What may be a mistake, such as a definition that there is not."`
}

type webhookNextView struct {
	Since    time.Time `json:"since" doc:"When it was tried first."`
	DueAt    time.Time `json:"dueAt" doc:"When it is tried again, at the soonest."`
	Attempts int       `json:"attempts" doc:"How often it was tried again."`
	Last     *string   `json:"last" doc:"What went wrong last."`
}

type webhookLetterView struct {
	ID       string             `json:"id"`
	At       time.Time          `json:"at" doc:"Of the first attempt."`
	Attempts int                `json:"attempts"`
	Last     *string            `json:"last" doc:"What went wrong last."`
	Events   []webhookEventView `json:"events"`
}

type webhookEventView struct {
	ID           string  `json:"id" doc:"The webhook-id of its requests."`
	What         string  `json:"what" doc:"A sub-status, incident, or deadLetter."`
	Subject      string  `json:"subject" doc:"The id of the instance, or of the dead letter."`
	DefinitionID *string `json:"definitionId"`
}

type webhookAgainView struct {
	Events int `json:"events" doc:"How many."`
}

func viewWebhook(known knownDefinitions, s *webhook.Status) webhookView {
	v := webhookView{
		Name: s.Name, URL: s.URL, On: s.On, Definitions: s.Definitions, Labels: s.Labels, Secrets: s.Secrets, Paused: s.Paused,
		Because: some(s.Because), By: some(s.By), NodeID: s.Node, Waiting: s.Waiting, Failed: s.Failed,
		Warnings: []problemItem{},
	}
	if n := s.Next; n != nil {
		v.Next = &webhookNextView{n.At.UTC(), n.Due.UTC(), n.Attempts, some(n.Last)}
	}
	v.Warnings = append(v.Warnings, problemItems(known.unknown(s.Definitions))...)
	if v.Definitions == nil {
		v.Definitions = []string{}
	}
	if v.Labels == nil {
		v.Labels = map[string]string{}
	}
	return v
}

// knownDefinitions are the definitions that are published, looked up once for all webhooks of a call.
type knownDefinitions struct {
	here func() []string          // that this node knows
	now  func() ([]string, error) // that etcd has, of which this node may not know yet
}

func knownOf(ctx context.Context, a *API) knownDefinitions {
	return knownDefinitions{
		here: sync.OnceValue(func() (ids []string) {
			for _, d := range a.cfg.Catalog.Since(0).Changes {
				if !d.Deleted {
					ids = append(ids, d.ID)
				}
			}
			slices.Sort(ids)
			return ids
		}),
		now: sync.OnceValues(func() ([]string, error) { return a.cfg.Catalog.Published(ctx) }),
	}
}

// unknown tells which of the definitions that a webhook is for there are not: it tells nothing of
// them, and they may come.
func (k knownDefinitions) unknown(ids []string) (problems workflow.Problems) {
	for i, id := range ids {
		if _, ok := slices.BinarySearch(k.here(), id); ok {
			continue
		}
		published, err := k.now()
		if _, ok := slices.BinarySearch(published, id); err == nil && !ok {
			problems = append(problems, workflow.Problem{Code: "unknown-definition", Warning: true, Place: workflow.Place{Pointer: fmt.Sprintf("/definitions/%d", i)},
				Detail: fmt.Sprintf("there is no definition %s%s; nothing is told of it until there is", id, workflow.DidYouMean(id, published))})
		}
	}
	return problems
}

func listWebhooks(c *call) (reply, error) {
	all, err := c.api.cfg.Webhooks.List(c.r.Context())
	known := knownOf(c.r.Context(), c.api) // by all of them
	return reply{body: webhooksView{each(all, func(s webhook.Status) webhookView { return viewWebhook(known, &s) })}}, err
}

// webhookName is the name in the path; one that cannot be is of none.
func webhookName(c *call) (string, error) {
	name := c.r.PathValue("name")
	if err := workflow.CheckID("the name in the path", name); err != nil {
		return "", invalid("bad-id", "", err.Error())
	}
	return name, nil
}

func getWebhook(c *call) (reply, error) {
	name, err := webhookName(c)
	if err != nil {
		return reply{}, err
	}
	s, err := c.api.cfg.Webhooks.Get(c.r.Context(), name)
	if err != nil {
		return reply{}, err
	}
	return reply{body: viewWebhook(knownOf(c.r.Context(), c.api), s)}, nil
}

func putWebhook(c *call) (reply, error) {
	name, err := webhookName(c)
	if err != nil {
		return reply{}, err
	}
	var b webhookBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	d := webhook.Definition{Name: name, URL: b.URL, On: b.On, Definitions: b.Definitions, Labels: b.Labels, Secrets: b.Secrets, Paused: b.Paused}
	if who := exchangeOf(c.r).caller; who != nil {
		d.By = who.Name
	}
	c.about("webhook", name, "host", webhook.Host(b.URL))
	s, made, err := c.api.cfg.Webhooks.Put(c.r.Context(), d)
	if err != nil {
		return reply{}, err
	}
	if made {
		return reply{status: 201, body: viewWebhook(knownOf(c.r.Context(), c.api), s), location: prefix + "/webhooks/" + name}, nil
	}
	return reply{body: viewWebhook(knownOf(c.r.Context(), c.api), s)}, nil
}

func deleteWebhook(c *call) (reply, error) {
	name, err := webhookName(c)
	if err != nil {
		return reply{}, err
	}
	return reply{status: 204}, c.api.cfg.Webhooks.Delete(c.r.Context(), name)
}

func failedEvents(c *call) (reply, error) {
	name, err := webhookName(c)
	if err != nil {
		return reply{}, err
	}
	cursor, limit, err := c.page()
	if err != nil {
		return reply{}, err
	}
	letters, end, err := c.api.cfg.Webhooks.Failed(c.r.Context(), name, cursor, limit)
	if err != nil {
		return reply{}, err
	}
	v := listView[webhookLetterView]{Items: each(letters, func(l webhook.Letter) webhookLetterView {
		out := webhookLetterView{ID: l.ID, At: l.At.UTC(), Attempts: l.Attempts, Last: some(l.Last), Events: []webhookEventView{}}
		for _, e := range l.Events {
			out.Events = append(out.Events, webhookEventView{e.ID, e.What, e.Subject, some(e.DefinitionID)})
		}
		return out
	}), NextCursor: some(end.Next), Revision: end.Revision}
	return reply{body: v}, nil
}

func webhookAgain(c *call, forget bool) (reply, error) {
	name, err := webhookName(c)
	if err != nil {
		return reply{}, err
	}
	n, err := c.api.cfg.Webhooks.Again(c.r.Context(), name, forget)
	return reply{body: webhookAgainView{n}}, err
}
