// Types of weft.js.

/** A refusal of the server: a problem with a stable code. */
export class WeftProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly problem: Problem;
  /** The Idempotency-Key of the request. */
  readonly key?: string;
  /** Seconds. */
  readonly retryAfter: number;
}

/** No answer came, so nobody knows whether the request was applied. Repeat it with its key. */
export class WeftNoAnswer extends Error {
  readonly key?: string;
}

export interface Config {
  /** http://127.0.0.1:8080 if absent. */
  server?: string;
  /** An API key or a token. */
  token?: string;
  /** How often a request is tried that got no answer; 4 if absent. */
  attempts?: number;
  /** Milliseconds that one attempt may take; 60,000 if absent. */
  timeout?: number;
  /** Milliseconds before the second attempt, three times as long before each next; 200 if absent. */
  pause?: number;
  fetch?: typeof fetch;
}

export interface Options {
  /** The Idempotency-Key; a POST has a random one if absent. */
  key?: string;
  /** Seconds that the server waits for the end. */
  wait?: number;
  ifMatch?: string;
  accept?: string;
  /** The type of a body that is a text; application/yaml if absent. */
  type?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Answer<T> {
  status: number;
  /** 202: durable, and not applied yet. */
  accepted: boolean;
  key?: string;
  body: T;
  headers: Headers;
}

export interface StreamEvent {
  /** To be given to another stream as after; empty if the event has none. */
  id: string;
  /** instance, instances, cluster, definitions, reset or bye. */
  event: string;
  data: any;
}

// ---- generated from openapi.json by go generate ./clients; do not edit below ----

export interface AboutActivity {
  /** Into which activities may be put. */
  branches: Array<string>;
  /** What may be set of a case. */
  caseKeys: Array<string>;
  cases: Array<Case>;
  column: number;
  delete: boolean;
  down: boolean;
  fields: Array<ActivityField>;
  /** It stands in one. */
  flowchart: boolean;
  id: string;
  line: number;
  /** The other activities of its flowchart. */
  near: Array<string>;
  /** None: Done. */
  outcomes: Array<string>;
  /** What may be added to it beside activities: case, or state and transition. */
  parts: Array<string>;
  states: Array<MachineState>;
  /** As YAML has it. */
  type: string;
  /** What may be put beside it, as YAML has it. */
  types: Array<string>;
  /** It may be moved before the one above it. */
  up: boolean;
  /** Where it leads, in a flowchart. */
  ways: Array<Way>;
  /** What it may be wrapped in. */
  wraps: Array<string>;
}

export interface Activities {
  /** By their types. */
  items: Array<Activity>;
  /** Published definitions of which this node does not know what they use: it has not looked at them yet, and does so at the next calls, or they do not say it, as an older program published them: publish those again. */
  unknown: number;
}

export interface Activity {
  /** Its outcomes are known only as it runs, or from what it is given. */
  anyOutcome: boolean;
  /** Such as then, else, body. */
  branches: Array<string>;
  description: string;
  /** It may do something outside, so that a repetition may do it again, with the same Idempotency-Key. */
  effect: boolean;
  /** In YAML, one item of a list; empty: there is none. */
  example: string;
  inputs: Array<ActivityInput>;
  /** The input that a value stands for in YAML; empty: none. */
  main: string;
  /** As YAML spells it. */
  name: string;
  /** Done, where it has no others; none, where they are known only as it runs. */
  outcomes: Array<string>;
  /** The first one is what result takes. */
  outputs: Array<ActivityValue>;
  /** With trigger: true it starts instances. */
  trigger: boolean;
  /** As Elsa spells it. */
  type: string;
  /** The first 20 of them, by id. */
  usedBy: Array<string>;
  /** How many published definitions use it, also inside of definitions that they run as activities, as far as this node knows. */
  users: number;
  /** That its branches see beside those that are declared. */
  variables: Array<ActivityValue>;
}

export interface ActivityField {
  description?: string;
  /** A key that each activity may have, and no input. */
  key: boolean;
  /** Where it is written; 0: it is not. */
  line: number;
  name: string;
  options?: Array<string>;
  required: boolean;
  /** What it is, as fieldText of an edit takes it. */
  text: string;
  type: string;
}

export interface ActivityInput {
  /** null: none. */
  default: any;
  description: string;
  name: string;
  /** All that it may be; none: anything of its type. */
  options: Array<string>;
  required: boolean;
  /** It never reaches the journal. */
  sensitive: boolean;
  type: string;
}

export interface ActivityValue {
  description: string;
  name: string;
  type: string;
}

export interface AllMeters {
  items: Array<Meters>;
  /** Live nodes that did not answer; what they do is not known. */
  unasked: Array<string>;
}

export interface AlterRequest {
  /** Made in this order and in one commit, all or none; up to 100. */
  alterations?: Array<AlterationRequest>;
  /** Why, for the journal. */
  reason?: string;
}

export interface AlterationEntry {
  /** The code of what is wrong. */
  eventName: string | null;
  logLevel: "Information" | "Warning" | "Error";
  message: string;
  timestamp: string;
}

export interface AlterationLog {
  logEntries: Array<AlterationEntry>;
}

export interface AlterationPlan {
  /** The id of the job: GET /jobs/{id} tells how far it is. */
  planId: string;
}

export interface AlterationRequest {
  /** migrate: for activities that have another id in that version, from the old one to the new one. */
  activities?: Record<string, string>;
  /** Id of the activity; of setVariable: whose scope has the variable. Absent: what faulted (retry), the instance (cancel), the only one there is. */
  activity?: string;
  /** retry: also if a branch that ran since the call failed (onGiveUp, onTimeout, an outcome) may have undone what it did. */
  again?: boolean;
  /** reschedule: id of the timer's bookmark; needed if several fit. */
  bookmark?: string;
  /** reschedule: when the timer is due. */
  dueAt?: string | null;
  /** Which execution of the activity, as the journal numbers them; needed if several run. */
  execution?: number;
  /** retry: whether the call is made with the idempotency key of the call before; true if absent. */
  keepKey?: boolean | null;
  /** skip: what the activity completes with; Done if absent. */
  outcomes?: Array<string>;
  type?: "retry" | "skip" | "setVariable" | "migrate" | "reschedule" | "cancel";
  /** setVariable: any value; null clears it. */
  value?: any;
  /** setVariable: name or id. */
  variable?: string;
  /** migrate: the version of the definition to go on with. */
  version?: number;
}

export interface AlterationResult {
  isSuccessful: boolean;
  log: AlterationLog;
  /** It goes on by itself. */
  workflowHasScheduledWork: boolean;
  workflowInstanceId: string;
}

export interface AlterationResults {
  results: Array<AlterationResult>;
}

export interface Altered {
  /** The sequence number of the commit that was looked at: a later one may fit no more. */
  basedOn: number;
  /** Why not, if the instance is not in a state for it. */
  code?: string;
  definitionId: string;
  /** A sentence for each change. */
  did: Array<string>;
  /** Each thing that does not fit, with its place. */
  errors: Array<ProblemItem>;
  /** Whether they would be made. */
  fits: boolean;
  instanceId: string;
  /** Ids of the activities that would run then. */
  next: Array<string>;
  /** Before the next activities run. */
  subStatus: string;
  /** Of the definition, afterwards. */
  version: number;
}

export interface AssignUserRequest {
  /** Why, for the journal: up to 2 KiB. */
  reason?: string;
  /** Of the task; any, if it is absent. */
  revision?: number;
  /** A person, as candidateUsers name one: anna, key:anna or oidc:anna. */
  to?: string;
}

export interface Audit {
  /** 500 at most. */
  items: Array<AuditLine>;
  /** Others that are remembered fit too. */
  more: boolean;
  /** Those that were asked. */
  nodes: Array<AuditNode>;
  /** Live nodes that did not answer. */
  unasked: Array<string>;
}

export interface AuditLine {
  code: string;
  location: string;
  method: string;
  /** The node whose line it is. */
  nodeId: string;
  operation: string;
  relayedBy: string;
  remote: string;
  requestId: string;
  result: "done" | "accepted" | "checked" | "denied" | "failed";
  role: string;
  route: string;
  status: number;
  suppressed: number;
  target: string;
  /** By its clock. */
  time: string;
  via: string;
  /** key: and the name of an API key, oidc: and the subject of a token, anyone, or unknown. */
  who: string;
}

export interface AuditNode {
  /** The oldest line that it remembers; null: none yet. */
  from: string | null;
  /** false: it keeps no audit log, as it has neither credentials nor a file for one. */
  kept: boolean;
  nodeId: string;
}

export interface Awaiting {
  activityType: string | null;
  /** Empty where the record of the instance cannot be read. */
  bookmarkId: string;
  correlationId: string | null;
  /** Why it cannot be read. */
  damage?: string;
  /** The record cannot be read by any node: what is shown is what its key says. */
  damaged?: boolean;
  instanceId: string;
  name: string | null;
  since: string | null;
}

export interface Balance {
  /** What was accepted durably since then, and what was there at that time; a stimulus once for each place that it is for. */
  accepted: number;
  /** An instance has dealt with it. */
  applied: number;
  at: string;
  /** Why it does not go back further. */
  because: string;
  deadLetters: number;
  /** Dead letters that somebody or retention deleted. */
  deleted: number;
  /** accepted less all of these. 0, unless something vanished. */
  difference: number;
  /** Commands that wait. */
  mailboxes: number;
  /** What makes the difference, the first 100. */
  missing: Array<Lost>;
  /** The node that counted last. */
  nodeId: string;
  queue: number;
  /** It had no effect, and its record said why. */
  refused: number;
  /** Revision of etcd up to which it is counted. */
  revision: number;
  /** Stimuli whose targets are not resolved, or not all served. */
  sends: number;
  /** What weft fsck --repair has set aside. */
  setAside: number;
  since: string;
  sinceRevision: number;
}

export interface Bookmark {
  activityId: string;
  activityType: string;
  bookmarkId: string;
  /** The instance whose end resumes it. */
  childInstanceId?: string;
  /** When a timer resumes it. */
  dueAt?: string | null;
  name: string | null;
  /** It is a pause between two attempts. */
  retry?: Retry | null;
}

export interface Bookmarks {
  items: Array<Awaiting>;
  /** How many were looked at for the page; at about 20,000 it ends. */
  looked: number;
  /** Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface Brought {
  /** What it would do if it were sent now: with others, who wait for the same with another correlation. Null if it is no stimulus. */
  effect: Effect | null;
  /** What it brings; null for a viewer. */
  input: any;
  /** The caller's role may not see it. */
  inputHidden: boolean;
}

export interface Burst {
  /** The activity that it is in; null: it is loaded or committed, or came to none yet. */
  doing: Doing | null;
  instanceId: string;
}

export interface Bursts {
  /** Those first whose activity has run for the longest; 500 at most. */
  items: Array<Burst>;
  /** How many more there are. */
  more: number;
  nodeId: string;
}

export interface Caller {
  /** What the caller is known by: an API key, a token of the provider, a session of the console; nothing, where no credentials are asked for. */
  by: "key" | "token" | "session" | "nothing";
  /** When that ends by itself, a session at the latest then; null: never. */
  expiresAt: string | null;
  /** The values of the token's role claim, or the groups of the API key: policies of HTTP endpoints and user tasks name them. */
  groups: Array<string>;
  /** key: and the name of an API key, or oidc: and the subject of a token; null: this cluster asks for no credentials. */
  name: string | null;
  /** What the caller may do; each may do what those before it may. */
  role: "business" | "viewer" | "operator" | "designer" | "admin";
}

export interface CancelUserRequest {
  /** Why: up to 2 KiB. */
  reason?: string;
  /** Of the task; any, if it is absent. */
  revision?: number;
}

export interface Case {
  /** Into which activities may be put; empty: into none. */
  branch: string;
  label: string;
  line: number;
  /** As fieldText of an edit takes it. */
  when: string;
}

export interface Checked {
  /** Empty if it cannot be told. */
  id: string;
  /** SVG without a style sheet, of what can be read. */
  picture?: string;
  /** Errors, and warnings, which are in the way of nothing. */
  problems: Array<ProblemItem>;
  /** It would have if it were published; 0: it cannot be as it is. */
  version: number;
}

export interface Claim {
  draining: boolean;
  /** Create revision of its key in etcd; 0: it works without the lock. */
  fence: number;
  /** No live node has that session: the lock ends with it. */
  gone: boolean;
  nodeId: string;
  /** Whether it is the node that answers. */
  self: boolean;
  /** By its own clock. */
  since: string | null;
}

export interface ClaimRequest {
  /** For how long the tasks are the worker's unless it says more, 1s to 24h; 30s if absent. */
  lease?: string;
  /** How many tasks at most, 1 to 100; 1 if absent. */
  max?: number | null;
  /** Of tasks, 1 to 20. */
  names?: Array<string>;
  /** How long the answer may wait for the first task, up to 60s; not at all if absent. */
  wait?: string;
  /** Who asks, for people: up to 256 bytes. */
  worker?: string;
}

export interface Claimed {
  items: Array<ClaimedTask>;
}

export interface ClaimedTask {
  /** From 1. */
  attempt: number;
  /** Names this claim in heartbeat, complete, fail and release. */
  claim: string;
  createdAt: string;
  definitionId: string;
  instanceId: string;
  /** Then another worker gets it, unless a heartbeat came before. */
  leaseUntil: string;
  name: string;
  payload?: any;
  /** The activity has a retry, which counts the attempts: leave it to that whether another one follows a failure. */
  retried?: boolean;
  taskId: string;
}

export interface CommentUserRequest {
  /** Up to 2 KiB; a task has up to 50 comments. */
  text?: string;
}

export interface Commit {
  /** The time of its first item. */
  began: string | null;
  /** The executions whose scopes were open at the commit before, and ended; 0 is the workflow. */
  closed: Array<number>;
  /** What it consumed. */
  commands: Array<string>;
  /** From 1 within the instance. */
  commit: number;
  /** When it was sent. */
  ended: string | null;
  /** Which holding of the instance's lock it was made under; a later one is larger. 0: without a lock. */
  fence: number;
  id: string;
  /** An import replaced all variables: none of before is left. */
  imported: boolean;
  /** Which node made it. */
  node: string | null;
  /** It repeated a command that another process had begun, or had left. */
  takeover?: boolean;
  /** How many more it set. */
  unlisted: number;
  /** Those that it set. */
  variables: Array<Variable>;
}

export interface CompleteUserRequest {
  /** The fields of the task's form, if it has one. */
  data?: Record<string, any>;
  /** The key of one of the task's outcomes. */
  outcome?: string;
  /** Of the task as it was shown, claimed or free: it counts only while that is so. Any, if it is absent. */
  revision?: number;
}

export interface Count {
  count: number;
  /** false: so many at least. */
  exact: boolean;
}

export interface Crash {
  /** To the outside, that it makes. */
  calls: number;
  /** Failures that were left out, as they are too many. */
  left: number;
  /** What is to be known, such as calls that may be made again with the same key. */
  notes: Array<string>;
  /** At which a node may fail. */
  points: number;
  /** Each with one failure. */
  runs: number;
}

export interface DeadLetter {
  activityType?: string;
  /** Kind of the command, if it was one. */
  command?: string;
  /** That the stimulus came with. */
  correlationId: string | null;
  createdAt: string;
  /** Why it cannot be read. */
  damage?: string;
  /** The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md. */
  damaged?: boolean;
  detail?: string;
  /** What it brought was too large to be kept: the size of the whole as JSON. It cannot be replayed. */
  droppedBytes?: number;
  /** The SHA-256 of that, in hexadecimal. */
  droppedSha256?: string;
  id: string;
  instanceId: string | null;
  /** Of the event. */
  name?: string;
  reason: string;
  stimulus?: any;
}

export interface DeadLetterList {
  items: Array<DeadLetter>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface Declared {
  default?: any;
  description?: string;
  list: boolean;
  name: string;
  required: boolean;
  /** Such as String, Int32, Object. */
  type: string;
}

export interface Definition {
  /** Why it cannot be read. */
  damage?: string;
  /** The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md. */
  damaged?: boolean;
  description: string | null;
  id: string;
  latestVersion: number;
  /** With starts=true: there are others, or may be. */
  moreStarts?: boolean;
  name: string | null;
  published: boolean;
  publishedAt: string | null;
  /** With starts=true: timers, dates or cron expressions start it; GET /timers has when. */
  schedules?: boolean;
  /** The set of definitions that it is of, as it was last published with one; null: none. */
  set: string | null;
  /** With starts=true: what starts instances of it by itself, of events and endpoints the first 5 each. Absent: none, or it was not asked for. */
  starts?: Array<Starts>;
  updatedAt: string;
  /** The published version, or the latest if none is published. */
  version: number;
}

export interface DefinitionList {
  items: Array<Definition>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface Dispatched {
  instanceId: string;
}

export interface Doing {
  activityId: string;
  activityType: string;
  /** Which attempt of its work the activity makes, from 1; null: it does not tell. */
  attempt: number | null;
  /** The ids of the activities whose calls are in flight beside it, the oldest first; it is the oldest of all. */
  beside: Array<string>;
  /** It may wait for the outside, and a cancel interrupts it; otherwise a cancel waits for its end. */
  outside: boolean;
  /** By the clock of its node. */
  since: string;
}

export interface EditRequest {
  /** Another one; "": none. */
  correlationId?: string | null;
  /** In the place of what the stimulus brings, of any type. */
  input?: Record<string, any>;
  /** Send it to this instance only; "": to all who wait for it. */
  instanceId?: string | null;
  /** Another name of the event. */
  name?: string | null;
  /** Another payload of the event. */
  payload?: any;
}

export interface Effect {
  /** It meets more than 10,000, and would be refused. */
  more: boolean;
  /** Where it meets nothing: instances that wait for the same with another correlation; 10 at most. */
  others: Array<Place>;
  /** It meets nothing, and would wait in the queue. */
  queued: boolean;
  /** Events of this name, or nearly so, of the last hour that nodes remember, the newest first; 10 at most. No node remembers more than 10,000, and none what was before its start. */
  recent: Array<SentEvent>;
  /** Why it would be refused if it were sent now: its instance is not there, has ended or is damaged, the cluster is paused, etcd is too full, it meets too many, or it meets one definition only, and the gate of that is held. Null: it would be taken. */
  refused: Refused | null;
  /** How many it would resume in all. */
  resumed: number;
  /** Instances that it would resume; 100 at most. */
  resumes: Array<Place>;
  /** Of etcd, at which this was so. */
  revision: number;
  /** How many it would start in all, also those whose gate is held. */
  started: number;
  /** Definitions that it would start, unless an instance holds the gate of the activation strategy (holder); 100 at most. */
  starts: Array<Trigger>;
}

export interface ElsaAlterationRequest {
  /** CancelActivity, ScheduleActivity: id of the activity. */
  activityId?: string;
  /** CancelActivity, ScheduleActivity: the number of its execution in the journal, as text; needed if several run. */
  activityInstanceId?: string;
  /** Migrate: the version of the definition to go on with. */
  targetVersion?: number;
  type?: "Cancel" | "CancelActivity" | "Migrate" | "ModifyVariable" | "ScheduleActivity";
  /** ModifyVariable: any value; null clears it. */
  value?: any;
  /** ModifyVariable: id or name. */
  variableId?: string;
}

export interface ElsaFilterRequest {
  /** One. */
  correlationIds?: Array<string>;
  /** One. */
  definitionIds?: Array<string>;
  /** Needed where nothing else is given. */
  emptyFilterSelectsAll?: boolean;
  /** Only those that have some. */
  hasIncidents?: boolean;
  /** One. */
  names?: Array<string>;
  /** One: Running or Finished. */
  statuses?: Array<string>;
  /** One, such as Faulted. */
  subStatuses?: Array<string>;
  /** Up to 100. */
  workflowInstanceIds?: Array<string>;
}

export interface Etcd {
  /** By its clock. */
  at: string;
  /** Those that the node knows, by --etcd-endpoints. */
  members: Array<Member>;
  /** The node that asked. */
  nodeId: string;
  /** That a read took which most members confirm; null: it was not answered within 2 s. */
  seconds: number | null;
  /** degraded: it works, and something is wrong that may stop it. down: it does not answer, or takes no writes. */
  state: "ok" | "degraded" | "down";
  /** What is wrong, the worst first. */
  troubles: Array<Trouble>;
}

export interface EtcdMember {
  /** Of the endpoint. */
  address: string;
  /** It was asked a moment ago, and answered. */
  answers: boolean;
  leader: boolean;
  /** Of its last answer; 0: there was none. */
  roundTripSeconds: number;
  /** The node's requests go to it. */
  takesCalls: boolean;
  /** Of etcd; empty: it did not tell. */
  version: string;
  /** It does not answer, or takes no calls; empty: it does both. */
  why: string;
}

export interface EventRequest {
  correlationId?: string;
  /** Only this instance. */
  instanceId?: string;
  /** Becomes the result of the Event activity. */
  payload?: any;
}

export interface Explanation {
  /** By the clock of the node that answers. */
  at: string;
  /** Why, in one word: that of the first reason, or of what keeps it from coming about. */
  cause: "event" | "timer" | "retry" | "child" | "task" | "endpoint" | "stimulus" | "other-correlation" | "other-instance" | "other-name" | "dead-letter" | "went-elsewhere" | "faulted-child" | "lost-child" | "late-timer" | "clock" | "paused" | "full" | "drain" | "gate" | "fault" | "damaged" | "activity" | "running" | "lock" | "gone" | "mail" | "ended" | "nothing";
  /** The activity that the owner is in; null: none at the moment, or it could not be asked. */
  doing: Doing | null;
  /** Of its activation strategy, which lets one instance run at a time: it holds it, or its start waits until it is free. */
  gate: Gate | null;
  /** Who made its last 100 commits: the last 10 rows, and the last 10 refusals. GET /instances/{id}/owners has more. */
  history: History | null;
  /** The newest 5, those first that are open. */
  incidents: Array<Open>;
  /** How many more there are. */
  incidentsLeft: number;
  instanceId: string;
  lastCommit: LastCommit | null;
  /** Commands that wait to be run, the oldest first; 50 at most. */
  mail: Array<Mail>;
  /** How many more there are. */
  mailLeft: number;
  /** Stimuli that are nearly what it waits for, 10 at most, those first that were likely meant for it: of the newest 200 of the queue and of the dead letters, and of the events that nodes remember of the last hour; up to 5 that met others. */
  nearMisses: Array<NearMiss>;
  /** What a person can do, the most likely first. Paths are below /api/v1. */
  next: Array<string>;
  /** The node that has the instance's lock; null: nobody runs it. */
  owner: Claim | null;
  /** The first is the one that the summary begins with. */
  reasons: Array<Reason>;
  /** At how many more places it waits: reasons has 100 of them. */
  reasonsLeft: number;
  /** Of etcd, at which record, mailbox, lock and reasons were read. */
  revision: number;
  /** stuck: nothing that is known will move it. */
  state: "running" | "queued" | "waiting" | "finished" | "faulted" | "stuck" | "damaged";
  /** One sentence, for people. */
  summary: string;
  /** Nodes that want its lock, in the order in which they get it. */
  waiters: Array<Claim>;
}

export interface Fate {
  /** Why it was refused. */
  code: string | null;
  /** As the journal's commits name it. */
  commandId: string;
  /** The journal entry in which it took effect; null: none, or it is not kept any more. */
  commit: FateCommit | null;
  /** Id of the dead letter that it became. */
  deadLetter: string | null;
  /** It was replayed or deleted since. */
  deadLetterGone: boolean;
  detail: string | null;
  instanceId: string | null;
  /** Its id in the queue or the outbox. */
  item: string | null;
  outcome: "started" | "resumed" | "applied" | "accepted" | "refused" | "requeued" | "gone" | "dropped";
  /** mailbox, sending and queued: accepted, and still there. requeued: its place was gone, and it went on as item. unknown: nothing that is kept says it. */
  state: "applied" | "refused" | "mailbox" | "sending" | "queued" | "requeued" | "dead-letter" | "dropped" | "unknown";
}

export interface FateCommit {
  at: string | null;
  /** Of the lock that it was made under; 0: none. */
  fence: number;
  nodeId: string | null;
  sequence: number;
}

export interface Filling {
  /** Of all keys and values of the cluster. What else is in use is what etcd keeps of before its last compaction, its own, and what others keep there. */
  bytes: number;
  /** What the instances of each take that were read: records, parts, journals, mail, entries in lists. */
  definitions: Array<FillingDefinition>;
  /** null: this node has not looked for ten minutes yet. */
  growth: FillingGrowth | null;
  /** The largest first. */
  kinds: Array<FillingKind>;
  /** The largest instances of those that were read, 20 at most. */
  largest: Array<FillingInstance>;
  /** Of etcd: all is as it was then. */
  revision: number;
  /** How full etcd is, as the node that answers knows it. */
  store: StoreMeter;
  tookSeconds: number;
  /** All was read. False: within 8 seconds or 256 MiB only some was, and what is estimated says by how much it may be wrong. */
  whole: boolean;
}

export interface FillingDefinition {
  bytes: number;
  definitionId: string;
  instances: number;
}

export interface FillingGrowth {
  /** Of what is in use; below 0 it shrinks. */
  bytesADay: number;
  /** Until starts are refused, if it goes on so; null: it does not grow, or they are refused already. */
  daysLeft: number | null;
  /** For how long this was seen: since the start of the node, and a day at most. */
  overSeconds: number;
}

export interface FillingInstance {
  bytes: number;
  definitionId: string;
  instanceId: string;
  keys: number;
}

export interface FillingKind {
  bytes: number;
  keys: number;
  kind: string;
  /** By how many bytes that may be wrong, either way (two standard errors, if what was not read is like what was). 0: all was read. */
  off: number;
}

export interface Gaps {
  /** What was set last by a commit before this one is not known, as the journal no longer has it, or is too long to be read at once; 0: none is missing. */
  before: number;
  /** So many variables are left out, as there are more than 5,000. */
  more: number;
  /** So many that were set are not told by name. */
  unlisted: number;
  /** So many commits cannot be read. */
  unreadable: number;
}

export interface Gate {
  /** Starts that wait until it has ended. */
  behind: number;
  /** One instance with it runs; null: with any, or none. */
  correlationId: string | null;
  /** One instance of it runs; null: of any definition. */
  definitionId: string | null;
  /** The instance that runs. */
  holder: string | null;
  /** The queue item that waits to start this instance; null: the instance is there. */
  item: string | null;
}

export interface Health {
  nodeId: string;
  /** Whether requests were refused in the last 10 seconds for want of places, memory or connections; see weft_shed_total. */
  shedding?: boolean;
  status: string;
}

export interface Heard {
  leaseUntil?: string | null;
  /** Why. */
  reason?: string;
  /** Nobody waits for the task any more: what the worker does is in vain. */
  stop: boolean;
}

export interface HeartbeatRequest {
  /** As POST /tasks/claim gave it. */
  claim?: string;
  /** Percent, 0 to 100; as it was if absent. */
  progress?: number | null;
  /** What the worker does, for people: up to 1024 bytes; as it was if absent. */
  text?: string;
}

export interface History {
  /** Commits before this one are not told; 0: all are that the journal has. */
  before: number;
  /** The oldest commit that the journal still has. */
  first: number;
  /** The newest commit. */
  last: number;
  /** Rows of commits that one node made without a takeover in between, the oldest first. */
  periods: Array<Period>;
  /** Commits that a fence refused, as another node had the instance by then, the oldest first; of those that live nodes remember. */
  refusals: Array<OwnRefusal>;
  /** Live nodes that could not be asked for refusals. */
  unasked: Array<string>;
}

export interface Hot {
  instanceId: string;
  /** Commits, of the last 10 s or so. */
  perSecond: number;
}

export interface Incident {
  activityId: string;
  activityType: string;
  cause?: string;
  /** The input that failed, with its language. */
  expression?: string;
  /** The definition says that the instance has failed for good: a retry is refused unless it says again. */
  final?: boolean;
  message: string;
  time: string;
}

export interface Instance {
  /** It has left etcd, and the archive told it. See docs/operations/archive.md. */
  archived?: boolean;
  bookmarks: Array<Bookmark>;
  correlationId: string | null;
  createdAt: string;
  /** Why it cannot be read. */
  damage?: string;
  /** The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md. */
  damaged?: boolean;
  definitionId: string;
  finishedAt: string | null;
  incidents: Array<Incident>;
  input: Record<string, any>;
  instanceId: string;
  /** In the answer to a cancel: the activity whose call to the outside it ended. Absent: none was under way, or it is not known yet. */
  interrupted?: string;
  /** By which it is found; none: {}. */
  labels: Record<string, string>;
  /** In the answer to a command for an instance that waits at thousands of places: at how many more than are listed. GET lists all. */
  moreBookmarks?: number;
  name: string | null;
  /** In the 202 of a cancel: what the instance is at, and whether that was told to end. Absent: it is not known. */
  notYet?: string;
  output: Record<string, any>;
  parentInstanceId: string | null;
  /** Empty only of a damaged instance. */
  status: "Running" | "Finished" | "";
  subStatus: "Pending" | "Executing" | "Suspended" | "Finished" | "Cancelled" | "Faulted" | "";
  updatedAt: string;
  version: number;
}

export interface InstanceFound {
  items: Array<Instance>;
  /** How many instances were looked at for the page; at 20,000 it ends. */
  looked: number;
  /** Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one. */
  nextCursor: string | null;
  /** What durations in the filter count from, on every page of the list. */
  now: string;
  /** The filter as one line, as q takes it. */
  query: string;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface Interface {
  description: string | null;
  id: string;
  inputs: Array<Declared>;
  latestVersion: number;
  /** A start may bring inputs that are not declared. */
  moreInputs: boolean;
  name: string | null;
  /** None: Done. */
  outcomes: Array<string>;
  outputs: Array<Declared>;
  /** The published version; 0: none. */
  published: number;
  /** What starts an instance by itself. */
  starts: Array<Starts>;
  version: number;
}

export interface ItemsRequest {
  activityType?: string;
  /** Needed where nothing else restricts. */
  all?: boolean;
  /** Those that came into the queue before this time. */
  before?: string | null;
  correlationId?: string;
  /** nextCursor of the answer before. */
  cursor?: string;
  instanceId?: string;
  /** How many are looked at, 1 to 500, 50 if absent. */
  limit?: number;
  /** Of the event. */
  name?: string;
}

export interface Job {
  /** In whose mailboxes it was left, as they were busy for long. */
  accepted: number;
  /** Those that took the command, by what came of it: their sub-status when they were looked at, some seconds after it at most, or Gone. Fewer than done while the job runs, and where a node of an older version worked it. */
  became: Record<string, number>;
  /** Who asked for it. */
  by: string | null;
  createdAt: string;
  /** Why it cannot be read. */
  damage?: string;
  /** The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md. */
  damaged?: boolean;
  /** Instances that took the command. */
  done: number;
  endedAt: string | null;
  id: string;
  kind: string;
  /** That wrote its record last. */
  node: string | null;
  /** Which instances; empty: all. */
  query: string;
  reason: string | null;
  /** The first 100. */
  refusals: Array<JobRefusal>;
  refused: number;
  /** How many refused, by code. */
  refusedBy: Record<string, number>;
  /** The same in words. */
  report: string;
  /** Why it rests at the moment, as the node that answers sees it: the cluster is paused, or etcd or its disk fills up. Empty: it does not. */
  rests: string;
  state: "running" | "done" | "cancelled" | "";
  /** That may have been given the command by a node that died, or before a long pause, of which nothing tells any more: it is not given again. */
  unknown: number;
  updatedAt: string;
}

export interface JobFate {
  id: string;
  /** gone: it was deleted, or cannot be read. */
  state: "running" | "done" | "cancelled" | "gone";
}

export interface JobList {
  items: Array<Job>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface JobPreview {
  /** How many of them would take the command. */
  fits: number;
  /** Instances of the filter, counted up to 10,000. */
  matching: number;
  /** There are more than matching says, or may be: so many were looked at that the count was ended. */
  more: boolean;
  /** The filter as it was understood. */
  query: string;
  /** Why others would not; the first 100. */
  refusals: Array<JobRefusal>;
  /** For how many it was tried, the newest. */
  tried: number;
}

export interface JobRefusal {
  code: string;
  detail: string;
  instanceId: string;
}

export interface JobRequest {
  /** Needed where q restricts nothing. */
  all?: boolean;
  /** Of kind alter: made to each instance as by POST /instances/{id}/alterations. */
  alterations?: Array<AlterationRequest>;
  kind?: "alter" | "retry" | "cancel" | "delete";
  /** Which instances: the line that q of GET /instances takes, such as status:faulted def:order. Durations count from now. */
  q?: string;
  /** Of alter and retry: why, for the journal. */
  reason?: string;
}

export interface Journal {
  activityId: string;
  activityType: string;
  /** The command that was being processed. */
  burst: string;
  /** The commit that it is of. */
  commit: number;
  data?: any;
  event: string;
  /** Of the activity: the sequence of its first item. Each round of a loop has others. */
  execution: number;
  /** The execution that scheduled it; 0: the workflow. */
  parent: number;
  /** From 1 within the instance. */
  sequence: number;
  text?: string;
  time: string;
}

export interface JournalPage {
  /** The commits that the items are of, and, without filters, those without items. */
  commits: Array<Commit>;
  /** The oldest commit that the journal still has. */
  first: number;
  items: Array<Journal>;
  /** How many items, of those that the filters choose, the first commit of the page has before those of the page, as items cut it: previousCursor leads to them. */
  itemsBefore: number;
  /** How many the last commit of the page has behind those of the page: nextCursor leads to them. */
  itemsBehind: number;
  /** The newest commit. */
  last: number;
  /** The oldest commit that this page has looked at; 0: none. */
  lookedFrom: number;
  /** The newest commit that this page has looked at, the one before it if itemsBehind is not 0, or after if nothing came behind that; 0: none. Pass it as after, later, for what was done since. */
  lookedTo: number;
  /** Pass it as cursor for what came later; null at the end. The limit is of commits. With filters a page may be empty and have a next one. */
  nextCursor: string | null;
  /** Pass it as cursor for what came before; null at the beginning. */
  previousCursor: string | null;
  /** Of etcd, at which all of it was read. */
  revision: number;
}

export interface LastCommit {
  at: string | null;
  /** Of the lock that it was made under; 0: none. */
  fence: number;
  /** That made it. */
  nodeId: string | null;
  sequence: number;
}

export interface Letter {
  brought: Brought;
  letter: DeadLetter;
}

export interface LettersRequest {
  activityType?: string;
  /** Needed where nothing else restricts. */
  all?: boolean;
  /** Those that came to be before this time. */
  before?: string | null;
  correlationId?: string;
  /** nextCursor of the answer before. */
  cursor?: string;
  instanceId?: string;
  /** How many are looked at, 1 to 500, 50 if absent. */
  limit?: number;
  /** Of the event. */
  name?: string;
  reason?: string;
}

export interface Limit {
  /** Those for which most wait first, 100 at most. */
  keys: Array<LimitKey>;
  /** How many may have a place of one key at once; null: any number, or, without a rate, the limit is not set, and who waits for it waits until it is. */
  most: number | null;
  name: string;
  /** How many units may be taken of one key in any time of a length; null: any number. */
  rate: LimitRate | null;
  setAt: string | null;
  setBy: string | null;
  /** When the first of those who wait came; null: nobody waits. */
  since: string | null;
  /** Places, of all keys. */
  taken: number;
  /** Who waits for a place, of all keys. */
  waiting: number;
}

export interface LimitKey {
  /** Until when nobody is given a place, as a service answered 429 or 503 with Retry-After; null: none did. */
  heldTo: string | null;
  key: string;
  /** When units come that somebody waits for; null: nobody waits for units that come by time. */
  nextAt: string | null;
  /** When the first of those who wait came; null: nobody waits. */
  since: string | null;
  taken: number;
  /** That may be taken now, of a limit with a rate; less than 0: more were used than reserved. null: they are not counted. */
  units: number | null;
  waiting: number;
}

export interface LimitPlace {
  activityId: string;
  /** When it came to wait. */
  cameAt: string;
  definitionId: string;
  /** When it was given its place; null: it waits. */
  givenAt: string | null;
  instanceId: string;
  key: string;
}

export interface LimitPlaces {
  items: Array<LimitPlace>;
  /** Pass it as cursor for the next page; null at the end. */
  nextCursor: string | null;
}

export interface LimitRate {
  /** After which time a unit that was taken is back; null: never, so that there are so many in all. */
  per: string | null;
  units: number;
}

export interface LimitRateRequest {
  /** After which time a unit that was taken is back, such as 1m: from 1s to 366 days. If absent it is never, and units are how many there are in all. */
  per?: string;
  /** From 0 (nobody is given one) to 1,000,000,000,000. A place takes one, unless withLimit says an amount. */
  units?: number | null;
}

export interface LimitRequest {
  /** How many may have a place of one key at once, from 0 (nobody is given one) to 10,000. Who has a place keeps it, also if they are more by now. If absent, any number: then rate is needed. */
  most?: number | null;
  /** How many units may be taken of one key in any time of a length. If absent, any number: then most is needed. */
  rate?: LimitRateRequest | null;
}

export interface Limits {
  items: Array<Limit>;
}

export interface Lineage {
  instanceId: string;
  /** The farthest ancestor first, then the instance, then its descendants; each stands behind its parent. */
  items: Array<Relative>;
  /** Of etcd, at which all of this was so. */
  revision: number;
  /** Nobody is left out: neither by depth, nor by number, nor by size. */
  whole: boolean;
}

export interface LiveBye {
  reason: "draining" | "unavailable" | "credentials";
}

export interface LiveCluster {
  /** All of them, as GET /nodes has them; seenAt is null. */
  nodes: Array<Node>;
  revision: number;
  topic: string;
}

export interface LiveDefinitionChange {
  definition: Definition;
  deleted: boolean;
}

export interface LiveDefinitions {
  /** Those that changed since what was told before, as they are now; 100 at most. At first none: the list has them. */
  definitions: Array<LiveDefinitionChange>;
  /** More changed than are told: read the list again. */
  more: boolean;
  /** Every change up to here was told. */
  revision: number;
  topic: string;
}

export interface LiveInstance {
  /** null: there is none. */
  instance: LiveInstanceState | null;
  /** Of etcd: of its last write, or at which it was seen that there is none. */
  revision: number;
  topic: string;
}

export interface LiveInstanceState {
  /** The first 20. */
  bookmarks: Array<Bookmark>;
  /** How many more there are. */
  bookmarksLeft: number;
  /** The last one; its journal begins there to be new. */
  commit: number;
  correlationId: string | null;
  createdAt: string;
  damaged?: boolean;
  definitionId: string;
  finishedAt: string | null;
  /** The message of the last one, 1,000 characters at most. */
  incident: string | null;
  /** How many it has. */
  incidents: number;
  instanceId: string;
  labels: Record<string, string>;
  name: string | null;
  parentInstanceId: string | null;
  /** Empty only of a damaged instance. */
  status: "Running" | "Finished" | "";
  subStatus: "Pending" | "Executing" | "Suspended" | "Finished" | "Cancelled" | "Faulted" | "";
  updatedAt: string;
  version: number;
}

export interface LiveList {
  /** Of the first 50 instances of the list, the newest first. */
  ids: Array<string>;
  /** Those of them that came or changed since what was told before; at first all. */
  items: Array<Summary>;
  /** Others stand behind them, or may: so many were looked at that the search was ended. */
  more: boolean;
  /** Of etcd: the list is as it was then. */
  revision: number;
  topic: string;
}

export interface LiveReset {
  topic: string;
}

export interface Lock {
  /** Create revision of the lock's key in etcd. */
  fence: number;
  /** Id of the node. */
  holder: string | null;
  name: string;
  scope: string;
  /** When the holder asked for it, by its clock; null if not known. */
  since: string | null;
  /** Nodes that want it, in the order in which they get it. */
  waiters: Array<Waiter>;
}

export interface Locks {
  items: Array<Lock>;
  /** Pass it as cursor for the next page; null at the end. */
  nextCursor: string | null;
  /** Of etcd, at which they were so. */
  revision: number;
}

export interface Lost {
  /** Below the root of the cluster's keys. */
  key: string;
  /** At which it went. */
  revision: number;
}

export interface MachineState {
  final: boolean;
  initial: boolean;
  line: number;
  name: string;
  transitions: Array<MachineTransition>;
}

export interface MachineTransition {
  line: number;
  name: string;
  /** The event that it waits for. */
  on: string;
  to: string;
  /** The id of the activity that it waits for, if that is no event. */
  waits: string;
  /** As fieldText of an edit takes it. */
  when: string;
}

export interface Mail {
  /** How often nodes took it over and did not finish. */
  attempts: number;
  bookmarkId: string | null;
  createdAt: string | null;
  id: string;
  /** start, resume, childEnd, cancel, delete, retry, import, continue, or that of a newer program. */
  kind: string;
  /** The program of the node that answers cannot read it. */
  unreadable: boolean;
}

export interface Mean {
  count: number;
  /** 0 if there was none. */
  mean: number;
}

export interface Member {
  /** NOSPACE or CORRUPT. */
  alarms: Array<string>;
  answers: boolean;
  /** Why it does not answer; empty: it does. */
  error: string;
  /** As etcdctl has it; empty: it does not answer. */
  id: string;
  /** Whether it knows of a leader. */
  knowsLeader: boolean;
  /** Whether it is the leader, as it says. */
  leader: boolean;
  learner: boolean;
  /** Host and port of its endpoint. */
  name: string;
  /** That its answer took. */
  seconds: number;
  version: string;
}

export interface Memory {
  /** What it runs of the instance; null: nothing. */
  burst: Burst | null;
  /** The newest first, one of each name, correlation and address; 50 at most. */
  events: Array<SentEvent>;
  nodeId: string;
  /** Commits of the instance that a fence refused: the newest first, of the last 1,000 since the node's start. */
  refusals: Array<Refusal>;
}

export interface Meters {
  /** By its clock. */
  at: string;
  bursts: Rate;
  /** How many commands a commit consumed. */
  commitCommands: Mean;
  /** How long a commit took. */
  commitSeconds: Mean;
  /** By outcome, those that there were. */
  commits: Array<Rate>;
  /** While it drains: when it ends at the latest, by its clock. */
  drainsUntil: string | null;
  /** Members of etcd by its settings; none if its etcd is embedded, or its program older. */
  etcdMembers: Array<EtcdMember>;
  /** Instances that it commits once a second or more, those with the most commits first; 10 at most. */
  hot: Array<Hot>;
  /** Requests that it answers. */
  inFlight: number;
  /** That it holds. */
  locks: number;
  nodeId: string;
  /** Why it should get no traffic; empty: it is ready. */
  notReady: string;
  /** Instances with work that its program cannot run or read, and leaves to others. If each live node has some, no node can run it. */
  notRunnable: number;
  /** How many requests that only read shared a proposal to etcd. */
  readBatch: Mean;
  /** That the rates and means are of, some seconds up to now. 0: the node has just started, there are no rates, and means are of all since then. */
  seconds: number;
  /** When its present session with etcd began, by its clock; null: it has none. */
  sessionSince: string | null;
  store: StoreMeter;
  /** Commands that another process had left and this one began, since its start. */
  takeovers: number;
  /** Settings whose files cannot be taken as they are: gone, empty, cut, or with a mistake. What was read before counts on; the node's log says what is wrong. */
  unreadFiles: Array<string>;
  /** Instances that it works at the moment. */
  working: number;
  /** The same of requests that may write. Without group commit there is none. */
  writeBatch: Mean;
}

export interface NearMiss {
  /** That it nearly met. */
  bookmarkId: string | null;
  correlationId: string | null;
  createdAt: string | null;
  id: string;
  /** The one that it is for. */
  instanceId: string | null;
  /** mail: it is about to be taken; went-elsewhere: it met others, before this one waited. */
  kind: "other-correlation" | "other-instance" | "other-name" | "dead-letter" | "went-elsewhere" | "mail";
  /** Of its event. */
  name: string | null;
  /** Why it did not meet it. */
  text: string;
  /** sent: a node remembers that it sent it. */
  where: "queue" | "dead-letter" | "sent";
}

export interface Node {
  address: string;
  /** Revision of etcd up to which it knows the definitions. */
  catalogRevision: number;
  /** Its clock less the median of the clocks of all live nodes, as the node that answers sees it; null: not known yet. */
  clockSkewSeconds: number | null;
  coordination: "distributed" | "local";
  draining: boolean;
  /** Counts the sessions of this process. */
  epoch: number;
  /** For how long it has not renewed its record, as the node that answers sees it: it hangs, or etcd takes no writes. null: it has, within three heartbeats. */
  lateSeconds: number | null;
  nodeId: string;
  paused: boolean;
  /** Its clock at its last heartbeat. */
  seenAt: string | null;
  /** Whether it is the node that answers. */
  self: boolean;
  startedAt: string;
  version: string;
}

export interface NodeAudit {
  /** The oldest line that it remembers; null: none yet. */
  from: string | null;
  /** 500 at most. */
  items: Array<AuditLine>;
  /** false: it keeps no audit log, as it has neither credentials nor a file for one. */
  kept: boolean;
  /** Others that it remembers fit too. */
  more: boolean;
  nodeId: string;
}

export interface NodeList {
  items: Array<Node>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface NotRefreshed {
  id: string;
  reason: string;
}

export interface Open {
  activityId: string;
  activityType: string;
  /** The definition says that the instance has failed for good: a retry is refused unless it says again. */
  final?: boolean;
  message: string;
  /** What failed is still faulted; false: it ran again since, or was skipped or cancelled. */
  open: boolean;
  time: string;
}

export interface Outcome {
  /** Why it was refused. */
  code?: string;
  instanceId: string;
  outcome: "started" | "resumed" | "accepted" | "refused";
}

export interface OwnRefusal {
  nodeId: string;
  refusal: Refusal;
}

export interface Owners {
  history: History;
  instanceId: string;
  /** The node that has the instance's lock now; null: nobody. */
  owner: Claim | null;
  /** Of etcd, at which journal and lock were read. */
  revision: number;
}

export interface Paused {
  paused: boolean;
}

export interface Period {
  began: string | null;
  ended: string | null;
  /** Of the first commit under a lock; 0: all were made without. */
  firstFence: number;
  /** Its first commit of the row. */
  from: number;
  /** From the end of the commit before the row to its beginning, by the clocks of both nodes; 0 at the first. Of a takeover, how long nobody worked; otherwise how long there was no work. */
  gapSeconds: number;
  lastFence: number;
  nodeId: string | null;
  /** Its first commit repeated what another process had begun or left. */
  takeover: boolean;
  /** Its last. */
  to: number;
}

export interface Place {
  bookmarkId: string;
  correlationId: string | null;
  instanceId: string;
}

export interface Problem {
  /** Stable; clients may rely on it. */
  code: string;
  /** What is wrong with this request and what to do. */
  detail?: string;
  /** Every single problem of a 400 or 422, with its place. */
  errors?: Array<ProblemItem>;
  /** Also in the X-Request-Id header and in the node's log. */
  requestId?: string;
  status: number;
  title: string;
  /** Always about:blank; the code tells problems apart. */
  type: string;
}

export interface ProblemItem {
  code: string;
  /** From 1. */
  column?: number;
  detail: string;
  /** The source line, with a caret below it. */
  excerpt?: string;
  /** The file, of several. */
  file?: string;
  /** From 1. */
  line?: number;
  /** What was probably meant. */
  meant?: string;
  /** JSON pointer (RFC 6901) into the body. */
  pointer?: string;
  /** error or warning. A warning alone is in the way of nothing. */
  severity: string;
}

export interface PublishRequest {
  /** The latest one if absent. */
  version?: number;
}

export interface Published {
  /** The version that was published before; 0: none. */
  before: number;
  id: string;
  /** Of a dry run: the version that is there, for If-Match of the publication; 0: none. Absent otherwise. */
  over?: number | null;
  /** Whether this version is the published one. */
  published: boolean;
  /** Of etcd: a node whose catalogRevision has reached it serves this version. Absent of a dry run. */
  revision?: number;
  version: number;
  /** What may be a mistake, with its place. It is in the way of nothing. */
  warnings?: Array<ProblemItem>;
  /** The set that it was of before. Absent: none. */
  wasOf?: string;
}

export interface QueueItem {
  activityType: string;
  correlationId: string | null;
  createdAt: string;
  /** Why it cannot be read. */
  damage?: string;
  /** The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md. */
  damaged?: boolean;
  expiresAt: string;
  /** The definition that it starts once no other instance runs. */
  gated?: string;
  id: string;
  /** The instance that it is for, if only one. */
  instanceId: string | null;
  /** Of the event. */
  name?: string;
  /** The hashed part, such as the event's name. */
  stimulus: any;
}

export interface QueueItemList {
  items: Array<QueueItem>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface Queued {
  /** Id of the item in the bookmark queue. */
  queued: string;
}

export interface QueuedItem {
  brought: Brought;
  item: QueueItem;
}

export interface Rate {
  name: string;
  perSecond: number;
  /** Since the start of the node. */
  total: number;
}

export interface Reason {
  /** The key in etcd that shows it. */
  key: string | null;
  kind: "lock" | "activity" | "mail" | "cancel" | "event" | "timer" | "retry" | "child" | "task" | "endpoint" | "stimulus" | "paused" | "full" | "clock" | "drain" | "gate" | "incident" | "undoing" | "unwritten" | "none" | "damaged";
  /** Id of what it is about: a bookmark, a child, a node, a command. */
  object: string | null;
  since: string | null;
  text: string;
  /** When it ends by itself; null: it does not. */
  until: string | null;
}

export interface Receipt {
  /** When it came, by the clock of the node that took it. */
  at: string | null;
  /** Who sent it; null for a viewer, and where nobody was asked. */
  caller: string | null;
  /** Why it cannot be read. */
  damage?: string;
  /** The record cannot be read by any node. */
  damaged?: boolean;
  /** For each instance that it was for, 100 at most; one without an instance, while it has met none. */
  effects: Array<Fate>;
  /** That was made of it; null: none was. */
  job: JobFate | null;
  /** About when the key is forgotten; a repeat is a new request from then on. */
  keptUntil: string;
  /** Something may still come of it. */
  open: boolean;
  /** Method and path. */
  request: string | null;
  /** Of what a workflow wrote as the answer to an HTTP endpoint, or of the answer that is kept for the key; null: neither. */
  responseStatus: number | null;
  /** How many there are beyond those. */
  unlisted: number;
}

export interface Receipts {
  key: string;
  /** There are others. */
  more: boolean;
  /** One for each route and each caller that used the key; 10 at most. */
  receipts: Array<Receipt>;
  /** Of etcd, at which all of this was so. */
  revision: number;
}

export interface RecentEvents {
  /** The newest first, one of each name, correlation and address; 50 at most. */
  items: Array<SentEvent>;
  nodeId: string;
}

export interface RefreshRequest {
  /** All published definitions if absent or empty. */
  definitionIds?: Array<string>;
}

export interface Refusal {
  /** When it was refused, by the clock of the node. */
  at: string;
  /** When the burst began. */
  began: string | null;
  /** What it would have consumed. */
  commands: Array<string>;
  /** Of the lock that the node had had. */
  fence: number;
  instanceId: string;
  /** That the commit would have had. The journal has the one of another node. */
  sequence: number;
}

export interface Refusals {
  /** The newest first, of the last 1,000 since the node's start. */
  items: Array<Refusal>;
  nodeId: string;
}

export interface Refused {
  code: string;
  detail: string;
}

export interface Relative {
  /** Id of the bookmark at which its parent waits, or waited, for its end; null: the parent does not wait. */
  awaitedAt: string | null;
  /** How many it has; of an ancestor 0, as the others are not told. */
  children: number;
  correlationId: string | null;
  createdAt: string | null;
  damaged?: boolean;
  definitionId: string | null;
  /** 0: the instance itself; its children have 1, its parent -1. */
  depth: number;
  finishedAt: string | null;
  /** It was deleted, or retention has let it go. */
  gone: boolean;
  incidents: number;
  instanceId: string;
  name: string | null;
  parentInstanceId: string | null;
  /** Empty of one that is gone or damaged. */
  subStatus: "Pending" | "Executing" | "Suspended" | "Finished" | "Cancelled" | "Faulted" | "";
  updatedAt: string | null;
  version: number | null;
}

export interface ReleaseRequest {
  /** As POST /tasks/claim gave it. */
  claim?: string;
}

export interface ReleaseUserRequest {
  /** Of the task that is given back; any, if it is absent. */
  revision?: number;
}

export interface Released {
  taskId: string;
}

export interface Remark {
  at: string;
  by: string;
  text: string;
}

export interface ReplayLettersRequest {
  activityType?: string;
  /** Needed where nothing else restricts. */
  all?: boolean;
  /** Those that came to be before this time. */
  before?: string | null;
  correlationId?: string;
  /** nextCursor of the answer before. */
  cursor?: string;
  /** What is changed of each. */
  edit?: EditRequest;
  instanceId?: string;
  /** How many are looked at, 1 to 500, 50 if absent. */
  limit?: number;
  /** Of the event. */
  name?: string;
  reason?: string;
}

export interface Result {
  holder?: string;
  notRefreshed: Array<NotRefreshed>;
  refreshed: Array<string>;
  /** Of etcd, at which the last of refreshed became so: a node whose catalogRevision has it serves them all; 0: there are none. */
  revision: number;
  status: string;
}

export interface ResumeRequest {
  input?: Record<string, any>;
}

export interface Retried {
  /** Pass it as cursor for the next ones; null at the end. */
  nextCursor: string | null;
  refused: Array<RetryRefused>;
  /** Ids of the instances whose retry is applied or durably accepted. */
  retried: Array<string>;
}

export interface Retry {
  /** The activity that is tried again. */
  activityId: string;
  /** Which attempt comes when it is due, from 2. */
  attempt: number;
  /** How many there are at most; 0: as many as there is time for. */
  attempts: number;
  /** Why the one before failed. */
  error: string;
}

export interface RetryOneRequest {
  /** Also if a branch that ran since the call failed (onGiveUp, onTimeout, an outcome) may have undone what it did. */
  again?: boolean;
  /** Which execution of it, as the journal numbers them; needed if several run. */
  execution?: number;
  /** Id of the activity to run again from its beginning; absent: the call that failed. */
  from?: string;
  /** Whether the call is made with the idempotency key of the call before; true if absent. */
  keepKey?: boolean | null;
  /** Why, for the journal. */
  reason?: string;
}

export interface RetryRefused {
  /** Why, such as instance-finished: it is not faulted any more. */
  code: string;
  instanceId: string;
}

export interface RetryRequest {
  /** With this correlation id; with any, or none, if absent. */
  correlationId?: string;
  /** nextCursor of the answer before. */
  cursor?: string;
  /** Of this definition; of all if absent. */
  definitionId?: string;
  /** How many at once, 1 to 500, 50 if absent. */
  limit?: number;
}

export interface RetryWorkflowsRequest {
  /** Which activities run again; absent: what faulted. */
  activityIds?: Array<string>;
  /** Up to 100. */
  workflowInstanceIds?: Array<string>;
}

export interface RunAlterationsRequest {
  /** Made to each instance in this order and in one commit, all or none; up to 100. */
  alterations?: Array<ElsaAlterationRequest>;
  /** Up to 100. */
  workflowInstanceIds?: Array<string>;
}

export interface SendItemsRequest {
  activityType?: string;
  /** Needed where nothing else restricts. */
  all?: boolean;
  /** Those that came into the queue before this time; before the first page was asked for, if absent. */
  before?: string | null;
  correlationId?: string;
  /** nextCursor of the answer before. */
  cursor?: string;
  /** What is changed of each. */
  edit?: EditRequest;
  instanceId?: string;
  /** How many are looked at, 1 to 500, 50 if absent. */
  limit?: number;
  /** Of the event. */
  name?: string;
}

export interface Sent {
  /** Of an HTTP endpoint: why the workflow has not answered yet. */
  detail?: string;
  outcomes: Array<Outcome>;
}

export interface SentEvent {
  /** By the clock of the node. */
  at: string;
  correlationId: string | null;
  /** One of them; null: none, or it is not known. */
  first: string | null;
  /** Of its queue item, if it had one. */
  id: string;
  /** That it was addressed to. */
  instanceId: string | null;
  /** How many instances it resumed or started; 0: it went into the queue. */
  met: number;
  name: string;
  nodeId: string;
}

export interface Several {
  /** Ids of those for which it was done. */
  done: Array<string>;
  /** Pass it as cursor for the next ones; null at the end. */
  nextCursor: string | null;
  refused: Array<SeveralRefused>;
}

export interface SeveralRefused {
  code: string;
  detail: string;
  id: string;
}

export interface SkipRequest {
  /** Of the occurrence, as GET /timers has it. Another one is never dropped. */
  dueAt?: string;
}

export interface Skipped {
  /** When the one to come is due; null: there is none. */
  next: string | null;
  /** Whether it was dropped; false: it is not the one to come: it was fired, or skipped, or is not the next one. The only one of a schedule, such as a startAt, is refused. */
  skipped: boolean;
}

export interface SourceEditRequest {
  /** The id of the activity that the answer tells about; that of the last edit if absent. */
  about?: string;
  /** Up to 20, one after the other: each is about the text that the one before left. None: only about is asked. */
  edits?: Array<TextEditRequest>;
  /** Weft's YAML, or Elsa's JSON; told by its look if absent. */
  format?: "yaml" | "json";
  /** Where that activity begins, needed if several have its id. */
  line?: number;
  /** The definition, up to 1 MiB. */
  text?: string;
}

export interface SourceEdited {
  about?: AboutActivity | null;
  /** In characters, from 1. */
  column: number;
  /** Where the cursor goes. */
  line: number;
  /** References that lost their activity or mean another one now; other mistakes are for a check. */
  problems: Array<ProblemItem>;
  text: string;
}

export interface StartRequest {
  correlationId?: string;
  /** Values of the definition's inputs. */
  input?: Record<string, any>;
  /** Id of the new instance; made if absent. */
  instanceId?: string;
  name?: string;
  /** Such as {"Flowchart:ExecutionMode": "TokenBased"}. */
  properties?: Record<string, any>;
  /** Version of the definition; the published one if absent. */
  version?: number;
}

export interface Starts {
  activityId: string;
  activityType: string;
  /** The name of an event, a schedule, or a method and a path. */
  when: string;
}

export interface Stat {
  bySubStatus: SubStatusCounts;
  definitionId: string;
  instances: Count;
  /** null: all of them. */
  version: number | null;
}

export interface State {
  /** Those that lie beside the instance. Absent in the answer of an import. */
  files?: Array<StateFile>;
  /** The header, in the form of the store. */
  instance: any;
  /** Of the last commit; the ETag. */
  sequence: number;
  /** The engine's state; opaque. */
  state: any;
}

export interface StateFile {
  bytes: number;
  /** What is in it, in base64. */
  content: string;
  /** The export has no room for its content: an import needs the file beside the instance already. */
  leftOut?: boolean;
  /** Of what is in it, in hexadecimal. */
  sha256: string;
}

export interface StateFileRequest {
  bytes?: number;
  /** What is in it, in base64. */
  content?: string;
  /** The export has no room for its content: an import needs the file beside the instance already. */
  leftOut?: boolean;
  /** Of what is in it, in hexadecimal. */
  sha256?: string;
}

export interface StateRequest {
  /** Those that lie beside the instance. Absent in the answer of an import. */
  files?: Array<StateFileRequest>;
  /** The header, in the form of the store. */
  instance?: any;
  /** Of the last commit; the ETag. */
  sequence?: number;
  /** The engine's state; opaque. */
  state?: any;
}

export interface Stats {
  /** When it was counted, by the clock of the node that answers; some seconds ago, if somebody else asked then. */
  at: string;
  bySubStatus: SubStatusCounts;
  /** All of them. */
  instances: Count;
  /** By definition, or by version if definitionId or by=version is given; those without instances are left out. */
  items: Array<Stat>;
  /** There are more definitions and versions than are counted: all of this is too little. */
  more: boolean;
  /** Of etcd, at which all of this was so. */
  revision: number;
}

export interface StimulusRequest {
  activityType?: string;
  bookmarkId?: string;
  correlationId?: string;
  input?: Record<string, any>;
  instanceId?: string;
  /** The hashed part, such as {"eventName": "approved"}. */
  stimulus?: any;
}

export interface StoreMeter {
  /** What to do about it; empty: nothing. */
  advice: string;
  allocated: number;
  /** Bytes free on the disk of an embedded etcd. */
  diskFree: number;
  /** Its size; 0: etcd is elsewhere, or it is not known. */
  diskSize: number;
  /** Bytes of etcd's fullest member. */
  inUse: number;
  /** 0: there is room. 1: starts are refused. 2: only what ends or deletes instances runs. 3: nothing that writes, as the disk of an embedded etcd is full. */
  level: number;
  /** On what is allocated; 0: not known yet. */
  quota: number;
  /** What is so and what is refused, for people, with the numbers; empty: there is room. */
  text: string;
}

export interface SubStatusCounts {
  cancelled: Count;
  executing: Count;
  faulted: Count;
  finished: Count;
  pending: Count;
  suspended: Count;
}

export interface SubmitAlterationsRequest {
  /** Made to each instance in this order and in one commit, all or none; up to 100. */
  alterations?: Array<ElsaAlterationRequest>;
  /** Which instances; all its fields have to fit. */
  filter?: ElsaFilterRequest;
}

export interface Suggested {
  /** About the word. */
  doc?: string;
  /** The column at which begins what an item takes the place of. */
  from: number;
  items: Array<Suggestion>;
  /** What stands at the place, if it is known. */
  word?: string;
}

export interface Suggestion {
  detail?: string;
  doc?: string;
  /** What is written. */
  insert: string;
  kind: "type" | "key" | "value" | "variable" | "function" | "outcome";
  label: string;
}

export interface Summary {
  /** It has left etcd, and the archive told it. See docs/operations/archive.md. */
  archived?: boolean;
  correlationId: string | null;
  createdAt: string;
  /** Why it cannot be read. */
  damage?: string;
  /** The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md. */
  damaged?: boolean;
  definitionId: string;
  finishedAt: string | null;
  /** The message of the last of them, 200 characters at most; null: it has none. */
  incident: string | null;
  /** How many it has. */
  incidents: number;
  instanceId: string;
  labels: Record<string, string>;
  name: string | null;
  parentInstanceId: string | null;
  /** Empty only of a damaged instance. */
  status: "Running" | "Finished" | "";
  subStatus: "Pending" | "Executing" | "Suspended" | "Finished" | "Cancelled" | "Faulted" | "";
  updatedAt: string;
  version: number;
  /** At how many bookmarks it waits. */
  waits: number;
  /** The first 5 of them. */
  waitsFor: Array<Wait>;
}

export interface SummaryFound {
  items: Array<Summary>;
  /** How many instances were looked at for the page; at 20,000 it ends. */
  looked: number;
  /** Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one. */
  nextCursor: string | null;
  /** What durations in the filter count from, on every page of the list. */
  now: string;
  /** The filter as one line, as q takes it. */
  query: string;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface Task {
  /** How often it was claimed and not given back; the present claim is one. */
  attempts?: number;
  createdAt: string;
  damage?: string;
  damaged?: boolean;
  /** When the worker's last heartbeat was. */
  heard?: string | null;
  instanceId: string;
  /** Why the attempt before ended. */
  lastWhy?: string;
  /** Of a free one: who had it last. */
  lastWorker?: string;
  name: string;
  payload?: any;
  /** Percent, as the worker said. */
  progress?: number | null;
  /** Since when. */
  since?: string | null;
  taskId: string;
  /** What the worker said. */
  text?: string;
  /** The end of the lease; a heartbeat extends it. */
  until?: string | null;
  /** Who has it; absent: it is free. */
  worker?: string;
}

export interface TaskFailRequest {
  /** As POST /tasks/claim gave it. */
  claim?: string;
  /** Of failure, such as timeout: up to 256 bytes. */
  kind?: string;
  /** Why, for people: up to 8192 bytes. */
  message?: string;
  /** Whether another attempt may do better: the retry of the activity decides then; without one the task is free again. If not, the activity faults. */
  retry?: boolean;
}

export interface TaskFailed {
  /** Another worker may claim it; if not, its activity has the failure: its retry makes another task of it, or it has faulted. */
  free: boolean;
  taskId: string;
}

export interface TaskList {
  items: Array<Task>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface TaskRequest {
  /** As POST /tasks/claim gave it: it counts only while that claim stands. Without one it counts in any case. */
  claim?: string;
  /** Why the task failed; then the activity faults. */
  error?: string;
  result?: any;
}

export interface TextEditRequest {
  /** The id of the activity that it is about, or that the new one stands beside. */
  activity?: string;
  /** into and wrap: such as then; the main one if absent. */
  branch?: string;
  /** set: the value as a person writes it in a field, instead of value; empty takes it away. */
  fieldText?: string | null;
  /** insert and wrap: the id of the new activity; by its place if absent. */
  id?: string;
  /** insert and wrap: of the new activity; texts may have ${{ }}. */
  inputs?: Record<string, any>;
  /** set: an input, or one of id, name, result, outputs, trigger, timeout, retry, commit, logging, mergeMode, version. */
  key?: string;
  /** Where that activity begins, needed if several have its id. */
  line?: number;
  /** Of a part: which case or transition, from 1; insert puts the new one beside it. */
  number?: number;
  op?: "insert" | "delete" | "move" | "wrap" | "set" | "connect" | "disconnect";
  /** insert, delete, move (up, down) and set: what of the activity it is about, if not the activity. inputs and key are label and when of a case, name, final and initial of a state, and on (an event), when and to of a transition. */
  part?: "case" | "state" | "transition";
  /** connect, disconnect, and insert in a flowchart: an outcome, Done if absent. */
  port?: string;
  /** Of a part: the state, or the one that a transition leaves. */
  state?: string;
  /** move: the activity beside or into which. connect and disconnect: where the way leads. */
  to?: string;
  /** insert and wrap: as YAML has it; wrap also takes retry and timeout. */
  type?: string;
  /** set: null takes it away. */
  value?: any;
  /** insert and move: after if absent. up and down only move, within a list. */
  where?: "before" | "after" | "into" | "up" | "down";
}

export interface TimerItem {
  activityId?: string;
  bookmarkId?: string;
  damage?: string;
  damaged?: boolean;
  definitionId?: string;
  dueAt: string;
  gated?: number;
  gatedAt?: string;
  instanceId?: string;
  kind: string;
  /** Of a schedule: the occurrences behind that one, 4 at most. */
  then?: Array<string>;
}

export interface TimerItemList {
  items: Array<TimerItem>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface Tried {
  cases: Array<TriedCase>;
  failed: number;
  passed: number;
  /** What may be a mistake in the definitions. */
  warnings: Array<string>;
}

export interface TriedCase {
  /** Of one that was run with failures of nodes. */
  crash: Crash | null;
  /** None: it passed. */
  failures: Array<TriedFailure>;
  /** Of one that failed: what the instance did, 200 lines at most. */
  journal: Array<string>;
  /** Of the test file. */
  line: number;
  name: string;
  /** Of one that failed: as its last commit left them. */
  variables: Record<string, any>;
}

export interface TriedFailure {
  /** Of what is expected, such as output.total; empty: it could not be done. */
  field: string;
  line: number;
  message: string;
}

export interface Trigger {
  /** Its activation strategy. */
  activation: string | null;
  activityId: string;
  definitionId: string;
  /** The instance that runs and holds the gate of that strategy: the start waits until it has ended, or is refused if it is all that the event meets. Null: it starts. */
  holder: string | null;
  version: number;
}

export interface Trouble {
  /** What to do about it. */
  do: string;
  state: "degraded" | "down";
  text: string;
}

export interface TryRequest {
  /** Run each case that passes again for each failure that a node may have in it, 300 at most. What is wrong then fails the case, with the field crash. */
  crash?: boolean;
  /** Needed without text. */
  definitionId?: string;
  /** A warning about a definition fails the case. */
  strict?: boolean;
  /** A test file, as weft test takes it. What it calls definition is the one below; others, 50 at most, are published ones: their ids, or the names of their files without folders. */
  tests?: string;
  /** The definition: Weft's YAML, or Elsa's JSON. Absent: the published one of definitionId. */
  text?: string;
}

export interface UserOutcome {
  key: string;
  label: string;
}

export interface UserTask {
  /** Who is to do it, alone: as an operator, or who had it, named that one. */
  assignedTo?: string;
  /** Operators may cancel it by itself. */
  cancellable?: boolean;
  claimedAt?: string | null;
  /** Who has it: key: or oidc: and a name. */
  claimedBy?: string;
  /** Then it is free again, unless it is claimed again before. */
  claimedUntil?: string | null;
  /** What people wrote, the oldest first. */
  comments?: Array<Remark>;
  createdAt: string;
  definitionId?: string;
  dueAt?: string | null;
  /** With the outcome Timeout. */
  endsWhenDue?: boolean;
  /** A JSON Schema of the data that completing it takes; none: it takes no data. */
  form?: any;
  instanceId: string;
  /** Text, of which clients may show Markdown; no HTML. */
  instructions?: string;
  outcomes: Array<UserOutcome>;
  overdue?: boolean;
  /** 0 to 100, the most urgent. */
  priority: number;
  reference?: string;
  /** Of the task: another one when it is claimed, given back or given to somebody. */
  revision?: number;
  summary?: string;
  /** What it is about. */
  taskData?: any;
  taskId: string;
  title: string;
}

export interface UserTaskList {
  items: Array<UserTask>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface Variable {
  /** The execution that set it; 0: it began with this value. */
  by: number;
  /** The value is the beginning of its text. */
  clipped?: boolean;
  /** Whose scope has it; 0: the workflow. */
  execution: number;
  /** The value is null, as what set it keeps its inputs or outputs out of the journal. */
  hidden?: boolean;
  name: string;
  value: any;
}

export interface VariableChange {
  activityId: string | null;
  /** null: its scope has ended. */
  after: VariableState | null;
  /** null: it was null, or its scope was not open. */
  before: VariableState | null;
  /** Whose scope has it; 0: the workflow. */
  execution: number;
  name: string;
}

export interface VariableChanges {
  /** What was set between them, also to what it was, or went with its scope. */
  changes: Array<VariableChange>;
  /** Nothing is missing, apart from what is clipped or hidden. */
  complete: boolean;
  /** The oldest commit that the journal still has. */
  first: number;
  from: number;
  gaps: Gaps;
  instanceId: string;
  /** The newest commit. */
  last: number;
  /** Of etcd, at which all of it was read. */
  revision: number;
  to: number;
}

export interface VariableState {
  /** Of that execution; null: the workflow, or not known. */
  activityId: string | null;
  /** The execution that set it; 0: it began with this value. */
  by: number;
  /** Of that execution; null: it began with the value, or not known. */
  byActivityId: string | null;
  /** The value is the beginning of its text. */
  clipped?: boolean;
  /** The commit that set it. */
  commit: number;
  /** Whose scope has it; 0: the workflow. */
  execution: number;
  /** The value is null, as what set it keeps its inputs or outputs out of the journal. */
  hidden?: boolean;
  name: string;
  /** That made that commit. */
  node: string | null;
  /** Of that commit. */
  time: string | null;
  value: any;
}

export interface Variables {
  /** The commit that left them so; 0: there is none yet. */
  at: number;
  /** Nothing is missing, apart from what is clipped or hidden. */
  complete: boolean;
  /** The oldest commit that the journal still has. */
  first: number;
  gaps: Gaps;
  instanceId: string;
  /** The newest commit. */
  last: number;
  /** Of etcd, at which all of it was read. */
  revision: number;
  /** The workflow's first. If complete is true, a variable that is not among them is null. */
  variables: Array<VariableState>;
}

export interface Version {
  createdAt: string;
  notation: "yaml" | "json";
  /** It is the published one. */
  published: boolean;
  version: number;
}

export interface VersionList {
  items: Array<Version>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface Wait {
  /** When a timer resumes it. */
  dueAt: string | null;
  /** event, task, timer, child, http, or the type of the activity. */
  kind: string;
  /** Of the event or the task; the method and the path; the instance id of the child. */
  name: string | null;
  since: string;
}

export interface Waiter {
  /** Create revision of its key in etcd: the fence that it will have. */
  fence: number;
  nodeId: string | null;
  /** When it asked for the lock, by its clock; null if not known. */
  since: string | null;
}

export interface Way {
  port: string;
  to: string;
}

export interface Webhook {
  /** Why it is paused, if nobody asked for it. */
  because: string | null;
  /** Who put it. */
  by: string | null;
  definitions: Array<string>;
  /** Letters that were given up. */
  failed: number;
  labels: Record<string, string>;
  name: string;
  /** Of the letters that wait the one that is tried next; null: none waits. */
  next: WebhookNext | null;
  /** That tells it. */
  nodeId: string;
  on: Array<string>;
  paused: boolean;
  /** Names. */
  secrets: Array<string>;
  url: string;
  /** Letters, with up to 100 events each, that were not taken yet. */
  waiting: number;
  /** What may be a mistake, such as a definition that there is not. */
  warnings: Array<ProblemItem>;
}

export interface WebhookAgain {
  /** How many. */
  events: number;
}

export interface WebhookEvent {
  definitionId: string | null;
  /** The webhook-id of its requests. */
  id: string;
  /** The id of the instance, or of the dead letter. */
  subject: string;
  /** A sub-status, incident, or deadLetter. */
  what: string;
}

export interface WebhookLetter {
  /** Of the first attempt. */
  at: string;
  attempts: number;
  events: Array<WebhookEvent>;
  id: string;
  /** What went wrong last. */
  last: string | null;
}

export interface WebhookLetterList {
  items: Array<WebhookLetter>;
  /** Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one. */
  nextCursor: string | null;
  /** Of etcd: all of the page is as it was then. */
  revision: number;
}

export interface WebhookNext {
  /** How often it was tried again. */
  attempts: number;
  /** When it is tried again, at the soonest. */
  dueAt: string;
  /** What went wrong last. */
  last: string | null;
  /** When it was tried first. */
  since: string;
}

export interface WebhookRequest {
  /** Only instances of these, 16 at most; none: of all. */
  definitions?: Array<string>;
  /** Only instances with all of these. */
  labels?: Record<string, string>;
  /** What is told: ended (in any way), faulted, incident (also of an instance that goes on), deadLetter. */
  on?: Array<string>;
  /** Nothing is sent. What happens until it goes on is told later, as far as etcd knows it then. */
  paused?: boolean;
  /** The names of one or two secrets (--secrets-dir) that sign. */
  secrets?: Array<string>;
  /** https or http; without a name, a password and a fragment. Private addresses are refused when it is dialled, unless the nodes have --allow-private-addresses. */
  url?: string;
}

export interface Webhooks {
  items: Array<Webhook>;
}

export class Client {
  constructor(config?: Config);

  /** Change an instance that runs or is faulted: run activities again, skip them, set variables, migrate, reschedule, cancel: POST /api/v1/instances/{id}/alterations. */
  alterInstance(id: string, body?: AlterRequest, query?: { dryRun?: boolean; }, options?: Options): Promise<Answer<Instance | Altered>>;

  /** Give a user task to a person, who is to do it alone: POST /api/v1/user-tasks/{id}/assign. */
  assignUserTask(id: string, body?: AssignUserRequest, options?: Options): Promise<Answer<Sent | Queued>>;

  /** End the instance, and the call that it waits for outside: POST /api/v1/instances/{id}/cancel. */
  cancelInstance(id: string, options?: Options): Promise<Answer<Instance>>;

  /** Cancel a job: it goes no further; one that has ended stays as it is: POST /api/v1/jobs/{id}/cancel. */
  cancelJob(id: string, options?: Options): Promise<Answer<Job>>;

  /** End a user task with the outcome Cancelled, if its activity allows that: POST /api/v1/user-tasks/{id}/cancel. */
  cancelUserTask(id: string, body?: CancelUserRequest, options?: Options): Promise<Answer<Sent | Queued>>;

  /** Find the mistakes of a definition while it is written; 200 also with mistakes, and nothing is written: POST /api/v1/definitions/check. */
  checkDefinition(body: string | object, query?: { picture?: boolean; }, options?: Options): Promise<Answer<Checked>>;

  /** Claim tasks for a worker, for the time of a lease: POST /api/v1/tasks/claim. */
  claimTasks(body?: ClaimRequest, options?: Options): Promise<Answer<Claimed>>;

  /** Take a user task, so that nobody else does it: POST /api/v1/user-tasks/{id}/claim. */
  claimUserTask(id: string, options?: Options): Promise<Answer<UserTask>>;

  /** Write something to a user task: POST /api/v1/user-tasks/{id}/comment. */
  commentUserTask(id: string, body?: CommentUserRequest, options?: Options): Promise<Answer<Sent | Queued>>;

  /** Report the result of a task, or its error: POST /api/v1/tasks/{id}/complete. */
  completeTask(id: string, body?: TaskRequest, options?: Options): Promise<Answer<Sent | Queued>>;

  /** Complete a user task with an outcome and the data of its form: POST /api/v1/user-tasks/{id}/complete. */
  completeUserTask(id: string, body?: CompleteUserRequest, options?: Options): Promise<Answer<Sent | Queued>>;

  /** Alter, retry, cancel or delete all instances of a filter: POST /api/v1/jobs. */
  createJob(body?: JobRequest, query?: { dryRun?: boolean; limit?: number; }, options?: Options): Promise<Answer<JobPreview | Job>>;

  /** Give a user task that the caller has to another person: POST /api/v1/user-tasks/{id}/delegate. */
  delegateUserTask(id: string, body?: AssignUserRequest, options?: Options): Promise<Answer<Sent | Queued>>;

  /** Forget a dead letter: DELETE /api/v1/dead-letters/{id}. */
  deleteDeadLetter(id: string, options?: Options): Promise<Answer<undefined>>;

  /** Forget the dead letters of a filter, a page at a time: POST /api/v1/dead-letters/delete. */
  deleteDeadLetters(body?: LettersRequest, query?: { dryRun?: boolean; }, options?: Options): Promise<Answer<Several>>;

  /** Remove a definition: DELETE /api/v1/definitions/{id}. */
  deleteDefinition(id: string, query?: { force?: boolean; set?: string; }, options?: Options): Promise<Answer<undefined>>;

  /** Cancel the instance if it runs, and remove it: DELETE /api/v1/instances/{id}. */
  deleteInstance(id: string, options?: Options): Promise<Answer<Dispatched | undefined>>;

  /** Forget a job that has ended: DELETE /api/v1/jobs/{id}. */
  deleteJob(id: string, options?: Options): Promise<Answer<undefined>>;

  /** Forget a limit: who has a place keeps it, who waits goes on waiting: DELETE /api/v1/limits/{name}. */
  deleteLimit(name: string, options?: Options): Promise<Answer<undefined>>;

  /** Forget a stimulus of the queue: DELETE /api/v1/queue/{id}. */
  deleteQueueItem(id: string, options?: Options): Promise<Answer<undefined>>;

  /** Forget the stimuli of a filter that are in the queue, a page at a time: POST /api/v1/queue/delete. */
  deleteQueueItems(body?: ItemsRequest, query?: { dryRun?: boolean; }, options?: Options): Promise<Answer<Several>>;

  /** Remove a version that nothing needs; its source goes an hour later: DELETE /api/v1/definitions/{id}/versions/{version}. */
  deleteVersion(id: string, version: string, options?: Options): Promise<Answer<undefined>>;

  /** Forget a webhook, with all that it has not told: DELETE /api/v1/webhooks/{name}. */
  deleteWebhook(name: string, options?: Options): Promise<Answer<undefined>>;

  /** Alter instances by a job: POST /api/v1/alterations/dispatch. */
  dispatchAlterations(body?: RunAlterationsRequest, options?: Options): Promise<Answer<AlterationPlan>>;

  /** Start an instance and answer once that is durable: POST /api/v1/definitions/{id}/dispatch. */
  dispatchDefinition(id: string, body?: StartRequest, options?: Options): Promise<Answer<Dispatched>>;

  /** Drain a node and end it, as SIGTERM does: POST /api/v1/nodes/{id}/drain. */
  drainNode(id: string, options?: Options): Promise<Answer<Node>>;

  /** A picture of a definition: its activities, and the ways between them: GET /api/v1/definitions/{id}/graph. */
  drawDefinition(id: string, query?: { version?: number; against?: number; format?: "svg" | "svg-part" | "text" | "mermaid" | "dot" | "json"; }, options?: Options): Promise<Answer<any>>;

  /** A picture of an instance: its definition with what ran, runs, waits and faulted, and the ways that were taken: GET /api/v1/instances/{id}/graph. */
  drawInstance(id: string, query?: { format?: "svg" | "svg-part" | "text" | "mermaid" | "dot" | "json"; }, options?: Options): Promise<Answer<any>>;

  /** Change the text of a definition as its picture is pointed at: comments and all else stay; nothing is stored: POST /api/v1/definitions/edit. */
  editDefinition(body?: SourceEditRequest, options?: Options): Promise<Answer<SourceEdited>>;

  /** Start an instance and answer after its first burst is committed, also when it faulted: POST /api/v1/definitions/{id}/execute. */
  executeDefinition(id: string, body?: StartRequest, options?: Options): Promise<Answer<Instance>>;

  /** Who waits for an event: what it would do if it were sent now: GET /api/v1/events/{name}. */
  explainEvent(name: string, query?: { correlationId?: string; instanceId?: string; dryRun?: boolean; }, options?: Options): Promise<Answer<Effect>>;

  /** Why an instance is where it is: who runs it, what it waits for, what nearly met it, what to do: GET /api/v1/instances/{id}/explain. */
  explainInstance(id: string, options?: Options): Promise<Answer<Explanation>>;

  /** Export the instance with everything that it needs to go on, its files too: GET /api/v1/instances/{id}/state. */
  exportState(id: string, options?: Options): Promise<Answer<State>>;

  /** Report that an attempt at a claimed task failed: POST /api/v1/tasks/{id}/fail. */
  failTask(id: string, body?: TaskFailRequest, options?: Options): Promise<Answer<TaskFailed>>;

  /** Start what a schedule starts, now and beside its time; answered once that is durable: POST /api/v1/definitions/{id}/schedules/{activity}/fire. */
  fireSchedule(id: string, activity: string, options?: Options): Promise<Answer<Dispatched>>;

  /** Resume the one place that a link is for, once; 410 when it was followed before or has expired: POST /links/{token}. */
  followLink(token: string, options?: Options): Promise<Answer<any>>;

  /** Forget all that was given up: DELETE /api/v1/webhooks/{name}/failed. */
  forgetFailedEvents(name: string, options?: Options): Promise<Answer<WebhookAgain>>;

  /** What was accepted, and what became of it: GET /api/v1/cluster/balance. */
  getBalance(options?: Options): Promise<Answer<Balance>>;

  /** A dead letter, with what it brought and what it would do now: GET /api/v1/dead-letters/{id}. */
  getDeadLetter(id: string, options?: Options): Promise<Answer<Letter>>;

  /** The source of a definition: as it was written, or as Accept wants it: GET /api/v1/definitions/{id}. */
  getDefinition(id: string, query?: { version?: number; }, options?: Options): Promise<Answer<any>>;

  /** How etcd answers the node that is asked: a round trip, and each member with its version, leader and alarms; within 2 s, also where it does not answer: GET /api/v1/cluster/etcd. */
  getEtcd(options?: Options): Promise<Answer<Etcd>>;

  /** Show an instance; with Prefer: wait, at its end: GET /api/v1/instances/{id}. */
  getInstance(id: string, options?: Options): Promise<Answer<Instance>>;

  /** What a definition takes and gives, and what starts it: GET /api/v1/definitions/{id}/interface. */
  getInterface(id: string, query?: { version?: number; }, options?: Options): Promise<Answer<Interface>>;

  /** How far a job is, and who refused: GET /api/v1/jobs/{id}. */
  getJob(id: string, options?: Options): Promise<Answer<Job>>;

  /** What the instance did: from its beginning, from its end (tail), or around a commit: GET /api/v1/instances/{id}/journal. */
  getJournal(id: string, query?: { tail?: number; before?: number; after?: number; activity?: string[]; event?: string[]; items?: number; text?: string; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<JournalPage>>;

  /** All pages of getJournal. */
  allJournal(id: string, query?: { tail?: number; before?: number; after?: number; activity?: string[]; event?: string[]; items?: number; text?: string; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<Journal>;

  /** One limit, and how it stands for each key: GET /api/v1/limits/{name}. */
  getLimit(name: string, options?: Options): Promise<Answer<Limit>>;

  /** Who started an instance, and whom it started: GET /api/v1/instances/{id}/lineage. */
  getLineage(id: string, query?: { depth?: number; descendants?: number; }, options?: Options): Promise<Answer<Lineage>>;

  /** What only a node knows of an instance, and of events, in one answer; explanations ask for it, and any node does: GET /api/v1/nodes/{id}/memory. */
  getMemory(id: string, query?: { instanceId?: string; name?: string; }, options?: Options): Promise<Answer<Memory>>;

  /** What a node does: commits by outcome, how requests to etcd are batched, what it runs and holds, how full etcd is; any node asks it: GET /api/v1/nodes/{id}/meters. */
  getMeters(id: string, options?: Options): Promise<Answer<Meters>>;

  /** A stimulus of the queue, with what it brings and what it would do: GET /api/v1/queue/{id}. */
  getQueueItem(id: string, options?: Options): Promise<Answer<QueuedItem>>;

  /** What became of the requests that came with an Idempotency-Key: GET /api/v1/receipts/{key}. */
  getReceipts(key: string, options?: Options): Promise<Answer<Receipts>>;

  /** How many instances there are, by sub-status and by definition: GET /api/v1/stats. */
  getStats(query?: { definitionId?: string; by?: "definition" | "version" | "total"; }, options?: Options): Promise<Answer<Stats>>;

  /** What fills etcd: by kind and definition, the largest instances, days until it is full: GET /api/v1/cluster/store. */
  getStore(options?: Options): Promise<Answer<Filling>>;

  /** One user task that the caller may complete: GET /api/v1/user-tasks/{id}. */
  getUserTask(id: string, options?: Options): Promise<Answer<UserTask>>;

  /** How the variables of an instance differ between two of its commits: GET /api/v1/instances/{id}/variables/changes. */
  getVariableChanges(id: string, query?: { from?: number; to?: number; }, options?: Options): Promise<Answer<VariableChanges>>;

  /** The variables of an instance after one of its commits, and who set them: GET /api/v1/instances/{id}/variables. */
  getVariables(id: string, query?: { at?: number; }, options?: Options): Promise<Answer<Variables>>;

  /** One webhook, and how it is: GET /api/v1/webhooks/{name}. */
  getWebhook(name: string, options?: Options): Promise<Answer<Webhook>>;

  /** Extend the lease of a claimed task, and say how far it is: POST /api/v1/tasks/{id}/heartbeat. */
  heartbeatTask(id: string, body?: HeartbeatRequest, options?: Options): Promise<Answer<Heard>>;

  /** Replace the state of an instance by an exported one, or bring one that is not there: PUT /api/v1/instances/{id}/state. */
  importState(id: string, body?: StateRequest, options?: Options): Promise<Answer<State>>;

  /** The activities that this node's program has, with what they take and give, and where they are used: GET /api/v1/activities. */
  listActivities(options?: Options): Promise<Answer<Activities>>;

  /** Who did what lately, on all live nodes, the newest first: GET /api/v1/audit. */
  listAudit(query?: { who?: string; operation?: string; target?: string; result?: "done" | "accepted" | "checked" | "denied" | "failed"; }, options?: Options): Promise<Answer<Audit>>;

  /** Places where instances wait, by what they wait for: GET /api/v1/bookmarks. */
  listBookmarks(query?: { event?: string; definitionId?: string; correlationId?: string; activityType?: string; name?: string; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<Bookmarks>>;

  /** All pages of listBookmarks. */
  allBookmarks(query?: { event?: string; definitionId?: string; correlationId?: string; activityType?: string; name?: string; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<Awaiting>;

  /** What a node runs at the moment: instances, their activities, since when; any node asks it: GET /api/v1/nodes/{id}/bursts. */
  listBursts(id: string, query?: { instanceId?: string; }, options?: Options): Promise<Answer<Bursts>>;

  /** Work that could not be done, with the reason: GET /api/v1/dead-letters. */
  listDeadLetters(query?: { reason?: "expired" | "gated" | "instance-finished" | "instance-not-found" | "poison" | "too-large" | "unrunnable" | "child-refused"; name?: string; activityType?: string; correlationId?: string; instanceId?: string; before?: string; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<DeadLetterList>>;

  /** All pages of listDeadLetters. */
  allDeadLetters(query?: { reason?: "expired" | "gated" | "instance-finished" | "instance-not-found" | "poison" | "too-large" | "unrunnable" | "child-refused"; name?: string; activityType?: string; correlationId?: string; instanceId?: string; before?: string; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<DeadLetter>;

  /** List definitions: GET /api/v1/definitions. */
  listDefinitions(query?: { starts?: boolean; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<DefinitionList>>;

  /** All pages of listDefinitions. */
  allDefinitions(query?: { starts?: boolean; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<Definition>;

  /** Events that the receiver did not take within a day: GET /api/v1/webhooks/{name}/failed. */
  listFailedEvents(name: string, query?: { limit?: number; cursor?: string; }, options?: Options): Promise<Answer<WebhookLetterList>>;

  /** All pages of listFailedEvents. */
  allFailedEvents(name: string, query?: { limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<WebhookLetter>;

  /** List instances, the newest first, or the oldest: GET /api/v1/instances. */
  listInstances(query?: { q?: string; definitionId?: string; version?: number; correlationId?: string; parent?: string; name?: string; label?: Record<string, string>; status?: "Running" | "Finished"; subStatus?: "Pending" | "Executing" | "Suspended" | "Finished" | "Cancelled" | "Faulted"; waitsFor?: string; hasIncidents?: boolean; incident?: string; view?: "summary" | "full"; sort?: "-created" | "created"; createdAfter?: string; createdBefore?: string; updatedAfter?: string; updatedBefore?: string; finishedAfter?: string; finishedBefore?: string; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<InstanceFound | SummaryFound>>;

  /** All pages of listInstances. */
  allInstances(query?: { q?: string; definitionId?: string; version?: number; correlationId?: string; parent?: string; name?: string; label?: Record<string, string>; status?: "Running" | "Finished"; subStatus?: "Pending" | "Executing" | "Suspended" | "Finished" | "Cancelled" | "Faulted"; waitsFor?: string; hasIncidents?: boolean; incident?: string; view?: "summary" | "full"; sort?: "-created" | "created"; createdAfter?: string; createdBefore?: string; updatedAfter?: string; updatedBefore?: string; finishedAfter?: string; finishedBefore?: string; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<Instance | Summary>;

  /** Jobs that run or have ended: GET /api/v1/jobs. */
  listJobs(query?: { limit?: number; cursor?: string; }, options?: Options): Promise<Answer<JobList>>;

  /** All pages of listJobs. */
  allJobs(query?: { limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<Job>;

  /** All limits, and those that somebody waits for, with how they stand: GET /api/v1/limits. */
  listLimits(options?: Options): Promise<Answer<Limits>>;

  /** Locks that are held, with who waits: GET /api/v1/locks. */
  listLocks(query?: { scope?: "instance" | "refresh" | "reload" | "queue" | "timer" | "mailbox"; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<Locks>>;

  /** All pages of listLocks. */
  allLocks(query?: { scope?: "instance" | "refresh" | "reload" | "queue" | "timer" | "mailbox"; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<Lock>;

  /** The same of all live nodes, asked at the same time: GET /api/v1/cluster/meters. */
  listMeters(options?: Options): Promise<Answer<AllMeters>>;

  /** Who did what lately on a node, of the last 1,000 lines of its audit log, the newest first; any node asks it: GET /api/v1/nodes/{id}/audit. */
  listNodeAudit(id: string, query?: { who?: string; operation?: string; target?: string; result?: "done" | "accepted" | "checked" | "denied" | "failed"; }, options?: Options): Promise<Answer<NodeAudit>>;

  /** Live nodes of the cluster: GET /api/v1/nodes. */
  listNodes(options?: Options): Promise<Answer<NodeList>>;

  /** Which node made which commits of an instance, who took over from whom, and what a fence refused: GET /api/v1/instances/{id}/owners. */
  listOwners(id: string, options?: Options): Promise<Answer<Owners>>;

  /** Who has places of a limit, by key: GET /api/v1/limits/{name}/taken. */
  listPlacesTaken(name: string, query?: { limit?: number; cursor?: string; }, options?: Options): Promise<Answer<LimitPlaces>>;

  /** All pages of listPlacesTaken. */
  allPlacesTaken(name: string, query?: { limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<LimitPlace>;

  /** Who waits for places of a limit: of each key in the order in which they are given one: GET /api/v1/limits/{name}/waiting. */
  listPlacesWaiting(name: string, query?: { limit?: number; cursor?: string; }, options?: Options): Promise<Answer<LimitPlaces>>;

  /** All pages of listPlacesWaiting. */
  allPlacesWaiting(name: string, query?: { limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<LimitPlace>;

  /** Stimuli that nothing waits for yet: GET /api/v1/queue. */
  listQueue(query?: { name?: string; activityType?: string; correlationId?: string; instanceId?: string; before?: string; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<QueueItemList>>;

  /** All pages of listQueue. */
  allQueue(query?: { name?: string; activityType?: string; correlationId?: string; instanceId?: string; before?: string; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<QueueItem>;

  /** Events that a node sent lately, of its last 10,000, half of them of those that met nobody, and where they went; any node asks it: GET /api/v1/nodes/{id}/events. */
  listRecentEvents(id: string, query?: { name?: string; }, options?: Options): Promise<Answer<RecentEvents>>;

  /** Commits of a node that a fence refused, as another node had the instance by then; any node asks it: GET /api/v1/nodes/{id}/refusals. */
  listRefusals(id: string, query?: { instanceId?: string; }, options?: Options): Promise<Answer<Refusals>>;

  /** Tasks that wait for a worker outside, and who has them: GET /api/v1/tasks. */
  listTasks(query?: { name?: string; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<TaskList>>;

  /** All pages of listTasks. */
  allTasks(query?: { name?: string; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<Task>;

  /** Timers and cron occurrences to come, the soonest first: GET /api/v1/timers. */
  listTimers(query?: { kind?: "timers" | "schedules"; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<TimerItemList>>;

  /** All pages of listTimers. */
  allTimers(query?: { kind?: "timers" | "schedules"; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<TimerItem>;

  /** User tasks that wait for the caller: GET /api/v1/user-tasks. */
  listUserTasks(query?: { others?: boolean; limit?: number; cursor?: string; }, options?: Options): Promise<Answer<UserTaskList>>;

  /** All pages of listUserTasks. */
  allUserTasks(query?: { others?: boolean; limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<UserTask>;

  /** List the versions of a definition, the newest first: GET /api/v1/definitions/{id}/versions. */
  listVersions(id: string, query?: { limit?: number; cursor?: string; }, options?: Options): Promise<Answer<VersionList>>;

  /** All pages of listVersions. */
  allVersions(id: string, query?: { limit?: number; cursor?: string; }, options?: Options): AsyncIterableIterator<Version>;

  /** All webhooks, and how they are: GET /api/v1/webhooks. */
  listWebhooks(options?: Options): Promise<Answer<Webhooks>>;

  /** The process answers; never asks etcd: GET /livez. */
  live(options?: Options): Promise<Answer<Health>>;

  /** Prometheus metrics: GET /metrics. */
  metrics(options?: Options): Promise<Answer<any>>;

  /** This document: GET /openapi.json. */
  openapi(options?: Options): Promise<Answer<any>>;

  /** Stop new work on all nodes: starts, events, timers and the queue; work that runs goes on: POST /api/v1/pause. */
  pause(options?: Options): Promise<Answer<Paused>>;

  /** Check a definition and publish it; content equal to the published one is no new version: POST /api/v1/definitions. */
  publishDefinition(body: string | object, query?: { publish?: boolean; dryRun?: boolean; strict?: boolean; set?: string; file?: string; beside?: string; }, options?: Options): Promise<Answer<Published>>;

  /** Publish a stored version: a draft, or an older one again: POST /api/v1/definitions/{id}/publish. */
  publishVersion(id: string, body?: PublishRequest, options?: Options): Promise<Answer<Published>>;

  /** Set how many may have a place of a limit at once, of each key, and how many units may be taken in a time: PUT /api/v1/limits/{name}. */
  putLimit(name: string, body?: LimitRequest, options?: Options): Promise<Answer<Limit>>;

  /** Make or change a webhook: who is told, and of what, from now on: PUT /api/v1/webhooks/{name}. */
  putWebhook(name: string, body?: WebhookRequest, options?: Options): Promise<Answer<Webhook>>;

  /** The node takes work; else 503 says why not: GET /readyz. */
  ready(query?: { unready?: "404"; }, options?: Options): Promise<Answer<Health>>;

  /** Index the triggers of stored definitions again; one node at a time does the same refresh: POST /api/v1/definitions/refresh. */
  refreshDefinitions(body?: RefreshRequest, options?: Options): Promise<Answer<Result>>;

  /** Give a claimed task back, undone: POST /api/v1/tasks/{id}/release. */
  releaseTask(id: string, body?: ReleaseRequest, options?: Options): Promise<Answer<TaskFailed>>;

  /** Give a user task back, undone: POST /api/v1/user-tasks/{id}/release. */
  releaseUserTask(id: string, body?: ReleaseUserRequest, options?: Options): Promise<Answer<Released>>;

  /** Read the definitions directory of a node again; one node at a time does: POST /api/v1/definitions/reload. */
  reloadDefinitions(options?: Options): Promise<Answer<Result>>;

  /** Send a dead letter again, as it was, edited or to an instance: POST /api/v1/dead-letters/{id}/replay. */
  replayDeadLetter(id: string, body?: EditRequest, query?: { dryRun?: boolean; }, options?: Options): Promise<Answer<Sent | Effect | Queued>>;

  /** Send the dead letters of a filter again, as they were, edited or to an instance, a page at a time: POST /api/v1/dead-letters/replay. */
  replayDeadLetters(body?: ReplayLettersRequest, query?: { dryRun?: boolean; }, options?: Options): Promise<Answer<Several>>;

  /** Try all that was given up again: POST /api/v1/webhooks/{name}/replay. */
  replayWebhook(name: string, options?: Options): Promise<Answer<WebhookAgain>>;

  /** Resume an instance at one place where it waits: POST /api/v1/bookmarks/{id}/resume. */
  resumeBookmark(id: string, body?: ResumeRequest, options?: Options): Promise<Answer<Sent | Queued>>;

  /** Take the published version back: nothing starts by it any more: POST /api/v1/definitions/{id}/retract. */
  retractDefinition(id: string, options?: Options): Promise<Answer<Published>>;

  /** Run an instance again: what failed, or from an activity: POST /api/v1/instances/{id}/retry. */
  retryInstance(id: string, body?: RetryOneRequest, options?: Options): Promise<Answer<Instance>>;

  /** Run every faulted instance of a filter again from the activity that faulted, a page at a time: POST /api/v1/instances/retry. */
  retryInstances(body?: RetryRequest, options?: Options): Promise<Answer<Retried>>;

  /** As in Elsa: run what faulted in instances, or activities of them, again: POST /api/v1/alterations/workflows/retry. */
  retryWorkflows(body?: RetryWorkflowsRequest, options?: Options): Promise<Answer<AlterationResults>>;

  /** As in Elsa: alter instances, and answer what came of each: POST /api/v1/alterations/run. */
  runAlterations(body?: RunAlterationsRequest, options?: Options): Promise<Answer<AlterationResults>>;

  /** The JSON Schema of definitions in YAML, for editors; it knows the activities of this node: GET /schema/v1.json. */
  schema(options?: Options): Promise<Answer<any>>;

  /** The JSON Schema of test files, for editors: GET /schema/test-v1.json. */
  schemaOfTests(options?: Options): Promise<Answer<any>>;

  /** Send an event to the instances and definitions that wait for it: POST /api/v1/events/{name}. */
  sendEvent(name: string, body?: EventRequest, query?: { dryRun?: boolean; }, options?: Options): Promise<Answer<Sent | Effect | Queued>>;

  /** Take a stimulus out of the queue and send it again, edited or to an instance: POST /api/v1/queue/{id}/send. */
  sendQueueItem(id: string, body?: EditRequest, query?: { dryRun?: boolean; }, options?: Options): Promise<Answer<Sent | Effect | Queued>>;

  /** Take the stimuli of a filter out of the queue and send them again, edited or to an instance, a page at a time: POST /api/v1/queue/send. */
  sendQueueItems(body?: SendItemsRequest, query?: { dryRun?: boolean; }, options?: Options): Promise<Answer<Several>>;

  /** Send any stimulus: POST /api/v1/stimuli. */
  sendStimulus(body?: StimulusRequest, options?: Options): Promise<Answer<Sent | Queued>>;

  /** A page that asks whether to follow a resume link; it changes nothing: GET /links/{token}. */
  showLink(token: string, options?: Options): Promise<Answer<any>>;

  /** Drop the occurrence of a schedule that is due at a time: nothing starts by it: POST /api/v1/definitions/{id}/schedules/{activity}/skip. */
  skipSchedule(id: string, activity: string, body?: SkipRequest, options?: Options): Promise<Answer<Skipped>>;

  /** As in Elsa: alter all instances of a filter, by a job: POST /api/v1/alterations/submit. */
  submitAlterations(body?: SubmitAlterationsRequest, options?: Options): Promise<Answer<AlterationPlan>>;

  /** What may stand at a place of a definition in YAML, and what stands there: POST /api/v1/definitions/suggest. */
  suggest(body: string | object, query?: { line?: number; column?: number; }, options?: Options): Promise<Answer<Suggested>>;

  /** Run the cases of a test file against a definition, with mocks and a clock of its own; nothing is stored, and nothing goes out: POST /api/v1/definitions/test. */
  tryDefinition(body?: TryRequest, options?: Options): Promise<Answer<Tried>>;

  /** Go on after a pause: POST /api/v1/unpause. */
  unpause(options?: Options): Promise<Answer<Paused>>;

  /** Who calls: by which name, with which role, known by what, and until when: GET /api/v1/whoami. */
  whoami(options?: Options): Promise<Answer<Caller>>;

  /**
   * The server-sent events of GET /stream, until the caller leaves the loop. It comes back by itself, behind the last
   * event, so that nothing is missed. It ends with an error when the server refuses, or when as many attempts in
   * a row as the client makes brought nothing, not even the comment of a quiet stream.
   */
  stream(query: { topics: string[]; after?: string }, options?: Options): AsyncIterableIterator<StreamEvent>;

  /** Calls an HTTP endpoint that a definition declares. */
  endpoint(method: string, path: string, init?: RequestInit): Promise<Response>;
}
