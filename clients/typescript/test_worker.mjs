// Run by go test ./clients, as a worker whose tasks are of WEFT_TASK: what its handlers do is in their payload.
import { Client } from "./weft.js";
import { Failure, run } from "./worker.js";

async function handle(task) {
  const { do: what, n } = task.payload;
  if (what === "twice") return { twice: n * 2, attempt: task.attempt };
  if (what === "flaky" && task.attempt === 1) throw new Error("not this time");
  if (what === "flaky") return { attempt: task.attempt };
  if (what === "never") throw new Failure("unpackable", "it is larger than a house");
  if (what === "unwritable") return { not: 1n };
  task.say(40, "wrapping");
  await new Promise((_, fail) => task.signal.addEventListener("abort", () => (console.log("stopped", task.taskId), fail(new Error("stopped")))));
}

const client = new Client({ server: process.env.WEFT_SERVER, pause: 10 });
await run(client, { [process.env.WEFT_TASK]: handle }, { name: process.env.WEFT_TASK, max: 3, lease: 1000, grace: 200 });
console.log("ok");
