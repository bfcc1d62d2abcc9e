// The client of the HTTP API of Weft, for every JavaScript that has fetch. Its types are in
// weft.d.ts; README.md shows its use. What stands below the last line of this part is
// generated.

/** A refusal of the server: a problem with a stable code. */
export class WeftProblem extends Error {
  constructor(status, problem, key, retryAfter) {
    super(problem.detail || problem.title || `HTTP ${status}`);
    this.name = "WeftProblem";
    this.status = status;
    this.code = problem.code || "";
    this.problem = problem;
    this.key = key;
    this.retryAfter = retryAfter;
  }
}

/** No answer came, so nobody knows whether the request was applied. Repeat it with its key. */
export class WeftNoAnswer extends Error {
  constructor(method, path, key, cause) {
    super(`${method} ${path} got no answer: ${cause?.cause?.message || cause?.message || cause}` + (key ? `; repeat it with the idempotency key ${key}` : ""), { cause });
    this.name = "WeftNoAnswer";
    this.key = key;
  }
}

const temporary = [429, 502, 503, 504];
const silence = 45_000; // milliseconds: a node sends a comment every 15 s

const sleep = (ms, signal) =>
  new Promise((done, stop) => {
    signal?.throwIfAborted();
    const aborted = () => (clearTimeout(timer), stop(signal.reason));
    const timer = setTimeout(() => (signal?.removeEventListener("abort", aborted), done()), ms);
    signal?.addEventListener("abort", aborted, { once: true });
  });

// A connection that did not come about, or was lost.
class Broken extends Error {}

function broken(cause) {
  throw new Broken("the connection is lost", { cause });
}

// The events of one connection, and undefined for a comment. Of one that is lost, what was not told whole is not told. Not for await:
// not every browser has it for the body of an answer.
async function* events(body, watched) {
  const reader = body.getReader();
  const text = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await watched(reader.read());
    if (done) return;
    const parts = (rest + text.decode(value, { stream: true })).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const event = { id: "", event: "message", data: "" };
      for (const line of part.split("\n")) {
        if (line.startsWith(":")) yield undefined;
        const [, field, value] = line.match(/^(id|event|data): ?([^]*)$/) || [];
        if (field === "data") event.data += value;
        else if (field) event[field] = value;
      }
      if (event.data !== "") yield { ...event, data: JSON.parse(event.data) };
    }
  }
}

// Node 18 has no global crypto in modules, and a page without TLS has it without randomUUID.
function freshKey() {
  if (globalThis.crypto?.randomUUID) return globalThis.crypto.randomUUID();
  const bytes = globalThis.crypto?.getRandomValues(new Uint8Array(16)) ?? Array.from({ length: 16 }, () => Math.floor(Math.random() * 256));
  return Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
}

class Core {
  constructor({ server = "http://127.0.0.1:8080", token = "", attempts = 4, timeout = 60_000, pause = 200, fetch: fetcher = globalThis.fetch } = {}) {
    this.server = server.replace(/\/+$/, "");
    this.token = token;
    this.attempts = attempts;
    this.timeout = timeout;
    this.pause = pause;
    this.fetcher = (...args) => fetcher(...args); // a browser's fetch refuses to be called as a method of another object
  }

  headers(options, key, type) {
    const h = { ...options.headers };
    if (this.token) h.Authorization = `Bearer ${this.token}`;
    if (key) h["Idempotency-Key"] = key;
    if (options.wait) h.Prefer = `wait=${options.wait}`;
    if (options.ifMatch) h["If-Match"] = options.ifMatch;
    if (options.accept) h.Accept = options.accept;
    if (type) h["Content-Type"] = type;
    return h;
  }

  url(path, query) {
    const u = new URL(this.server + path);
    for (const [name, value] of Object.entries(query || {})) {
      if (value === undefined || value === null) continue;
      if (Array.isArray(value)) value.forEach((one) => u.searchParams.append(name, one));
      else if (typeof value === "object") Object.entries(value).forEach(([k, v]) => u.searchParams.set(`${name}.${k}`, v));
      else u.searchParams.set(name, String(value));
    }
    return u;
  }

  async call(method, path, { query, body, options = {} }) {
    const key = method === "POST" ? options.key || freshKey() : options.key;
    const text = typeof body === "string";
    const payload = body === undefined ? undefined : text ? body : JSON.stringify(body);
    const type = body === undefined ? "" : options.type || (text ? "application/yaml" : "application/json");
    let pause = this.pause;
    let lost = false;
    for (let attempt = 1; ; attempt++) {
      let answer, raw, failure;
      try {
        const limits = [AbortSignal.timeout(this.timeout + 1000 * (options.wait || 0))];
        if (options.signal) limits.push(options.signal);
        answer = await this.fetcher(this.url(path, query), { method, body: payload, headers: this.headers(options, key, type), signal: AbortSignal.any(limits) });
        raw = await answer.text();
      } catch (err) {
        failure = err;
      }
      if (!failure && answer.ok) return this.answer(answer, raw, key);
      if (!failure) {
        failure = problem(answer, raw, key);
        if (!temporary.includes(answer.status)) {
          if (method === "DELETE" && lost && answer.status === 404) return { status: 204, accepted: false, key, body: undefined, headers: answer.headers };
          throw failure;
        }
      }
      const refused = failure instanceof WeftProblem;
      if (options.signal?.aborted || attempt >= this.attempts || (!refused && method === "PUT")) {
        throw refused ? failure : new WeftNoAnswer(method, path, key, failure);
      }
      lost ||= !refused || failure.code === "outcome-unknown";
      await sleep(refused ? Math.min(Math.max(pause, failure.retryAfter * 1000), 5000) : pause);
      pause *= 3;
    }
  }

  answer(answer, raw, key) {
    const json = (answer.headers.get("Content-Type") || "").startsWith("application/json");
    return { status: answer.status, accepted: answer.status === 202, key, body: raw === "" ? undefined : json ? JSON.parse(raw) : raw, headers: answer.headers };
  }

  async *pages(fetchPage, query) {
    let cursor = query?.cursor;
    do {
      const { body } = await fetchPage({ ...query, cursor });
      yield* body.items;
      cursor = body.nextCursor;
    } while (cursor);
  }

  /**
   * The server-sent events of GET /stream: {id, event, data}, until the caller leaves the loop. It comes back by
   * itself, behind the last event, so that nothing is missed. It ends with an error when the server refuses, or when as
   * many attempts in a row as the client makes brought nothing, not even the comment of a quiet stream.
   */
  async *stream(query, options = {}) {
    const path = "/api/v1/stream";
    let { after, ...rest } = query || {};
    let pause = this.pause;
    for (let attempt = 1; ; attempt++) {
      const quiet = new AbortController();
      const watched = (step) => {
        const timer = setTimeout(() => quiet.abort(new Error(`the stream was silent for ${silence / 1000} s`)), silence);
        return step.catch(broken).finally(() => clearTimeout(timer));
      };
      let failure;
      try {
        const signal = options.signal ? AbortSignal.any([quiet.signal, options.signal]) : quiet.signal;
        const headers = this.headers({ ...options, headers: { ...options.headers, ...(after && { "Last-Event-ID": after }) }, accept: "text/event-stream" });
        const answer = await watched(this.fetcher(this.url(path, rest), { headers, signal, cache: "no-store" }));
        if (!answer.ok) throw problem(answer, await watched(answer.text()));
        const type = answer.headers.get("Content-Type") || "nothing";
        if (!type.startsWith("text/event-stream")) throw new Error(`${this.server} answers with ${type} and no stream: is this Weft?`);
        for await (const event of events(answer.body, watched)) {
          attempt = 1;
          pause = this.pause;
          if (!event) continue;
          after = event.id || after;
          yield event;
        }
        failure = new Error("the server has ended the stream");
      } catch (err) {
        if (options.signal?.aborted || !(err instanceof Broken || temporary.includes(err?.status))) throw err instanceof Broken ? err.cause : err;
        failure = err instanceof Broken ? err.cause : err;
      } finally {
        quiet.abort(); // lets go of the connection
      }
      if (attempt >= this.attempts) throw failure instanceof WeftProblem ? failure : new WeftNoAnswer("GET", path, undefined, failure);
      // Not all who were told to leave at the same time come back at the same time.
      await sleep(Math.min(Math.max(pause, (failure.retryAfter || 0) * 1000), 5000) * (0.75 + Math.random() / 2), options.signal);
      pause *= 3;
    }
  }

  /** Calls an HTTP endpoint that a definition declares, and gives fetch's answer. */
  endpoint(method, path, init = {}) {
    return this.fetcher(this.url("/workflows/" + path.replace(/^\/+/, "")), { method, ...init });
  }
}

function problem(answer, raw, key) {
  let told = {};
  try {
    told = JSON.parse(raw);
  } catch {
    told = { title: raw.slice(0, 200) };
  }
  return new WeftProblem(answer.status, told, key, Number(answer.headers.get("Retry-After")) || 0);
}

const part = encodeURIComponent;

// ---- generated from openapi.json by go generate ./clients; do not edit below ----

export class Client extends Core {
  alterInstance(id, body = {}, query = {}, options = {}) {
    return this.call("POST", `/api/v1/instances/${part(id)}/alterations`, { body, query, options });
  }

  assignUserTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/user-tasks/${part(id)}/assign`, { body, options });
  }

  cancelInstance(id, options = {}) {
    return this.call("POST", `/api/v1/instances/${part(id)}/cancel`, { options });
  }

  cancelJob(id, options = {}) {
    return this.call("POST", `/api/v1/jobs/${part(id)}/cancel`, { options });
  }

  cancelUserTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/user-tasks/${part(id)}/cancel`, { body, options });
  }

  checkDefinition(body, query = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions/check`, { body, query, options });
  }

  claimTasks(body = {}, options = {}) {
    return this.call("POST", `/api/v1/tasks/claim`, { body, options });
  }

  claimUserTask(id, options = {}) {
    return this.call("POST", `/api/v1/user-tasks/${part(id)}/claim`, { options });
  }

  commentUserTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/user-tasks/${part(id)}/comment`, { body, options });
  }

  completeTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/tasks/${part(id)}/complete`, { body, options });
  }

  completeUserTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/user-tasks/${part(id)}/complete`, { body, options });
  }

  createJob(body = {}, query = {}, options = {}) {
    return this.call("POST", `/api/v1/jobs`, { body, query, options });
  }

  delegateUserTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/user-tasks/${part(id)}/delegate`, { body, options });
  }

  deleteDeadLetter(id, options = {}) {
    return this.call("DELETE", `/api/v1/dead-letters/${part(id)}`, { options });
  }

  deleteDeadLetters(body = {}, query = {}, options = {}) {
    return this.call("POST", `/api/v1/dead-letters/delete`, { body, query, options });
  }

  deleteDefinition(id, query = {}, options = {}) {
    return this.call("DELETE", `/api/v1/definitions/${part(id)}`, { query, options });
  }

  deleteInstance(id, options = {}) {
    return this.call("DELETE", `/api/v1/instances/${part(id)}`, { options });
  }

  deleteJob(id, options = {}) {
    return this.call("DELETE", `/api/v1/jobs/${part(id)}`, { options });
  }

  deleteLimit(name, options = {}) {
    return this.call("DELETE", `/api/v1/limits/${part(name)}`, { options });
  }

  deleteQueueItem(id, options = {}) {
    return this.call("DELETE", `/api/v1/queue/${part(id)}`, { options });
  }

  deleteQueueItems(body = {}, query = {}, options = {}) {
    return this.call("POST", `/api/v1/queue/delete`, { body, query, options });
  }

  deleteVersion(id, version, options = {}) {
    return this.call("DELETE", `/api/v1/definitions/${part(id)}/versions/${part(version)}`, { options });
  }

  deleteWebhook(name, options = {}) {
    return this.call("DELETE", `/api/v1/webhooks/${part(name)}`, { options });
  }

  dispatchAlterations(body = {}, options = {}) {
    return this.call("POST", `/api/v1/alterations/dispatch`, { body, options });
  }

  dispatchDefinition(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions/${part(id)}/dispatch`, { body, options });
  }

  drainNode(id, options = {}) {
    return this.call("POST", `/api/v1/nodes/${part(id)}/drain`, { options });
  }

  drawDefinition(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/definitions/${part(id)}/graph`, { query, options });
  }

  drawInstance(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/instances/${part(id)}/graph`, { query, options });
  }

  editDefinition(body = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions/edit`, { body, options });
  }

  executeDefinition(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions/${part(id)}/execute`, { body, options });
  }

  explainEvent(name, query = {}, options = {}) {
    return this.call("GET", `/api/v1/events/${part(name)}`, { query, options });
  }

  explainInstance(id, options = {}) {
    return this.call("GET", `/api/v1/instances/${part(id)}/explain`, { options });
  }

  exportState(id, options = {}) {
    return this.call("GET", `/api/v1/instances/${part(id)}/state`, { options });
  }

  failTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/tasks/${part(id)}/fail`, { body, options });
  }

  fireSchedule(id, activity, options = {}) {
    return this.call("POST", `/api/v1/definitions/${part(id)}/schedules/${part(activity)}/fire`, { options });
  }

  followLink(token, options = {}) {
    return this.call("POST", `/links/${part(token)}`, { options });
  }

  forgetFailedEvents(name, options = {}) {
    return this.call("DELETE", `/api/v1/webhooks/${part(name)}/failed`, { options });
  }

  getBalance(options = {}) {
    return this.call("GET", `/api/v1/cluster/balance`, { options });
  }

  getDeadLetter(id, options = {}) {
    return this.call("GET", `/api/v1/dead-letters/${part(id)}`, { options });
  }

  getDefinition(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/definitions/${part(id)}`, { query, options });
  }

  getEtcd(options = {}) {
    return this.call("GET", `/api/v1/cluster/etcd`, { options });
  }

  getInstance(id, options = {}) {
    return this.call("GET", `/api/v1/instances/${part(id)}`, { options });
  }

  getInterface(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/definitions/${part(id)}/interface`, { query, options });
  }

  getJob(id, options = {}) {
    return this.call("GET", `/api/v1/jobs/${part(id)}`, { options });
  }

  getJournal(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/instances/${part(id)}/journal`, { query, options });
  }

  allJournal(id, query = {}, options = {}) {
    return this.pages((page) => this.getJournal(id, page, options), query);
  }

  getLimit(name, options = {}) {
    return this.call("GET", `/api/v1/limits/${part(name)}`, { options });
  }

  getLineage(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/instances/${part(id)}/lineage`, { query, options });
  }

  getMemory(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/nodes/${part(id)}/memory`, { query, options });
  }

  getMeters(id, options = {}) {
    return this.call("GET", `/api/v1/nodes/${part(id)}/meters`, { options });
  }

  getQueueItem(id, options = {}) {
    return this.call("GET", `/api/v1/queue/${part(id)}`, { options });
  }

  getReceipts(key, options = {}) {
    return this.call("GET", `/api/v1/receipts/${part(key)}`, { options });
  }

  getStats(query = {}, options = {}) {
    return this.call("GET", `/api/v1/stats`, { query, options });
  }

  getStore(options = {}) {
    return this.call("GET", `/api/v1/cluster/store`, { options });
  }

  getUserTask(id, options = {}) {
    return this.call("GET", `/api/v1/user-tasks/${part(id)}`, { options });
  }

  getVariableChanges(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/instances/${part(id)}/variables/changes`, { query, options });
  }

  getVariables(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/instances/${part(id)}/variables`, { query, options });
  }

  getWebhook(name, options = {}) {
    return this.call("GET", `/api/v1/webhooks/${part(name)}`, { options });
  }

  heartbeatTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/tasks/${part(id)}/heartbeat`, { body, options });
  }

  importState(id, body = {}, options = {}) {
    return this.call("PUT", `/api/v1/instances/${part(id)}/state`, { body, options });
  }

  listActivities(options = {}) {
    return this.call("GET", `/api/v1/activities`, { options });
  }

  listAudit(query = {}, options = {}) {
    return this.call("GET", `/api/v1/audit`, { query, options });
  }

  listBookmarks(query = {}, options = {}) {
    return this.call("GET", `/api/v1/bookmarks`, { query, options });
  }

  allBookmarks(query = {}, options = {}) {
    return this.pages((page) => this.listBookmarks(page, options), query);
  }

  listBursts(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/nodes/${part(id)}/bursts`, { query, options });
  }

  listDeadLetters(query = {}, options = {}) {
    return this.call("GET", `/api/v1/dead-letters`, { query, options });
  }

  allDeadLetters(query = {}, options = {}) {
    return this.pages((page) => this.listDeadLetters(page, options), query);
  }

  listDefinitions(query = {}, options = {}) {
    return this.call("GET", `/api/v1/definitions`, { query, options });
  }

  allDefinitions(query = {}, options = {}) {
    return this.pages((page) => this.listDefinitions(page, options), query);
  }

  listFailedEvents(name, query = {}, options = {}) {
    return this.call("GET", `/api/v1/webhooks/${part(name)}/failed`, { query, options });
  }

  allFailedEvents(name, query = {}, options = {}) {
    return this.pages((page) => this.listFailedEvents(name, page, options), query);
  }

  listInstances(query = {}, options = {}) {
    return this.call("GET", `/api/v1/instances`, { query, options });
  }

  allInstances(query = {}, options = {}) {
    return this.pages((page) => this.listInstances(page, options), query);
  }

  listJobs(query = {}, options = {}) {
    return this.call("GET", `/api/v1/jobs`, { query, options });
  }

  allJobs(query = {}, options = {}) {
    return this.pages((page) => this.listJobs(page, options), query);
  }

  listLimits(options = {}) {
    return this.call("GET", `/api/v1/limits`, { options });
  }

  listLocks(query = {}, options = {}) {
    return this.call("GET", `/api/v1/locks`, { query, options });
  }

  allLocks(query = {}, options = {}) {
    return this.pages((page) => this.listLocks(page, options), query);
  }

  listMeters(options = {}) {
    return this.call("GET", `/api/v1/cluster/meters`, { options });
  }

  listNodeAudit(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/nodes/${part(id)}/audit`, { query, options });
  }

  listNodes(options = {}) {
    return this.call("GET", `/api/v1/nodes`, { options });
  }

  listOwners(id, options = {}) {
    return this.call("GET", `/api/v1/instances/${part(id)}/owners`, { options });
  }

  listPlacesTaken(name, query = {}, options = {}) {
    return this.call("GET", `/api/v1/limits/${part(name)}/taken`, { query, options });
  }

  allPlacesTaken(name, query = {}, options = {}) {
    return this.pages((page) => this.listPlacesTaken(name, page, options), query);
  }

  listPlacesWaiting(name, query = {}, options = {}) {
    return this.call("GET", `/api/v1/limits/${part(name)}/waiting`, { query, options });
  }

  allPlacesWaiting(name, query = {}, options = {}) {
    return this.pages((page) => this.listPlacesWaiting(name, page, options), query);
  }

  listQueue(query = {}, options = {}) {
    return this.call("GET", `/api/v1/queue`, { query, options });
  }

  allQueue(query = {}, options = {}) {
    return this.pages((page) => this.listQueue(page, options), query);
  }

  listRecentEvents(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/nodes/${part(id)}/events`, { query, options });
  }

  listRefusals(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/nodes/${part(id)}/refusals`, { query, options });
  }

  listTasks(query = {}, options = {}) {
    return this.call("GET", `/api/v1/tasks`, { query, options });
  }

  allTasks(query = {}, options = {}) {
    return this.pages((page) => this.listTasks(page, options), query);
  }

  listTimers(query = {}, options = {}) {
    return this.call("GET", `/api/v1/timers`, { query, options });
  }

  allTimers(query = {}, options = {}) {
    return this.pages((page) => this.listTimers(page, options), query);
  }

  listUserTasks(query = {}, options = {}) {
    return this.call("GET", `/api/v1/user-tasks`, { query, options });
  }

  allUserTasks(query = {}, options = {}) {
    return this.pages((page) => this.listUserTasks(page, options), query);
  }

  listVersions(id, query = {}, options = {}) {
    return this.call("GET", `/api/v1/definitions/${part(id)}/versions`, { query, options });
  }

  allVersions(id, query = {}, options = {}) {
    return this.pages((page) => this.listVersions(id, page, options), query);
  }

  listWebhooks(options = {}) {
    return this.call("GET", `/api/v1/webhooks`, { options });
  }

  live(options = {}) {
    return this.call("GET", `/livez`, { options });
  }

  metrics(options = {}) {
    return this.call("GET", `/metrics`, { options });
  }

  openapi(options = {}) {
    return this.call("GET", `/openapi.json`, { options });
  }

  pause(options = {}) {
    return this.call("POST", `/api/v1/pause`, { options });
  }

  publishDefinition(body, query = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions`, { body, query, options });
  }

  publishVersion(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions/${part(id)}/publish`, { body, options });
  }

  putLimit(name, body = {}, options = {}) {
    return this.call("PUT", `/api/v1/limits/${part(name)}`, { body, options });
  }

  putWebhook(name, body = {}, options = {}) {
    return this.call("PUT", `/api/v1/webhooks/${part(name)}`, { body, options });
  }

  ready(query = {}, options = {}) {
    return this.call("GET", `/readyz`, { query, options });
  }

  refreshDefinitions(body = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions/refresh`, { body, options });
  }

  releaseTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/tasks/${part(id)}/release`, { body, options });
  }

  releaseUserTask(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/user-tasks/${part(id)}/release`, { body, options });
  }

  reloadDefinitions(options = {}) {
    return this.call("POST", `/api/v1/definitions/reload`, { options });
  }

  replayDeadLetter(id, body = {}, query = {}, options = {}) {
    return this.call("POST", `/api/v1/dead-letters/${part(id)}/replay`, { body, query, options });
  }

  replayDeadLetters(body = {}, query = {}, options = {}) {
    return this.call("POST", `/api/v1/dead-letters/replay`, { body, query, options });
  }

  replayWebhook(name, options = {}) {
    return this.call("POST", `/api/v1/webhooks/${part(name)}/replay`, { options });
  }

  resumeBookmark(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/bookmarks/${part(id)}/resume`, { body, options });
  }

  retractDefinition(id, options = {}) {
    return this.call("POST", `/api/v1/definitions/${part(id)}/retract`, { options });
  }

  retryInstance(id, body = {}, options = {}) {
    return this.call("POST", `/api/v1/instances/${part(id)}/retry`, { body, options });
  }

  retryInstances(body = {}, options = {}) {
    return this.call("POST", `/api/v1/instances/retry`, { body, options });
  }

  retryWorkflows(body = {}, options = {}) {
    return this.call("POST", `/api/v1/alterations/workflows/retry`, { body, options });
  }

  runAlterations(body = {}, options = {}) {
    return this.call("POST", `/api/v1/alterations/run`, { body, options });
  }

  schema(options = {}) {
    return this.call("GET", `/schema/v1.json`, { options });
  }

  schemaOfTests(options = {}) {
    return this.call("GET", `/schema/test-v1.json`, { options });
  }

  sendEvent(name, body = {}, query = {}, options = {}) {
    return this.call("POST", `/api/v1/events/${part(name)}`, { body, query, options });
  }

  sendQueueItem(id, body = {}, query = {}, options = {}) {
    return this.call("POST", `/api/v1/queue/${part(id)}/send`, { body, query, options });
  }

  sendQueueItems(body = {}, query = {}, options = {}) {
    return this.call("POST", `/api/v1/queue/send`, { body, query, options });
  }

  sendStimulus(body = {}, options = {}) {
    return this.call("POST", `/api/v1/stimuli`, { body, options });
  }

  showLink(token, options = {}) {
    return this.call("GET", `/links/${part(token)}`, { options });
  }

  skipSchedule(id, activity, body = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions/${part(id)}/schedules/${part(activity)}/skip`, { body, options });
  }

  submitAlterations(body = {}, options = {}) {
    return this.call("POST", `/api/v1/alterations/submit`, { body, options });
  }

  suggest(body, query = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions/suggest`, { body, query, options });
  }

  tryDefinition(body = {}, options = {}) {
    return this.call("POST", `/api/v1/definitions/test`, { body, options });
  }

  unpause(options = {}) {
    return this.call("POST", `/api/v1/unpause`, { options });
  }

  whoami(options = {}) {
    return this.call("GET", `/api/v1/whoami`, { options });
  }
}
