// Types of worker.js.
import type { ClaimedTask, Client } from "./weft.js";

/** How a task failed: with retry it is free again for another attempt, else its activity faults. */
export class Failure extends Error {
  constructor(kind: string, message: string, retry?: boolean);
  readonly kind: string;
  readonly retry: boolean;
}

/** What a handler gets. */
export interface Task extends ClaimedTask {
  /** Aborted when nobody waits for the task any more, and when the worker has to end. */
  readonly signal: AbortSignal;
  /** Tells people with the next heartbeat how far the task is, in percent, and what is done. */
  say(progress: number, text?: string): void;
}

/** By the names of tasks. What a handler gives is the result, as JSON; what it throws says how it failed. */
export type Handlers = Record<string, (task: Task) => unknown>;

export interface WorkerOptions {
  /** By which people see who has a task; the host and the process if absent. */
  name?: string;
  /** How many tasks at once; 1 if absent. */
  max?: number;
  /** Milliseconds that a task stays claimed without a heartbeat, 1000 at least; 30,000 if absent. */
  lease?: number;
  /** Milliseconds that what runs may take to end; 30,000 if absent. */
  grace?: number;
  /** Of a task whose handler throws; 3 if absent. */
  attempts?: number;
  /** Ends the worker, as SIGINT and SIGTERM do. */
  signal?: AbortSignal;
  /** Told what goes wrong; console.warn if absent. */
  log?: (line: string) => void;
}

/** Does tasks until a signal comes. It is rejected with what the cluster refuses for good. */
export function run(client: Client, handlers: Handlers, options?: WorkerOptions): Promise<void>;
