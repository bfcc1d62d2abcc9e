"""Run by go test ./clients, as a worker whose tasks are of WEFT_TASK: what its handlers do is in their payload."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import weft  # noqa: E402
import weft_worker  # noqa: E402


def handle(task):
    do = task.payload["do"]
    if do == "twice":
        return {"twice": task.payload["n"] * 2, "attempt": task.attempt}
    if do == "flaky" and task.attempt == 1:
        raise RuntimeError("not this time")
    if do == "flaky":
        return {"attempt": task.attempt}
    if do == "never":
        raise weft_worker.Failure("unpackable", "it is larger than a house")
    if do == "unwritable":
        return {"not": object()}
    task.say(40, "wrapping")
    assert task.stop.wait(60)
    print("stopped", task.id, flush=True)
    raise RuntimeError("stopped")


client = weft.Client(os.environ["WEFT_SERVER"], pause=0.01)
weft_worker.run(client, {os.environ["WEFT_TASK"]: handle}, name=os.environ["WEFT_TASK"], max=3, lease=1, grace=0.2)
print("ok", flush=True)
