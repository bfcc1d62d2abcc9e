// Does tasks of a Weft cluster, with weft.js beside it, in Node. Its types are in worker.d.ts; README.md shows its use.
//
//   await run(client, { pack: async (task) => ({ boxes: 2 }) }, { max: 4 });
//
// claims tasks by the names of the handlers, and calls one for each. What it gives is the result, as JSON. An error is tried
// again up to `attempts` times, and faults the activity then; Failure says whether. task.signal is aborted when nobody waits
// for the task any more, and when the worker has to end: an error then gives it back.
//
// SIGINT and SIGTERM let it claim no more, wait up to `grace` milliseconds for what runs, and give the rest back. A cluster
// that cannot be asked is asked again, ever less often. A task may be done twice, if its lease ends before the cluster is
// back, and one result counts: what a handler does outside should bear that. task.taskId is the same in every attempt.

import { hostname } from "node:os";
import process from "node:process";
import { WeftNoAnswer, WeftProblem } from "./weft.js";

/** How a task failed: with retry it is free again for another attempt, else its activity faults. */
export class Failure extends Error {
  constructor(kind, message, retry = false) {
    super(message);
    Object.assign(this, { name: kind, kind, retry });
  }
}

const gone = ["task-claim-lost", "task-not-found", "instance-finished", "instance-not-found"];
const refused = (why) => why instanceof WeftProblem && [400, 413, 422].includes(why.status);
const passing = (why) => why instanceof WeftNoAnswer || (why instanceof WeftProblem && (why.status >= 500 || [408, 429].includes(why.status)));

// Before the next try: twice as long each time, and not the same for two workers.
const rest = (failed) => Math.min(500 * 2 ** Math.min(failed, 10), 30_000) * (0.5 + Math.random());

// It ends with the signal too, and leaves nothing at it.
const pause = (ms, signal) =>
  new Promise((done) => {
    const end = () => (clearTimeout(timer), signal?.removeEventListener("abort", end), done());
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });

/** Does tasks until a signal comes, of the process or as options.signal. It is rejected with what the cluster refuses for good. */
export async function run(client, handlers, options = {}) {
  const stop = new AbortController();
  const end = () => stop.abort();
  options.signal?.addEventListener("abort", end);
  if (options.signal?.aborted) end();
  for (const one of ["SIGINT", "SIGTERM"]) process.on(one, end);
  const worker = new Worker(client, handlers, options, stop.signal);
  try {
    await worker.claims();
  } finally {
    await worker.drain();
    for (const one of ["SIGINT", "SIGTERM"]) process.off(one, end);
    options.signal?.removeEventListener("abort", end);
  }
}

class Worker {
  constructor(client, handlers, { name = `${hostname()}/${process.pid}`, max = 1, lease = 30_000, grace = 30_000, attempts = 3, log = console.warn }, stop) {
    Object.assign(this, { client, handlers, name, max, lease, third: Math.ceil(lease / 3), grace, attempts, log, stop, over: false, running: new Map(), wake: () => {} });
    stop.addEventListener("abort", () => this.wake());
  }

  async claims() {
    for (let failed = 0; !this.stop.aborted; ) {
      if (this.running.size >= this.max) {
        await new Promise((done) => (this.wake = done));
        continue;
      }
      const began = Date.now();
      const ask = { names: Object.keys(this.handlers), max: Math.min(this.max - this.running.size, 100), lease: `${this.lease}ms`, wait: "30s", worker: this.name };
      try {
        const { body } = await this.client.claimTasks(ask, { signal: this.stop });
        failed = 0;
        for (const one of body.items) this.begin(one);
        if (body.items.length === 0 && Date.now() - began < 1000) await pause(rest(0), this.stop); // a node that ends does not let it wait
      } catch (why) {
        if (this.stop.aborted) return;
        if (!passing(why)) throw why;
        this.log(`asks for tasks again in a moment: ${why.message}`);
        await pause(rest(failed++), this.stop);
      }
    }
  }

  begin(claimed) {
    const end = new AbortController();
    const task = { ...claimed, signal: end.signal, say: (progress, text = "") => Object.assign(task.said, { progress, text }) };
    for (const [name, value] of Object.entries({ end, inVain: false, reported: new AbortController(), said: { claim: claimed.claim } })) {
      Object.defineProperty(task, name, { value, writable: true }); // not for the handler
    }
    this.running.set(task, this.do(task).finally(() => (this.running.delete(task), this.wake())));
  }

  async drain() {
    for (const ms of [this.grace, 1000]) { // who does not heed the signal is given back all the same
      const waited = new AbortController();
      await Promise.race([Promise.all(this.running.values()), pause(ms, waited.signal)]);
      waited.abort();
      this.over = true;
      for (const task of this.running.keys()) task.end.abort(new Error("the worker ends"));
    }
    await Promise.all([...this.running.keys()].map((task) => this.release(task)));
  }

  async do(task) {
    this.beat(task);
    try {
      if (this.stop.aborted) return await this.release(task); // it came in the last moment
      const result = await this.handlers[task.name](task);
      const why = task.inVain ? undefined : await this.report(task, "completeTask", { result });
      if (why) await this.failed(task, new Failure("bad-result", why.message));
    } catch (why) {
      await this.failed(task, why);
    } finally {
      task.reported.abort();
    }
  }

  async failed(task, why) {
    this.log(`task ${task.taskId} (${task.name}), attempt ${task.attempt}: ${why?.stack ?? why}`);
    const { name = "error", retry = task.retried || task.attempt < this.attempts } = why instanceof Failure ? why : { name: why?.name };
    if (this.over && !(why instanceof Failure)) return this.release(task);
    if (!task.inVain) await this.report(task, "failTask", { kind: name, message: String(why?.message || why || "no message").slice(0, 2000), retry });
  }

  release(task) {
    return this.report(task, "releaseTask", {});
  }

  // Sends until there is an answer that stays, and once more when the worker has to end. It gives why what was sent is not in order.
  async report(task, operation, body) {
    const key = globalThis.crypto?.randomUUID?.();
    for (let failed = 0; ; failed++) {
      try {
        return void (await this.client[operation](task.taskId, { claim: task.claim, ...body }, { key }));
      } catch (why) {
        this.log(`what came of task ${task.taskId} is not taken: ${why.message}`);
        if (refused(why) || !(why instanceof WeftProblem || why instanceof WeftNoAnswer)) return why;
        if (!passing(why) || this.over) return undefined;
        await pause(rest(failed));
      }
    }
  }

  async beat(task) {
    for (;;) {
      await pause(this.third, task.reported.signal);
      if (task.reported.signal.aborted) return;
      try {
        task.inVain = (await this.client.heartbeatTask(task.taskId, task.said, { signal: AbortSignal.timeout(this.third) })).body.stop;
      } catch (why) {
        task.inVain = gone.includes(why.code);
        this.log(`no heartbeat of task ${task.taskId}: ${why.message}`);
      }
      if (task.inVain) return task.end.abort(new Error("nobody waits for this task of this worker any more"));
    }
  }
}
