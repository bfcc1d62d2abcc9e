package shape

import (
	"time"

	"github.com/weft-run/weft/internal/catalog"
)

// Definition is a definition as a row of a list.
type Definition struct {
	ID            string     `json:"id"`
	Name          *string    `json:"name"`
	Description   *string    `json:"description"`
	Version       int        `json:"version" doc:"The published version, or the latest if none is published."`
	Published     bool       `json:"published"`
	LatestVersion int        `json:"latestVersion"`
	PublishedAt   *time.Time `json:"publishedAt"`
	UpdatedAt     time.Time  `json:"updatedAt"`
	Set           *string    `json:"set" doc:"The set of definitions that it is of, as it was last published with one; null: none."`

	Starts     []Starts `json:"starts,omitempty" doc:"With starts=true: what starts instances of it by itself, of events and endpoints the first 5 each. Absent: none, or it was not asked for."`
	Schedules  bool     `json:"schedules,omitempty" doc:"With starts=true: timers, dates or cron expressions start it; GET /timers has when."`
	MoreStarts bool     `json:"moreStarts,omitempty" doc:"With starts=true: there are others, or may be."`

	Damaged bool   `json:"damaged,omitempty" doc:"The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md."`
	Damage  string `json:"damage,omitempty" doc:"Why it cannot be read."`
}

// ViewDefinition shows a definition.
func ViewDefinition(d catalog.Summary) Definition {
	v := Definition{
		ID: d.ID, Name: Some(d.Name), Description: Some(d.Description), Version: d.Published, Published: d.Published != 0,
		LatestVersion: d.Latest, UpdatedAt: d.UpdatedAt.UTC(), Set: Some(d.Set), Damaged: d.Damaged != "", Damage: d.Damaged,
	}
	if !v.Published {
		v.Version = d.Latest
	}
	if !d.PublishedAt.IsZero() {
		v.PublishedAt = SomeTime(&d.PublishedAt)
	}
	return v
}

// Starts is what starts a definition by itself.
type Starts struct {
	ActivityID   string `json:"activityId"`
	ActivityType string `json:"activityType"`
	When         string `json:"when" doc:"The name of an event, a schedule, or a method and a path."`
}

// ViewStart shows what starts a definition.
func ViewStart(s catalog.Start) Starts { return Starts{s.ActivityID, s.ActivityType, s.When} }
