package record

import (
	"fmt"
	"time"
)

// A commit that adds incidents to an instance leaves a note of it, if a webhook wants to
// hear of incidents of its definition: the note is what the webhook is told of. Which webhooks
// there are no node needs to know: the transaction itself looks whether one of the keys of
// [webhookKeys.WantedOf] is there. A note lives as long as the journal entry of its commit.

// Incidents is what incidents begin with.
func (k webhookKeys) Incidents() string { return k.root + "incident/" }

// IncidentsOf is what those of a definition begin with.
func (k webhookKeys) IncidentsOf(definition string) string {
	return k.Incidents() + definition + "/"
}

// IncidentsIn is what those of an instance begin with.
func (k webhookKeys) IncidentsIn(definition, id string) string {
	return k.IncidentsOf(definition) + id + "/"
}

// Incident holds an incident.
func (k webhookKeys) Incident(definition, id string, seq int64) string {
	return fmt.Sprintf("%s%s/%s/%012d", k.Incidents(), definition, id, seq)
}

// AllWanted has a key for each webhook and definition whose incidents it is told of.
func (k webhookKeys) AllWanted() string { return k.root + "incident-wanted/" }

// WantedOf are the webhooks that are told of incidents of a definition; [AnyDefinition]: of
// all. They are put and deleted with their webhook.
func (k webhookKeys) WantedOf(definition string) string {
	return k.AllWanted() + definition + "/"
}

// Wanted says that a webhook wants the incidents of a definition.
func (k webhookKeys) Wanted(definition, webhook string) string {
	return k.WantedOf(definition) + webhook
}

// JobKeys are the keys of jobs.
type JobKeys struct{ Root string }

// Jobs is what jobs begin with.
func (k JobKeys) Jobs() string { return k.Root + "job/" }

// Job holds a job.
func (k JobKeys) Job(id string) string { return k.Jobs() + Encode(id) }

// OpenJobs is what jobs begin with that have not ended.
func (k JobKeys) OpenJobs() string { return k.Root + "job-open/" }

// signOutKeys are its keys, in the order in which they are forgotten.
type signOutKeys struct{ root string }

// SignOuts is what sessions that have ended begin with.
func (k signOutKeys) SignOuts() string { return k.root + "signed-out/" }

// SignOutsUntil is what those begin with that are forgotten then.
func (k signOutKeys) SignOutsUntil(until time.Time) string {
	return k.SignOuts() + Millis(until) + "/"
}

// SignOut says that a session has ended.
func (k signOutKeys) SignOut(until time.Time, who, session string) string {
	return k.SignOutsUntil(until) + Encode(who) + "/" + Encode(session)
}

// SignOutOfAll says that all sessions of a person from before have ended.
func (k signOutKeys) SignOutOfAll(until time.Time, who string, before time.Time) string {
	return k.SignOutsUntil(until) + Encode(who) + "/~all/" + Millis(before)
}

// webhookKeys builds the keys of webhooks.
type webhookKeys struct{ root string }

// Webhooks is what webhooks begin with.
func (k webhookKeys) Webhooks() string { return k.root + "webhook/" }

// Webhook holds a webhook.
func (k webhookKeys) Webhook(name string) string { return k.Webhooks() + name }

// WebhookAt holds how far a webhook is.
func (k webhookKeys) WebhookAt(name string) string { return k.root + "webhook-at/" + name }

// WebhookDues is what letters begin with that wait.
func (k webhookKeys) WebhookDues(name string) string { return k.root + "webhook-due/" + name + "/" }

// WebhookFails is what letters begin with that were given up.
func (k webhookKeys) WebhookFails(name string) string { return k.root + "webhook-failed/" + name + "/" }

// WebhookDue holds a letter that waits.
func (k webhookKeys) WebhookDue(name string, due time.Time, letter string) string {
	return k.WebhookDues(name) + Millis(due) + "/" + letter
}

// WebhookFailed holds a letter that was given up.
func (k webhookKeys) WebhookFailed(name, letter string) string { return k.WebhookFails(name) + letter }
