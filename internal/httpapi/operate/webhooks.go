package operate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/internal/webhook"
	"github.com/weft-run/weft/pkg/workflow"
)

// webhookRoutes say who else is told. All are for admins: a webhook sends data out, and its
// URL may hold what lets others send there.
func webhookRoutes(cfg *serve.Config) []serve.Route {
	if cfg.Webhooks == nil {
		return nil
	}
	none := []workflow.Code{workflow.CodeWebhookNotFound}
	return []serve.Route{
		{Method: "GET", Path: "/webhooks", Name: "listWebhooks", Role: auth.Admin, Tag: "webhooks", Kind: serve.Reads, Costly: true, Summary: "All webhooks, and how they are",
			Answers: map[int]any{200: webhooksView{}}, Serve: listWebhooks},
		{Method: "GET", Path: "/webhooks/{name}", Name: "getWebhook", Role: auth.Admin, Tag: "webhooks", Kind: serve.Reads, Summary: "One webhook, and how it is",
			Answers: map[int]any{200: webhookView{}}, Problems: none, Serve: getWebhook},
		{Method: "PUT", Path: "/webhooks/{name}", Name: "putWebhook", Role: auth.Admin, Tag: "webhooks", Kind: serve.Changes, Summary: "Make or change a webhook: who is told, and of what, from now on",
			Body: webhookBody{}, Answers: map[int]any{200: webhookView{}, 201: webhookView{}}, Serve: putWebhook},
		{Method: "DELETE", Path: "/webhooks/{name}", Name: "deleteWebhook", Role: auth.Admin, Tag: "webhooks", Kind: serve.Changes, Summary: "Forget a webhook, with all that it has not told",
			Answers: map[int]any{204: nil}, Problems: none, Serve: deleteWebhook},
		{Method: "GET", Path: "/webhooks/{name}/failed", Name: "listFailedEvents", Role: auth.Admin, Tag: "webhooks", Kind: serve.Reads, Summary: "Events that the receiver did not take within a day",
			Query: serve.PageParams, Answers: map[int]any{200: shape.List[webhookLetterView]{}}, Problems: none, Serve: failedEvents},
		{Method: "POST", Path: "/webhooks/{name}/replay", Name: "replayWebhook", Role: auth.Admin, Tag: "webhooks", Kind: serve.Changes, Summary: "Try all that was given up again",
			Answers: map[int]any{200: webhookAgainView{}}, Problems: none, Serve: func(c *serve.Call) (serve.Reply, error) { return webhookAgain(c, false) }},
		{Method: "DELETE", Path: "/webhooks/{name}/failed", Name: "forgetFailedEvents", Role: auth.Admin, Tag: "webhooks", Kind: serve.Changes, Summary: "Forget all that was given up",
			Answers: map[int]any{200: webhookAgainView{}}, Problems: none, Serve: func(c *serve.Call) (serve.Reply, error) { return webhookAgain(c, true) }},
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
	Name        string              `json:"name"`
	URL         string              `json:"url"`
	On          []webhook.Kind      `json:"on"`
	Definitions []string            `json:"definitions"`
	Labels      map[string]string   `json:"labels"`
	Secrets     []string            `json:"secrets" doc:"Names."`
	Paused      bool                `json:"paused"`
	Because     *string             `json:"because" doc:"Why it is paused, if nobody asked for it."`
	By          *string             `json:"by" doc:"Who put it."`
	NodeID      string              `json:"nodeId" doc:"That tells it."`
	Waiting     int64               `json:"waiting" doc:"Letters, with up to 100 events each, that were not taken yet."`
	Failed      int64               `json:"failed" doc:"Letters that were given up."`
	Next        *webhookNextView    `json:"next" doc:"Of the letters that wait the one that is tried next; null: none waits."`
	Warnings    []serve.ProblemItem `json:"warnings" doc:"What may be a mistake, such as a definition that there is not."`
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
		Because: shape.Some(s.Because), By: shape.Some(s.By), NodeID: s.Node, Waiting: s.Waiting, Failed: s.Failed,
		Warnings: []serve.ProblemItem{},
	}
	if n := s.Next; n != nil {
		v.Next = &webhookNextView{n.At.UTC(), n.Due.UTC(), n.Attempts, shape.Some(n.Last)}
	}
	v.Warnings = append(v.Warnings, serve.ProblemItems(known.unknown(s.Definitions))...)
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

func knownOf(ctx context.Context, a *serve.API) knownDefinitions {
	return knownDefinitions{
		here: sync.OnceValue(func() (ids []string) {
			for _, d := range a.Config.Catalog.Since(0).Changes {
				if !d.Deleted {
					ids = append(ids, d.ID)
				}
			}
			slices.Sort(ids)
			return ids
		}),
		now: sync.OnceValues(func() ([]string, error) { return a.Config.Catalog.Published(ctx) }),
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

func listWebhooks(c *serve.Call) (serve.Reply, error) {
	all, err := c.API.Config.Webhooks.List(c.Request.Context())
	known := knownOf(c.Request.Context(), c.API) // by all of them
	return serve.Reply{Body: webhooksView{shape.Each(all, func(s webhook.Status) webhookView { return viewWebhook(known, &s) })}}, err
}

// webhookName is the name in the path; one that cannot be is of none.
func webhookName(c *serve.Call) (string, error) {
	name := c.Request.PathValue("name")
	if err := workflow.CheckID("the name in the path", name); err != nil {
		return "", serve.Invalid("bad-id", "", err.Error())
	}
	return name, nil
}

func getWebhook(c *serve.Call) (serve.Reply, error) {
	name, err := webhookName(c)
	if err != nil {
		return serve.Reply{}, err
	}
	s, err := c.API.Config.Webhooks.Get(c.Request.Context(), name)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: viewWebhook(knownOf(c.Request.Context(), c.API), s)}, nil
}

func putWebhook(c *serve.Call) (serve.Reply, error) {
	name, err := webhookName(c)
	if err != nil {
		return serve.Reply{}, err
	}
	var b webhookBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	d := webhook.Definition{Name: name, URL: b.URL, On: b.On, Definitions: b.Definitions, Labels: b.Labels, Secrets: b.Secrets, Paused: b.Paused}
	if who := serve.ExchangeOf(c.Request).Caller; who != nil {
		d.By = who.Name
	}
	c.About("webhook", name, "host", webhook.Host(b.URL))
	s, made, err := c.API.Config.Webhooks.Put(c.Request.Context(), d)
	if err != nil {
		return serve.Reply{}, err
	}
	if made {
		return serve.Reply{Status: 201, Body: viewWebhook(knownOf(c.Request.Context(), c.API), s), Location: serve.Prefix + "/webhooks/" + name}, nil
	}
	return serve.Reply{Body: viewWebhook(knownOf(c.Request.Context(), c.API), s)}, nil
}

func deleteWebhook(c *serve.Call) (serve.Reply, error) {
	name, err := webhookName(c)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Status: 204}, c.API.Config.Webhooks.Delete(c.Request.Context(), name)
}

func failedEvents(c *serve.Call) (serve.Reply, error) {
	name, err := webhookName(c)
	if err != nil {
		return serve.Reply{}, err
	}
	cursor, limit, err := c.Page()
	if err != nil {
		return serve.Reply{}, err
	}
	letters, end, err := c.API.Config.Webhooks.Failed(c.Request.Context(), name, cursor, limit)
	if err != nil {
		return serve.Reply{}, err
	}
	v := shape.List[webhookLetterView]{Items: shape.Each(letters, func(l webhook.Letter) webhookLetterView {
		out := webhookLetterView{ID: l.ID, At: l.At.UTC(), Attempts: l.Attempts, Last: shape.Some(l.Last), Events: []webhookEventView{}}
		for _, e := range l.Events {
			out.Events = append(out.Events, webhookEventView{e.ID, e.What, e.Subject, shape.Some(e.DefinitionID)})
		}
		return out
	}), NextCursor: shape.Some(end.Next), Revision: end.Revision}
	return serve.Reply{Body: v}, nil
}

func webhookAgain(c *serve.Call, forget bool) (serve.Reply, error) {
	if err := c.Decode(&struct{}{}); err != nil {
		return serve.Reply{}, err
	}
	name, err := webhookName(c)
	if err != nil {
		return serve.Reply{}, err
	}
	n, err := c.API.Config.Webhooks.Again(c.Request.Context(), name, forget)
	return serve.Reply{Body: webhookAgainView{n}}, err
}
