// What the types of weft.js let through and what they refuse: bash .ci/run types compiles it, and nothing runs it.
import { Client, WeftNoAnswer, WeftProblem } from "./weft.js";
import type { Answer, Instance, StreamEvent } from "./weft.js";
import { Failure, run } from "./worker.js";
import type { Task } from "./worker.js";

export async function use(): Promise<void> {
  const client = new Client({ server: "https://weft.example", token: "t", attempts: 2, fetch });
  const started = await client.executeDefinition("order", { input: { id: 1 }, correlationId: "c" }, { key: "k", wait: 30 });
  const id: string = started.body.instanceId;
  const accepted: boolean = started.accepted;
  const instance: Answer<Instance> = await client.getInstance(id, { signal: new AbortController().signal });
  if (instance.body.subStatus === "Faulted" && accepted) await client.retryInstance(id);
  for await (const one of client.allInstances({ q: "status:faulted", limit: 10, label: { team: "a" } })) {
    const text: string = one.instanceId;
    await client.cancelInstance(text);
  }
  for await (const event of client.stream({ topics: ["cluster"], after: "1" })) {
    const told: StreamEvent = event;
    if (told.event === "bye") break;
  }
  const answer: Response = await client.endpoint("POST", "orders", { body: "{}" });
  await answer.text();
  await client.publishDefinition("id: x\nroot: []\n", { strict: true }, { ifMatch: '"1"' });
  try {
    await client.sendEvent("paid", { correlationId: "c", payload: { by: "Ann" } });
  } catch (err) {
    if (err instanceof WeftProblem && err.status === 409) throw new Error(err.problem.detail, { cause: err.key });
    if (err instanceof WeftNoAnswer) throw err;
  }

  // @ts-expect-error there is no such operation
  await client.executeDefinitions("order");
  // @ts-expect-error the name is a text
  await client.sendEvent(1, {});
  // @ts-expect-error there is no such field
  await client.executeDefinition("order", { inputs: {} });
  // @ts-expect-error there is no such state
  if (instance.body.subStatus === "Fautled") return;
  // @ts-expect-error there is no such filter
  await client.listInstances({ statsu: "faulted" });
  // @ts-expect-error a stream has topics
  client.stream({});
  // @ts-expect-error the body is an instance
  started.body = undefined;
}

export async function work(client: Client): Promise<void> {
  const pack = async (task: Task) => {
    task.say(50, task.taskId);
    if (task.signal.aborted || task.attempt > 3) throw new Failure("late", "it takes too long", true);
    return { boxes: 2 };
  };
  await run(client, { pack }, { max: 4, lease: 30_000, grace: 5_000, signal: AbortSignal.timeout(1000) });
  // @ts-expect-error there is no such option
  await run(client, { pack }, { most: 4 });
  // @ts-expect-error a handler is a function
  await run(client, { pack: 1 });
}
