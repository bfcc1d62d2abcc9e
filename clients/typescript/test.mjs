// Run by go test ./clients, which starts a node: every way in which the client may be answered.
import assert from "node:assert/strict";
import { randomUUID, webcrypto } from "node:crypto";
import { Client, WeftNoAnswer, WeftProblem } from "./weft.js";

const run = randomUUID().slice(0, 8); // another one each time
const order = `js-order-${run}`;
const paid = `js-paid-${run}`;
const waiting = `id: ${order}
inputs: {id: {type: string, required: true}}
labels: {kind: "${run}"}
outputs: {by: "\${{ variables.paid.by }}"}
variables: {paid: object}
root:
  - correlate: \${{ inputs.id }}
  - {event: ${paid}, result: paid}
`;

// As a browser's, which refuses to be called as a method of another object.
const plain = globalThis.fetch;
globalThis.fetch = function (...args) {
  if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation");
  return plain(...args);
};

const client = new Client({ server: process.env.WEFT_SERVER });
const published = await client.publishDefinition(waiting);
assert.equal(published.status, 201);
assert.equal(published.body.id, order);
assert.equal((await client.publishDefinition(waiting)).status, 200);
assert.match((await client.getDefinition(order, {}, { accept: "application/yaml" })).body, new RegExp(paid));

// A start whose answer is lost is repeated with its key, and happens once.
const losing = new Client({ server: process.env.WEFT_LOSING, pause: 10 });
const started = await losing.executeDefinition(order, { input: { id: "j-1" }, correlationId: "j-1" });
const again = await client.executeDefinition(order, { input: { id: "j-1" }, correlationId: "j-1" }, { key: started.key });
assert.equal(started.body.instanceId, again.body.instanceId);
assert.equal(started.body.subStatus, "Suspended");

// Keys where there is no crypto, as in Node 18, or no randomUUID, as in a page without TLS.
const keys = new Set();
for (const less of [undefined, { getRandomValues: (bytes) => webcrypto.getRandomValues(bytes) }]) {
  Object.defineProperty(globalThis, "crypto", { value: less, configurable: true });
  for (let n = 0; n < 3; n++) keys.add((await client.sendEvent(`${paid}-to-nobody`, {})).key);
}
assert.equal(keys.size, 6);
for (const key of keys) assert.match(key, /^[0-9a-f]{32}$/);

for (let n = 2; n < 8; n++) await client.executeDefinition(order, { input: { id: `j-${n}` } });
const found = new Set();
for await (const instance of client.allInstances({ limit: 2, label: { kind: run } })) found.add(instance.instanceId);
assert.equal(found.size, 7);
assert.deepEqual((await client.listInstances({ hasIncidents: true, definitionId: order })).body.items, []);

const sent = await client.sendEvent(paid, { correlationId: "j-1", payload: { by: "Ann" } });
assert.equal(sent.status, 200);
assert.equal(sent.accepted, false);
const ended = (await client.getInstance(started.body.instanceId, { wait: 30 })).body;
assert.equal(ended.subStatus, "Finished");
assert.deepEqual(ended.output, { by: "Ann" });
assert.ok([202, 204].includes((await client.deleteInstance(ended.instanceId)).status));

for (const [call, status] of [
  [() => client.getInstance("nobody"), 404],
  [() => client.executeDefinition(order, { input: {} }), 422],
  [() => client.publishDefinition("id: x\nroot: [{writeLin: a}]\n"), 422],
]) {
  await assert.rejects(call, (err) => {
    assert.ok(err instanceof WeftProblem, String(err));
    assert.equal(err.status, status);
    assert.ok(status !== 422 || err.problem.errors.length > 0);
    return true;
  });
}

await assert.rejects(
  () => new Client({ server: "http://127.0.0.1:9", attempts: 2, pause: 10 }).executeDefinition(order, {}, { key: "k-1" }),
  (err) => err instanceof WeftNoAnswer && err.key === "k-1" && err.message.includes("k-1"),
);

const stop = new AbortController();
for await (const event of client.stream({ topics: ["cluster"] }, { signal: stop.signal })) {
  assert.ok(event.id);
  assert.notEqual(event.data, undefined);
  break;
}
await assert.rejects(async () => {
  for await (const event of client.stream({ topics: ["cluster"] }, { signal: stop.signal })) stop.abort(new Error(`enough of ${event.event}`));
}, /enough of cluster/);

// A stream that is lost goes on behind its last event, and ends when the server refuses it.
const cutting = new Client({ server: process.env.WEFT_CUTTING, pause: 10 });
const watched = (await client.executeDefinition(order, { input: { id: "j-8" }, correlationId: "j-8" })).body.instanceId;
const told = [];
await assert.rejects(
  async () => {
    for await (const event of cutting.stream({ topics: [`instance:${watched}`] })) {
      told.push(event.data.instance.subStatus);
      if (told.length === 1) await client.sendEvent(paid, { correlationId: "j-8", payload: { by: "Ann" } });
    }
  },
  (err) => err instanceof WeftProblem && err.status === 403 && err.code === "forbidden",
);
assert.deepEqual(told, ["Suspended", "Finished"]);
const quiet = await new Client({ server: `${process.env.WEFT_CUTTING}/quiet`, pause: 10 }).stream({ topics: ["cluster"] }).next();
assert.deepEqual(quiet.value, { id: "", event: "cluster", data: {} });
await assert.rejects(
  () => new Client({ server: `${process.env.WEFT_CUTTING}/mute`, attempts: 2, pause: 10 }).stream({ topics: ["cluster"] }).next(),
  (err) => err instanceof WeftNoAnswer,
);
await assert.rejects(() => new Client({ server: `${process.env.WEFT_CUTTING}/page` }).stream({ topics: ["cluster"] }).next(), /answers with text\/html and no stream/);
await assert.rejects(
  () => new Client({ server: "http://127.0.0.1:9", attempts: 2, pause: 10 }).stream({ topics: ["cluster"] }).next(),
  (err) => err instanceof WeftNoAnswer,
);
await assert.rejects(
  () => client.stream({ topics: ["nothing"] }).next(),
  (err) => err instanceof WeftProblem && err.status === 422,
);
console.log("ok");
