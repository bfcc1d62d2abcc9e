// A worker for Weft in a few lines of JavaScript: it does the tasks named "pack" of a workflow, four at once.
//
//   WEFT_SERVER=http://127.0.0.1:8080 node example_worker.mjs
import { Client } from "./weft.js";
import { Failure, run } from "./worker.js";

async function pack(task) {
  const items = task.payload?.items ?? [];
  if (items.length === 0) throw new Failure("nothing-to-pack", "the order has no items");
  return { boxes: Math.ceil(items.length / 2) };
}

await run(new Client({ server: process.env.WEFT_SERVER, token: process.env.WEFT_TOKEN }), { pack }, { max: 4 });
