// Code generated from openapi.json by go generate ./pkg/apiclient; DO NOT EDIT.

package apiclient

import "time"

// AboutActivity is a part of other answers.
type AboutActivity struct {
	Branches  []string        `json:"branches"` // Into which activities may be put.
	CaseKeys  []string        `json:"caseKeys"` // What may be set of a case.
	Cases     []Case          `json:"cases"`
	Column    int64           `json:"column"`
	Delete    bool            `json:"delete"`
	Down      bool            `json:"down"`
	Fields    []ActivityField `json:"fields"`
	Flowchart bool            `json:"flowchart"` // It stands in one.
	ID        string          `json:"id"`
	Line      int64           `json:"line"`
	Near      []string        `json:"near"`     // The other activities of its flowchart.
	Outcomes  []string        `json:"outcomes"` // None: Done.
	Parts     []string        `json:"parts"`    // What may be added to it beside activities: case, or state and transition.
	States    []MachineState  `json:"states"`
	Type      string          `json:"type"`  // As YAML has it.
	Types     []string        `json:"types"` // What may be put beside it, as YAML has it.
	Up        bool            `json:"up"`    // It may be moved before the one above it.
	Ways      []Way           `json:"ways"`  // Where it leads, in a flowchart.
	Wraps     []string        `json:"wraps"` // What it may be wrapped in.
}

// Activities is the answer of [Client.ListActivities].
type Activities struct {
	Items   []Activity `json:"items"`   // By their types.
	Unknown int64      `json:"unknown"` // Published definitions of which this node does not know what they use: it has not looked at them yet, and does so at the next calls, or they do not say it, as an older program published them: publish those again.
}

// Activity is a part of other answers.
type Activity struct {
	AnyOutcome  bool            `json:"anyOutcome"` // Its outcomes are known only as it runs, or from what it is given.
	Branches    []string        `json:"branches"`   // Such as then, else, body.
	Description string          `json:"description"`
	Effect      bool            `json:"effect"`  // It may do something outside, so that a repetition may do it again, with the same Idempotency-Key.
	Example     string          `json:"example"` // In YAML, one item of a list; empty: there is none.
	Inputs      []ActivityInput `json:"inputs"`
	Main        string          `json:"main"`      // The input that a value stands for in YAML; empty: none.
	Name        string          `json:"name"`      // As YAML spells it.
	Outcomes    []string        `json:"outcomes"`  // Done, where it has no others; none, where they are known only as it runs.
	Outputs     []ActivityValue `json:"outputs"`   // The first one is what result takes.
	Trigger     bool            `json:"trigger"`   // With trigger: true it starts instances.
	Type        string          `json:"type"`      // As Elsa spells it.
	UsedBy      []string        `json:"usedBy"`    // The first 20 of them, by id.
	Users       int64           `json:"users"`     // How many published definitions use it, also inside of definitions that they run as activities, as far as this node knows.
	Variables   []ActivityValue `json:"variables"` // That its branches see beside those that are declared.
}

// ActivityField is a part of other answers.
type ActivityField struct {
	Description string   `json:"description,omitempty"`
	Key         bool     `json:"key"`  // A key that each activity may have, and no input.
	Line        int64    `json:"line"` // Where it is written; 0: it is not.
	Name        string   `json:"name"`
	Options     []string `json:"options,omitempty"`
	Required    bool     `json:"required"`
	Text        string   `json:"text"` // What it is, as fieldText of an edit takes it.
	Type        string   `json:"type"`
}

// ActivityInput is a part of other answers.
type ActivityInput struct {
	Default     any      `json:"default"` // null: none.
	Description string   `json:"description"`
	Name        string   `json:"name"`
	Options     []string `json:"options"` // All that it may be; none: anything of its type.
	Required    bool     `json:"required"`
	Sensitive   bool     `json:"sensitive"` // It never reaches the journal.
	Type        string   `json:"type"`
}

// ActivityValue is a part of other answers.
type ActivityValue struct {
	Description string `json:"description"`
	Name        string `json:"name"`
	Type        string `json:"type"`
}

// AllMeters is the answer of [Client.ListMeters].
type AllMeters struct {
	Items   []Meters `json:"items"`
	Unasked []string `json:"unasked"` // Live nodes that did not answer; what they do is not known.
}

// AlterRequest is the body of [Client.AlterInstance]. Zero fields are left out.
type AlterRequest struct {
	Alterations []AlterationRequest `json:"alterations,omitempty"` // Made in this order and in one commit, all or none; up to 100.
	Reason      string              `json:"reason,omitempty"`      // Why, for the journal.
}

// AlterationEntry is a part of other answers.
type AlterationEntry struct {
	EventName *string   `json:"eventName"` // The code of what is wrong.
	LogLevel  string    `json:"logLevel"`  // One of Information, Warning, Error.
	Message   string    `json:"message"`
	Timestamp time.Time `json:"timestamp"`
}

// AlterationLog is a part of other answers.
type AlterationLog struct {
	LogEntries []AlterationEntry `json:"logEntries"`
}

// AlterationPlan is the answer of [Client.DispatchAlterations], [Client.SubmitAlterations].
type AlterationPlan struct {
	PlanID string `json:"planId"` // The id of the job: GET /jobs/{id} tells how far it is.
}

// AlterationRequest is a part of other bodies. Zero fields are left out.
type AlterationRequest struct {
	Activities map[string]string `json:"activities,omitempty"` // migrate: for activities that have another id in that version, from the old one to the new one.
	Activity   string            `json:"activity,omitempty"`   // Id of the activity; of setVariable: whose scope has the variable. Absent: what faulted (retry), the instance (cancel), the only one there is.
	Again      bool              `json:"again,omitempty"`      // retry: also if a branch that ran since the call failed (onGiveUp, onTimeout, an outcome) may have undone what it did.
	Bookmark   string            `json:"bookmark,omitempty"`   // reschedule: id of the timer's bookmark; needed if several fit.
	DueAt      *time.Time        `json:"dueAt,omitempty"`      // reschedule: when the timer is due.
	Execution  int64             `json:"execution,omitempty"`  // Which execution of the activity, as the journal numbers them; needed if several run.
	KeepKey    *bool             `json:"keepKey,omitempty"`    // retry: whether the call is made with the idempotency key of the call before; true if absent.
	Outcomes   []string          `json:"outcomes,omitempty"`   // skip: what the activity completes with; Done if absent.
	Type       string            `json:"type,omitempty"`       // One of retry, skip, setVariable, migrate, reschedule, cancel.
	Value      any               `json:"value,omitempty"`      // setVariable: any value; null clears it.
	Variable   string            `json:"variable,omitempty"`   // setVariable: name or id.
	Version    int64             `json:"version,omitempty"`    // migrate: the version of the definition to go on with.
}

// AlterationResult is a part of other answers.
type AlterationResult struct {
	IsSuccessful             bool          `json:"isSuccessful"`
	Log                      AlterationLog `json:"log"`
	WorkflowHasScheduledWork bool          `json:"workflowHasScheduledWork"` // It goes on by itself.
	WorkflowInstanceID       string        `json:"workflowInstanceId"`
}

// AlterationResults is the answer of [Client.RetryWorkflows], [Client.RunAlterations].
type AlterationResults struct {
	Results []AlterationResult `json:"results"`
}

// Altered is the answer of [Client.AlterInstance].
type Altered struct {
	BasedOn      int64         `json:"basedOn"`        // The sequence number of the commit that was looked at: a later one may fit no more.
	Code         string        `json:"code,omitempty"` // Why not, if the instance is not in a state for it.
	DefinitionID string        `json:"definitionId"`
	Did          []string      `json:"did"`    // A sentence for each change.
	Errors       []ProblemItem `json:"errors"` // Each thing that does not fit, with its place.
	Fits         bool          `json:"fits"`   // Whether they would be made.
	InstanceID   string        `json:"instanceId"`
	Next         []string      `json:"next"`      // Ids of the activities that would run then.
	SubStatus    string        `json:"subStatus"` // Before the next activities run.
	Version      int64         `json:"version"`   // Of the definition, afterwards.
}

// AssignUserRequest is the body of [Client.AssignUserTask], [Client.DelegateUserTask]. Zero fields are left out.
type AssignUserRequest struct {
	Reason   string `json:"reason,omitempty"`   // Why, for the journal: up to 2 KiB.
	Revision int64  `json:"revision,omitempty"` // Of the task; any, if it is absent.
	To       string `json:"to,omitempty"`       // A person, as candidateUsers name one: anna, key:anna or oidc:anna.
}

// Audit is the answer of [Client.ListAudit].
type Audit struct {
	Items   []AuditLine `json:"items"`   // 500 at most.
	More    bool        `json:"more"`    // Others that are remembered fit too.
	Nodes   []AuditNode `json:"nodes"`   // Those that were asked.
	Unasked []string    `json:"unasked"` // Live nodes that did not answer.
}

// AuditLine is a part of other answers.
type AuditLine struct {
	Code       string    `json:"code"`
	Location   string    `json:"location"`
	Method     string    `json:"method"`
	NodeID     string    `json:"nodeId"` // The node whose line it is.
	Operation  string    `json:"operation"`
	RelayedBy  string    `json:"relayedBy"`
	Remote     string    `json:"remote"`
	RequestID  string    `json:"requestId"`
	Result     string    `json:"result"` // One of done, accepted, checked, denied, failed.
	Role       string    `json:"role"`
	Route      string    `json:"route"`
	Status     int64     `json:"status"`
	Suppressed int64     `json:"suppressed"`
	Target     string    `json:"target"`
	Time       time.Time `json:"time"` // By its clock.
	Via        string    `json:"via"`
	Who        string    `json:"who"` // key: and the name of an API key, oidc: and the subject of a token, anyone, or unknown.
}

// AuditNode is a part of other answers.
type AuditNode struct {
	From   *time.Time `json:"from"` // The oldest line that it remembers; null: none yet.
	Kept   bool       `json:"kept"` // false: it keeps no audit log, as it has neither credentials nor a file for one.
	NodeID string     `json:"nodeId"`
}

// Awaiting is a part of other answers.
type Awaiting struct {
	ActivityType  *string    `json:"activityType"`
	BookmarkID    string     `json:"bookmarkId"` // Empty where the record of the instance cannot be read.
	CorrelationID *string    `json:"correlationId"`
	Damage        string     `json:"damage,omitempty"`  // Why it cannot be read.
	Damaged       bool       `json:"damaged,omitempty"` // The record cannot be read by any node: what is shown is what its key says.
	InstanceID    string     `json:"instanceId"`
	Name          *string    `json:"name"`
	Since         *time.Time `json:"since"`
}

// Balance is the answer of [Client.GetBalance].
type Balance struct {
	Accepted      int64     `json:"accepted"` // What was accepted durably since then, and what was there at that time; a stimulus once for each place that it is for.
	Applied       int64     `json:"applied"`  // An instance has dealt with it.
	At            time.Time `json:"at"`
	Because       string    `json:"because"` // Why it does not go back further.
	DeadLetters   int64     `json:"deadLetters"`
	Deleted       int64     `json:"deleted"`    // Dead letters that somebody or retention deleted.
	Difference    int64     `json:"difference"` // accepted less all of these. 0, unless something vanished.
	Mailboxes     int64     `json:"mailboxes"`  // Commands that wait.
	Missing       []Lost    `json:"missing"`    // What makes the difference, the first 100.
	NodeID        string    `json:"nodeId"`     // The node that counted last.
	Queue         int64     `json:"queue"`
	Refused       int64     `json:"refused"`  // It had no effect, and its record said why.
	Revision      int64     `json:"revision"` // Revision of etcd up to which it is counted.
	Sends         int64     `json:"sends"`    // Stimuli whose targets are not resolved, or not all served.
	SetAside      int64     `json:"setAside"` // What weft fsck --repair has set aside.
	Since         time.Time `json:"since"`
	SinceRevision int64     `json:"sinceRevision"`
}

// Bookmark is a part of other answers.
type Bookmark struct {
	ActivityID      string     `json:"activityId"`
	ActivityType    string     `json:"activityType"`
	BookmarkID      string     `json:"bookmarkId"`
	ChildInstanceID string     `json:"childInstanceId,omitempty"` // The instance whose end resumes it.
	DueAt           *time.Time `json:"dueAt,omitempty"`           // When a timer resumes it.
	Name            *string    `json:"name"`
	Retry           *Retry     `json:"retry,omitempty"` // It is a pause between two attempts.
}

// Bookmarks is the answer of [Client.ListBookmarks].
type Bookmarks struct {
	Items      []Awaiting `json:"items"`
	Looked     int64      `json:"looked"`     // How many were looked at for the page; at about 20,000 it ends.
	NextCursor *string    `json:"nextCursor"` // Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one.
	Revision   int64      `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// Brought is a part of other answers.
type Brought struct {
	Effect      *Effect `json:"effect"`      // What it would do if it were sent now: with others, who wait for the same with another correlation. Null if it is no stimulus.
	Input       any     `json:"input"`       // What it brings; null for a viewer.
	InputHidden bool    `json:"inputHidden"` // The caller's role may not see it.
}

// Burst is a part of other answers.
type Burst struct {
	Doing      *Doing `json:"doing"` // The activity that it is in; null: it is loaded or committed, or came to none yet.
	InstanceID string `json:"instanceId"`
}

// Bursts is the answer of [Client.ListBursts].
type Bursts struct {
	Items  []Burst `json:"items"` // Those first whose activity has run for the longest; 500 at most.
	More   int64   `json:"more"`  // How many more there are.
	NodeID string  `json:"nodeId"`
}

// Caller is the answer of [Client.Whoami].
type Caller struct {
	By        string     `json:"by"`        // One of key, token, session, nothing. What the caller is known by: an API key, a token of the provider, a session of the console; nothing, where no credentials are asked for.
	ExpiresAt *time.Time `json:"expiresAt"` // When that ends by itself, a session at the latest then; null: never.
	Groups    []string   `json:"groups"`    // The values of the token's role claim, or the groups of the API key: policies of HTTP endpoints and user tasks name them.
	Name      *string    `json:"name"`      // key: and the name of an API key, or oidc: and the subject of a token; null: this cluster asks for no credentials.
	Role      string     `json:"role"`      // One of business, viewer, operator, designer, admin. What the caller may do; each may do what those before it may.
}

// CancelUserRequest is the body of [Client.CancelUserTask]. Zero fields are left out.
type CancelUserRequest struct {
	Reason   string `json:"reason,omitempty"`   // Why: up to 2 KiB.
	Revision int64  `json:"revision,omitempty"` // Of the task; any, if it is absent.
}

// Case is a part of other answers.
type Case struct {
	Branch string `json:"branch"` // Into which activities may be put; empty: into none.
	Label  string `json:"label"`
	Line   int64  `json:"line"`
	When   string `json:"when"` // As fieldText of an edit takes it.
}

// Checked is the answer of [Client.CheckDefinition].
type Checked struct {
	ID       string        `json:"id"`                // Empty if it cannot be told.
	Picture  string        `json:"picture,omitempty"` // SVG without a style sheet, of what can be read.
	Problems []ProblemItem `json:"problems"`          // Errors, and warnings, which are in the way of nothing.
	Version  int64         `json:"version"`           // It would have if it were published; 0: it cannot be as it is.
}

// Claim is a part of other answers.
type Claim struct {
	Draining bool       `json:"draining"`
	Fence    int64      `json:"fence"` // Create revision of its key in etcd; 0: it works without the lock.
	Gone     bool       `json:"gone"`  // No live node has that session: the lock ends with it.
	NodeID   string     `json:"nodeId"`
	Self     bool       `json:"self"`  // Whether it is the node that answers.
	Since    *time.Time `json:"since"` // By its own clock.
}

// ClaimRequest is the body of [Client.ClaimTasks]. Zero fields are left out.
type ClaimRequest struct {
	Lease  string   `json:"lease,omitempty"`  // For how long the tasks are the worker's unless it says more, 1s to 24h; 30s if absent.
	Max    *int64   `json:"max,omitempty"`    // How many tasks at most, 1 to 100; 1 if absent.
	Names  []string `json:"names,omitempty"`  // Of tasks, 1 to 20.
	Wait   string   `json:"wait,omitempty"`   // How long the answer may wait for the first task, up to 60s; not at all if absent.
	Worker string   `json:"worker,omitempty"` // Who asks, for people: up to 256 bytes.
}

// Claimed is the answer of [Client.ClaimTasks].
type Claimed struct {
	Items []ClaimedTask `json:"items"`
}

// ClaimedTask is a part of other answers.
type ClaimedTask struct {
	Attempt      int64     `json:"attempt"` // From 1.
	Claim        string    `json:"claim"`   // Names this claim in heartbeat, complete, fail and release.
	CreatedAt    time.Time `json:"createdAt"`
	DefinitionID string    `json:"definitionId"`
	InstanceID   string    `json:"instanceId"`
	LeaseUntil   time.Time `json:"leaseUntil"` // Then another worker gets it, unless a heartbeat came before.
	Name         string    `json:"name"`
	Payload      any       `json:"payload,omitempty"`
	Retried      bool      `json:"retried,omitempty"` // The activity has a retry, which counts the attempts: leave it to that whether another one follows a failure.
	TaskID       string    `json:"taskId"`
}

// CommentUserRequest is the body of [Client.CommentUserTask]. Zero fields are left out.
type CommentUserRequest struct {
	Text string `json:"text,omitempty"` // Up to 2 KiB; a task has up to 50 comments.
}

// Commit is a part of other answers.
type Commit struct {
	Began     *time.Time `json:"began"`    // The time of its first item.
	Closed    []int64    `json:"closed"`   // The executions whose scopes were open at the commit before, and ended; 0 is the workflow.
	Commands  []string   `json:"commands"` // What it consumed.
	Commit    int64      `json:"commit"`   // From 1 within the instance.
	Ended     *time.Time `json:"ended"`    // When it was sent.
	Fence     int64      `json:"fence"`    // Which holding of the instance's lock it was made under; a later one is larger. 0: without a lock.
	ID        string     `json:"id"`
	Imported  bool       `json:"imported"`           // An import replaced all variables: none of before is left.
	Node      *string    `json:"node"`               // Which node made it.
	Takeover  bool       `json:"takeover,omitempty"` // It repeated a command that another process had begun, or had left.
	Unlisted  int64      `json:"unlisted"`           // How many more it set.
	Variables []Variable `json:"variables"`          // Those that it set.
}

// CompleteUserRequest is the body of [Client.CompleteUserTask]. Zero fields are left out.
type CompleteUserRequest struct {
	Data     map[string]any `json:"data,omitempty"`     // The fields of the task's form, if it has one.
	Outcome  string         `json:"outcome,omitempty"`  // The key of one of the task's outcomes.
	Revision int64          `json:"revision,omitempty"` // Of the task as it was shown, claimed or free: it counts only while that is so. Any, if it is absent.
}

// Count is a part of other answers.
type Count struct {
	Count int64 `json:"count"`
	Exact bool  `json:"exact"` // false: so many at least.
}

// Crash is a part of other answers.
type Crash struct {
	Calls  int64    `json:"calls"`  // To the outside, that it makes.
	Left   int64    `json:"left"`   // Failures that were left out, as they are too many.
	Notes  []string `json:"notes"`  // What is to be known, such as calls that may be made again with the same key.
	Points int64    `json:"points"` // At which a node may fail.
	Runs   int64    `json:"runs"`   // Each with one failure.
}

// DeadLetter is a part of other answers.
type DeadLetter struct {
	ActivityType  string    `json:"activityType,omitempty"`
	Command       string    `json:"command,omitempty"` // Kind of the command, if it was one.
	CorrelationID *string   `json:"correlationId"`     // That the stimulus came with.
	CreatedAt     time.Time `json:"createdAt"`
	Damage        string    `json:"damage,omitempty"`  // Why it cannot be read.
	Damaged       bool      `json:"damaged,omitempty"` // The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
	Detail        string    `json:"detail,omitempty"`
	DroppedBytes  int64     `json:"droppedBytes,omitempty"`  // What it brought was too large to be kept: the size of the whole as JSON. It cannot be replayed.
	DroppedSHA256 string    `json:"droppedSha256,omitempty"` // The SHA-256 of that, in hexadecimal.
	ID            string    `json:"id"`
	InstanceID    *string   `json:"instanceId"`
	Name          string    `json:"name,omitempty"` // Of the event.
	Reason        string    `json:"reason"`
	Stimulus      any       `json:"stimulus,omitempty"`
}

// DeadLetterList is the answer of [Client.ListDeadLetters].
type DeadLetterList struct {
	Items      []DeadLetter `json:"items"`
	NextCursor *string      `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64        `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// Declared is a part of other answers.
type Declared struct {
	Default     any    `json:"default,omitempty"`
	Description string `json:"description,omitempty"`
	List        bool   `json:"list"`
	Name        string `json:"name"`
	Required    bool   `json:"required"`
	Type        string `json:"type"` // Such as String, Int32, Object.
}

// Definition is a part of other answers.
type Definition struct {
	Damage        string     `json:"damage,omitempty"`  // Why it cannot be read.
	Damaged       bool       `json:"damaged,omitempty"` // The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
	Description   *string    `json:"description"`
	ID            string     `json:"id"`
	LatestVersion int64      `json:"latestVersion"`
	MoreStarts    bool       `json:"moreStarts,omitempty"` // With starts=true: there are others, or may be.
	Name          *string    `json:"name"`
	Published     bool       `json:"published"`
	PublishedAt   *time.Time `json:"publishedAt"`
	Schedules     bool       `json:"schedules,omitempty"` // With starts=true: timers, dates or cron expressions start it; GET /timers has when.
	Set           *string    `json:"set"`                 // The set of definitions that it is of, as it was last published with one; null: none.
	Starts        []Starts   `json:"starts,omitempty"`    // With starts=true: what starts instances of it by itself, of events and endpoints the first 5 each. Absent: none, or it was not asked for.
	UpdatedAt     time.Time  `json:"updatedAt"`
	Version       int64      `json:"version"` // The published version, or the latest if none is published.
}

// DefinitionList is the answer of [Client.ListDefinitions].
type DefinitionList struct {
	Items      []Definition `json:"items"`
	NextCursor *string      `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64        `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// Dispatched is the answer of [Client.DeleteInstance], [Client.DispatchDefinition], [Client.FireSchedule].
type Dispatched struct {
	InstanceID string `json:"instanceId"`
}

// Doing is a part of other answers.
type Doing struct {
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Attempt      *int64    `json:"attempt"` // Which attempt of its work the activity makes, from 1; null: it does not tell.
	Beside       []string  `json:"beside"`  // The ids of the activities whose calls are in flight beside it, the oldest first; it is the oldest of all.
	Outside      bool      `json:"outside"` // It may wait for the outside, and a cancel interrupts it; otherwise a cancel waits for its end.
	Since        time.Time `json:"since"`   // By the clock of its node.
}

// EditRequest is the body of [Client.ReplayDeadLetter], [Client.SendQueueItem]. Zero fields are left out.
type EditRequest struct {
	CorrelationID *string        `json:"correlationId,omitempty"` // Another one; "": none.
	Input         map[string]any `json:"input,omitempty"`         // In the place of what the stimulus brings, of any type.
	InstanceID    *string        `json:"instanceId,omitempty"`    // Send it to this instance only; "": to all who wait for it.
	Name          *string        `json:"name,omitempty"`          // Another name of the event.
	Payload       any            `json:"payload,omitempty"`       // Another payload of the event.
}

// Effect is the answer of [Client.ExplainEvent], [Client.ReplayDeadLetter], [Client.SendEvent], [Client.SendQueueItem].
type Effect struct {
	More     bool        `json:"more"`     // It meets more than 10,000, and would be refused.
	Others   []Place     `json:"others"`   // Where it meets nothing: instances that wait for the same with another correlation; 10 at most.
	Queued   bool        `json:"queued"`   // It meets nothing, and would wait in the queue.
	Recent   []SentEvent `json:"recent"`   // Events of this name, or nearly so, of the last hour that nodes remember, the newest first; 10 at most. No node remembers more than 10,000, and none what was before its start.
	Refused  *Refused    `json:"refused"`  // Why it would be refused if it were sent now: its instance is not there, has ended or is damaged, the cluster is paused, etcd is too full, it meets too many, or it meets one definition only, and the gate of that is held. Null: it would be taken.
	Resumed  int64       `json:"resumed"`  // How many it would resume in all.
	Resumes  []Place     `json:"resumes"`  // Instances that it would resume; 100 at most.
	Revision int64       `json:"revision"` // Of etcd, at which this was so.
	Started  int64       `json:"started"`  // How many it would start in all, also those whose gate is held.
	Starts   []Trigger   `json:"starts"`   // Definitions that it would start, unless an instance holds the gate of the activation strategy (holder); 100 at most.
}

// ElsaAlterationRequest is a part of other bodies. Zero fields are left out.
type ElsaAlterationRequest struct {
	ActivityID         string `json:"activityId,omitempty"`         // CancelActivity, ScheduleActivity: id of the activity.
	ActivityInstanceID string `json:"activityInstanceId,omitempty"` // CancelActivity, ScheduleActivity: the number of its execution in the journal, as text; needed if several run.
	TargetVersion      int64  `json:"targetVersion,omitempty"`      // Migrate: the version of the definition to go on with.
	Type               string `json:"type,omitempty"`               // One of Cancel, CancelActivity, Migrate, ModifyVariable, ScheduleActivity.
	Value              any    `json:"value,omitempty"`              // ModifyVariable: any value; null clears it.
	VariableID         string `json:"variableId,omitempty"`         // ModifyVariable: id or name.
}

// ElsaFilterRequest is a part of other bodies. Zero fields are left out.
type ElsaFilterRequest struct {
	CorrelationIds        []string `json:"correlationIds,omitempty"`        // One.
	DefinitionIds         []string `json:"definitionIds,omitempty"`         // One.
	EmptyFilterSelectsAll bool     `json:"emptyFilterSelectsAll,omitempty"` // Needed where nothing else is given.
	HasIncidents          bool     `json:"hasIncidents,omitempty"`          // Only those that have some.
	Names                 []string `json:"names,omitempty"`                 // One.
	Statuses              []string `json:"statuses,omitempty"`              // One: Running or Finished.
	SubStatuses           []string `json:"subStatuses,omitempty"`           // One, such as Faulted.
	WorkflowInstanceIds   []string `json:"workflowInstanceIds,omitempty"`   // Up to 100.
}

// Etcd is the answer of [Client.GetEtcd].
type Etcd struct {
	At       time.Time `json:"at"`       // By its clock.
	Members  []Member  `json:"members"`  // Those that the node knows, by --etcd-endpoints.
	NodeID   string    `json:"nodeId"`   // The node that asked.
	Seconds  *float64  `json:"seconds"`  // That a read took which most members confirm; null: it was not answered within 2 s.
	State    string    `json:"state"`    // One of ok, degraded, down. degraded: it works, and something is wrong that may stop it. down: it does not answer, or takes no writes.
	Troubles []Trouble `json:"troubles"` // What is wrong, the worst first.
}

// EtcdMember is a part of other answers.
type EtcdMember struct {
	Address          string  `json:"address"` // Of the endpoint.
	Answers          bool    `json:"answers"` // It was asked a moment ago, and answered.
	Leader           bool    `json:"leader"`
	RoundTripSeconds float64 `json:"roundTripSeconds"` // Of its last answer; 0: there was none.
	TakesCalls       bool    `json:"takesCalls"`       // The node's requests go to it.
	Version          string  `json:"version"`          // Of etcd; empty: it did not tell.
	Why              string  `json:"why"`              // It does not answer, or takes no calls; empty: it does both.
}

// EventRequest is the body of [Client.SendEvent]. Zero fields are left out.
type EventRequest struct {
	CorrelationID string `json:"correlationId,omitempty"`
	InstanceID    string `json:"instanceId,omitempty"` // Only this instance.
	Payload       any    `json:"payload,omitempty"`    // Becomes the result of the Event activity.
}

// Explanation is the answer of [Client.ExplainInstance].
type Explanation struct {
	At            time.Time   `json:"at"`            // By the clock of the node that answers.
	Cause         string      `json:"cause"`         // One of event, timer, retry, child, task, endpoint, stimulus, other-correlation, other-instance, other-name, dead-letter, went-elsewhere, faulted-child, lost-child, late-timer, clock, paused, full, drain, gate, fault, damaged, activity, running, lock, gone, mail, ended, nothing. Why, in one word: that of the first reason, or of what keeps it from coming about.
	Doing         *Doing      `json:"doing"`         // The activity that the owner is in; null: none at the moment, or it could not be asked.
	Gate          *Gate       `json:"gate"`          // Of its activation strategy, which lets one instance run at a time: it holds it, or its start waits until it is free.
	History       *History    `json:"history"`       // Who made its last 100 commits: the last 10 rows, and the last 10 refusals. GET /instances/{id}/owners has more.
	Incidents     []Open      `json:"incidents"`     // The newest 5, those first that are open.
	IncidentsLeft int64       `json:"incidentsLeft"` // How many more there are.
	InstanceID    string      `json:"instanceId"`
	LastCommit    *LastCommit `json:"lastCommit"`
	Mail          []Mail      `json:"mail"`        // Commands that wait to be run, the oldest first; 50 at most.
	MailLeft      int64       `json:"mailLeft"`    // How many more there are.
	NearMisses    []NearMiss  `json:"nearMisses"`  // Stimuli that are nearly what it waits for, 10 at most, those first that were likely meant for it: of the newest 200 of the queue and of the dead letters, and of the events that nodes remember of the last hour; up to 5 that met others.
	Next          []string    `json:"next"`        // What a person can do, the most likely first. Paths are below /api/v1.
	Owner         *Claim      `json:"owner"`       // The node that has the instance's lock; null: nobody runs it.
	Reasons       []Reason    `json:"reasons"`     // The first is the one that the summary begins with.
	ReasonsLeft   int64       `json:"reasonsLeft"` // At how many more places it waits: reasons has 100 of them.
	Revision      int64       `json:"revision"`    // Of etcd, at which record, mailbox, lock and reasons were read.
	State         string      `json:"state"`       // One of running, queued, waiting, finished, faulted, stuck, damaged. stuck: nothing that is known will move it.
	Summary       string      `json:"summary"`     // One sentence, for people.
	Waiters       []Claim     `json:"waiters"`     // Nodes that want its lock, in the order in which they get it.
}

// Fate is a part of other answers.
type Fate struct {
	Code           *string     `json:"code"`           // Why it was refused.
	CommandID      string      `json:"commandId"`      // As the journal's commits name it.
	Commit         *FateCommit `json:"commit"`         // The journal entry in which it took effect; null: none, or it is not kept any more.
	DeadLetter     *string     `json:"deadLetter"`     // Id of the dead letter that it became.
	DeadLetterGone bool        `json:"deadLetterGone"` // It was replayed or deleted since.
	Detail         *string     `json:"detail"`
	InstanceID     *string     `json:"instanceId"`
	Item           *string     `json:"item"`    // Its id in the queue or the outbox.
	Outcome        string      `json:"outcome"` // One of started, resumed, applied, accepted, refused, requeued, gone, dropped.
	State          string      `json:"state"`   // One of applied, refused, mailbox, sending, queued, requeued, dead-letter, dropped, unknown. mailbox, sending and queued: accepted, and still there. requeued: its place was gone, and it went on as item. unknown: nothing that is kept says it.
}

// FateCommit is a part of other answers.
type FateCommit struct {
	At       *time.Time `json:"at"`
	Fence    int64      `json:"fence"` // Of the lock that it was made under; 0: none.
	NodeID   *string    `json:"nodeId"`
	Sequence int64      `json:"sequence"`
}

// Filling is the answer of [Client.GetStore].
type Filling struct {
	Bytes       int64               `json:"bytes"`       // Of all keys and values of the cluster. What else is in use is what etcd keeps of before its last compaction, its own, and what others keep there.
	Definitions []FillingDefinition `json:"definitions"` // What the instances of each take that were read: records, parts, journals, mail, entries in lists.
	Growth      *FillingGrowth      `json:"growth"`      // null: this node has not looked for ten minutes yet.
	Kinds       []FillingKind       `json:"kinds"`       // The largest first.
	Largest     []FillingInstance   `json:"largest"`     // The largest instances of those that were read, 20 at most.
	Revision    int64               `json:"revision"`    // Of etcd: all is as it was then.
	Store       StoreMeter          `json:"store"`       // How full etcd is, as the node that answers knows it.
	TookSeconds float64             `json:"tookSeconds"`
	Whole       bool                `json:"whole"` // All was read. False: within 8 seconds or 256 MiB only some was, and what is estimated says by how much it may be wrong.
}

// FillingDefinition is a part of other answers.
type FillingDefinition struct {
	Bytes        int64  `json:"bytes"`
	DefinitionID string `json:"definitionId"`
	Instances    int64  `json:"instances"`
}

// FillingGrowth is a part of other answers.
type FillingGrowth struct {
	BytesADay   float64  `json:"bytesADay"`   // Of what is in use; below 0 it shrinks.
	DaysLeft    *float64 `json:"daysLeft"`    // Until starts are refused, if it goes on so; null: it does not grow, or they are refused already.
	OverSeconds float64  `json:"overSeconds"` // For how long this was seen: since the start of the node, and a day at most.
}

// FillingInstance is a part of other answers.
type FillingInstance struct {
	Bytes        int64  `json:"bytes"`
	DefinitionID string `json:"definitionId"`
	InstanceID   string `json:"instanceId"`
	Keys         int64  `json:"keys"`
}

// FillingKind is a part of other answers.
type FillingKind struct {
	Bytes int64  `json:"bytes"`
	Keys  int64  `json:"keys"`
	Kind  string `json:"kind"`
	Off   int64  `json:"off"` // By how many bytes that may be wrong, either way (two standard errors, if what was not read is like what was). 0: all was read.
}

// Gaps is a part of other answers.
type Gaps struct {
	Before     int64 `json:"before"`     // What was set last by a commit before this one is not known, as the journal no longer has it, or is too long to be read at once; 0: none is missing.
	More       int64 `json:"more"`       // So many variables are left out, as there are more than 5,000.
	Unlisted   int64 `json:"unlisted"`   // So many that were set are not told by name.
	Unreadable int64 `json:"unreadable"` // So many commits cannot be read.
}

// Gate is a part of other answers.
type Gate struct {
	Behind        int64   `json:"behind"`        // Starts that wait until it has ended.
	CorrelationID *string `json:"correlationId"` // One instance with it runs; null: with any, or none.
	DefinitionID  *string `json:"definitionId"`  // One instance of it runs; null: of any definition.
	Holder        *string `json:"holder"`        // The instance that runs.
	Item          *string `json:"item"`          // The queue item that waits to start this instance; null: the instance is there.
}

// Health is the answer of [Client.Live], [Client.Ready].
type Health struct {
	NodeID   string `json:"nodeId"`
	Shedding bool   `json:"shedding,omitempty"` // Whether requests were refused in the last 10 seconds for want of places, memory or connections; see weft_shed_total.
	Status   string `json:"status"`
}

// Heard is the answer of [Client.HeartbeatTask].
type Heard struct {
	LeaseUntil *time.Time `json:"leaseUntil,omitempty"`
	Reason     string     `json:"reason,omitempty"` // Why.
	Stop       bool       `json:"stop"`             // Nobody waits for the task any more: what the worker does is in vain.
}

// HeartbeatRequest is the body of [Client.HeartbeatTask]. Zero fields are left out.
type HeartbeatRequest struct {
	Claim    string   `json:"claim,omitempty"`    // As POST /tasks/claim gave it.
	Progress *float64 `json:"progress,omitempty"` // Percent, 0 to 100; as it was if absent.
	Text     string   `json:"text,omitempty"`     // What the worker does, for people: up to 1024 bytes; as it was if absent.
}

// History is a part of other answers.
type History struct {
	Before   int64        `json:"before"`   // Commits before this one are not told; 0: all are that the journal has.
	First    int64        `json:"first"`    // The oldest commit that the journal still has.
	Last     int64        `json:"last"`     // The newest commit.
	Periods  []Period     `json:"periods"`  // Rows of commits that one node made without a takeover in between, the oldest first.
	Refusals []OwnRefusal `json:"refusals"` // Commits that a fence refused, as another node had the instance by then, the oldest first; of those that live nodes remember.
	Unasked  []string     `json:"unasked"`  // Live nodes that could not be asked for refusals.
}

// Hot is a part of other answers.
type Hot struct {
	InstanceID string  `json:"instanceId"`
	PerSecond  float64 `json:"perSecond"` // Commits, of the last 10 s or so.
}

// Incident is a part of other answers.
type Incident struct {
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Cause        string    `json:"cause,omitempty"`
	Expression   string    `json:"expression,omitempty"` // The input that failed, with its language.
	Final        bool      `json:"final,omitempty"`      // The definition says that the instance has failed for good: a retry is refused unless it says again.
	Message      string    `json:"message"`
	Time         time.Time `json:"time"`
}

// Instance is the answer of [Client.AlterInstance], [Client.CancelInstance], [Client.ExecuteDefinition], [Client.GetInstance], [Client.RetryInstance].
type Instance struct {
	Archived         bool              `json:"archived,omitempty"` // It has left etcd, and the archive told it. See docs/operations/archive.md.
	Bookmarks        []Bookmark        `json:"bookmarks"`
	CorrelationID    *string           `json:"correlationId"`
	CreatedAt        time.Time         `json:"createdAt"`
	Damage           string            `json:"damage,omitempty"`  // Why it cannot be read.
	Damaged          bool              `json:"damaged,omitempty"` // The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
	DefinitionID     string            `json:"definitionId"`
	FinishedAt       *time.Time        `json:"finishedAt"`
	Incidents        []Incident        `json:"incidents"`
	Input            map[string]any    `json:"input"`
	InstanceID       string            `json:"instanceId"`
	Interrupted      string            `json:"interrupted,omitempty"`   // In the answer to a cancel: the activity whose call to the outside it ended. Absent: none was under way, or it is not known yet.
	Labels           map[string]string `json:"labels"`                  // By which it is found; none: {}.
	MoreBookmarks    int64             `json:"moreBookmarks,omitempty"` // In the answer to a command for an instance that waits at thousands of places: at how many more than are listed. GET lists all.
	Name             *string           `json:"name"`
	NotYet           string            `json:"notYet,omitempty"` // In the 202 of a cancel: what the instance is at, and whether that was told to end. Absent: it is not known.
	Output           map[string]any    `json:"output"`
	ParentInstanceID *string           `json:"parentInstanceId"`
	Status           string            `json:"status"`    // One of Running, Finished. Empty only of a damaged instance.
	SubStatus        string            `json:"subStatus"` // One of Pending, Executing, Suspended, Finished, Cancelled, Faulted.
	UpdatedAt        time.Time         `json:"updatedAt"`
	Version          int64             `json:"version"`
}

// InstanceFound is the answer of [Client.ListInstances].
type InstanceFound struct {
	Items      []Instance `json:"items"`
	Looked     int64      `json:"looked"`     // How many instances were looked at for the page; at 20,000 it ends.
	NextCursor *string    `json:"nextCursor"` // Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one.
	Now        time.Time  `json:"now"`        // What durations in the filter count from, on every page of the list.
	Query      string     `json:"query"`      // The filter as one line, as q takes it.
	Revision   int64      `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// Interface is the answer of [Client.GetInterface].
type Interface struct {
	Description   *string    `json:"description"`
	ID            string     `json:"id"`
	Inputs        []Declared `json:"inputs"`
	LatestVersion int64      `json:"latestVersion"`
	MoreInputs    bool       `json:"moreInputs"` // A start may bring inputs that are not declared.
	Name          *string    `json:"name"`
	Outcomes      []string   `json:"outcomes"` // None: Done.
	Outputs       []Declared `json:"outputs"`
	Published     int64      `json:"published"` // The published version; 0: none.
	Starts        []Starts   `json:"starts"`    // What starts an instance by itself.
	Version       int64      `json:"version"`
}

// ItemsRequest is the body of [Client.DeleteQueueItems]. Zero fields are left out.
type ItemsRequest struct {
	ActivityType  string     `json:"activityType,omitempty"`
	All           bool       `json:"all,omitempty"`    // Needed where nothing else restricts.
	Before        *time.Time `json:"before,omitempty"` // Those that came into the queue before this time.
	CorrelationID string     `json:"correlationId,omitempty"`
	Cursor        string     `json:"cursor,omitempty"` // nextCursor of the answer before.
	InstanceID    string     `json:"instanceId,omitempty"`
	Limit         int64      `json:"limit,omitempty"` // How many are looked at, 1 to 500, 50 if absent.
	Name          string     `json:"name,omitempty"`  // Of the event.
}

// Job is the answer of [Client.CancelJob], [Client.CreateJob], [Client.GetJob].
type Job struct {
	Accepted  int64            `json:"accepted"` // In whose mailboxes it was left, as they were busy for long.
	Became    map[string]int64 `json:"became"`   // Those that took the command, by what came of it: their sub-status when they were looked at, some seconds after it at most, or Gone. Fewer than done while the job runs, and where a node of an older version worked it.
	By        *string          `json:"by"`       // Who asked for it.
	CreatedAt time.Time        `json:"createdAt"`
	Damage    string           `json:"damage,omitempty"`  // Why it cannot be read.
	Damaged   bool             `json:"damaged,omitempty"` // The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
	Done      int64            `json:"done"`              // Instances that took the command.
	EndedAt   *time.Time       `json:"endedAt"`
	ID        string           `json:"id"`
	Kind      string           `json:"kind"`
	Node      *string          `json:"node"`  // That wrote its record last.
	Query     string           `json:"query"` // Which instances; empty: all.
	Reason    *string          `json:"reason"`
	Refusals  []JobRefusal     `json:"refusals"` // The first 100.
	Refused   int64            `json:"refused"`
	RefusedBy map[string]int64 `json:"refusedBy"` // How many refused, by code.
	Report    string           `json:"report"`    // The same in words.
	Rests     string           `json:"rests"`     // Why it rests at the moment, as the node that answers sees it: the cluster is paused, or etcd or its disk fills up. Empty: it does not.
	State     string           `json:"state"`     // One of running, done, cancelled.
	Unknown   int64            `json:"unknown"`   // That may have been given the command by a node that died, or before a long pause, of which nothing tells any more: it is not given again.
	UpdatedAt time.Time        `json:"updatedAt"`
}

// JobFate is a part of other answers.
type JobFate struct {
	ID    string `json:"id"`
	State string `json:"state"` // One of running, done, cancelled, gone. gone: it was deleted, or cannot be read.
}

// JobList is the answer of [Client.ListJobs].
type JobList struct {
	Items      []Job   `json:"items"`
	NextCursor *string `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64   `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// JobPreview is the answer of [Client.CreateJob].
type JobPreview struct {
	Fits     int64        `json:"fits"`     // How many of them would take the command.
	Matching int64        `json:"matching"` // Instances of the filter, counted up to 10,000.
	More     bool         `json:"more"`     // There are more than matching says, or may be: so many were looked at that the count was ended.
	Query    string       `json:"query"`    // The filter as it was understood.
	Refusals []JobRefusal `json:"refusals"` // Why others would not; the first 100.
	Tried    int64        `json:"tried"`    // For how many it was tried, the newest.
}

// JobRefusal is a part of other answers.
type JobRefusal struct {
	Code       string `json:"code"`
	Detail     string `json:"detail"`
	InstanceID string `json:"instanceId"`
}

// JobRequest is the body of [Client.CreateJob]. Zero fields are left out.
type JobRequest struct {
	All         bool                `json:"all,omitempty"`         // Needed where q restricts nothing.
	Alterations []AlterationRequest `json:"alterations,omitempty"` // Of kind alter: made to each instance as by POST /instances/{id}/alterations.
	Kind        string              `json:"kind,omitempty"`        // One of alter, retry, cancel, delete.
	Q           string              `json:"q,omitempty"`           // Which instances: the line that q of GET /instances takes, such as status:faulted def:order. Durations count from now.
	Reason      string              `json:"reason,omitempty"`      // Of alter and retry: why, for the journal.
}

// Journal is a part of other answers.
type Journal struct {
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Burst        string    `json:"burst"`  // The command that was being processed.
	Commit       int64     `json:"commit"` // The commit that it is of.
	Data         any       `json:"data,omitempty"`
	Event        string    `json:"event"`
	Execution    int64     `json:"execution"` // Of the activity: the sequence of its first item. Each round of a loop has others.
	Parent       int64     `json:"parent"`    // The execution that scheduled it; 0: the workflow.
	Sequence     int64     `json:"sequence"`  // From 1 within the instance.
	Text         string    `json:"text,omitempty"`
	Time         time.Time `json:"time"`
}

// JournalPage is the answer of [Client.GetJournal].
type JournalPage struct {
	Commits        []Commit  `json:"commits"` // The commits that the items are of, and, without filters, those without items.
	First          int64     `json:"first"`   // The oldest commit that the journal still has.
	Items          []Journal `json:"items"`
	ItemsBefore    int64     `json:"itemsBefore"`    // How many items, of those that the filters choose, the first commit of the page has before those of the page, as items cut it: previousCursor leads to them.
	ItemsBehind    int64     `json:"itemsBehind"`    // How many the last commit of the page has behind those of the page: nextCursor leads to them.
	Last           int64     `json:"last"`           // The newest commit.
	LookedFrom     int64     `json:"lookedFrom"`     // The oldest commit that this page has looked at; 0: none.
	LookedTo       int64     `json:"lookedTo"`       // The newest commit that this page has looked at, the one before it if itemsBehind is not 0, or after if nothing came behind that; 0: none. Pass it as after, later, for what was done since.
	NextCursor     *string   `json:"nextCursor"`     // Pass it as cursor for what came later; null at the end. The limit is of commits. With filters a page may be empty and have a next one.
	PreviousCursor *string   `json:"previousCursor"` // Pass it as cursor for what came before; null at the beginning.
	Revision       int64     `json:"revision"`       // Of etcd, at which all of it was read.
}

// LastCommit is a part of other answers.
type LastCommit struct {
	At       *time.Time `json:"at"`
	Fence    int64      `json:"fence"`  // Of the lock that it was made under; 0: none.
	NodeID   *string    `json:"nodeId"` // That made it.
	Sequence int64      `json:"sequence"`
}

// Letter is the answer of [Client.GetDeadLetter].
type Letter struct {
	Brought Brought    `json:"brought"`
	Letter  DeadLetter `json:"letter"`
}

// LettersRequest is the body of [Client.DeleteDeadLetters]. Zero fields are left out.
type LettersRequest struct {
	ActivityType  string     `json:"activityType,omitempty"`
	All           bool       `json:"all,omitempty"`    // Needed where nothing else restricts.
	Before        *time.Time `json:"before,omitempty"` // Those that came to be before this time.
	CorrelationID string     `json:"correlationId,omitempty"`
	Cursor        string     `json:"cursor,omitempty"` // nextCursor of the answer before.
	InstanceID    string     `json:"instanceId,omitempty"`
	Limit         int64      `json:"limit,omitempty"` // How many are looked at, 1 to 500, 50 if absent.
	Name          string     `json:"name,omitempty"`  // Of the event.
	Reason        string     `json:"reason,omitempty"`
}

// Limit is the answer of [Client.GetLimit], [Client.PutLimit].
type Limit struct {
	Keys    []LimitKey `json:"keys"` // Those for which most wait first, 100 at most.
	Most    *int64     `json:"most"` // How many may have a place of one key at once; null: any number, or, without a rate, the limit is not set, and who waits for it waits until it is.
	Name    string     `json:"name"`
	Rate    *LimitRate `json:"rate"` // How many units may be taken of one key in any time of a length; null: any number.
	SetAt   *time.Time `json:"setAt"`
	SetBy   *string    `json:"setBy"`
	Since   *time.Time `json:"since"`   // When the first of those who wait came; null: nobody waits.
	Taken   int64      `json:"taken"`   // Places, of all keys.
	Waiting int64      `json:"waiting"` // Who waits for a place, of all keys.
}

// LimitKey is a part of other answers.
type LimitKey struct {
	HeldTo  *time.Time `json:"heldTo"` // Until when nobody is given a place, as a service answered 429 or 503 with Retry-After; null: none did.
	Key     string     `json:"key"`
	NextAt  *time.Time `json:"nextAt"` // When units come that somebody waits for; null: nobody waits for units that come by time.
	Since   *time.Time `json:"since"`  // When the first of those who wait came; null: nobody waits.
	Taken   int64      `json:"taken"`
	Units   *int64     `json:"units"` // That may be taken now, of a limit with a rate; less than 0: more were used than reserved. null: they are not counted.
	Waiting int64      `json:"waiting"`
}

// LimitPlace is a part of other answers.
type LimitPlace struct {
	ActivityID   string     `json:"activityId"`
	CameAt       time.Time  `json:"cameAt"` // When it came to wait.
	DefinitionID string     `json:"definitionId"`
	GivenAt      *time.Time `json:"givenAt"` // When it was given its place; null: it waits.
	InstanceID   string     `json:"instanceId"`
	Key          string     `json:"key"`
}

// LimitPlaces is the answer of [Client.ListPlacesTaken], [Client.ListPlacesWaiting].
type LimitPlaces struct {
	Items      []LimitPlace `json:"items"`
	NextCursor *string      `json:"nextCursor"` // Pass it as cursor for the next page; null at the end.
}

// LimitRate is a part of other answers.
type LimitRate struct {
	Per   *string `json:"per"` // After which time a unit that was taken is back; null: never, so that there are so many in all.
	Units int64   `json:"units"`
}

// LimitRateRequest is a part of other bodies. Zero fields are left out.
type LimitRateRequest struct {
	Per   string `json:"per,omitempty"`   // After which time a unit that was taken is back, such as 1m: from 1s to 366 days. If absent it is never, and units are how many there are in all.
	Units *int64 `json:"units,omitempty"` // From 0 (nobody is given one) to 1,000,000,000,000. A place takes one, unless withLimit says an amount.
}

// LimitRequest is the body of [Client.PutLimit]. Zero fields are left out.
type LimitRequest struct {
	Most *int64            `json:"most,omitempty"` // How many may have a place of one key at once, from 0 (nobody is given one) to 10,000. Who has a place keeps it, also if they are more by now. If absent, any number: then rate is needed.
	Rate *LimitRateRequest `json:"rate,omitempty"` // How many units may be taken of one key in any time of a length. If absent, any number: then most is needed.
}

// Limits is the answer of [Client.ListLimits].
type Limits struct {
	Items []Limit `json:"items"`
}

// Lineage is the answer of [Client.GetLineage].
type Lineage struct {
	InstanceID string     `json:"instanceId"`
	Items      []Relative `json:"items"`    // The farthest ancestor first, then the instance, then its descendants; each stands behind its parent.
	Revision   int64      `json:"revision"` // Of etcd, at which all of this was so.
	Whole      bool       `json:"whole"`    // Nobody is left out: neither by depth, nor by number, nor by size.
}

// LiveBye is a part of other answers.
type LiveBye struct {
	Reason string `json:"reason"` // One of draining, unavailable, credentials.
}

// LiveCluster is a part of other answers.
type LiveCluster struct {
	Nodes    []Node `json:"nodes"` // All of them, as GET /nodes has them; seenAt is null.
	Revision int64  `json:"revision"`
	Topic    string `json:"topic"`
}

// LiveDefinitionChange is a part of other answers.
type LiveDefinitionChange struct {
	Definition Definition `json:"definition"`
	Deleted    bool       `json:"deleted"`
}

// LiveDefinitions is a part of other answers.
type LiveDefinitions struct {
	Definitions []LiveDefinitionChange `json:"definitions"` // Those that changed since what was told before, as they are now; 100 at most. At first none: the list has them.
	More        bool                   `json:"more"`        // More changed than are told: read the list again.
	Revision    int64                  `json:"revision"`    // Every change up to here was told.
	Topic       string                 `json:"topic"`
}

// LiveInstance is a part of other answers.
type LiveInstance struct {
	Instance *LiveInstanceState `json:"instance"` // null: there is none.
	Revision int64              `json:"revision"` // Of etcd: of its last write, or at which it was seen that there is none.
	Topic    string             `json:"topic"`
}

// LiveInstanceState is a part of other answers.
type LiveInstanceState struct {
	Bookmarks        []Bookmark        `json:"bookmarks"`     // The first 20.
	BookmarksLeft    int64             `json:"bookmarksLeft"` // How many more there are.
	Commit           int64             `json:"commit"`        // The last one; its journal begins there to be new.
	CorrelationID    *string           `json:"correlationId"`
	CreatedAt        time.Time         `json:"createdAt"`
	Damaged          bool              `json:"damaged,omitempty"`
	DefinitionID     string            `json:"definitionId"`
	FinishedAt       *time.Time        `json:"finishedAt"`
	Incident         *string           `json:"incident"`  // The message of the last one, 1,000 characters at most.
	Incidents        int64             `json:"incidents"` // How many it has.
	InstanceID       string            `json:"instanceId"`
	Labels           map[string]string `json:"labels"`
	Name             *string           `json:"name"`
	ParentInstanceID *string           `json:"parentInstanceId"`
	Status           string            `json:"status"`    // One of Running, Finished. Empty only of a damaged instance.
	SubStatus        string            `json:"subStatus"` // One of Pending, Executing, Suspended, Finished, Cancelled, Faulted.
	UpdatedAt        time.Time         `json:"updatedAt"`
	Version          int64             `json:"version"`
}

// LiveList is a part of other answers.
type LiveList struct {
	Ids      []string  `json:"ids"`      // Of the first 50 instances of the list, the newest first.
	Items    []Summary `json:"items"`    // Those of them that came or changed since what was told before; at first all.
	More     bool      `json:"more"`     // Others stand behind them, or may: so many were looked at that the search was ended.
	Revision int64     `json:"revision"` // Of etcd: the list is as it was then.
	Topic    string    `json:"topic"`
}

// LiveReset is a part of other answers.
type LiveReset struct {
	Topic string `json:"topic"`
}

// Lock is a part of other answers.
type Lock struct {
	Fence   int64      `json:"fence"`  // Create revision of the lock's key in etcd.
	Holder  *string    `json:"holder"` // Id of the node.
	Name    string     `json:"name"`
	Scope   string     `json:"scope"`
	Since   *time.Time `json:"since"`   // When the holder asked for it, by its clock; null if not known.
	Waiters []Waiter   `json:"waiters"` // Nodes that want it, in the order in which they get it.
}

// Locks is the answer of [Client.ListLocks].
type Locks struct {
	Items      []Lock  `json:"items"`
	NextCursor *string `json:"nextCursor"` // Pass it as cursor for the next page; null at the end.
	Revision   int64   `json:"revision"`   // Of etcd, at which they were so.
}

// Lost is a part of other answers.
type Lost struct {
	Key      string `json:"key"`      // Below the root of the cluster's keys.
	Revision int64  `json:"revision"` // At which it went.
}

// MachineState is a part of other answers.
type MachineState struct {
	Final       bool                `json:"final"`
	Initial     bool                `json:"initial"`
	Line        int64               `json:"line"`
	Name        string              `json:"name"`
	Transitions []MachineTransition `json:"transitions"`
}

// MachineTransition is a part of other answers.
type MachineTransition struct {
	Line  int64  `json:"line"`
	Name  string `json:"name"`
	On    string `json:"on"` // The event that it waits for.
	To    string `json:"to"`
	Waits string `json:"waits"` // The id of the activity that it waits for, if that is no event.
	When  string `json:"when"`  // As fieldText of an edit takes it.
}

// Mail is a part of other answers.
type Mail struct {
	Attempts   int64      `json:"attempts"` // How often nodes took it over and did not finish.
	BookmarkID *string    `json:"bookmarkId"`
	CreatedAt  *time.Time `json:"createdAt"`
	ID         string     `json:"id"`
	Kind       string     `json:"kind"`       // start, resume, childEnd, cancel, delete, retry, import, continue, or that of a newer program.
	Unreadable bool       `json:"unreadable"` // The program of the node that answers cannot read it.
}

// Mean is a part of other answers.
type Mean struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"` // 0 if there was none.
}

// Member is a part of other answers.
type Member struct {
	Alarms      []string `json:"alarms"` // NOSPACE or CORRUPT.
	Answers     bool     `json:"answers"`
	Error       string   `json:"error"`       // Why it does not answer; empty: it does.
	ID          string   `json:"id"`          // As etcdctl has it; empty: it does not answer.
	KnowsLeader bool     `json:"knowsLeader"` // Whether it knows of a leader.
	Leader      bool     `json:"leader"`      // Whether it is the leader, as it says.
	Learner     bool     `json:"learner"`
	Name        string   `json:"name"`    // Host and port of its endpoint.
	Seconds     float64  `json:"seconds"` // That its answer took.
	Version     string   `json:"version"`
}

// Memory is the answer of [Client.GetMemory].
type Memory struct {
	Burst    *Burst      `json:"burst"`  // What it runs of the instance; null: nothing.
	Events   []SentEvent `json:"events"` // The newest first, one of each name, correlation and address; 50 at most.
	NodeID   string      `json:"nodeId"`
	Refusals []Refusal   `json:"refusals"` // Commits of the instance that a fence refused: the newest first, of the last 1,000 since the node's start.
}

// Meters is the answer of [Client.GetMeters].
type Meters struct {
	At             time.Time    `json:"at"` // By its clock.
	Bursts         Rate         `json:"bursts"`
	CommitCommands Mean         `json:"commitCommands"` // How many commands a commit consumed.
	CommitSeconds  Mean         `json:"commitSeconds"`  // How long a commit took.
	Commits        []Rate       `json:"commits"`        // By outcome, those that there were.
	DrainsUntil    *time.Time   `json:"drainsUntil"`    // While it drains: when it ends at the latest, by its clock.
	EtcdMembers    []EtcdMember `json:"etcdMembers"`    // Members of etcd by its settings; none if its etcd is embedded, or its program older.
	Hot            []Hot        `json:"hot"`            // Instances that it commits once a second or more, those with the most commits first; 10 at most.
	InFlight       int64        `json:"inFlight"`       // Requests that it answers.
	Locks          int64        `json:"locks"`          // That it holds.
	NodeID         string       `json:"nodeId"`
	NotReady       string       `json:"notReady"`     // Why it should get no traffic; empty: it is ready.
	NotRunnable    int64        `json:"notRunnable"`  // Instances with work that its program cannot run or read, and leaves to others. If each live node has some, no node can run it.
	ReadBatch      Mean         `json:"readBatch"`    // How many requests that only read shared a proposal to etcd.
	Seconds        float64      `json:"seconds"`      // That the rates and means are of, some seconds up to now. 0: the node has just started, there are no rates, and means are of all since then.
	SessionSince   *time.Time   `json:"sessionSince"` // When its present session with etcd began, by its clock; null: it has none.
	Store          StoreMeter   `json:"store"`
	Takeovers      int64        `json:"takeovers"`   // Commands that another process had left and this one began, since its start.
	UnreadFiles    []string     `json:"unreadFiles"` // Settings whose files cannot be taken as they are: gone, empty, cut, or with a mistake. What was read before counts on; the node's log says what is wrong.
	Working        int64        `json:"working"`     // Instances that it works at the moment.
	WriteBatch     Mean         `json:"writeBatch"`  // The same of requests that may write. Without group commit there is none.
}

// NearMiss is a part of other answers.
type NearMiss struct {
	BookmarkID    *string    `json:"bookmarkId"` // That it nearly met.
	CorrelationID *string    `json:"correlationId"`
	CreatedAt     *time.Time `json:"createdAt"`
	ID            string     `json:"id"`
	InstanceID    *string    `json:"instanceId"` // The one that it is for.
	Kind          string     `json:"kind"`       // One of other-correlation, other-instance, other-name, dead-letter, went-elsewhere, mail. mail: it is about to be taken; went-elsewhere: it met others, before this one waited.
	Name          *string    `json:"name"`       // Of its event.
	Text          string     `json:"text"`       // Why it did not meet it.
	Where         string     `json:"where"`      // One of queue, dead-letter, sent. sent: a node remembers that it sent it.
}

// Node is the answer of [Client.DrainNode].
type Node struct {
	Address          string     `json:"address"`
	CatalogRevision  int64      `json:"catalogRevision"`  // Revision of etcd up to which it knows the definitions.
	ClockSkewSeconds *float64   `json:"clockSkewSeconds"` // Its clock less the median of the clocks of all live nodes, as the node that answers sees it; null: not known yet.
	Coordination     string     `json:"coordination"`     // One of distributed, local.
	Draining         bool       `json:"draining"`
	Epoch            int64      `json:"epoch"`       // Counts the sessions of this process.
	LateSeconds      *float64   `json:"lateSeconds"` // For how long it has not renewed its record, as the node that answers sees it: it hangs, or etcd takes no writes. null: it has, within three heartbeats.
	NodeID           string     `json:"nodeId"`
	Paused           bool       `json:"paused"`
	SeenAt           *time.Time `json:"seenAt"` // Its clock at its last heartbeat.
	Self             bool       `json:"self"`   // Whether it is the node that answers.
	StartedAt        time.Time  `json:"startedAt"`
	Version          string     `json:"version"`
}

// NodeAudit is the answer of [Client.ListNodeAudit].
type NodeAudit struct {
	From   *time.Time  `json:"from"`  // The oldest line that it remembers; null: none yet.
	Items  []AuditLine `json:"items"` // 500 at most.
	Kept   bool        `json:"kept"`  // false: it keeps no audit log, as it has neither credentials nor a file for one.
	More   bool        `json:"more"`  // Others that it remembers fit too.
	NodeID string      `json:"nodeId"`
}

// NodeList is the answer of [Client.ListNodes].
type NodeList struct {
	Items      []Node  `json:"items"`
	NextCursor *string `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64   `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// NotRefreshed is a part of other answers.
type NotRefreshed struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Open is a part of other answers.
type Open struct {
	ActivityID   string    `json:"activityId"`
	ActivityType string    `json:"activityType"`
	Final        bool      `json:"final,omitempty"` // The definition says that the instance has failed for good: a retry is refused unless it says again.
	Message      string    `json:"message"`
	Open         bool      `json:"open"` // What failed is still faulted; false: it ran again since, or was skipped or cancelled.
	Time         time.Time `json:"time"`
}

// Outcome is a part of other answers.
type Outcome struct {
	Code       string `json:"code,omitempty"` // Why it was refused.
	InstanceID string `json:"instanceId"`
	Outcome    string `json:"outcome"` // One of started, resumed, accepted, refused.
}

// OwnRefusal is a part of other answers.
type OwnRefusal struct {
	NodeID  string  `json:"nodeId"`
	Refusal Refusal `json:"refusal"`
}

// Owners is the answer of [Client.ListOwners].
type Owners struct {
	History    History `json:"history"`
	InstanceID string  `json:"instanceId"`
	Owner      *Claim  `json:"owner"`    // The node that has the instance's lock now; null: nobody.
	Revision   int64   `json:"revision"` // Of etcd, at which journal and lock were read.
}

// Paused is the answer of [Client.Pause], [Client.Unpause].
type Paused struct {
	Paused bool `json:"paused"`
}

// Period is a part of other answers.
type Period struct {
	Began      *time.Time `json:"began"`
	Ended      *time.Time `json:"ended"`
	FirstFence int64      `json:"firstFence"` // Of the first commit under a lock; 0: all were made without.
	From       int64      `json:"from"`       // Its first commit of the row.
	GapSeconds float64    `json:"gapSeconds"` // From the end of the commit before the row to its beginning, by the clocks of both nodes; 0 at the first. Of a takeover, how long nobody worked; otherwise how long there was no work.
	LastFence  int64      `json:"lastFence"`
	NodeID     *string    `json:"nodeId"`
	Takeover   bool       `json:"takeover"` // Its first commit repeated what another process had begun or left.
	To         int64      `json:"to"`       // Its last.
}

// Place is a part of other answers.
type Place struct {
	BookmarkID    string  `json:"bookmarkId"`
	CorrelationID *string `json:"correlationId"`
	InstanceID    string  `json:"instanceId"`
}

// Problem is a part of other answers.
type Problem struct {
	Code      string        `json:"code"`                // Stable; clients may rely on it.
	Detail    string        `json:"detail,omitempty"`    // What is wrong with this request and what to do.
	Errors    []ProblemItem `json:"errors,omitempty"`    // Every single problem of a 400 or 422, with its place.
	RequestID string        `json:"requestId,omitempty"` // Also in the X-Request-Id header and in the node's log.
	Status    int64         `json:"status"`
	Title     string        `json:"title"`
	Type      string        `json:"type"` // Always about:blank; the code tells problems apart.
}

// ProblemItem is a part of other answers.
type ProblemItem struct {
	Code     string `json:"code"`
	Column   int64  `json:"column,omitempty"` // From 1.
	Detail   string `json:"detail"`
	Excerpt  string `json:"excerpt,omitempty"` // The source line, with a caret below it.
	File     string `json:"file,omitempty"`    // The file, of several.
	Line     int64  `json:"line,omitempty"`    // From 1.
	Meant    string `json:"meant,omitempty"`   // What was probably meant.
	Pointer  string `json:"pointer,omitempty"` // JSON pointer (RFC 6901) into the body.
	Severity string `json:"severity"`          // error or warning. A warning alone is in the way of nothing.
}

// PublishRequest is the body of [Client.PublishVersion]. Zero fields are left out.
type PublishRequest struct {
	Version int64 `json:"version,omitempty"` // The latest one if absent.
}

// Published is the answer of [Client.PublishDefinition], [Client.PublishVersion], [Client.RetractDefinition].
type Published struct {
	Before    int64         `json:"before"` // The version that was published before; 0: none.
	ID        string        `json:"id"`
	Over      *int64        `json:"over,omitempty"`     // Of a dry run: the version that is there, for If-Match of the publication; 0: none. Absent otherwise.
	Published bool          `json:"published"`          // Whether this version is the published one.
	Revision  int64         `json:"revision,omitempty"` // Of etcd: a node whose catalogRevision has reached it serves this version. Absent of a dry run.
	Version   int64         `json:"version"`
	Warnings  []ProblemItem `json:"warnings,omitempty"` // What may be a mistake, with its place. It is in the way of nothing.
	WasOf     string        `json:"wasOf,omitempty"`    // The set that it was of before. Absent: none.
}

// QueueItem is a part of other answers.
type QueueItem struct {
	ActivityType  string    `json:"activityType"`
	CorrelationID *string   `json:"correlationId"`
	CreatedAt     time.Time `json:"createdAt"`
	Damage        string    `json:"damage,omitempty"`  // Why it cannot be read.
	Damaged       bool      `json:"damaged,omitempty"` // The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
	ExpiresAt     time.Time `json:"expiresAt"`
	Gated         string    `json:"gated,omitempty"` // The definition that it starts once no other instance runs.
	ID            string    `json:"id"`
	InstanceID    *string   `json:"instanceId"`     // The instance that it is for, if only one.
	Name          string    `json:"name,omitempty"` // Of the event.
	Stimulus      any       `json:"stimulus"`       // The hashed part, such as the event's name.
}

// QueueItemList is the answer of [Client.ListQueue].
type QueueItemList struct {
	Items      []QueueItem `json:"items"`
	NextCursor *string     `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64       `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// Queued is the answer of [Client.AssignUserTask], [Client.CancelUserTask], [Client.CommentUserTask], [Client.CompleteTask], [Client.CompleteUserTask], [Client.DelegateUserTask], [Client.ReplayDeadLetter], [Client.ResumeBookmark], [Client.SendEvent], [Client.SendQueueItem], [Client.SendStimulus].
type Queued struct {
	Queued string `json:"queued"` // Id of the item in the bookmark queue.
}

// QueuedItem is the answer of [Client.GetQueueItem].
type QueuedItem struct {
	Brought Brought   `json:"brought"`
	Item    QueueItem `json:"item"`
}

// Rate is a part of other answers.
type Rate struct {
	Name      string  `json:"name"`
	PerSecond float64 `json:"perSecond"`
	Total     int64   `json:"total"` // Since the start of the node.
}

// Reason is a part of other answers.
type Reason struct {
	Key    *string    `json:"key"`    // The key in etcd that shows it.
	Kind   string     `json:"kind"`   // One of lock, activity, mail, cancel, event, timer, retry, child, task, endpoint, stimulus, paused, full, clock, drain, gate, incident, undoing, unwritten, none, damaged.
	Object *string    `json:"object"` // Id of what it is about: a bookmark, a child, a node, a command.
	Since  *time.Time `json:"since"`
	Text   string     `json:"text"`
	Until  *time.Time `json:"until"` // When it ends by itself; null: it does not.
}

// Receipt is a part of other answers.
type Receipt struct {
	At             *time.Time `json:"at"`                // When it came, by the clock of the node that took it.
	Caller         *string    `json:"caller"`            // Who sent it; null for a viewer, and where nobody was asked.
	Damage         string     `json:"damage,omitempty"`  // Why it cannot be read.
	Damaged        bool       `json:"damaged,omitempty"` // The record cannot be read by any node.
	Effects        []Fate     `json:"effects"`           // For each instance that it was for, 100 at most; one without an instance, while it has met none.
	Job            *JobFate   `json:"job"`               // That was made of it; null: none was.
	KeptUntil      time.Time  `json:"keptUntil"`         // About when the key is forgotten; a repeat is a new request from then on.
	Open           bool       `json:"open"`              // Something may still come of it.
	Request        *string    `json:"request"`           // Method and path.
	ResponseStatus *int64     `json:"responseStatus"`    // Of what a workflow wrote as the answer to an HTTP endpoint, or of the answer that is kept for the key; null: neither.
	Unlisted       int64      `json:"unlisted"`          // How many there are beyond those.
}

// Receipts is the answer of [Client.GetReceipts].
type Receipts struct {
	Key      string    `json:"key"`
	More     bool      `json:"more"`     // There are others.
	Receipts []Receipt `json:"receipts"` // One for each route and each caller that used the key; 10 at most.
	Revision int64     `json:"revision"` // Of etcd, at which all of this was so.
}

// RecentEvents is the answer of [Client.ListRecentEvents].
type RecentEvents struct {
	Items  []SentEvent `json:"items"` // The newest first, one of each name, correlation and address; 50 at most.
	NodeID string      `json:"nodeId"`
}

// RefreshRequest is the body of [Client.RefreshDefinitions]. Zero fields are left out.
type RefreshRequest struct {
	DefinitionIds []string `json:"definitionIds,omitempty"` // All published definitions if absent or empty.
}

// Refusal is a part of other answers.
type Refusal struct {
	At         time.Time  `json:"at"`       // When it was refused, by the clock of the node.
	Began      *time.Time `json:"began"`    // When the burst began.
	Commands   []string   `json:"commands"` // What it would have consumed.
	Fence      int64      `json:"fence"`    // Of the lock that the node had had.
	InstanceID string     `json:"instanceId"`
	Sequence   int64      `json:"sequence"` // That the commit would have had. The journal has the one of another node.
}

// Refusals is the answer of [Client.ListRefusals].
type Refusals struct {
	Items  []Refusal `json:"items"` // The newest first, of the last 1,000 since the node's start.
	NodeID string    `json:"nodeId"`
}

// Refused is a part of other answers.
type Refused struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Relative is a part of other answers.
type Relative struct {
	AwaitedAt        *string    `json:"awaitedAt"` // Id of the bookmark at which its parent waits, or waited, for its end; null: the parent does not wait.
	Children         int64      `json:"children"`  // How many it has; of an ancestor 0, as the others are not told.
	CorrelationID    *string    `json:"correlationId"`
	CreatedAt        *time.Time `json:"createdAt"`
	Damaged          bool       `json:"damaged,omitempty"`
	DefinitionID     *string    `json:"definitionId"`
	Depth            int64      `json:"depth"` // 0: the instance itself; its children have 1, its parent -1.
	FinishedAt       *time.Time `json:"finishedAt"`
	Gone             bool       `json:"gone"` // It was deleted, or retention has let it go.
	Incidents        int64      `json:"incidents"`
	InstanceID       string     `json:"instanceId"`
	Name             *string    `json:"name"`
	ParentInstanceID *string    `json:"parentInstanceId"`
	SubStatus        string     `json:"subStatus"` // One of Pending, Executing, Suspended, Finished, Cancelled, Faulted. Empty of one that is gone or damaged.
	UpdatedAt        *time.Time `json:"updatedAt"`
	Version          *int64     `json:"version"`
}

// ReleaseRequest is the body of [Client.ReleaseTask]. Zero fields are left out.
type ReleaseRequest struct {
	Claim string `json:"claim,omitempty"` // As POST /tasks/claim gave it.
}

// ReleaseUserRequest is the body of [Client.ReleaseUserTask]. Zero fields are left out.
type ReleaseUserRequest struct {
	Revision int64 `json:"revision,omitempty"` // Of the task that is given back; any, if it is absent.
}

// Released is the answer of [Client.ReleaseUserTask].
type Released struct {
	TaskID string `json:"taskId"`
}

// Remark is a part of other answers.
type Remark struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	Text string    `json:"text"`
}

// ReplayLettersRequest is the body of [Client.ReplayDeadLetters]. Zero fields are left out.
type ReplayLettersRequest struct {
	ActivityType  string      `json:"activityType,omitempty"`
	All           bool        `json:"all,omitempty"`    // Needed where nothing else restricts.
	Before        *time.Time  `json:"before,omitempty"` // Those that came to be before this time.
	CorrelationID string      `json:"correlationId,omitempty"`
	Cursor        string      `json:"cursor,omitempty"` // nextCursor of the answer before.
	Edit          EditRequest `json:"edit,omitempty"`   // What is changed of each.
	InstanceID    string      `json:"instanceId,omitempty"`
	Limit         int64       `json:"limit,omitempty"` // How many are looked at, 1 to 500, 50 if absent.
	Name          string      `json:"name,omitempty"`  // Of the event.
	Reason        string      `json:"reason,omitempty"`
}

// Result is the answer of [Client.RefreshDefinitions], [Client.ReloadDefinitions].
type Result struct {
	Holder       string         `json:"holder,omitempty"`
	NotRefreshed []NotRefreshed `json:"notRefreshed"`
	Refreshed    []string       `json:"refreshed"`
	Revision     int64          `json:"revision"` // Of etcd, at which the last of refreshed became so: a node whose catalogRevision has it serves them all; 0: there are none.
	Status       string         `json:"status"`
}

// ResumeRequest is the body of [Client.ResumeBookmark]. Zero fields are left out.
type ResumeRequest struct {
	Input map[string]any `json:"input,omitempty"`
}

// Retried is the answer of [Client.RetryInstances].
type Retried struct {
	NextCursor *string        `json:"nextCursor"` // Pass it as cursor for the next ones; null at the end.
	Refused    []RetryRefused `json:"refused"`
	Retried    []string       `json:"retried"` // Ids of the instances whose retry is applied or durably accepted.
}

// Retry is a part of other answers.
type Retry struct {
	ActivityID string `json:"activityId"` // The activity that is tried again.
	Attempt    int64  `json:"attempt"`    // Which attempt comes when it is due, from 2.
	Attempts   int64  `json:"attempts"`   // How many there are at most; 0: as many as there is time for.
	Error      string `json:"error"`      // Why the one before failed.
}

// RetryOneRequest is the body of [Client.RetryInstance]. Zero fields are left out.
type RetryOneRequest struct {
	Again     bool   `json:"again,omitempty"`     // Also if a branch that ran since the call failed (onGiveUp, onTimeout, an outcome) may have undone what it did.
	Execution int64  `json:"execution,omitempty"` // Which execution of it, as the journal numbers them; needed if several run.
	From      string `json:"from,omitempty"`      // Id of the activity to run again from its beginning; absent: the call that failed.
	KeepKey   *bool  `json:"keepKey,omitempty"`   // Whether the call is made with the idempotency key of the call before; true if absent.
	Reason    string `json:"reason,omitempty"`    // Why, for the journal.
}

// RetryRefused is a part of other answers.
type RetryRefused struct {
	Code       string `json:"code"` // Why, such as instance-finished: it is not faulted any more.
	InstanceID string `json:"instanceId"`
}

// RetryRequest is the body of [Client.RetryInstances]. Zero fields are left out.
type RetryRequest struct {
	CorrelationID string `json:"correlationId,omitempty"` // With this correlation id; with any, or none, if absent.
	Cursor        string `json:"cursor,omitempty"`        // nextCursor of the answer before.
	DefinitionID  string `json:"definitionId,omitempty"`  // Of this definition; of all if absent.
	Limit         int64  `json:"limit,omitempty"`         // How many at once, 1 to 500, 50 if absent.
}

// RetryWorkflowsRequest is the body of [Client.RetryWorkflows]. Zero fields are left out.
type RetryWorkflowsRequest struct {
	ActivityIds         []string `json:"activityIds,omitempty"`         // Which activities run again; absent: what faulted.
	WorkflowInstanceIds []string `json:"workflowInstanceIds,omitempty"` // Up to 100.
}

// RunAlterationsRequest is the body of [Client.DispatchAlterations], [Client.RunAlterations]. Zero fields are left out.
type RunAlterationsRequest struct {
	Alterations         []ElsaAlterationRequest `json:"alterations,omitempty"`         // Made to each instance in this order and in one commit, all or none; up to 100.
	WorkflowInstanceIds []string                `json:"workflowInstanceIds,omitempty"` // Up to 100.
}

// SendItemsRequest is the body of [Client.SendQueueItems]. Zero fields are left out.
type SendItemsRequest struct {
	ActivityType  string      `json:"activityType,omitempty"`
	All           bool        `json:"all,omitempty"`    // Needed where nothing else restricts.
	Before        *time.Time  `json:"before,omitempty"` // Those that came into the queue before this time; before the first page was asked for, if absent.
	CorrelationID string      `json:"correlationId,omitempty"`
	Cursor        string      `json:"cursor,omitempty"` // nextCursor of the answer before.
	Edit          EditRequest `json:"edit,omitempty"`   // What is changed of each.
	InstanceID    string      `json:"instanceId,omitempty"`
	Limit         int64       `json:"limit,omitempty"` // How many are looked at, 1 to 500, 50 if absent.
	Name          string      `json:"name,omitempty"`  // Of the event.
}

// Sent is the answer of [Client.AssignUserTask], [Client.CancelUserTask], [Client.CommentUserTask], [Client.CompleteTask], [Client.CompleteUserTask], [Client.DelegateUserTask], [Client.ReplayDeadLetter], [Client.ResumeBookmark], [Client.SendEvent], [Client.SendQueueItem], [Client.SendStimulus].
type Sent struct {
	Detail   string    `json:"detail,omitempty"` // Of an HTTP endpoint: why the workflow has not answered yet.
	Outcomes []Outcome `json:"outcomes"`
}

// SentEvent is a part of other answers.
type SentEvent struct {
	At            time.Time `json:"at"` // By the clock of the node.
	CorrelationID *string   `json:"correlationId"`
	First         *string   `json:"first"`      // One of them; null: none, or it is not known.
	ID            string    `json:"id"`         // Of its queue item, if it had one.
	InstanceID    *string   `json:"instanceId"` // That it was addressed to.
	Met           int64     `json:"met"`        // How many instances it resumed or started; 0: it went into the queue.
	Name          string    `json:"name"`
	NodeID        string    `json:"nodeId"`
}

// Several is the answer of [Client.DeleteDeadLetters], [Client.DeleteQueueItems], [Client.ReplayDeadLetters], [Client.SendQueueItems].
type Several struct {
	Done       []string         `json:"done"`       // Ids of those for which it was done.
	NextCursor *string          `json:"nextCursor"` // Pass it as cursor for the next ones; null at the end.
	Refused    []SeveralRefused `json:"refused"`
}

// SeveralRefused is a part of other answers.
type SeveralRefused struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	ID     string `json:"id"`
}

// SkipRequest is the body of [Client.SkipSchedule]. Zero fields are left out.
type SkipRequest struct {
	DueAt time.Time `json:"dueAt,omitzero"` // Of the occurrence, as GET /timers has it. Another one is never dropped.
}

// Skipped is the answer of [Client.SkipSchedule].
type Skipped struct {
	Next    *time.Time `json:"next"`    // When the one to come is due; null: there is none.
	Skipped bool       `json:"skipped"` // Whether it was dropped; false: it is not the one to come: it was fired, or skipped, or is not the next one. The only one of a schedule, such as a startAt, is refused.
}

// SourceEditRequest is the body of [Client.EditDefinition]. Zero fields are left out.
type SourceEditRequest struct {
	About  string            `json:"about,omitempty"`  // The id of the activity that the answer tells about; that of the last edit if absent.
	Edits  []TextEditRequest `json:"edits,omitempty"`  // Up to 20, one after the other: each is about the text that the one before left. None: only about is asked.
	Format string            `json:"format,omitempty"` // One of yaml, json. Weft's YAML, or Elsa's JSON; told by its look if absent.
	Line   int64             `json:"line,omitempty"`   // Where that activity begins, needed if several have its id.
	Text   string            `json:"text,omitempty"`   // The definition, up to 1 MiB.
}

// SourceEdited is the answer of [Client.EditDefinition].
type SourceEdited struct {
	About    *AboutActivity `json:"about,omitempty"`
	Column   int64          `json:"column"`   // In characters, from 1.
	Line     int64          `json:"line"`     // Where the cursor goes.
	Problems []ProblemItem  `json:"problems"` // References that lost their activity or mean another one now; other mistakes are for a check.
	Text     string         `json:"text"`
}

// StartRequest is the body of [Client.DispatchDefinition], [Client.ExecuteDefinition]. Zero fields are left out.
type StartRequest struct {
	CorrelationID string         `json:"correlationId,omitempty"`
	Input         map[string]any `json:"input,omitempty"`      // Values of the definition's inputs.
	InstanceID    string         `json:"instanceId,omitempty"` // Id of the new instance; made if absent.
	Name          string         `json:"name,omitempty"`
	Properties    map[string]any `json:"properties,omitempty"` // Such as {"Flowchart:ExecutionMode": "TokenBased"}.
	Version       int64          `json:"version,omitempty"`    // Version of the definition; the published one if absent.
}

// Starts is a part of other answers.
type Starts struct {
	ActivityID   string `json:"activityId"`
	ActivityType string `json:"activityType"`
	When         string `json:"when"` // The name of an event, a schedule, or a method and a path.
}

// Stat is a part of other answers.
type Stat struct {
	BySubStatus  SubStatusCounts `json:"bySubStatus"`
	DefinitionID string          `json:"definitionId"`
	Instances    Count           `json:"instances"`
	Version      *int64          `json:"version"` // null: all of them.
}

// State is the answer of [Client.ExportState], [Client.ImportState].
type State struct {
	Files    []StateFile `json:"files,omitempty"` // Those that lie beside the instance. Absent in the answer of an import.
	Instance any         `json:"instance"`        // The header, in the form of the store.
	Sequence int64       `json:"sequence"`        // Of the last commit; the ETag.
	State    any         `json:"state"`           // The engine's state; opaque.
}

// StateFile is a part of other answers.
type StateFile struct {
	Bytes   int64  `json:"bytes"`
	Content string `json:"content"`           // What is in it, in base64.
	LeftOut bool   `json:"leftOut,omitempty"` // The export has no room for its content: an import needs the file beside the instance already.
	SHA256  string `json:"sha256"`            // Of what is in it, in hexadecimal.
}

// StateFileRequest is a part of other bodies. Zero fields are left out.
type StateFileRequest struct {
	Bytes   int64  `json:"bytes,omitempty"`
	Content string `json:"content,omitempty"` // What is in it, in base64.
	LeftOut bool   `json:"leftOut,omitempty"` // The export has no room for its content: an import needs the file beside the instance already.
	SHA256  string `json:"sha256,omitempty"`  // Of what is in it, in hexadecimal.
}

// StateRequest is the body of [Client.ImportState]. Zero fields are left out.
type StateRequest struct {
	Files    []StateFileRequest `json:"files,omitempty"`    // Those that lie beside the instance. Absent in the answer of an import.
	Instance any                `json:"instance,omitempty"` // The header, in the form of the store.
	Sequence int64              `json:"sequence,omitempty"` // Of the last commit; the ETag.
	State    any                `json:"state,omitempty"`    // The engine's state; opaque.
}

// Stats is the answer of [Client.GetStats].
type Stats struct {
	At          time.Time       `json:"at"` // When it was counted, by the clock of the node that answers; some seconds ago, if somebody else asked then.
	BySubStatus SubStatusCounts `json:"bySubStatus"`
	Instances   Count           `json:"instances"` // All of them.
	Items       []Stat          `json:"items"`     // By definition, or by version if definitionId or by=version is given; those without instances are left out.
	More        bool            `json:"more"`      // There are more definitions and versions than are counted: all of this is too little.
	Revision    int64           `json:"revision"`  // Of etcd, at which all of this was so.
}

// StimulusRequest is the body of [Client.SendStimulus]. Zero fields are left out.
type StimulusRequest struct {
	ActivityType  string         `json:"activityType,omitempty"`
	BookmarkID    string         `json:"bookmarkId,omitempty"`
	CorrelationID string         `json:"correlationId,omitempty"`
	Input         map[string]any `json:"input,omitempty"`
	InstanceID    string         `json:"instanceId,omitempty"`
	Stimulus      any            `json:"stimulus,omitempty"` // The hashed part, such as {"eventName": "approved"}.
}

// StoreMeter is a part of other answers.
type StoreMeter struct {
	Advice    string `json:"advice"` // What to do about it; empty: nothing.
	Allocated int64  `json:"allocated"`
	DiskFree  int64  `json:"diskFree"` // Bytes free on the disk of an embedded etcd.
	DiskSize  int64  `json:"diskSize"` // Its size; 0: etcd is elsewhere, or it is not known.
	InUse     int64  `json:"inUse"`    // Bytes of etcd's fullest member.
	Level     int64  `json:"level"`    // 0: there is room. 1: starts are refused. 2: only what ends or deletes instances runs. 3: nothing that writes, as the disk of an embedded etcd is full.
	Quota     int64  `json:"quota"`    // On what is allocated; 0: not known yet.
	Text      string `json:"text"`     // What is so and what is refused, for people, with the numbers; empty: there is room.
}

// SubStatusCounts is a part of other answers.
type SubStatusCounts struct {
	Cancelled Count `json:"cancelled"`
	Executing Count `json:"executing"`
	Faulted   Count `json:"faulted"`
	Finished  Count `json:"finished"`
	Pending   Count `json:"pending"`
	Suspended Count `json:"suspended"`
}

// SubmitAlterationsRequest is the body of [Client.SubmitAlterations]. Zero fields are left out.
type SubmitAlterationsRequest struct {
	Alterations []ElsaAlterationRequest `json:"alterations,omitempty"` // Made to each instance in this order and in one commit, all or none; up to 100.
	Filter      ElsaFilterRequest       `json:"filter,omitempty"`      // Which instances; all its fields have to fit.
}

// Suggested is the answer of [Client.Suggest].
type Suggested struct {
	Doc   string       `json:"doc,omitempty"` // About the word.
	From  int64        `json:"from"`          // The column at which begins what an item takes the place of.
	Items []Suggestion `json:"items"`
	Word  string       `json:"word,omitempty"` // What stands at the place, if it is known.
}

// Suggestion is a part of other answers.
type Suggestion struct {
	Detail string `json:"detail,omitempty"`
	Doc    string `json:"doc,omitempty"`
	Insert string `json:"insert"` // What is written.
	Kind   string `json:"kind"`   // One of type, key, value, variable, function, outcome.
	Label  string `json:"label"`
}

// Summary is a part of other answers.
type Summary struct {
	Archived         bool              `json:"archived,omitempty"` // It has left etcd, and the archive told it. See docs/operations/archive.md.
	CorrelationID    *string           `json:"correlationId"`
	CreatedAt        time.Time         `json:"createdAt"`
	Damage           string            `json:"damage,omitempty"`  // Why it cannot be read.
	Damaged          bool              `json:"damaged,omitempty"` // The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
	DefinitionID     string            `json:"definitionId"`
	FinishedAt       *time.Time        `json:"finishedAt"`
	Incident         *string           `json:"incident"`  // The message of the last of them, 200 characters at most; null: it has none.
	Incidents        int64             `json:"incidents"` // How many it has.
	InstanceID       string            `json:"instanceId"`
	Labels           map[string]string `json:"labels"`
	Name             *string           `json:"name"`
	ParentInstanceID *string           `json:"parentInstanceId"`
	Status           string            `json:"status"`    // One of Running, Finished. Empty only of a damaged instance.
	SubStatus        string            `json:"subStatus"` // One of Pending, Executing, Suspended, Finished, Cancelled, Faulted.
	UpdatedAt        time.Time         `json:"updatedAt"`
	Version          int64             `json:"version"`
	Waits            int64             `json:"waits"`    // At how many bookmarks it waits.
	WaitsFor         []Wait            `json:"waitsFor"` // The first 5 of them.
}

// SummaryFound is the answer of [Client.ListInstances].
type SummaryFound struct {
	Items      []Summary `json:"items"`
	Looked     int64     `json:"looked"`     // How many instances were looked at for the page; at 20,000 it ends.
	NextCursor *string   `json:"nextCursor"` // Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one.
	Now        time.Time `json:"now"`        // What durations in the filter count from, on every page of the list.
	Query      string    `json:"query"`      // The filter as one line, as q takes it.
	Revision   int64     `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// Task is a part of other answers.
type Task struct {
	Attempts   int64      `json:"attempts,omitempty"` // How often it was claimed and not given back; the present claim is one.
	CreatedAt  time.Time  `json:"createdAt"`
	Damage     string     `json:"damage,omitempty"`
	Damaged    bool       `json:"damaged,omitempty"`
	Heard      *time.Time `json:"heard,omitempty"` // When the worker's last heartbeat was.
	InstanceID string     `json:"instanceId"`
	LastWhy    string     `json:"lastWhy,omitempty"`    // Why the attempt before ended.
	LastWorker string     `json:"lastWorker,omitempty"` // Of a free one: who had it last.
	Name       string     `json:"name"`
	Payload    any        `json:"payload,omitempty"`
	Progress   *float64   `json:"progress,omitempty"` // Percent, as the worker said.
	Since      *time.Time `json:"since,omitempty"`    // Since when.
	TaskID     string     `json:"taskId"`
	Text       string     `json:"text,omitempty"`   // What the worker said.
	Until      *time.Time `json:"until,omitempty"`  // The end of the lease; a heartbeat extends it.
	Worker     string     `json:"worker,omitempty"` // Who has it; absent: it is free.
}

// TaskFailRequest is the body of [Client.FailTask]. Zero fields are left out.
type TaskFailRequest struct {
	Claim   string `json:"claim,omitempty"`   // As POST /tasks/claim gave it.
	Kind    string `json:"kind,omitempty"`    // Of failure, such as timeout: up to 256 bytes.
	Message string `json:"message,omitempty"` // Why, for people: up to 8192 bytes.
	Retry   bool   `json:"retry,omitempty"`   // Whether another attempt may do better: the retry of the activity decides then; without one the task is free again. If not, the activity faults.
}

// TaskFailed is the answer of [Client.FailTask], [Client.ReleaseTask].
type TaskFailed struct {
	Free   bool   `json:"free"` // Another worker may claim it; if not, its activity has the failure: its retry makes another task of it, or it has faulted.
	TaskID string `json:"taskId"`
}

// TaskList is the answer of [Client.ListTasks].
type TaskList struct {
	Items      []Task  `json:"items"`
	NextCursor *string `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64   `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// TaskRequest is the body of [Client.CompleteTask]. Zero fields are left out.
type TaskRequest struct {
	Claim  string `json:"claim,omitempty"` // As POST /tasks/claim gave it: it counts only while that claim stands. Without one it counts in any case.
	Error  string `json:"error,omitempty"` // Why the task failed; then the activity faults.
	Result any    `json:"result,omitempty"`
}

// TextEditRequest is a part of other bodies. Zero fields are left out.
type TextEditRequest struct {
	Activity  string         `json:"activity,omitempty"`  // The id of the activity that it is about, or that the new one stands beside.
	Branch    string         `json:"branch,omitempty"`    // into and wrap: such as then; the main one if absent.
	FieldText *string        `json:"fieldText,omitempty"` // set: the value as a person writes it in a field, instead of value; empty takes it away.
	ID        string         `json:"id,omitempty"`        // insert and wrap: the id of the new activity; by its place if absent.
	Inputs    map[string]any `json:"inputs,omitempty"`    // insert and wrap: of the new activity; texts may have ${{ }}.
	Key       string         `json:"key,omitempty"`       // set: an input, or one of id, name, result, outputs, trigger, timeout, retry, commit, logging, mergeMode, version.
	Line      int64          `json:"line,omitempty"`      // Where that activity begins, needed if several have its id.
	Number    int64          `json:"number,omitempty"`    // Of a part: which case or transition, from 1; insert puts the new one beside it.
	Op        string         `json:"op,omitempty"`        // One of insert, delete, move, wrap, set, connect, disconnect.
	Part      string         `json:"part,omitempty"`      // One of case, state, transition. insert, delete, move (up, down) and set: what of the activity it is about, if not the activity. inputs and key are label and when of a case, name, final and initial of a state, and on (an event), when and to of a transition.
	Port      string         `json:"port,omitempty"`      // connect, disconnect, and insert in a flowchart: an outcome, Done if absent.
	State     string         `json:"state,omitempty"`     // Of a part: the state, or the one that a transition leaves.
	To        string         `json:"to,omitempty"`        // move: the activity beside or into which. connect and disconnect: where the way leads.
	Type      string         `json:"type,omitempty"`      // insert and wrap: as YAML has it; wrap also takes retry and timeout.
	Value     any            `json:"value,omitempty"`     // set: null takes it away.
	Where     string         `json:"where,omitempty"`     // One of before, after, into, up, down. insert and move: after if absent. up and down only move, within a list.
}

// TimerItem is a part of other answers.
type TimerItem struct {
	ActivityID   string      `json:"activityId,omitempty"`
	BookmarkID   string      `json:"bookmarkId,omitempty"`
	Damage       string      `json:"damage,omitempty"`
	Damaged      bool        `json:"damaged,omitempty"`
	DefinitionID string      `json:"definitionId,omitempty"`
	DueAt        time.Time   `json:"dueAt"`
	Gated        int64       `json:"gated,omitempty"`
	GatedAt      time.Time   `json:"gatedAt,omitzero"`
	InstanceID   string      `json:"instanceId,omitempty"`
	Kind         string      `json:"kind"`
	Then         []time.Time `json:"then,omitempty"` // Of a schedule: the occurrences behind that one, 4 at most.
}

// TimerItemList is the answer of [Client.ListTimers].
type TimerItemList struct {
	Items      []TimerItem `json:"items"`
	NextCursor *string     `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64       `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// Tried is the answer of [Client.TryDefinition].
type Tried struct {
	Cases    []TriedCase `json:"cases"`
	Failed   int64       `json:"failed"`
	Passed   int64       `json:"passed"`
	Warnings []string    `json:"warnings"` // What may be a mistake in the definitions.
}

// TriedCase is a part of other answers.
type TriedCase struct {
	Crash     *Crash         `json:"crash"`    // Of one that was run with failures of nodes.
	Failures  []TriedFailure `json:"failures"` // None: it passed.
	Journal   []string       `json:"journal"`  // Of one that failed: what the instance did, 200 lines at most.
	Line      int64          `json:"line"`     // Of the test file.
	Name      string         `json:"name"`
	Variables map[string]any `json:"variables"` // Of one that failed: as its last commit left them.
}

// TriedFailure is a part of other answers.
type TriedFailure struct {
	Field   string `json:"field"` // Of what is expected, such as output.total; empty: it could not be done.
	Line    int64  `json:"line"`
	Message string `json:"message"`
}

// Trigger is a part of other answers.
type Trigger struct {
	Activation   *string `json:"activation"` // Its activation strategy.
	ActivityID   string  `json:"activityId"`
	DefinitionID string  `json:"definitionId"`
	Holder       *string `json:"holder"` // The instance that runs and holds the gate of that strategy: the start waits until it has ended, or is refused if it is all that the event meets. Null: it starts.
	Version      int64   `json:"version"`
}

// Trouble is a part of other answers.
type Trouble struct {
	Do    string `json:"do"`    // What to do about it.
	State string `json:"state"` // One of degraded, down.
	Text  string `json:"text"`
}

// TryRequest is the body of [Client.TryDefinition]. Zero fields are left out.
type TryRequest struct {
	Crash        bool   `json:"crash,omitempty"`        // Run each case that passes again for each failure that a node may have in it, 300 at most. What is wrong then fails the case, with the field crash.
	DefinitionID string `json:"definitionId,omitempty"` // Needed without text.
	Strict       bool   `json:"strict,omitempty"`       // A warning about a definition fails the case.
	Tests        string `json:"tests,omitempty"`        // A test file, as weft test takes it. What it calls definition is the one below; others, 50 at most, are published ones: their ids, or the names of their files without folders.
	Text         string `json:"text,omitempty"`         // The definition: Weft's YAML, or Elsa's JSON. Absent: the published one of definitionId.
}

// UserOutcome is a part of other answers.
type UserOutcome struct {
	Key   string `json:"key"`
	Label string `json:"label"`
}

// UserTask is the answer of [Client.ClaimUserTask], [Client.GetUserTask].
type UserTask struct {
	AssignedTo   string        `json:"assignedTo,omitempty"`  // Who is to do it, alone: as an operator, or who had it, named that one.
	Cancellable  bool          `json:"cancellable,omitempty"` // Operators may cancel it by itself.
	ClaimedAt    *time.Time    `json:"claimedAt,omitempty"`
	ClaimedBy    string        `json:"claimedBy,omitempty"`    // Who has it: key: or oidc: and a name.
	ClaimedUntil *time.Time    `json:"claimedUntil,omitempty"` // Then it is free again, unless it is claimed again before.
	Comments     []Remark      `json:"comments,omitempty"`     // What people wrote, the oldest first.
	CreatedAt    time.Time     `json:"createdAt"`
	DefinitionID string        `json:"definitionId,omitempty"`
	DueAt        *time.Time    `json:"dueAt,omitempty"`
	EndsWhenDue  bool          `json:"endsWhenDue,omitempty"` // With the outcome Timeout.
	Form         any           `json:"form,omitempty"`        // A JSON Schema of the data that completing it takes; none: it takes no data.
	InstanceID   string        `json:"instanceId"`
	Instructions string        `json:"instructions,omitempty"` // Text, of which clients may show Markdown; no HTML.
	Outcomes     []UserOutcome `json:"outcomes"`
	Overdue      bool          `json:"overdue,omitempty"`
	Priority     int64         `json:"priority"` // 0 to 100, the most urgent.
	Reference    string        `json:"reference,omitempty"`
	Revision     int64         `json:"revision,omitempty"` // Of the task: another one when it is claimed, given back or given to somebody.
	Summary      string        `json:"summary,omitempty"`
	TaskData     any           `json:"taskData,omitempty"` // What it is about.
	TaskID       string        `json:"taskId"`
	Title        string        `json:"title"`
}

// UserTaskList is the answer of [Client.ListUserTasks].
type UserTaskList struct {
	Items      []UserTask `json:"items"`
	NextCursor *string    `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64      `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// Variable is a part of other answers.
type Variable struct {
	By        int64  `json:"by"`                // The execution that set it; 0: it began with this value.
	Clipped   bool   `json:"clipped,omitempty"` // The value is the beginning of its text.
	Execution int64  `json:"execution"`         // Whose scope has it; 0: the workflow.
	Hidden    bool   `json:"hidden,omitempty"`  // The value is null, as what set it keeps its inputs or outputs out of the journal.
	Name      string `json:"name"`
	Value     any    `json:"value"`
}

// VariableChange is a part of other answers.
type VariableChange struct {
	ActivityID *string        `json:"activityId"`
	After      *VariableState `json:"after"`     // null: its scope has ended.
	Before     *VariableState `json:"before"`    // null: it was null, or its scope was not open.
	Execution  int64          `json:"execution"` // Whose scope has it; 0: the workflow.
	Name       string         `json:"name"`
}

// VariableChanges is the answer of [Client.GetVariableChanges].
type VariableChanges struct {
	Changes    []VariableChange `json:"changes"`  // What was set between them, also to what it was, or went with its scope.
	Complete   bool             `json:"complete"` // Nothing is missing, apart from what is clipped or hidden.
	First      int64            `json:"first"`    // The oldest commit that the journal still has.
	From       int64            `json:"from"`
	Gaps       Gaps             `json:"gaps"`
	InstanceID string           `json:"instanceId"`
	Last       int64            `json:"last"`     // The newest commit.
	Revision   int64            `json:"revision"` // Of etcd, at which all of it was read.
	To         int64            `json:"to"`
}

// VariableState is a part of other answers.
type VariableState struct {
	ActivityID   *string    `json:"activityId"`        // Of that execution; null: the workflow, or not known.
	By           int64      `json:"by"`                // The execution that set it; 0: it began with this value.
	ByActivityID *string    `json:"byActivityId"`      // Of that execution; null: it began with the value, or not known.
	Clipped      bool       `json:"clipped,omitempty"` // The value is the beginning of its text.
	Commit       int64      `json:"commit"`            // The commit that set it.
	Execution    int64      `json:"execution"`         // Whose scope has it; 0: the workflow.
	Hidden       bool       `json:"hidden,omitempty"`  // The value is null, as what set it keeps its inputs or outputs out of the journal.
	Name         string     `json:"name"`
	Node         *string    `json:"node"` // That made that commit.
	Time         *time.Time `json:"time"` // Of that commit.
	Value        any        `json:"value"`
}

// Variables is the answer of [Client.GetVariables].
type Variables struct {
	At         int64           `json:"at"`       // The commit that left them so; 0: there is none yet.
	Complete   bool            `json:"complete"` // Nothing is missing, apart from what is clipped or hidden.
	First      int64           `json:"first"`    // The oldest commit that the journal still has.
	Gaps       Gaps            `json:"gaps"`
	InstanceID string          `json:"instanceId"`
	Last       int64           `json:"last"`      // The newest commit.
	Revision   int64           `json:"revision"`  // Of etcd, at which all of it was read.
	Variables  []VariableState `json:"variables"` // The workflow's first. If complete is true, a variable that is not among them is null.
}

// Version is a part of other answers.
type Version struct {
	CreatedAt time.Time `json:"createdAt"`
	Notation  string    `json:"notation"`  // One of yaml, json.
	Published bool      `json:"published"` // It is the published one.
	Version   int64     `json:"version"`
}

// VersionList is the answer of [Client.ListVersions].
type VersionList struct {
	Items      []Version `json:"items"`
	NextCursor *string   `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64     `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// Wait is a part of other answers.
type Wait struct {
	DueAt *time.Time `json:"dueAt"` // When a timer resumes it.
	Kind  string     `json:"kind"`  // event, task, timer, child, http, or the type of the activity.
	Name  *string    `json:"name"`  // Of the event or the task; the method and the path; the instance id of the child.
	Since time.Time  `json:"since"`
}

// Waiter is a part of other answers.
type Waiter struct {
	Fence  int64      `json:"fence"` // Create revision of its key in etcd: the fence that it will have.
	NodeID *string    `json:"nodeId"`
	Since  *time.Time `json:"since"` // When it asked for the lock, by its clock; null if not known.
}

// Way is a part of other answers.
type Way struct {
	Port string `json:"port"`
	To   string `json:"to"`
}

// Webhook is the answer of [Client.GetWebhook], [Client.PutWebhook].
type Webhook struct {
	Because     *string           `json:"because"` // Why it is paused, if nobody asked for it.
	By          *string           `json:"by"`      // Who put it.
	Definitions []string          `json:"definitions"`
	Failed      int64             `json:"failed"` // Letters that were given up.
	Labels      map[string]string `json:"labels"`
	Name        string            `json:"name"`
	Next        *WebhookNext      `json:"next"`   // Of the letters that wait the one that is tried next; null: none waits.
	NodeID      string            `json:"nodeId"` // That tells it.
	On          []string          `json:"on"`
	Paused      bool              `json:"paused"`
	Secrets     []string          `json:"secrets"` // Names.
	URL         string            `json:"url"`
	Waiting     int64             `json:"waiting"`  // Letters, with up to 100 events each, that were not taken yet.
	Warnings    []ProblemItem     `json:"warnings"` // What may be a mistake, such as a definition that there is not.
}

// WebhookAgain is the answer of [Client.ForgetFailedEvents], [Client.ReplayWebhook].
type WebhookAgain struct {
	Events int64 `json:"events"` // How many.
}

// WebhookEvent is a part of other answers.
type WebhookEvent struct {
	DefinitionID *string `json:"definitionId"`
	ID           string  `json:"id"`      // The webhook-id of its requests.
	Subject      string  `json:"subject"` // The id of the instance, or of the dead letter.
	What         string  `json:"what"`    // A sub-status, incident, or deadLetter.
}

// WebhookLetter is a part of other answers.
type WebhookLetter struct {
	At       time.Time      `json:"at"` // Of the first attempt.
	Attempts int64          `json:"attempts"`
	Events   []WebhookEvent `json:"events"`
	ID       string         `json:"id"`
	Last     *string        `json:"last"` // What went wrong last.
}

// WebhookLetterList is the answer of [Client.ListFailedEvents].
type WebhookLetterList struct {
	Items      []WebhookLetter `json:"items"`
	NextCursor *string         `json:"nextCursor"` // Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
	Revision   int64           `json:"revision"`   // Of etcd: all of the page is as it was then.
}

// WebhookNext is a part of other answers.
type WebhookNext struct {
	Attempts int64     `json:"attempts"` // How often it was tried again.
	DueAt    time.Time `json:"dueAt"`    // When it is tried again, at the soonest.
	Last     *string   `json:"last"`     // What went wrong last.
	Since    time.Time `json:"since"`    // When it was tried first.
}

// WebhookRequest is the body of [Client.PutWebhook]. Zero fields are left out.
type WebhookRequest struct {
	Definitions []string          `json:"definitions,omitempty"` // Only instances of these, 16 at most; none: of all.
	Labels      map[string]string `json:"labels,omitempty"`      // Only instances with all of these.
	On          []string          `json:"on,omitempty"`          // What is told: ended (in any way), faulted, incident (also of an instance that goes on), deadLetter.
	Paused      bool              `json:"paused,omitempty"`      // Nothing is sent. What happens until it goes on is told later, as far as etcd knows it then.
	Secrets     []string          `json:"secrets,omitempty"`     // The names of one or two secrets (--secrets-dir) that sign.
	URL         string            `json:"url,omitempty"`         // https or http; without a name, a password and a fragment. Private addresses are refused when it is dialled, unless the nodes have --allow-private-addresses.
}

// Webhooks is the answer of [Client.ListWebhooks].
type Webhooks struct {
	Items []Webhook `json:"items"`
}

// InstanceOrAltered is one of these; the others are nil.
type InstanceOrAltered struct {
	Instance *Instance
	Altered  *Altered
}

// UnmarshalJSON takes the shape that the fields are of.
func (u *InstanceOrAltered) UnmarshalJSON(raw []byte) error {
	return choose(raw,
		alternative{[]string{"instanceId", "definitionId", "version", "status", "subStatus", "name", "correlationId", "labels", "parentInstanceId", "createdAt", "updatedAt", "finishedAt", "input", "output", "incidents", "bookmarks"}, func() any { u.Instance = &Instance{}; return u.Instance }},
		alternative{[]string{"fits", "errors", "did", "next", "version", "subStatus", "basedOn", "instanceId", "definitionId"}, func() any { u.Altered = &Altered{}; return u.Altered }},
	)
}

// JobPreviewOrJob is one of these; the others are nil.
type JobPreviewOrJob struct {
	JobPreview *JobPreview
	Job        *Job
}

// UnmarshalJSON takes the shape that the fields are of.
func (u *JobPreviewOrJob) UnmarshalJSON(raw []byte) error {
	return choose(raw,
		alternative{[]string{"matching", "more", "tried", "fits", "refusals", "query"}, func() any { u.JobPreview = &JobPreview{}; return u.JobPreview }},
		alternative{[]string{"id", "kind", "state", "query", "by", "reason", "createdAt", "updatedAt", "endedAt", "node", "rests", "done", "accepted", "refused", "unknown", "refusals", "refusedBy", "became", "report"}, func() any { u.Job = &Job{}; return u.Job }},
	)
}

// SentOrEffectOrQueued is one of these; the others are nil.
type SentOrEffectOrQueued struct {
	Sent   *Sent
	Effect *Effect
	Queued *Queued
}

// UnmarshalJSON takes the shape that the fields are of.
func (u *SentOrEffectOrQueued) UnmarshalJSON(raw []byte) error {
	return choose(raw,
		alternative{[]string{"outcomes"}, func() any { u.Sent = &Sent{}; return u.Sent }},
		alternative{[]string{"resumes", "starts", "resumed", "started", "queued", "more", "refused", "others", "recent", "revision"}, func() any { u.Effect = &Effect{}; return u.Effect }},
		alternative{[]string{"queued"}, func() any { u.Queued = &Queued{}; return u.Queued }},
	)
}

// SentOrQueued is one of these; the others are nil.
type SentOrQueued struct {
	Sent   *Sent
	Queued *Queued
}

// UnmarshalJSON takes the shape that the fields are of.
func (u *SentOrQueued) UnmarshalJSON(raw []byte) error {
	return choose(raw,
		alternative{[]string{"outcomes"}, func() any { u.Sent = &Sent{}; return u.Sent }},
		alternative{[]string{"queued"}, func() any { u.Queued = &Queued{}; return u.Queued }},
	)
}
