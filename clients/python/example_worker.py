"""A worker for Weft in a few lines of Python: it does the tasks named "pack" of a workflow, four at once.

WEFT_SERVER=http://127.0.0.1:8080 python3 example_worker.py
"""

import os

import weft
import weft_worker


def pack(task):
    items = (task.payload or {}).get("items")
    if not items:
        raise weft_worker.Failure("nothing-to-pack", "the order has no items")
    return {"boxes": (len(items) + 1) // 2}


weft_worker.run(weft.Client(os.environ["WEFT_SERVER"], token=os.environ.get("WEFT_TOKEN", "")), {"pack": pack}, max=4)
