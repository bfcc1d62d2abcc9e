"""Does tasks of a Weft cluster, with weft.py beside it and nothing but the standard library.

    run(client, {"pack": pack}, max=4)

claims tasks by the names of the handlers, and calls pack(task) in a thread for each. What it returns is the result, as
JSON. An exception is tried again up to `attempts` times, and faults the activity then; Failure says whether. task.stop is
set when nobody waits for the task any more, and when the worker has to end: an exception then gives it back.

SIGINT and SIGTERM let it claim no more, wait up to `grace` seconds for what runs, and give the rest back. A cluster that
cannot be asked is asked again, ever less often. A task may be done twice, if its lease ends before the cluster is back, and
one result counts: what a handler does outside should bear that. task.id is the same in every attempt.
"""

from __future__ import annotations

import copy
import logging
import os
import random
import signal
import socket
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional

import weft

_log = logging.getLogger("weft.worker")
_POLL = 3  # seconds of a request for tasks; it is not broken off, so a worker that has to end waits for it
_GONE = ("task-claim-lost", "task-not-found", "instance-finished", "instance-not-found")


class Failure(Exception):
    """How a task failed: with retry it is free again for another attempt, else its activity faults."""

    def __init__(self, kind: str, message: str, retry: bool = False) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind, self.message, self.retry = kind, message, retry


class Task:
    """What a handler gets: payload, id, name, attempt (from 1), instance_id, and stop, to be heeded by what takes long."""

    def __init__(self, claimed: Mapping[str, Any]) -> None:
        self.id, self.name, self.payload, self.attempt = claimed["taskId"], claimed["name"], claimed.get("payload"), claimed["attempt"]
        self.instance_id, self.definition_id, self.claim, self.retried = claimed["instanceId"], claimed["definitionId"], claimed["claim"], claimed.get("retried")
        self.stop, self.reported, self.in_vain = threading.Event(), threading.Event(), False
        self.said: Dict[str, Any] = {"claim": self.claim}

    def say(self, progress: float, text: str = "") -> None:
        """Tells people with the next heartbeat how far the task is, in percent, and what is done."""
        self.said = {"claim": self.claim, "progress": progress, "text": text}


Handlers = Mapping[str, Callable[[Task], Any]]


def run(client: weft.Client, handlers: Handlers, *, name: str = "", max: int = 1, lease: float = 30, grace: float = 30,
        attempts: int = 3, stop: Optional[threading.Event] = None) -> None:
    """Does tasks until stop is set or, in the main thread, a signal comes. Raises what the cluster refuses for good."""
    worker = _Worker(client, handlers, name or f"{socket.gethostname()}/{os.getpid()}", max, lease, attempts, stop or threading.Event())
    signals: List[int] = []
    main = threading.current_thread() is threading.main_thread()
    before = {one: signal.signal(one, lambda number, _: signals.append(number)) for one in (signal.SIGINT, signal.SIGTERM) if main}
    claims = threading.Thread(target=worker.claims, daemon=True)
    try:
        claims.start()
        while not signals and not worker.stop.wait(0.1):
            pass
        worker.stop.set()
        worker.drain(grace, claims)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    if worker.refused:
        raise worker.refused


class _Worker:
    def __init__(self, client: weft.Client, handlers: Handlers, name: str, most: int, lease: float, attempts: int, stop: threading.Event) -> None:
        self.client, self.handlers, self.name, self.most, self.lease, self.attempts, self.stop = client, handlers, name, most, lease, attempts, stop
        self.over, self.running, self.changed = False, set(), threading.Condition()
        self.refused: Optional[Exception] = None
        self.beats = copy.copy(client)  # a heartbeat that takes long is of no use
        self.beats.timeout, self.beats.attempts = lease / 3, 1

    def claims(self) -> None:
        failed = 0
        while not self.stop.is_set():
            with self.changed:
                self.changed.wait_for(lambda: len(self.running) < self.most or self.stop.is_set(), 1)
                free = min(self.most - len(self.running), 100)
            if free == 0 or self.stop.is_set():
                continue
            began, ask = time.monotonic(), {"names": sorted(self.handlers), "max": free, "lease": f"{self.lease}s", "wait": f"{_POLL}s", "worker": self.name}
            try:
                got = self.client.claim_tasks(ask).body["items"]
            except Exception as why:
                if not _passing(why):
                    self.refused = why
                    return self.stop.set()
                _log.warning("asks for tasks again in a moment: %s", why)
                self.stop.wait(_rest(failed))
                failed += 1
                continue
            failed = 0
            for task in map(Task, got):
                with self.changed:
                    self.running.add(task)
                threading.Thread(target=self.do, args=(task,), daemon=True).start()
            if not got and time.monotonic() - began < 1:  # a node that ends does not let it wait
                self.stop.wait(_rest(0))

    def drain(self, grace: float, claims: threading.Thread) -> None:
        for seconds in (grace, 1):  # what does not heed stop is given back all the same
            with self.changed:
                self.changed.wait_for(lambda: not self.running, seconds)
                left = list(self.running)
            self.over = True
            for task in left:
                task.stop.set()
        claims.join(2 * _POLL)  # else it would claim what is given back
        for task in list(self.running):
            self.report(task, self.client.release_task, {"claim": task.claim})

    def do(self, task: Task) -> None:
        threading.Thread(target=self.beat, args=(task,), daemon=True).start()
        try:
            if self.stop.is_set():  # it came in the last moment
                self.report(task, self.client.release_task, {"claim": task.claim})
                return
            try:
                result = self.handlers[task.name](task)
            except Exception as why:
                self.failed(task, why)
            else:
                self.complete(task, result)
        finally:
            task.reported.set()
            with self.changed:
                self.running.discard(task)
                self.changed.notify_all()

    def complete(self, task: Task, result: Any) -> None:
        try:
            if not task.in_vain:
                self.report(task, self.client.complete_task, {"claim": task.claim, "result": result})
        except (TypeError, ValueError) as why:  # it has no JSON
            self.failed(task, Failure("bad-result", str(why)))
        except weft.WeftProblem as why:
            if why.status in (400, 413, 422):
                self.failed(task, Failure("bad-result", str(why)))

    def failed(self, task: Task, why: Exception) -> None:
        _log.warning("task %s (%s), attempt %d: %r", task.id, task.name, task.attempt, why, exc_info=not isinstance(why, Failure))
        f = why if isinstance(why, Failure) else Failure(type(why).__name__, str(why), task.retried or task.attempt < self.attempts)
        if self.over and f is not why:
            self.report(task, self.client.release_task, {"claim": task.claim})
        elif not task.in_vain:
            self.report(task, self.client.fail_task, {"claim": task.claim, "kind": f.kind, "message": (f.message or repr(why))[:2000], "retry": f.retry})

    def report(self, task: Task, send: Callable[..., Any], body: Dict[str, Any]) -> None:
        """Sends until there is an answer that stays, and once more when the worker has to end."""
        key, failed = os.urandom(16).hex(), 0
        while True:
            try:
                send(task.id, body, key=key)
                return
            except weft.WeftError as why:
                _log.warning("what came of task %s is not taken: %s", task.id, why)
                if not _passing(why) or self.over:
                    if getattr(why, "status", 0) in (400, 413, 422):
                        raise
                    return
            time.sleep(_rest(failed))
            failed += 1

    def beat(self, task: Task) -> None:
        while not task.reported.wait(self.lease / 3):
            try:
                task.in_vain = self.beats.heartbeat_task(task.id, task.said).body["stop"]
            except weft.WeftError as why:
                task.in_vain = getattr(why, "code", "") in _GONE
                _log.warning("no heartbeat of task %s: %s", task.id, why)
            if task.in_vain:
                task.stop.set()
                return


def _rest(failed: int) -> float:
    """Seconds before the next try: twice as long each time, and not the same for two workers."""
    return min(0.5 * 2 ** min(failed, 10), 30) * random.uniform(0.5, 1.5)


def _passing(why: Exception) -> bool:
    return isinstance(why, weft.NoAnswer) or isinstance(why, weft.WeftProblem) and (why.status >= 500 or why.status in (408, 429))
