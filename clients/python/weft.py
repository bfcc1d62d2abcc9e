"""The client of the HTTP API of Weft, with nothing but the standard library.

    client = weft.Client("http://127.0.0.1:8080")
    answer = client.execute_definition("hello", {"input": {"name": "Ada"}}, wait=30)
    print(answer.body["subStatus"])

A POST carries an Idempotency-Key. What got no answer is repeated with it; if none comes,
NoAnswer says so and names the key. A refusal is a Problem with a stable code.
What stands below the last line of this part is generated.
"""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Dict, Generic, Iterable, Iterator, List, Mapping, Optional, Sequence, TYPE_CHECKING, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

T = TypeVar("T")


class Answer(Generic[T]):
    """What the server answered. accepted: 202, durable, and not applied yet."""

    def __init__(self, status: int, body: T, headers: Mapping[str, str], key: Optional[str]) -> None:
        self.status, self.body, self.headers, self.key = status, body, headers, key
        self.accepted = status == 202


class WeftError(Exception):
    """Any error of this module. key is the Idempotency-Key of the request."""

    key: Optional[str] = None


class WeftProblem(WeftError):
    """A refusal of the server: a problem with a stable code."""

    def __init__(self, status: int, problem: Mapping[str, Any], key: Optional[str], retry_after: float) -> None:
        super().__init__(problem.get("detail") or problem.get("title") or f"HTTP {status}")
        self.status, self.problem, self.key, self.retry_after = status, problem, key, retry_after
        self.code: str = problem.get("code", "")


class NoAnswer(WeftError):
    """No answer came, so nobody knows whether the request was applied. Repeat it with its key."""

    def __init__(self, method: str, path: str, key: Optional[str], cause: Exception) -> None:
        super().__init__(f"{method} {path} got no answer: {cause}" + (f"; repeat it with the idempotency key {key}" if key else ""))
        self.key = key


_TEMPORARY = (429, 502, 503, 504)


class _Core:
    def __init__(self, server: str = "http://127.0.0.1:8080", token: str = "", attempts: int = 4, timeout: float = 60, pause: float = 0.2) -> None:
        self.server, self.token, self.attempts, self.timeout, self.pause = server.rstrip("/"), token, attempts, timeout, pause

    def _url(self, path: str, query: Mapping[str, Any]) -> str:
        pairs: List[Any] = []
        for name, value in query.items():
            if value is None:
                continue
            if isinstance(value, bool):
                pairs.append((name, "true" if value else "false"))
            elif isinstance(value, Mapping):
                pairs += [(f"{name}.{k}", v) for k, v in value.items()]
            elif isinstance(value, (list, tuple)):
                pairs += [(name, one) for one in value]
            else:
                pairs.append((name, value))
        return self.server + path + ("?" + urllib.parse.urlencode(pairs) if pairs else "")

    def _request(self, method: str, url: str, payload: Optional[bytes], headers: Dict[str, str]) -> urllib.request.Request:
        if self.token:
            headers = {**headers, "Authorization": f"Bearer {self.token}"}
        return urllib.request.Request(url, data=payload, headers=headers, method=method)

    def _call(self, method: str, path: str, query: Mapping[str, Any], body: Any = None, *, key: Optional[str] = None, wait: Optional[int] = None,
              if_match: Optional[str] = None, accept: Optional[str] = None, content_type: Optional[str] = None) -> Any:
        if method == "POST" and key is None:
            key = str(uuid.uuid4())
        headers = {name: value for name, value in {
            "Idempotency-Key": key, "Prefer": f"wait={wait}" if wait else None, "If-Match": if_match, "Accept": accept}.items() if value}
        payload = None
        if body is not None:
            text = isinstance(body, (str, bytes))
            payload = body if isinstance(body, bytes) else body.encode() if text else json.dumps(body).encode()
            headers["Content-Type"] = content_type or ("application/yaml" if text else "application/json")
        pause, lost, attempt = self.pause, False, 0
        while True:
            attempt += 1
            try:
                with urllib.request.urlopen(self._request(method, self._url(path, query), payload, headers), timeout=self.timeout + (wait or 0)) as answer:
                    raw = answer.read()
                    return Answer(answer.status, _body(raw, answer.headers), answer.headers, key)
            except urllib.error.HTTPError as refusal:
                failure: Exception = _problem(refusal, key)
                if refusal.code not in _TEMPORARY:
                    if method == "DELETE" and lost and refusal.code == 404:
                        return Answer(204, None, refusal.headers, key)
                    raise failure from None
            except (OSError, http.client.HTTPException) as err:
                failure = err
            refused = isinstance(failure, WeftProblem)
            if attempt >= self.attempts or not refused and method == "PUT":
                raise failure if refused else NoAnswer(method, path, key, failure)
            lost = lost or not refused or failure.code == "outcome-unknown"  # type: ignore[attr-defined]
            time.sleep(min(max(pause, failure.retry_after), 5) if refused else pause)  # type: ignore[attr-defined]
            pause *= 3

    def stream(self, topics: Sequence[str], after: Optional[str] = None, timeout: Optional[float] = 45) -> Iterator[Dict[str, Any]]:
        """The server-sent events of GET /stream: id, event, data, until the caller leaves the loop.

        It comes back by itself, behind the last event, so that nothing is missed; also when nothing came for timeout
        seconds (a node sends a comment every 15). It ends with an error when the server refuses, or when
        as many attempts in a row as the client makes brought nothing, not even such a comment.
        """
        path, pause, attempt = "/api/v1/stream", self.pause, 0
        url = self._url(path, {"topics": list(topics)})
        while True:
            attempt += 1
            headers = {"Accept": "text/event-stream", **({"Last-Event-ID": after} if after else {})}
            try:
                with urllib.request.urlopen(self._request("GET", url, None, headers), timeout=timeout) as answer:
                    if answer.headers.get_content_type() != "text/event-stream":
                        raise WeftError(f"{self.server} answers with {answer.headers.get_content_type()} and no stream: is this Weft?")
                    for event in _events(answer):
                        attempt, pause = 1, self.pause
                        if event is not None:
                            after = event["id"] or after
                            yield event
                failure: Exception = http.client.HTTPException("the server has ended the stream")
            except urllib.error.HTTPError as refusal:
                failure = _problem(refusal, None)
                if refusal.code not in _TEMPORARY:
                    raise failure from None
            except (OSError, http.client.HTTPException) as err:
                failure = err
            refused = isinstance(failure, WeftProblem)
            if attempt >= self.attempts:
                raise failure if refused else NoAnswer("GET", path, None, failure)
            # Not all who were told to leave at the same time come back at the same time.
            time.sleep(min(max(pause, failure.retry_after if refused else 0), 5) * random.uniform(0.75, 1.25))  # type: ignore[attr-defined]
            pause *= 3

    def endpoint(self, method: str, path: str, data: Optional[bytes] = None, headers: Optional[Mapping[str, str]] = None) -> http.client.HTTPResponse:
        """Calls an HTTP endpoint that a definition declares, and gives urllib's answer."""
        request = urllib.request.Request(self.server + "/workflows/" + path.lstrip("/"), data=data, headers=dict(headers or {}), method=method)
        return urllib.request.urlopen(request, timeout=self.timeout)


def _events(answer: Iterable[bytes]) -> Iterator[Optional[Dict[str, Any]]]:
    """The events of one connection, and None for a comment. Of one that is lost, what was not told whole is not told."""
    event: Dict[str, str] = {}
    for raw in answer:
        line = raw.decode().rstrip("\r\n")
        if line == "":
            if "data" in event:
                yield {"id": event.get("id", ""), "event": event.get("event", "message"), "data": json.loads(event["data"])}
            event = {}
            continue
        field, _, value = line.partition(":")
        if value.startswith(" "):
            value = value[1:]
        if not field:
            yield None
        else:
            event[field] = event.get(field, "") + value if field == "data" else value


def _body(raw: bytes, headers: Mapping[str, str]) -> Any:
    if not raw:
        return None
    return json.loads(raw) if (headers.get("Content-Type") or "").startswith("application/json") else raw.decode()


def _problem(refusal: urllib.error.HTTPError, key: Optional[str]) -> WeftProblem:
    raw = refusal.read()
    try:
        told = json.loads(raw)
    except ValueError:
        told = {"title": raw[:200].decode("utf-8", "replace")}
    try:
        after = float(refusal.headers.get("Retry-After") or 0)
    except ValueError:
        after = 0
    return WeftProblem(refusal.code, told, key, after)


def _part(value: str) -> str:
    return urllib.parse.quote(value, safe="")


def _pages(fetch: Any, query: Dict[str, Any]) -> Iterator[Any]:
    while True:
        page = fetch(**query).body
        yield from page["items"]
        if not page.get("nextCursor"):
            return
        query["cursor"] = page["nextCursor"]


# ---- generated from openapi.json by go generate ./clients; do not edit below ----

AboutActivity = TypedDict("AboutActivity", {
    "branches": "List[str]",  # Into which activities may be put.
    "caseKeys": "List[str]",  # What may be set of a case.
    "cases": "List[Case]",
    "column": "int",
    "delete": "bool",
    "down": "bool",
    "fields": "List[ActivityField]",
    "flowchart": "bool",  # It stands in one.
    "id": "str",
    "line": "int",
    "near": "List[str]",  # The other activities of its flowchart.
    "outcomes": "List[str]",  # None: Done.
    "parts": "List[str]",  # What may be added to it beside activities: case, or state and transition.
    "states": "List[MachineState]",
    "type": "str",  # As YAML has it.
    "types": "List[str]",  # What may be put beside it, as YAML has it.
    "up": "bool",  # It may be moved before the one above it.
    "ways": "List[Way]",  # Where it leads, in a flowchart.
    "wraps": "List[str]",  # What it may be wrapped in.
})

Activities = TypedDict("Activities", {
    "items": "List[Activity]",  # By their types.
    "unknown": "int",  # Published definitions of which this node does not know what they use: it has not looked at them yet, and does so at the next calls, or they do not say it, as an older program published them: publish those again.
})

Activity = TypedDict("Activity", {
    "anyOutcome": "bool",  # Its outcomes are known only as it runs, or from what it is given.
    "branches": "List[str]",  # Such as then, else, body.
    "description": "str",
    "effect": "bool",  # It may do something outside, so that a repetition may do it again, with the same Idempotency-Key.
    "example": "str",  # In YAML, one item of a list; empty: there is none.
    "inputs": "List[ActivityInput]",
    "main": "str",  # The input that a value stands for in YAML; empty: none.
    "name": "str",  # As YAML spells it.
    "outcomes": "List[str]",  # Done, where it has no others; none, where they are known only as it runs.
    "outputs": "List[ActivityValue]",  # The first one is what result takes.
    "trigger": "bool",  # With trigger: true it starts instances.
    "type": "str",  # As Elsa spells it.
    "usedBy": "List[str]",  # The first 20 of them, by id.
    "users": "int",  # How many published definitions use it, also inside of definitions that they run as activities, as far as this node knows.
    "variables": "List[ActivityValue]",  # That its branches see beside those that are declared.
})

ActivityField = TypedDict("ActivityField", {
    "description": "NotRequired[str]",
    "key": "bool",  # A key that each activity may have, and no input.
    "line": "int",  # Where it is written; 0: it is not.
    "name": "str",
    "options": "NotRequired[List[str]]",
    "required": "bool",
    "text": "str",  # What it is, as fieldText of an edit takes it.
    "type": "str",
})

ActivityInput = TypedDict("ActivityInput", {
    "default": "Any",  # null: none.
    "description": "str",
    "name": "str",
    "options": "List[str]",  # All that it may be; none: anything of its type.
    "required": "bool",
    "sensitive": "bool",  # It never reaches the journal.
    "type": "str",
})

ActivityValue = TypedDict("ActivityValue", {
    "description": "str",
    "name": "str",
    "type": "str",
})

AllMeters = TypedDict("AllMeters", {
    "items": "List[Meters]",
    "unasked": "List[str]",  # Live nodes that did not answer; what they do is not known.
})

AlterRequest = TypedDict("AlterRequest", {
    "alterations": "NotRequired[List[AlterationRequest]]",  # Made in this order and in one commit, all or none; up to 100.
    "reason": "NotRequired[str]",  # Why, for the journal.
})

AlterationEntry = TypedDict("AlterationEntry", {
    "eventName": "Union[str, None]",  # The code of what is wrong.
    "logLevel": "str",  # One of "Information", "Warning", "Error".
    "message": "str",
    "timestamp": "str",
})

AlterationLog = TypedDict("AlterationLog", {
    "logEntries": "List[AlterationEntry]",
})

AlterationPlan = TypedDict("AlterationPlan", {
    "planId": "str",  # The id of the job: GET /jobs/{id} tells how far it is.
})

AlterationRequest = TypedDict("AlterationRequest", {
    "activities": "NotRequired[Dict[str, str]]",  # migrate: for activities that have another id in that version, from the old one to the new one.
    "activity": "NotRequired[str]",  # Id of the activity; of setVariable: whose scope has the variable. Absent: what faulted (retry), the instance (cancel), the only one there is.
    "again": "NotRequired[bool]",  # retry: also if a branch that ran since the call failed (onGiveUp, onTimeout, an outcome) may have undone what it did.
    "bookmark": "NotRequired[str]",  # reschedule: id of the timer's bookmark; needed if several fit.
    "dueAt": "NotRequired[Union[str, None]]",  # reschedule: when the timer is due.
    "execution": "NotRequired[int]",  # Which execution of the activity, as the journal numbers them; needed if several run.
    "keepKey": "NotRequired[Union[bool, None]]",  # retry: whether the call is made with the idempotency key of the call before; true if absent.
    "outcomes": "NotRequired[List[str]]",  # skip: what the activity completes with; Done if absent.
    "type": "NotRequired[str]",  # One of "retry", "skip", "setVariable", "migrate", "reschedule", "cancel".
    "value": "NotRequired[Any]",  # setVariable: any value; null clears it.
    "variable": "NotRequired[str]",  # setVariable: name or id.
    "version": "NotRequired[int]",  # migrate: the version of the definition to go on with.
})

AlterationResult = TypedDict("AlterationResult", {
    "isSuccessful": "bool",
    "log": "AlterationLog",
    "workflowHasScheduledWork": "bool",  # It goes on by itself.
    "workflowInstanceId": "str",
})

AlterationResults = TypedDict("AlterationResults", {
    "results": "List[AlterationResult]",
})

Altered = TypedDict("Altered", {
    "basedOn": "int",  # The sequence number of the commit that was looked at: a later one may fit no more.
    "code": "NotRequired[str]",  # Why not, if the instance is not in a state for it.
    "definitionId": "str",
    "did": "List[str]",  # A sentence for each change.
    "errors": "List[ProblemItem]",  # Each thing that does not fit, with its place.
    "fits": "bool",  # Whether they would be made.
    "instanceId": "str",
    "next": "List[str]",  # Ids of the activities that would run then.
    "subStatus": "str",  # Before the next activities run.
    "version": "int",  # Of the definition, afterwards.
})

AssignUserRequest = TypedDict("AssignUserRequest", {
    "reason": "NotRequired[str]",  # Why, for the journal: up to 2 KiB.
    "revision": "NotRequired[int]",  # Of the task; any, if it is absent.
    "to": "NotRequired[str]",  # A person, as candidateUsers name one: anna, key:anna or oidc:anna.
})

Audit = TypedDict("Audit", {
    "items": "List[AuditLine]",  # 500 at most.
    "more": "bool",  # Others that are remembered fit too.
    "nodes": "List[AuditNode]",  # Those that were asked.
    "unasked": "List[str]",  # Live nodes that did not answer.
})

AuditLine = TypedDict("AuditLine", {
    "code": "str",
    "location": "str",
    "method": "str",
    "nodeId": "str",  # The node whose line it is.
    "operation": "str",
    "relayedBy": "str",
    "remote": "str",
    "requestId": "str",
    "result": "str",  # One of "done", "accepted", "checked", "denied", "failed".
    "role": "str",
    "route": "str",
    "status": "int",
    "suppressed": "int",
    "target": "str",
    "time": "str",  # By its clock.
    "via": "str",
    "who": "str",  # key: and the name of an API key, oidc: and the subject of a token, anyone, or unknown.
})

AuditNode = TypedDict("AuditNode", {
    "from": "Union[str, None]",  # The oldest line that it remembers; null: none yet.
    "kept": "bool",  # false: it keeps no audit log, as it has neither credentials nor a file for one.
    "nodeId": "str",
})

Awaiting = TypedDict("Awaiting", {
    "activityType": "Union[str, None]",
    "bookmarkId": "str",  # Empty where the record of the instance cannot be read.
    "correlationId": "Union[str, None]",
    "damage": "NotRequired[str]",  # Why it cannot be read.
    "damaged": "NotRequired[bool]",  # The record cannot be read by any node: what is shown is what its key says.
    "instanceId": "str",
    "name": "Union[str, None]",
    "since": "Union[str, None]",
})

Balance = TypedDict("Balance", {
    "accepted": "int",  # What was accepted durably since then, and what was there at that time; a stimulus once for each place that it is for.
    "applied": "int",  # An instance has dealt with it.
    "at": "str",
    "because": "str",  # Why it does not go back further.
    "deadLetters": "int",
    "deleted": "int",  # Dead letters that somebody or retention deleted.
    "difference": "int",  # accepted less all of these. 0, unless something vanished.
    "mailboxes": "int",  # Commands that wait.
    "missing": "List[Lost]",  # What makes the difference, the first 100.
    "nodeId": "str",  # The node that counted last.
    "queue": "int",
    "refused": "int",  # It had no effect, and its record said why.
    "revision": "int",  # Revision of etcd up to which it is counted.
    "sends": "int",  # Stimuli whose targets are not resolved, or not all served.
    "setAside": "int",  # What weft fsck --repair has set aside.
    "since": "str",
    "sinceRevision": "int",
})

Bookmark = TypedDict("Bookmark", {
    "activityId": "str",
    "activityType": "str",
    "bookmarkId": "str",
    "childInstanceId": "NotRequired[str]",  # The instance whose end resumes it.
    "dueAt": "NotRequired[Union[str, None]]",  # When a timer resumes it.
    "name": "Union[str, None]",
    "retry": "NotRequired[Union[Retry, None]]",  # It is a pause between two attempts.
})

Bookmarks = TypedDict("Bookmarks", {
    "items": "List[Awaiting]",
    "looked": "int",  # How many were looked at for the page; at about 20,000 it ends.
    "nextCursor": "Union[str, None]",  # Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

Brought = TypedDict("Brought", {
    "effect": "Union[Effect, None]",  # What it would do if it were sent now: with others, who wait for the same with another correlation. Null if it is no stimulus.
    "input": "Any",  # What it brings; null for a viewer.
    "inputHidden": "bool",  # The caller's role may not see it.
})

Burst = TypedDict("Burst", {
    "doing": "Union[Doing, None]",  # The activity that it is in; null: it is loaded or committed, or came to none yet.
    "instanceId": "str",
})

Bursts = TypedDict("Bursts", {
    "items": "List[Burst]",  # Those first whose activity has run for the longest; 500 at most.
    "more": "int",  # How many more there are.
    "nodeId": "str",
})

Caller = TypedDict("Caller", {
    "by": "str",  # One of "key", "token", "session", "nothing". What the caller is known by: an API key, a token of the provider, a session of the console; nothing, where no credentials are asked for.
    "expiresAt": "Union[str, None]",  # When that ends by itself, a session at the latest then; null: never.
    "groups": "List[str]",  # The values of the token's role claim, or the groups of the API key: policies of HTTP endpoints and user tasks name them.
    "name": "Union[str, None]",  # key: and the name of an API key, or oidc: and the subject of a token; null: this cluster asks for no credentials.
    "role": "str",  # One of "business", "viewer", "operator", "designer", "admin". What the caller may do; each may do what those before it may.
})

CancelUserRequest = TypedDict("CancelUserRequest", {
    "reason": "NotRequired[str]",  # Why: up to 2 KiB.
    "revision": "NotRequired[int]",  # Of the task; any, if it is absent.
})

Case = TypedDict("Case", {
    "branch": "str",  # Into which activities may be put; empty: into none.
    "label": "str",
    "line": "int",
    "when": "str",  # As fieldText of an edit takes it.
})

Checked = TypedDict("Checked", {
    "id": "str",  # Empty if it cannot be told.
    "picture": "NotRequired[str]",  # SVG without a style sheet, of what can be read.
    "problems": "List[ProblemItem]",  # Errors, and warnings, which are in the way of nothing.
    "version": "int",  # It would have if it were published; 0: it cannot be as it is.
})

Claim = TypedDict("Claim", {
    "draining": "bool",
    "fence": "int",  # Create revision of its key in etcd; 0: it works without the lock.
    "gone": "bool",  # No live node has that session: the lock ends with it.
    "nodeId": "str",
    "self": "bool",  # Whether it is the node that answers.
    "since": "Union[str, None]",  # By its own clock.
})

ClaimRequest = TypedDict("ClaimRequest", {
    "lease": "NotRequired[str]",  # For how long the tasks are the worker's unless it says more, 1s to 24h; 30s if absent.
    "max": "NotRequired[Union[int, None]]",  # How many tasks at most, 1 to 100; 1 if absent.
    "names": "NotRequired[List[str]]",  # Of tasks, 1 to 20.
    "wait": "NotRequired[str]",  # How long the answer may wait for the first task, up to 60s; not at all if absent.
    "worker": "NotRequired[str]",  # Who asks, for people: up to 256 bytes.
})

Claimed = TypedDict("Claimed", {
    "items": "List[ClaimedTask]",
})

ClaimedTask = TypedDict("ClaimedTask", {
    "attempt": "int",  # From 1.
    "claim": "str",  # Names this claim in heartbeat, complete, fail and release.
    "createdAt": "str",
    "definitionId": "str",
    "instanceId": "str",
    "leaseUntil": "str",  # Then another worker gets it, unless a heartbeat came before.
    "name": "str",
    "payload": "NotRequired[Any]",
    "retried": "NotRequired[bool]",  # The activity has a retry, which counts the attempts: leave it to that whether another one follows a failure.
    "taskId": "str",
})

CommentUserRequest = TypedDict("CommentUserRequest", {
    "text": "NotRequired[str]",  # Up to 2 KiB; a task has up to 50 comments.
})

Commit = TypedDict("Commit", {
    "began": "Union[str, None]",  # The time of its first item.
    "closed": "List[int]",  # The executions whose scopes were open at the commit before, and ended; 0 is the workflow.
    "commands": "List[str]",  # What it consumed.
    "commit": "int",  # From 1 within the instance.
    "ended": "Union[str, None]",  # When it was sent.
    "fence": "int",  # Which holding of the instance's lock it was made under; a later one is larger. 0: without a lock.
    "id": "str",
    "imported": "bool",  # An import replaced all variables: none of before is left.
    "node": "Union[str, None]",  # Which node made it.
    "takeover": "NotRequired[bool]",  # It repeated a command that another process had begun, or had left.
    "unlisted": "int",  # How many more it set.
    "variables": "List[Variable]",  # Those that it set.
})

CompleteUserRequest = TypedDict("CompleteUserRequest", {
    "data": "NotRequired[Dict[str, Any]]",  # The fields of the task's form, if it has one.
    "outcome": "NotRequired[str]",  # The key of one of the task's outcomes.
    "revision": "NotRequired[int]",  # Of the task as it was shown, claimed or free: it counts only while that is so. Any, if it is absent.
})

Count = TypedDict("Count", {
    "count": "int",
    "exact": "bool",  # false: so many at least.
})

Crash = TypedDict("Crash", {
    "calls": "int",  # To the outside, that it makes.
    "left": "int",  # Failures that were left out, as they are too many.
    "notes": "List[str]",  # What is to be known, such as calls that may be made again with the same key.
    "points": "int",  # At which a node may fail.
    "runs": "int",  # Each with one failure.
})

DeadLetter = TypedDict("DeadLetter", {
    "activityType": "NotRequired[str]",
    "command": "NotRequired[str]",  # Kind of the command, if it was one.
    "correlationId": "Union[str, None]",  # That the stimulus came with.
    "createdAt": "str",
    "damage": "NotRequired[str]",  # Why it cannot be read.
    "damaged": "NotRequired[bool]",  # The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
    "detail": "NotRequired[str]",
    "droppedBytes": "NotRequired[int]",  # What it brought was too large to be kept: the size of the whole as JSON. It cannot be replayed.
    "droppedSha256": "NotRequired[str]",  # The SHA-256 of that, in hexadecimal.
    "id": "str",
    "instanceId": "Union[str, None]",
    "name": "NotRequired[str]",  # Of the event.
    "reason": "str",
    "stimulus": "NotRequired[Any]",
})

DeadLetterList = TypedDict("DeadLetterList", {
    "items": "List[DeadLetter]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

Declared = TypedDict("Declared", {
    "default": "NotRequired[Any]",
    "description": "NotRequired[str]",
    "list": "bool",
    "name": "str",
    "required": "bool",
    "type": "str",  # Such as String, Int32, Object.
})

Definition = TypedDict("Definition", {
    "damage": "NotRequired[str]",  # Why it cannot be read.
    "damaged": "NotRequired[bool]",  # The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
    "description": "Union[str, None]",
    "id": "str",
    "latestVersion": "int",
    "moreStarts": "NotRequired[bool]",  # With starts=true: there are others, or may be.
    "name": "Union[str, None]",
    "published": "bool",
    "publishedAt": "Union[str, None]",
    "schedules": "NotRequired[bool]",  # With starts=true: timers, dates or cron expressions start it; GET /timers has when.
    "set": "Union[str, None]",  # The set of definitions that it is of, as it was last published with one; null: none.
    "starts": "NotRequired[List[Starts]]",  # With starts=true: what starts instances of it by itself, of events and endpoints the first 5 each. Absent: none, or it was not asked for.
    "updatedAt": "str",
    "version": "int",  # The published version, or the latest if none is published.
})

DefinitionList = TypedDict("DefinitionList", {
    "items": "List[Definition]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

Dispatched = TypedDict("Dispatched", {
    "instanceId": "str",
})

Doing = TypedDict("Doing", {
    "activityId": "str",
    "activityType": "str",
    "attempt": "Union[int, None]",  # Which attempt of its work the activity makes, from 1; null: it does not tell.
    "beside": "List[str]",  # The ids of the activities whose calls are in flight beside it, the oldest first; it is the oldest of all.
    "outside": "bool",  # It may wait for the outside, and a cancel interrupts it; otherwise a cancel waits for its end.
    "since": "str",  # By the clock of its node.
})

EditRequest = TypedDict("EditRequest", {
    "correlationId": "NotRequired[Union[str, None]]",  # Another one; "": none.
    "input": "NotRequired[Dict[str, Any]]",  # In the place of what the stimulus brings, of any type.
    "instanceId": "NotRequired[Union[str, None]]",  # Send it to this instance only; "": to all who wait for it.
    "name": "NotRequired[Union[str, None]]",  # Another name of the event.
    "payload": "NotRequired[Any]",  # Another payload of the event.
})

Effect = TypedDict("Effect", {
    "more": "bool",  # It meets more than 10,000, and would be refused.
    "others": "List[Place]",  # Where it meets nothing: instances that wait for the same with another correlation; 10 at most.
    "queued": "bool",  # It meets nothing, and would wait in the queue.
    "recent": "List[SentEvent]",  # Events of this name, or nearly so, of the last hour that nodes remember, the newest first; 10 at most. No node remembers more than 10,000, and none what was before its start.
    "refused": "Union[Refused, None]",  # Why it would be refused if it were sent now: its instance is not there, has ended or is damaged, the cluster is paused, etcd is too full, it meets too many, or it meets one definition only, and the gate of that is held. Null: it would be taken.
    "resumed": "int",  # How many it would resume in all.
    "resumes": "List[Place]",  # Instances that it would resume; 100 at most.
    "revision": "int",  # Of etcd, at which this was so.
    "started": "int",  # How many it would start in all, also those whose gate is held.
    "starts": "List[Trigger]",  # Definitions that it would start, unless an instance holds the gate of the activation strategy (holder); 100 at most.
})

ElsaAlterationRequest = TypedDict("ElsaAlterationRequest", {
    "activityId": "NotRequired[str]",  # CancelActivity, ScheduleActivity: id of the activity.
    "activityInstanceId": "NotRequired[str]",  # CancelActivity, ScheduleActivity: the number of its execution in the journal, as text; needed if several run.
    "targetVersion": "NotRequired[int]",  # Migrate: the version of the definition to go on with.
    "type": "NotRequired[str]",  # One of "Cancel", "CancelActivity", "Migrate", "ModifyVariable", "ScheduleActivity".
    "value": "NotRequired[Any]",  # ModifyVariable: any value; null clears it.
    "variableId": "NotRequired[str]",  # ModifyVariable: id or name.
})

ElsaFilterRequest = TypedDict("ElsaFilterRequest", {
    "correlationIds": "NotRequired[List[str]]",  # One.
    "definitionIds": "NotRequired[List[str]]",  # One.
    "emptyFilterSelectsAll": "NotRequired[bool]",  # Needed where nothing else is given.
    "hasIncidents": "NotRequired[bool]",  # Only those that have some.
    "names": "NotRequired[List[str]]",  # One.
    "statuses": "NotRequired[List[str]]",  # One: Running or Finished.
    "subStatuses": "NotRequired[List[str]]",  # One, such as Faulted.
    "workflowInstanceIds": "NotRequired[List[str]]",  # Up to 100.
})

Etcd = TypedDict("Etcd", {
    "at": "str",  # By its clock.
    "members": "List[Member]",  # Those that the node knows, by --etcd-endpoints.
    "nodeId": "str",  # The node that asked.
    "seconds": "Union[float, None]",  # That a read took which most members confirm; null: it was not answered within 2 s.
    "state": "str",  # One of "ok", "degraded", "down". degraded: it works, and something is wrong that may stop it. down: it does not answer, or takes no writes.
    "troubles": "List[Trouble]",  # What is wrong, the worst first.
})

EtcdMember = TypedDict("EtcdMember", {
    "address": "str",  # Of the endpoint.
    "answers": "bool",  # It was asked a moment ago, and answered.
    "leader": "bool",
    "roundTripSeconds": "float",  # Of its last answer; 0: there was none.
    "takesCalls": "bool",  # The node's requests go to it.
    "version": "str",  # Of etcd; empty: it did not tell.
    "why": "str",  # It does not answer, or takes no calls; empty: it does both.
})

EventRequest = TypedDict("EventRequest", {
    "correlationId": "NotRequired[str]",
    "instanceId": "NotRequired[str]",  # Only this instance.
    "payload": "NotRequired[Any]",  # Becomes the result of the Event activity.
})

Explanation = TypedDict("Explanation", {
    "at": "str",  # By the clock of the node that answers.
    "cause": "str",  # One of "event", "timer", "retry", "child", "task", "endpoint", "stimulus", "other-correlation", "other-instance", "other-name", "dead-letter", "went-elsewhere", "faulted-child", "lost-child", "late-timer", "clock", "paused", "full", "drain", "gate", "fault", "damaged", "activity", "running", "lock", "gone", "mail", "ended", "nothing". Why, in one word: that of the first reason, or of what keeps it from coming about.
    "doing": "Union[Doing, None]",  # The activity that the owner is in; null: none at the moment, or it could not be asked.
    "gate": "Union[Gate, None]",  # Of its activation strategy, which lets one instance run at a time: it holds it, or its start waits until it is free.
    "history": "Union[History, None]",  # Who made its last 100 commits: the last 10 rows, and the last 10 refusals. GET /instances/{id}/owners has more.
    "incidents": "List[Open]",  # The newest 5, those first that are open.
    "incidentsLeft": "int",  # How many more there are.
    "instanceId": "str",
    "lastCommit": "Union[LastCommit, None]",
    "mail": "List[Mail]",  # Commands that wait to be run, the oldest first; 50 at most.
    "mailLeft": "int",  # How many more there are.
    "nearMisses": "List[NearMiss]",  # Stimuli that are nearly what it waits for, 10 at most, those first that were likely meant for it: of the newest 200 of the queue and of the dead letters, and of the events that nodes remember of the last hour; up to 5 that met others.
    "next": "List[str]",  # What a person can do, the most likely first. Paths are below /api/v1.
    "owner": "Union[Claim, None]",  # The node that has the instance's lock; null: nobody runs it.
    "reasons": "List[Reason]",  # The first is the one that the summary begins with.
    "reasonsLeft": "int",  # At how many more places it waits: reasons has 100 of them.
    "revision": "int",  # Of etcd, at which record, mailbox, lock and reasons were read.
    "state": "str",  # One of "running", "queued", "waiting", "finished", "faulted", "stuck", "damaged". stuck: nothing that is known will move it.
    "summary": "str",  # One sentence, for people.
    "waiters": "List[Claim]",  # Nodes that want its lock, in the order in which they get it.
})

Fate = TypedDict("Fate", {
    "code": "Union[str, None]",  # Why it was refused.
    "commandId": "str",  # As the journal's commits name it.
    "commit": "Union[FateCommit, None]",  # The journal entry in which it took effect; null: none, or it is not kept any more.
    "deadLetter": "Union[str, None]",  # Id of the dead letter that it became.
    "deadLetterGone": "bool",  # It was replayed or deleted since.
    "detail": "Union[str, None]",
    "instanceId": "Union[str, None]",
    "item": "Union[str, None]",  # Its id in the queue or the outbox.
    "outcome": "str",  # One of "started", "resumed", "applied", "accepted", "refused", "requeued", "gone", "dropped".
    "state": "str",  # One of "applied", "refused", "mailbox", "sending", "queued", "requeued", "dead-letter", "dropped", "unknown". mailbox, sending and queued: accepted, and still there. requeued: its place was gone, and it went on as item. unknown: nothing that is kept says it.
})

FateCommit = TypedDict("FateCommit", {
    "at": "Union[str, None]",
    "fence": "int",  # Of the lock that it was made under; 0: none.
    "nodeId": "Union[str, None]",
    "sequence": "int",
})

Filling = TypedDict("Filling", {
    "bytes": "int",  # Of all keys and values of the cluster. What else is in use is what etcd keeps of before its last compaction, its own, and what others keep there.
    "definitions": "List[FillingDefinition]",  # What the instances of each take that were read: records, parts, journals, mail, entries in lists.
    "growth": "Union[FillingGrowth, None]",  # null: this node has not looked for ten minutes yet.
    "kinds": "List[FillingKind]",  # The largest first.
    "largest": "List[FillingInstance]",  # The largest instances of those that were read, 20 at most.
    "revision": "int",  # Of etcd: all is as it was then.
    "store": "StoreMeter",  # How full etcd is, as the node that answers knows it.
    "tookSeconds": "float",
    "whole": "bool",  # All was read. False: within 8 seconds or 256 MiB only some was, and what is estimated says by how much it may be wrong.
})

FillingDefinition = TypedDict("FillingDefinition", {
    "bytes": "int",
    "definitionId": "str",
    "instances": "int",
})

FillingGrowth = TypedDict("FillingGrowth", {
    "bytesADay": "float",  # Of what is in use; below 0 it shrinks.
    "daysLeft": "Union[float, None]",  # Until starts are refused, if it goes on so; null: it does not grow, or they are refused already.
    "overSeconds": "float",  # For how long this was seen: since the start of the node, and a day at most.
})

FillingInstance = TypedDict("FillingInstance", {
    "bytes": "int",
    "definitionId": "str",
    "instanceId": "str",
    "keys": "int",
})

FillingKind = TypedDict("FillingKind", {
    "bytes": "int",
    "keys": "int",
    "kind": "str",
    "off": "int",  # By how many bytes that may be wrong, either way (two standard errors, if what was not read is like what was). 0: all was read.
})

Gaps = TypedDict("Gaps", {
    "before": "int",  # What was set last by a commit before this one is not known, as the journal no longer has it, or is too long to be read at once; 0: none is missing.
    "more": "int",  # So many variables are left out, as there are more than 5,000.
    "unlisted": "int",  # So many that were set are not told by name.
    "unreadable": "int",  # So many commits cannot be read.
})

Gate = TypedDict("Gate", {
    "behind": "int",  # Starts that wait until it has ended.
    "correlationId": "Union[str, None]",  # One instance with it runs; null: with any, or none.
    "definitionId": "Union[str, None]",  # One instance of it runs; null: of any definition.
    "holder": "Union[str, None]",  # The instance that runs.
    "item": "Union[str, None]",  # The queue item that waits to start this instance; null: the instance is there.
})

Health = TypedDict("Health", {
    "nodeId": "str",
    "shedding": "NotRequired[bool]",  # Whether requests were refused in the last 10 seconds for want of places, memory or connections; see weft_shed_total.
    "status": "str",
})

Heard = TypedDict("Heard", {
    "leaseUntil": "NotRequired[Union[str, None]]",
    "reason": "NotRequired[str]",  # Why.
    "stop": "bool",  # Nobody waits for the task any more: what the worker does is in vain.
})

HeartbeatRequest = TypedDict("HeartbeatRequest", {
    "claim": "NotRequired[str]",  # As POST /tasks/claim gave it.
    "progress": "NotRequired[Union[float, None]]",  # Percent, 0 to 100; as it was if absent.
    "text": "NotRequired[str]",  # What the worker does, for people: up to 1024 bytes; as it was if absent.
})

History = TypedDict("History", {
    "before": "int",  # Commits before this one are not told; 0: all are that the journal has.
    "first": "int",  # The oldest commit that the journal still has.
    "last": "int",  # The newest commit.
    "periods": "List[Period]",  # Rows of commits that one node made without a takeover in between, the oldest first.
    "refusals": "List[OwnRefusal]",  # Commits that a fence refused, as another node had the instance by then, the oldest first; of those that live nodes remember.
    "unasked": "List[str]",  # Live nodes that could not be asked for refusals.
})

Hot = TypedDict("Hot", {
    "instanceId": "str",
    "perSecond": "float",  # Commits, of the last 10 s or so.
})

Incident = TypedDict("Incident", {
    "activityId": "str",
    "activityType": "str",
    "cause": "NotRequired[str]",
    "expression": "NotRequired[str]",  # The input that failed, with its language.
    "final": "NotRequired[bool]",  # The definition says that the instance has failed for good: a retry is refused unless it says again.
    "message": "str",
    "time": "str",
})

Instance = TypedDict("Instance", {
    "archived": "NotRequired[bool]",  # It has left etcd, and the archive told it. See docs/operations/archive.md.
    "bookmarks": "List[Bookmark]",
    "correlationId": "Union[str, None]",
    "createdAt": "str",
    "damage": "NotRequired[str]",  # Why it cannot be read.
    "damaged": "NotRequired[bool]",  # The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
    "definitionId": "str",
    "finishedAt": "Union[str, None]",
    "incidents": "List[Incident]",
    "input": "Dict[str, Any]",
    "instanceId": "str",
    "interrupted": "NotRequired[str]",  # In the answer to a cancel: the activity whose call to the outside it ended. Absent: none was under way, or it is not known yet.
    "labels": "Dict[str, str]",  # By which it is found; none: {}.
    "moreBookmarks": "NotRequired[int]",  # In the answer to a command for an instance that waits at thousands of places: at how many more than are listed. GET lists all.
    "name": "Union[str, None]",
    "notYet": "NotRequired[str]",  # In the 202 of a cancel: what the instance is at, and whether that was told to end. Absent: it is not known.
    "output": "Dict[str, Any]",
    "parentInstanceId": "Union[str, None]",
    "status": "str",  # One of "Running", "Finished". Empty only of a damaged instance.
    "subStatus": "str",  # One of "Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted".
    "updatedAt": "str",
    "version": "int",
})

InstanceFound = TypedDict("InstanceFound", {
    "items": "List[Instance]",
    "looked": "int",  # How many instances were looked at for the page; at 20,000 it ends.
    "nextCursor": "Union[str, None]",  # Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one.
    "now": "str",  # What durations in the filter count from, on every page of the list.
    "query": "str",  # The filter as one line, as q takes it.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

Interface = TypedDict("Interface", {
    "description": "Union[str, None]",
    "id": "str",
    "inputs": "List[Declared]",
    "latestVersion": "int",
    "moreInputs": "bool",  # A start may bring inputs that are not declared.
    "name": "Union[str, None]",
    "outcomes": "List[str]",  # None: Done.
    "outputs": "List[Declared]",
    "published": "int",  # The published version; 0: none.
    "starts": "List[Starts]",  # What starts an instance by itself.
    "version": "int",
})

ItemsRequest = TypedDict("ItemsRequest", {
    "activityType": "NotRequired[str]",
    "all": "NotRequired[bool]",  # Needed where nothing else restricts.
    "before": "NotRequired[Union[str, None]]",  # Those that came into the queue before this time.
    "correlationId": "NotRequired[str]",
    "cursor": "NotRequired[str]",  # nextCursor of the answer before.
    "instanceId": "NotRequired[str]",
    "limit": "NotRequired[int]",  # How many are looked at, 1 to 500, 50 if absent.
    "name": "NotRequired[str]",  # Of the event.
})

Job = TypedDict("Job", {
    "accepted": "int",  # In whose mailboxes it was left, as they were busy for long.
    "became": "Dict[str, int]",  # Those that took the command, by what came of it: their sub-status when they were looked at, some seconds after it at most, or Gone. Fewer than done while the job runs, and where a node of an older version worked it.
    "by": "Union[str, None]",  # Who asked for it.
    "createdAt": "str",
    "damage": "NotRequired[str]",  # Why it cannot be read.
    "damaged": "NotRequired[bool]",  # The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
    "done": "int",  # Instances that took the command.
    "endedAt": "Union[str, None]",
    "id": "str",
    "kind": "str",
    "node": "Union[str, None]",  # That wrote its record last.
    "query": "str",  # Which instances; empty: all.
    "reason": "Union[str, None]",
    "refusals": "List[JobRefusal]",  # The first 100.
    "refused": "int",
    "refusedBy": "Dict[str, int]",  # How many refused, by code.
    "report": "str",  # The same in words.
    "rests": "str",  # Why it rests at the moment, as the node that answers sees it: the cluster is paused, or etcd or its disk fills up. Empty: it does not.
    "state": "str",  # One of "running", "done", "cancelled".
    "unknown": "int",  # That may have been given the command by a node that died, or before a long pause, of which nothing tells any more: it is not given again.
    "updatedAt": "str",
})

JobFate = TypedDict("JobFate", {
    "id": "str",
    "state": "str",  # One of "running", "done", "cancelled", "gone". gone: it was deleted, or cannot be read.
})

JobList = TypedDict("JobList", {
    "items": "List[Job]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

JobPreview = TypedDict("JobPreview", {
    "fits": "int",  # How many of them would take the command.
    "matching": "int",  # Instances of the filter, counted up to 10,000.
    "more": "bool",  # There are more than matching says, or may be: so many were looked at that the count was ended.
    "query": "str",  # The filter as it was understood.
    "refusals": "List[JobRefusal]",  # Why others would not; the first 100.
    "tried": "int",  # For how many it was tried, the newest.
})

JobRefusal = TypedDict("JobRefusal", {
    "code": "str",
    "detail": "str",
    "instanceId": "str",
})

JobRequest = TypedDict("JobRequest", {
    "all": "NotRequired[bool]",  # Needed where q restricts nothing.
    "alterations": "NotRequired[List[AlterationRequest]]",  # Of kind alter: made to each instance as by POST /instances/{id}/alterations.
    "kind": "NotRequired[str]",  # One of "alter", "retry", "cancel", "delete".
    "q": "NotRequired[str]",  # Which instances: the line that q of GET /instances takes, such as status:faulted def:order. Durations count from now.
    "reason": "NotRequired[str]",  # Of alter and retry: why, for the journal.
})

Journal = TypedDict("Journal", {
    "activityId": "str",
    "activityType": "str",
    "burst": "str",  # The command that was being processed.
    "commit": "int",  # The commit that it is of.
    "data": "NotRequired[Any]",
    "event": "str",
    "execution": "int",  # Of the activity: the sequence of its first item. Each round of a loop has others.
    "parent": "int",  # The execution that scheduled it; 0: the workflow.
    "sequence": "int",  # From 1 within the instance.
    "text": "NotRequired[str]",
    "time": "str",
})

JournalPage = TypedDict("JournalPage", {
    "commits": "List[Commit]",  # The commits that the items are of, and, without filters, those without items.
    "first": "int",  # The oldest commit that the journal still has.
    "items": "List[Journal]",
    "itemsBefore": "int",  # How many items, of those that the filters choose, the first commit of the page has before those of the page, as items cut it: previousCursor leads to them.
    "itemsBehind": "int",  # How many the last commit of the page has behind those of the page: nextCursor leads to them.
    "last": "int",  # The newest commit.
    "lookedFrom": "int",  # The oldest commit that this page has looked at; 0: none.
    "lookedTo": "int",  # The newest commit that this page has looked at, the one before it if itemsBehind is not 0, or after if nothing came behind that; 0: none. Pass it as after, later, for what was done since.
    "nextCursor": "Union[str, None]",  # Pass it as cursor for what came later; null at the end. The limit is of commits. With filters a page may be empty and have a next one.
    "previousCursor": "Union[str, None]",  # Pass it as cursor for what came before; null at the beginning.
    "revision": "int",  # Of etcd, at which all of it was read.
})

LastCommit = TypedDict("LastCommit", {
    "at": "Union[str, None]",
    "fence": "int",  # Of the lock that it was made under; 0: none.
    "nodeId": "Union[str, None]",  # That made it.
    "sequence": "int",
})

Letter = TypedDict("Letter", {
    "brought": "Brought",
    "letter": "DeadLetter",
})

LettersRequest = TypedDict("LettersRequest", {
    "activityType": "NotRequired[str]",
    "all": "NotRequired[bool]",  # Needed where nothing else restricts.
    "before": "NotRequired[Union[str, None]]",  # Those that came to be before this time.
    "correlationId": "NotRequired[str]",
    "cursor": "NotRequired[str]",  # nextCursor of the answer before.
    "instanceId": "NotRequired[str]",
    "limit": "NotRequired[int]",  # How many are looked at, 1 to 500, 50 if absent.
    "name": "NotRequired[str]",  # Of the event.
    "reason": "NotRequired[str]",
})

Limit = TypedDict("Limit", {
    "keys": "List[LimitKey]",  # Those for which most wait first, 100 at most.
    "most": "Union[int, None]",  # How many may have a place of one key at once; null: any number, or, without a rate, the limit is not set, and who waits for it waits until it is.
    "name": "str",
    "rate": "Union[LimitRate, None]",  # How many units may be taken of one key in any time of a length; null: any number.
    "setAt": "Union[str, None]",
    "setBy": "Union[str, None]",
    "since": "Union[str, None]",  # When the first of those who wait came; null: nobody waits.
    "taken": "int",  # Places, of all keys.
    "waiting": "int",  # Who waits for a place, of all keys.
})

LimitKey = TypedDict("LimitKey", {
    "heldTo": "Union[str, None]",  # Until when nobody is given a place, as a service answered 429 or 503 with Retry-After; null: none did.
    "key": "str",
    "nextAt": "Union[str, None]",  # When units come that somebody waits for; null: nobody waits for units that come by time.
    "since": "Union[str, None]",  # When the first of those who wait came; null: nobody waits.
    "taken": "int",
    "units": "Union[int, None]",  # That may be taken now, of a limit with a rate; less than 0: more were used than reserved. null: they are not counted.
    "waiting": "int",
})

LimitPlace = TypedDict("LimitPlace", {
    "activityId": "str",
    "cameAt": "str",  # When it came to wait.
    "definitionId": "str",
    "givenAt": "Union[str, None]",  # When it was given its place; null: it waits.
    "instanceId": "str",
    "key": "str",
})

LimitPlaces = TypedDict("LimitPlaces", {
    "items": "List[LimitPlace]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end.
})

LimitRate = TypedDict("LimitRate", {
    "per": "Union[str, None]",  # After which time a unit that was taken is back; null: never, so that there are so many in all.
    "units": "int",
})

LimitRateRequest = TypedDict("LimitRateRequest", {
    "per": "NotRequired[str]",  # After which time a unit that was taken is back, such as 1m: from 1s to 366 days. If absent it is never, and units are how many there are in all.
    "units": "NotRequired[Union[int, None]]",  # From 0 (nobody is given one) to 1,000,000,000,000. A place takes one, unless withLimit says an amount.
})

LimitRequest = TypedDict("LimitRequest", {
    "most": "NotRequired[Union[int, None]]",  # How many may have a place of one key at once, from 0 (nobody is given one) to 10,000. Who has a place keeps it, also if they are more by now. If absent, any number: then rate is needed.
    "rate": "NotRequired[Union[LimitRateRequest, None]]",  # How many units may be taken of one key in any time of a length. If absent, any number: then most is needed.
})

Limits = TypedDict("Limits", {
    "items": "List[Limit]",
})

Lineage = TypedDict("Lineage", {
    "instanceId": "str",
    "items": "List[Relative]",  # The farthest ancestor first, then the instance, then its descendants; each stands behind its parent.
    "revision": "int",  # Of etcd, at which all of this was so.
    "whole": "bool",  # Nobody is left out: neither by depth, nor by number, nor by size.
})

LiveBye = TypedDict("LiveBye", {
    "reason": "str",  # One of "draining", "unavailable", "credentials".
})

LiveCluster = TypedDict("LiveCluster", {
    "nodes": "List[Node]",  # All of them, as GET /nodes has them; seenAt is null.
    "revision": "int",
    "topic": "str",
})

LiveDefinitionChange = TypedDict("LiveDefinitionChange", {
    "definition": "Definition",
    "deleted": "bool",
})

LiveDefinitions = TypedDict("LiveDefinitions", {
    "definitions": "List[LiveDefinitionChange]",  # Those that changed since what was told before, as they are now; 100 at most. At first none: the list has them.
    "more": "bool",  # More changed than are told: read the list again.
    "revision": "int",  # Every change up to here was told.
    "topic": "str",
})

LiveInstance = TypedDict("LiveInstance", {
    "instance": "Union[LiveInstanceState, None]",  # null: there is none.
    "revision": "int",  # Of etcd: of its last write, or at which it was seen that there is none.
    "topic": "str",
})

LiveInstanceState = TypedDict("LiveInstanceState", {
    "bookmarks": "List[Bookmark]",  # The first 20.
    "bookmarksLeft": "int",  # How many more there are.
    "commit": "int",  # The last one; its journal begins there to be new.
    "correlationId": "Union[str, None]",
    "createdAt": "str",
    "damaged": "NotRequired[bool]",
    "definitionId": "str",
    "finishedAt": "Union[str, None]",
    "incident": "Union[str, None]",  # The message of the last one, 1,000 characters at most.
    "incidents": "int",  # How many it has.
    "instanceId": "str",
    "labels": "Dict[str, str]",
    "name": "Union[str, None]",
    "parentInstanceId": "Union[str, None]",
    "status": "str",  # One of "Running", "Finished". Empty only of a damaged instance.
    "subStatus": "str",  # One of "Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted".
    "updatedAt": "str",
    "version": "int",
})

LiveList = TypedDict("LiveList", {
    "ids": "List[str]",  # Of the first 50 instances of the list, the newest first.
    "items": "List[Summary]",  # Those of them that came or changed since what was told before; at first all.
    "more": "bool",  # Others stand behind them, or may: so many were looked at that the search was ended.
    "revision": "int",  # Of etcd: the list is as it was then.
    "topic": "str",
})

LiveReset = TypedDict("LiveReset", {
    "topic": "str",
})

Lock = TypedDict("Lock", {
    "fence": "int",  # Create revision of the lock's key in etcd.
    "holder": "Union[str, None]",  # Id of the node.
    "name": "str",
    "scope": "str",
    "since": "Union[str, None]",  # When the holder asked for it, by its clock; null if not known.
    "waiters": "List[Waiter]",  # Nodes that want it, in the order in which they get it.
})

Locks = TypedDict("Locks", {
    "items": "List[Lock]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end.
    "revision": "int",  # Of etcd, at which they were so.
})

Lost = TypedDict("Lost", {
    "key": "str",  # Below the root of the cluster's keys.
    "revision": "int",  # At which it went.
})

MachineState = TypedDict("MachineState", {
    "final": "bool",
    "initial": "bool",
    "line": "int",
    "name": "str",
    "transitions": "List[MachineTransition]",
})

MachineTransition = TypedDict("MachineTransition", {
    "line": "int",
    "name": "str",
    "on": "str",  # The event that it waits for.
    "to": "str",
    "waits": "str",  # The id of the activity that it waits for, if that is no event.
    "when": "str",  # As fieldText of an edit takes it.
})

Mail = TypedDict("Mail", {
    "attempts": "int",  # How often nodes took it over and did not finish.
    "bookmarkId": "Union[str, None]",
    "createdAt": "Union[str, None]",
    "id": "str",
    "kind": "str",  # start, resume, childEnd, cancel, delete, retry, import, continue, or that of a newer program.
    "unreadable": "bool",  # The program of the node that answers cannot read it.
})

Mean = TypedDict("Mean", {
    "count": "int",
    "mean": "float",  # 0 if there was none.
})

Member = TypedDict("Member", {
    "alarms": "List[str]",  # NOSPACE or CORRUPT.
    "answers": "bool",
    "error": "str",  # Why it does not answer; empty: it does.
    "id": "str",  # As etcdctl has it; empty: it does not answer.
    "knowsLeader": "bool",  # Whether it knows of a leader.
    "leader": "bool",  # Whether it is the leader, as it says.
    "learner": "bool",
    "name": "str",  # Host and port of its endpoint.
    "seconds": "float",  # That its answer took.
    "version": "str",
})

Memory = TypedDict("Memory", {
    "burst": "Union[Burst, None]",  # What it runs of the instance; null: nothing.
    "events": "List[SentEvent]",  # The newest first, one of each name, correlation and address; 50 at most.
    "nodeId": "str",
    "refusals": "List[Refusal]",  # Commits of the instance that a fence refused: the newest first, of the last 1,000 since the node's start.
})

Meters = TypedDict("Meters", {
    "at": "str",  # By its clock.
    "bursts": "Rate",
    "commitCommands": "Mean",  # How many commands a commit consumed.
    "commitSeconds": "Mean",  # How long a commit took.
    "commits": "List[Rate]",  # By outcome, those that there were.
    "drainsUntil": "Union[str, None]",  # While it drains: when it ends at the latest, by its clock.
    "etcdMembers": "List[EtcdMember]",  # Members of etcd by its settings; none if its etcd is embedded, or its program older.
    "hot": "List[Hot]",  # Instances that it commits once a second or more, those with the most commits first; 10 at most.
    "inFlight": "int",  # Requests that it answers.
    "locks": "int",  # That it holds.
    "nodeId": "str",
    "notReady": "str",  # Why it should get no traffic; empty: it is ready.
    "notRunnable": "int",  # Instances with work that its program cannot run or read, and leaves to others. If each live node has some, no node can run it.
    "readBatch": "Mean",  # How many requests that only read shared a proposal to etcd.
    "seconds": "float",  # That the rates and means are of, some seconds up to now. 0: the node has just started, there are no rates, and means are of all since then.
    "sessionSince": "Union[str, None]",  # When its present session with etcd began, by its clock; null: it has none.
    "store": "StoreMeter",
    "takeovers": "int",  # Commands that another process had left and this one began, since its start.
    "unreadFiles": "List[str]",  # Settings whose files cannot be taken as they are: gone, empty, cut, or with a mistake. What was read before counts on; the node's log says what is wrong.
    "working": "int",  # Instances that it works at the moment.
    "writeBatch": "Mean",  # The same of requests that may write. Without group commit there is none.
})

NearMiss = TypedDict("NearMiss", {
    "bookmarkId": "Union[str, None]",  # That it nearly met.
    "correlationId": "Union[str, None]",
    "createdAt": "Union[str, None]",
    "id": "str",
    "instanceId": "Union[str, None]",  # The one that it is for.
    "kind": "str",  # One of "other-correlation", "other-instance", "other-name", "dead-letter", "went-elsewhere", "mail". mail: it is about to be taken; went-elsewhere: it met others, before this one waited.
    "name": "Union[str, None]",  # Of its event.
    "text": "str",  # Why it did not meet it.
    "where": "str",  # One of "queue", "dead-letter", "sent". sent: a node remembers that it sent it.
})

Node = TypedDict("Node", {
    "address": "str",
    "catalogRevision": "int",  # Revision of etcd up to which it knows the definitions.
    "clockSkewSeconds": "Union[float, None]",  # Its clock less the median of the clocks of all live nodes, as the node that answers sees it; null: not known yet.
    "coordination": "str",  # One of "distributed", "local".
    "draining": "bool",
    "epoch": "int",  # Counts the sessions of this process.
    "lateSeconds": "Union[float, None]",  # For how long it has not renewed its record, as the node that answers sees it: it hangs, or etcd takes no writes. null: it has, within three heartbeats.
    "nodeId": "str",
    "paused": "bool",
    "seenAt": "Union[str, None]",  # Its clock at its last heartbeat.
    "self": "bool",  # Whether it is the node that answers.
    "startedAt": "str",
    "version": "str",
})

NodeAudit = TypedDict("NodeAudit", {
    "from": "Union[str, None]",  # The oldest line that it remembers; null: none yet.
    "items": "List[AuditLine]",  # 500 at most.
    "kept": "bool",  # false: it keeps no audit log, as it has neither credentials nor a file for one.
    "more": "bool",  # Others that it remembers fit too.
    "nodeId": "str",
})

NodeList = TypedDict("NodeList", {
    "items": "List[Node]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

NotRefreshed = TypedDict("NotRefreshed", {
    "id": "str",
    "reason": "str",
})

Open = TypedDict("Open", {
    "activityId": "str",
    "activityType": "str",
    "final": "NotRequired[bool]",  # The definition says that the instance has failed for good: a retry is refused unless it says again.
    "message": "str",
    "open": "bool",  # What failed is still faulted; false: it ran again since, or was skipped or cancelled.
    "time": "str",
})

Outcome = TypedDict("Outcome", {
    "code": "NotRequired[str]",  # Why it was refused.
    "instanceId": "str",
    "outcome": "str",  # One of "started", "resumed", "accepted", "refused".
})

OwnRefusal = TypedDict("OwnRefusal", {
    "nodeId": "str",
    "refusal": "Refusal",
})

Owners = TypedDict("Owners", {
    "history": "History",
    "instanceId": "str",
    "owner": "Union[Claim, None]",  # The node that has the instance's lock now; null: nobody.
    "revision": "int",  # Of etcd, at which journal and lock were read.
})

Paused = TypedDict("Paused", {
    "paused": "bool",
})

Period = TypedDict("Period", {
    "began": "Union[str, None]",
    "ended": "Union[str, None]",
    "firstFence": "int",  # Of the first commit under a lock; 0: all were made without.
    "from": "int",  # Its first commit of the row.
    "gapSeconds": "float",  # From the end of the commit before the row to its beginning, by the clocks of both nodes; 0 at the first. Of a takeover, how long nobody worked; otherwise how long there was no work.
    "lastFence": "int",
    "nodeId": "Union[str, None]",
    "takeover": "bool",  # Its first commit repeated what another process had begun or left.
    "to": "int",  # Its last.
})

Place = TypedDict("Place", {
    "bookmarkId": "str",
    "correlationId": "Union[str, None]",
    "instanceId": "str",
})

Problem = TypedDict("Problem", {
    "code": "str",  # Stable; clients may rely on it.
    "detail": "NotRequired[str]",  # What is wrong with this request and what to do.
    "errors": "NotRequired[List[ProblemItem]]",  # Every single problem of a 400 or 422, with its place.
    "requestId": "NotRequired[str]",  # Also in the X-Request-Id header and in the node's log.
    "status": "int",
    "title": "str",
    "type": "str",  # Always about:blank; the code tells problems apart.
})

ProblemItem = TypedDict("ProblemItem", {
    "code": "str",
    "column": "NotRequired[int]",  # From 1.
    "detail": "str",
    "excerpt": "NotRequired[str]",  # The source line, with a caret below it.
    "file": "NotRequired[str]",  # The file, of several.
    "line": "NotRequired[int]",  # From 1.
    "meant": "NotRequired[str]",  # What was probably meant.
    "pointer": "NotRequired[str]",  # JSON pointer (RFC 6901) into the body.
    "severity": "str",  # error or warning. A warning alone is in the way of nothing.
})

PublishRequest = TypedDict("PublishRequest", {
    "version": "NotRequired[int]",  # The latest one if absent.
})

Published = TypedDict("Published", {
    "before": "int",  # The version that was published before; 0: none.
    "id": "str",
    "over": "NotRequired[Union[int, None]]",  # Of a dry run: the version that is there, for If-Match of the publication; 0: none. Absent otherwise.
    "published": "bool",  # Whether this version is the published one.
    "revision": "NotRequired[int]",  # Of etcd: a node whose catalogRevision has reached it serves this version. Absent of a dry run.
    "version": "int",
    "warnings": "NotRequired[List[ProblemItem]]",  # What may be a mistake, with its place. It is in the way of nothing.
    "wasOf": "NotRequired[str]",  # The set that it was of before. Absent: none.
})

QueueItem = TypedDict("QueueItem", {
    "activityType": "str",
    "correlationId": "Union[str, None]",
    "createdAt": "str",
    "damage": "NotRequired[str]",  # Why it cannot be read.
    "damaged": "NotRequired[bool]",  # The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
    "expiresAt": "str",
    "gated": "NotRequired[str]",  # The definition that it starts once no other instance runs.
    "id": "str",
    "instanceId": "Union[str, None]",  # The instance that it is for, if only one.
    "name": "NotRequired[str]",  # Of the event.
    "stimulus": "Any",  # The hashed part, such as the event's name.
})

QueueItemList = TypedDict("QueueItemList", {
    "items": "List[QueueItem]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

Queued = TypedDict("Queued", {
    "queued": "str",  # Id of the item in the bookmark queue.
})

QueuedItem = TypedDict("QueuedItem", {
    "brought": "Brought",
    "item": "QueueItem",
})

Rate = TypedDict("Rate", {
    "name": "str",
    "perSecond": "float",
    "total": "int",  # Since the start of the node.
})

Reason = TypedDict("Reason", {
    "key": "Union[str, None]",  # The key in etcd that shows it.
    "kind": "str",  # One of "lock", "activity", "mail", "cancel", "event", "timer", "retry", "child", "task", "endpoint", "stimulus", "paused", "full", "clock", "drain", "gate", "incident", "undoing", "unwritten", "none", "damaged".
    "object": "Union[str, None]",  # Id of what it is about: a bookmark, a child, a node, a command.
    "since": "Union[str, None]",
    "text": "str",
    "until": "Union[str, None]",  # When it ends by itself; null: it does not.
})

Receipt = TypedDict("Receipt", {
    "at": "Union[str, None]",  # When it came, by the clock of the node that took it.
    "caller": "Union[str, None]",  # Who sent it; null for a viewer, and where nobody was asked.
    "damage": "NotRequired[str]",  # Why it cannot be read.
    "damaged": "NotRequired[bool]",  # The record cannot be read by any node.
    "effects": "List[Fate]",  # For each instance that it was for, 100 at most; one without an instance, while it has met none.
    "job": "Union[JobFate, None]",  # That was made of it; null: none was.
    "keptUntil": "str",  # About when the key is forgotten; a repeat is a new request from then on.
    "open": "bool",  # Something may still come of it.
    "request": "Union[str, None]",  # Method and path.
    "responseStatus": "Union[int, None]",  # Of what a workflow wrote as the answer to an HTTP endpoint, or of the answer that is kept for the key; null: neither.
    "unlisted": "int",  # How many there are beyond those.
})

Receipts = TypedDict("Receipts", {
    "key": "str",
    "more": "bool",  # There are others.
    "receipts": "List[Receipt]",  # One for each route and each caller that used the key; 10 at most.
    "revision": "int",  # Of etcd, at which all of this was so.
})

RecentEvents = TypedDict("RecentEvents", {
    "items": "List[SentEvent]",  # The newest first, one of each name, correlation and address; 50 at most.
    "nodeId": "str",
})

RefreshRequest = TypedDict("RefreshRequest", {
    "definitionIds": "NotRequired[List[str]]",  # All published definitions if absent or empty.
})

Refusal = TypedDict("Refusal", {
    "at": "str",  # When it was refused, by the clock of the node.
    "began": "Union[str, None]",  # When the burst began.
    "commands": "List[str]",  # What it would have consumed.
    "fence": "int",  # Of the lock that the node had had.
    "instanceId": "str",
    "sequence": "int",  # That the commit would have had. The journal has the one of another node.
})

Refusals = TypedDict("Refusals", {
    "items": "List[Refusal]",  # The newest first, of the last 1,000 since the node's start.
    "nodeId": "str",
})

Refused = TypedDict("Refused", {
    "code": "str",
    "detail": "str",
})

Relative = TypedDict("Relative", {
    "awaitedAt": "Union[str, None]",  # Id of the bookmark at which its parent waits, or waited, for its end; null: the parent does not wait.
    "children": "int",  # How many it has; of an ancestor 0, as the others are not told.
    "correlationId": "Union[str, None]",
    "createdAt": "Union[str, None]",
    "damaged": "NotRequired[bool]",
    "definitionId": "Union[str, None]",
    "depth": "int",  # 0: the instance itself; its children have 1, its parent -1.
    "finishedAt": "Union[str, None]",
    "gone": "bool",  # It was deleted, or retention has let it go.
    "incidents": "int",
    "instanceId": "str",
    "name": "Union[str, None]",
    "parentInstanceId": "Union[str, None]",
    "subStatus": "str",  # One of "Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted". Empty of one that is gone or damaged.
    "updatedAt": "Union[str, None]",
    "version": "Union[int, None]",
})

ReleaseRequest = TypedDict("ReleaseRequest", {
    "claim": "NotRequired[str]",  # As POST /tasks/claim gave it.
})

ReleaseUserRequest = TypedDict("ReleaseUserRequest", {
    "revision": "NotRequired[int]",  # Of the task that is given back; any, if it is absent.
})

Released = TypedDict("Released", {
    "taskId": "str",
})

Remark = TypedDict("Remark", {
    "at": "str",
    "by": "str",
    "text": "str",
})

ReplayLettersRequest = TypedDict("ReplayLettersRequest", {
    "activityType": "NotRequired[str]",
    "all": "NotRequired[bool]",  # Needed where nothing else restricts.
    "before": "NotRequired[Union[str, None]]",  # Those that came to be before this time.
    "correlationId": "NotRequired[str]",
    "cursor": "NotRequired[str]",  # nextCursor of the answer before.
    "edit": "NotRequired[EditRequest]",  # What is changed of each.
    "instanceId": "NotRequired[str]",
    "limit": "NotRequired[int]",  # How many are looked at, 1 to 500, 50 if absent.
    "name": "NotRequired[str]",  # Of the event.
    "reason": "NotRequired[str]",
})

Result = TypedDict("Result", {
    "holder": "NotRequired[str]",
    "notRefreshed": "List[NotRefreshed]",
    "refreshed": "List[str]",
    "revision": "int",  # Of etcd, at which the last of refreshed became so: a node whose catalogRevision has it serves them all; 0: there are none.
    "status": "str",
})

ResumeRequest = TypedDict("ResumeRequest", {
    "input": "NotRequired[Dict[str, Any]]",
})

Retried = TypedDict("Retried", {
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next ones; null at the end.
    "refused": "List[RetryRefused]",
    "retried": "List[str]",  # Ids of the instances whose retry is applied or durably accepted.
})

Retry = TypedDict("Retry", {
    "activityId": "str",  # The activity that is tried again.
    "attempt": "int",  # Which attempt comes when it is due, from 2.
    "attempts": "int",  # How many there are at most; 0: as many as there is time for.
    "error": "str",  # Why the one before failed.
})

RetryOneRequest = TypedDict("RetryOneRequest", {
    "again": "NotRequired[bool]",  # Also if a branch that ran since the call failed (onGiveUp, onTimeout, an outcome) may have undone what it did.
    "execution": "NotRequired[int]",  # Which execution of it, as the journal numbers them; needed if several run.
    "from": "NotRequired[str]",  # Id of the activity to run again from its beginning; absent: the call that failed.
    "keepKey": "NotRequired[Union[bool, None]]",  # Whether the call is made with the idempotency key of the call before; true if absent.
    "reason": "NotRequired[str]",  # Why, for the journal.
})

RetryRefused = TypedDict("RetryRefused", {
    "code": "str",  # Why, such as instance-finished: it is not faulted any more.
    "instanceId": "str",
})

RetryRequest = TypedDict("RetryRequest", {
    "correlationId": "NotRequired[str]",  # With this correlation id; with any, or none, if absent.
    "cursor": "NotRequired[str]",  # nextCursor of the answer before.
    "definitionId": "NotRequired[str]",  # Of this definition; of all if absent.
    "limit": "NotRequired[int]",  # How many at once, 1 to 500, 50 if absent.
})

RetryWorkflowsRequest = TypedDict("RetryWorkflowsRequest", {
    "activityIds": "NotRequired[List[str]]",  # Which activities run again; absent: what faulted.
    "workflowInstanceIds": "NotRequired[List[str]]",  # Up to 100.
})

RunAlterationsRequest = TypedDict("RunAlterationsRequest", {
    "alterations": "NotRequired[List[ElsaAlterationRequest]]",  # Made to each instance in this order and in one commit, all or none; up to 100.
    "workflowInstanceIds": "NotRequired[List[str]]",  # Up to 100.
})

SendItemsRequest = TypedDict("SendItemsRequest", {
    "activityType": "NotRequired[str]",
    "all": "NotRequired[bool]",  # Needed where nothing else restricts.
    "before": "NotRequired[Union[str, None]]",  # Those that came into the queue before this time; before the first page was asked for, if absent.
    "correlationId": "NotRequired[str]",
    "cursor": "NotRequired[str]",  # nextCursor of the answer before.
    "edit": "NotRequired[EditRequest]",  # What is changed of each.
    "instanceId": "NotRequired[str]",
    "limit": "NotRequired[int]",  # How many are looked at, 1 to 500, 50 if absent.
    "name": "NotRequired[str]",  # Of the event.
})

Sent = TypedDict("Sent", {
    "detail": "NotRequired[str]",  # Of an HTTP endpoint: why the workflow has not answered yet.
    "outcomes": "List[Outcome]",
})

SentEvent = TypedDict("SentEvent", {
    "at": "str",  # By the clock of the node.
    "correlationId": "Union[str, None]",
    "first": "Union[str, None]",  # One of them; null: none, or it is not known.
    "id": "str",  # Of its queue item, if it had one.
    "instanceId": "Union[str, None]",  # That it was addressed to.
    "met": "int",  # How many instances it resumed or started; 0: it went into the queue.
    "name": "str",
    "nodeId": "str",
})

Several = TypedDict("Several", {
    "done": "List[str]",  # Ids of those for which it was done.
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next ones; null at the end.
    "refused": "List[SeveralRefused]",
})

SeveralRefused = TypedDict("SeveralRefused", {
    "code": "str",
    "detail": "str",
    "id": "str",
})

SkipRequest = TypedDict("SkipRequest", {
    "dueAt": "NotRequired[str]",  # Of the occurrence, as GET /timers has it. Another one is never dropped.
})

Skipped = TypedDict("Skipped", {
    "next": "Union[str, None]",  # When the one to come is due; null: there is none.
    "skipped": "bool",  # Whether it was dropped; false: it is not the one to come: it was fired, or skipped, or is not the next one. The only one of a schedule, such as a startAt, is refused.
})

SourceEditRequest = TypedDict("SourceEditRequest", {
    "about": "NotRequired[str]",  # The id of the activity that the answer tells about; that of the last edit if absent.
    "edits": "NotRequired[List[TextEditRequest]]",  # Up to 20, one after the other: each is about the text that the one before left. None: only about is asked.
    "format": "NotRequired[str]",  # One of "yaml", "json". Weft's YAML, or Elsa's JSON; told by its look if absent.
    "line": "NotRequired[int]",  # Where that activity begins, needed if several have its id.
    "text": "NotRequired[str]",  # The definition, up to 1 MiB.
})

SourceEdited = TypedDict("SourceEdited", {
    "about": "NotRequired[Union[AboutActivity, None]]",
    "column": "int",  # In characters, from 1.
    "line": "int",  # Where the cursor goes.
    "problems": "List[ProblemItem]",  # References that lost their activity or mean another one now; other mistakes are for a check.
    "text": "str",
})

StartRequest = TypedDict("StartRequest", {
    "correlationId": "NotRequired[str]",
    "input": "NotRequired[Dict[str, Any]]",  # Values of the definition's inputs.
    "instanceId": "NotRequired[str]",  # Id of the new instance; made if absent.
    "name": "NotRequired[str]",
    "properties": "NotRequired[Dict[str, Any]]",  # Such as {"Flowchart:ExecutionMode": "TokenBased"}.
    "version": "NotRequired[int]",  # Version of the definition; the published one if absent.
})

Starts = TypedDict("Starts", {
    "activityId": "str",
    "activityType": "str",
    "when": "str",  # The name of an event, a schedule, or a method and a path.
})

Stat = TypedDict("Stat", {
    "bySubStatus": "SubStatusCounts",
    "definitionId": "str",
    "instances": "Count",
    "version": "Union[int, None]",  # null: all of them.
})

State = TypedDict("State", {
    "files": "NotRequired[List[StateFile]]",  # Those that lie beside the instance. Absent in the answer of an import.
    "instance": "Any",  # The header, in the form of the store.
    "sequence": "int",  # Of the last commit; the ETag.
    "state": "Any",  # The engine's state; opaque.
})

StateFile = TypedDict("StateFile", {
    "bytes": "int",
    "content": "str",  # What is in it, in base64.
    "leftOut": "NotRequired[bool]",  # The export has no room for its content: an import needs the file beside the instance already.
    "sha256": "str",  # Of what is in it, in hexadecimal.
})

StateFileRequest = TypedDict("StateFileRequest", {
    "bytes": "NotRequired[int]",
    "content": "NotRequired[str]",  # What is in it, in base64.
    "leftOut": "NotRequired[bool]",  # The export has no room for its content: an import needs the file beside the instance already.
    "sha256": "NotRequired[str]",  # Of what is in it, in hexadecimal.
})

StateRequest = TypedDict("StateRequest", {
    "files": "NotRequired[List[StateFileRequest]]",  # Those that lie beside the instance. Absent in the answer of an import.
    "instance": "NotRequired[Any]",  # The header, in the form of the store.
    "sequence": "NotRequired[int]",  # Of the last commit; the ETag.
    "state": "NotRequired[Any]",  # The engine's state; opaque.
})

Stats = TypedDict("Stats", {
    "at": "str",  # When it was counted, by the clock of the node that answers; some seconds ago, if somebody else asked then.
    "bySubStatus": "SubStatusCounts",
    "instances": "Count",  # All of them.
    "items": "List[Stat]",  # By definition, or by version if definitionId or by=version is given; those without instances are left out.
    "more": "bool",  # There are more definitions and versions than are counted: all of this is too little.
    "revision": "int",  # Of etcd, at which all of this was so.
})

StimulusRequest = TypedDict("StimulusRequest", {
    "activityType": "NotRequired[str]",
    "bookmarkId": "NotRequired[str]",
    "correlationId": "NotRequired[str]",
    "input": "NotRequired[Dict[str, Any]]",
    "instanceId": "NotRequired[str]",
    "stimulus": "NotRequired[Any]",  # The hashed part, such as {"eventName": "approved"}.
})

StoreMeter = TypedDict("StoreMeter", {
    "advice": "str",  # What to do about it; empty: nothing.
    "allocated": "int",
    "diskFree": "int",  # Bytes free on the disk of an embedded etcd.
    "diskSize": "int",  # Its size; 0: etcd is elsewhere, or it is not known.
    "inUse": "int",  # Bytes of etcd's fullest member.
    "level": "int",  # 0: there is room. 1: starts are refused. 2: only what ends or deletes instances runs. 3: nothing that writes, as the disk of an embedded etcd is full.
    "quota": "int",  # On what is allocated; 0: not known yet.
    "text": "str",  # What is so and what is refused, for people, with the numbers; empty: there is room.
})

SubStatusCounts = TypedDict("SubStatusCounts", {
    "cancelled": "Count",
    "executing": "Count",
    "faulted": "Count",
    "finished": "Count",
    "pending": "Count",
    "suspended": "Count",
})

SubmitAlterationsRequest = TypedDict("SubmitAlterationsRequest", {
    "alterations": "NotRequired[List[ElsaAlterationRequest]]",  # Made to each instance in this order and in one commit, all or none; up to 100.
    "filter": "NotRequired[ElsaFilterRequest]",  # Which instances; all its fields have to fit.
})

Suggested = TypedDict("Suggested", {
    "doc": "NotRequired[str]",  # About the word.
    "from": "int",  # The column at which begins what an item takes the place of.
    "items": "List[Suggestion]",
    "word": "NotRequired[str]",  # What stands at the place, if it is known.
})

Suggestion = TypedDict("Suggestion", {
    "detail": "NotRequired[str]",
    "doc": "NotRequired[str]",
    "insert": "str",  # What is written.
    "kind": "str",  # One of "type", "key", "value", "variable", "function", "outcome".
    "label": "str",
})

Summary = TypedDict("Summary", {
    "archived": "NotRequired[bool]",  # It has left etcd, and the archive told it. See docs/operations/archive.md.
    "correlationId": "Union[str, None]",
    "createdAt": "str",
    "damage": "NotRequired[str]",  # Why it cannot be read.
    "damaged": "NotRequired[bool]",  # The record cannot be read by any node: what is shown is what its key says. See docs/operations/repair.md.
    "definitionId": "str",
    "finishedAt": "Union[str, None]",
    "incident": "Union[str, None]",  # The message of the last of them, 200 characters at most; null: it has none.
    "incidents": "int",  # How many it has.
    "instanceId": "str",
    "labels": "Dict[str, str]",
    "name": "Union[str, None]",
    "parentInstanceId": "Union[str, None]",
    "status": "str",  # One of "Running", "Finished". Empty only of a damaged instance.
    "subStatus": "str",  # One of "Pending", "Executing", "Suspended", "Finished", "Cancelled", "Faulted".
    "updatedAt": "str",
    "version": "int",
    "waits": "int",  # At how many bookmarks it waits.
    "waitsFor": "List[Wait]",  # The first 5 of them.
})

SummaryFound = TypedDict("SummaryFound", {
    "items": "List[Summary]",
    "looked": "int",  # How many instances were looked at for the page; at 20,000 it ends.
    "nextCursor": "Union[str, None]",  # Pass it as cursor, with the same filter, for the next page; null at the end. A page may have fewer items than its limit, and none, and still have a next one.
    "now": "str",  # What durations in the filter count from, on every page of the list.
    "query": "str",  # The filter as one line, as q takes it.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

Task = TypedDict("Task", {
    "attempts": "NotRequired[int]",  # How often it was claimed and not given back; the present claim is one.
    "createdAt": "str",
    "damage": "NotRequired[str]",
    "damaged": "NotRequired[bool]",
    "heard": "NotRequired[Union[str, None]]",  # When the worker's last heartbeat was.
    "instanceId": "str",
    "lastWhy": "NotRequired[str]",  # Why the attempt before ended.
    "lastWorker": "NotRequired[str]",  # Of a free one: who had it last.
    "name": "str",
    "payload": "NotRequired[Any]",
    "progress": "NotRequired[Union[float, None]]",  # Percent, as the worker said.
    "since": "NotRequired[Union[str, None]]",  # Since when.
    "taskId": "str",
    "text": "NotRequired[str]",  # What the worker said.
    "until": "NotRequired[Union[str, None]]",  # The end of the lease; a heartbeat extends it.
    "worker": "NotRequired[str]",  # Who has it; absent: it is free.
})

TaskFailRequest = TypedDict("TaskFailRequest", {
    "claim": "NotRequired[str]",  # As POST /tasks/claim gave it.
    "kind": "NotRequired[str]",  # Of failure, such as timeout: up to 256 bytes.
    "message": "NotRequired[str]",  # Why, for people: up to 8192 bytes.
    "retry": "NotRequired[bool]",  # Whether another attempt may do better: the retry of the activity decides then; without one the task is free again. If not, the activity faults.
})

TaskFailed = TypedDict("TaskFailed", {
    "free": "bool",  # Another worker may claim it; if not, its activity has the failure: its retry makes another task of it, or it has faulted.
    "taskId": "str",
})

TaskList = TypedDict("TaskList", {
    "items": "List[Task]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

TaskRequest = TypedDict("TaskRequest", {
    "claim": "NotRequired[str]",  # As POST /tasks/claim gave it: it counts only while that claim stands. Without one it counts in any case.
    "error": "NotRequired[str]",  # Why the task failed; then the activity faults.
    "result": "NotRequired[Any]",
})

TextEditRequest = TypedDict("TextEditRequest", {
    "activity": "NotRequired[str]",  # The id of the activity that it is about, or that the new one stands beside.
    "branch": "NotRequired[str]",  # into and wrap: such as then; the main one if absent.
    "fieldText": "NotRequired[Union[str, None]]",  # set: the value as a person writes it in a field, instead of value; empty takes it away.
    "id": "NotRequired[str]",  # insert and wrap: the id of the new activity; by its place if absent.
    "inputs": "NotRequired[Dict[str, Any]]",  # insert and wrap: of the new activity; texts may have ${{ }}.
    "key": "NotRequired[str]",  # set: an input, or one of id, name, result, outputs, trigger, timeout, retry, commit, logging, mergeMode, version.
    "line": "NotRequired[int]",  # Where that activity begins, needed if several have its id.
    "number": "NotRequired[int]",  # Of a part: which case or transition, from 1; insert puts the new one beside it.
    "op": "NotRequired[str]",  # One of "insert", "delete", "move", "wrap", "set", "connect", "disconnect".
    "part": "NotRequired[str]",  # One of "case", "state", "transition". insert, delete, move (up, down) and set: what of the activity it is about, if not the activity. inputs and key are label and when of a case, name, final and initial of a state, and on (an event), when and to of a transition.
    "port": "NotRequired[str]",  # connect, disconnect, and insert in a flowchart: an outcome, Done if absent.
    "state": "NotRequired[str]",  # Of a part: the state, or the one that a transition leaves.
    "to": "NotRequired[str]",  # move: the activity beside or into which. connect and disconnect: where the way leads.
    "type": "NotRequired[str]",  # insert and wrap: as YAML has it; wrap also takes retry and timeout.
    "value": "NotRequired[Any]",  # set: null takes it away.
    "where": "NotRequired[str]",  # One of "before", "after", "into", "up", "down". insert and move: after if absent. up and down only move, within a list.
})

TimerItem = TypedDict("TimerItem", {
    "activityId": "NotRequired[str]",
    "bookmarkId": "NotRequired[str]",
    "damage": "NotRequired[str]",
    "damaged": "NotRequired[bool]",
    "definitionId": "NotRequired[str]",
    "dueAt": "str",
    "gated": "NotRequired[int]",
    "gatedAt": "NotRequired[str]",
    "instanceId": "NotRequired[str]",
    "kind": "str",
    "then": "NotRequired[List[str]]",  # Of a schedule: the occurrences behind that one, 4 at most.
})

TimerItemList = TypedDict("TimerItemList", {
    "items": "List[TimerItem]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

Tried = TypedDict("Tried", {
    "cases": "List[TriedCase]",
    "failed": "int",
    "passed": "int",
    "warnings": "List[str]",  # What may be a mistake in the definitions.
})

TriedCase = TypedDict("TriedCase", {
    "crash": "Union[Crash, None]",  # Of one that was run with failures of nodes.
    "failures": "List[TriedFailure]",  # None: it passed.
    "journal": "List[str]",  # Of one that failed: what the instance did, 200 lines at most.
    "line": "int",  # Of the test file.
    "name": "str",
    "variables": "Dict[str, Any]",  # Of one that failed: as its last commit left them.
})

TriedFailure = TypedDict("TriedFailure", {
    "field": "str",  # Of what is expected, such as output.total; empty: it could not be done.
    "line": "int",
    "message": "str",
})

Trigger = TypedDict("Trigger", {
    "activation": "Union[str, None]",  # Its activation strategy.
    "activityId": "str",
    "definitionId": "str",
    "holder": "Union[str, None]",  # The instance that runs and holds the gate of that strategy: the start waits until it has ended, or is refused if it is all that the event meets. Null: it starts.
    "version": "int",
})

Trouble = TypedDict("Trouble", {
    "do": "str",  # What to do about it.
    "state": "str",  # One of "degraded", "down".
    "text": "str",
})

TryRequest = TypedDict("TryRequest", {
    "crash": "NotRequired[bool]",  # Run each case that passes again for each failure that a node may have in it, 300 at most. What is wrong then fails the case, with the field crash.
    "definitionId": "NotRequired[str]",  # Needed without text.
    "strict": "NotRequired[bool]",  # A warning about a definition fails the case.
    "tests": "NotRequired[str]",  # A test file, as weft test takes it. What it calls definition is the one below; others, 50 at most, are published ones: their ids, or the names of their files without folders.
    "text": "NotRequired[str]",  # The definition: Weft's YAML, or Elsa's JSON. Absent: the published one of definitionId.
})

UserOutcome = TypedDict("UserOutcome", {
    "key": "str",
    "label": "str",
})

UserTask = TypedDict("UserTask", {
    "assignedTo": "NotRequired[str]",  # Who is to do it, alone: as an operator, or who had it, named that one.
    "cancellable": "NotRequired[bool]",  # Operators may cancel it by itself.
    "claimedAt": "NotRequired[Union[str, None]]",
    "claimedBy": "NotRequired[str]",  # Who has it: key: or oidc: and a name.
    "claimedUntil": "NotRequired[Union[str, None]]",  # Then it is free again, unless it is claimed again before.
    "comments": "NotRequired[List[Remark]]",  # What people wrote, the oldest first.
    "createdAt": "str",
    "definitionId": "NotRequired[str]",
    "dueAt": "NotRequired[Union[str, None]]",
    "endsWhenDue": "NotRequired[bool]",  # With the outcome Timeout.
    "form": "NotRequired[Any]",  # A JSON Schema of the data that completing it takes; none: it takes no data.
    "instanceId": "str",
    "instructions": "NotRequired[str]",  # Text, of which clients may show Markdown; no HTML.
    "outcomes": "List[UserOutcome]",
    "overdue": "NotRequired[bool]",
    "priority": "int",  # 0 to 100, the most urgent.
    "reference": "NotRequired[str]",
    "revision": "NotRequired[int]",  # Of the task: another one when it is claimed, given back or given to somebody.
    "summary": "NotRequired[str]",
    "taskData": "NotRequired[Any]",  # What it is about.
    "taskId": "str",
    "title": "str",
})

UserTaskList = TypedDict("UserTaskList", {
    "items": "List[UserTask]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

Variable = TypedDict("Variable", {
    "by": "int",  # The execution that set it; 0: it began with this value.
    "clipped": "NotRequired[bool]",  # The value is the beginning of its text.
    "execution": "int",  # Whose scope has it; 0: the workflow.
    "hidden": "NotRequired[bool]",  # The value is null, as what set it keeps its inputs or outputs out of the journal.
    "name": "str",
    "value": "Any",
})

VariableChange = TypedDict("VariableChange", {
    "activityId": "Union[str, None]",
    "after": "Union[VariableState, None]",  # null: its scope has ended.
    "before": "Union[VariableState, None]",  # null: it was null, or its scope was not open.
    "execution": "int",  # Whose scope has it; 0: the workflow.
    "name": "str",
})

VariableChanges = TypedDict("VariableChanges", {
    "changes": "List[VariableChange]",  # What was set between them, also to what it was, or went with its scope.
    "complete": "bool",  # Nothing is missing, apart from what is clipped or hidden.
    "first": "int",  # The oldest commit that the journal still has.
    "from": "int",
    "gaps": "Gaps",
    "instanceId": "str",
    "last": "int",  # The newest commit.
    "revision": "int",  # Of etcd, at which all of it was read.
    "to": "int",
})

VariableState = TypedDict("VariableState", {
    "activityId": "Union[str, None]",  # Of that execution; null: the workflow, or not known.
    "by": "int",  # The execution that set it; 0: it began with this value.
    "byActivityId": "Union[str, None]",  # Of that execution; null: it began with the value, or not known.
    "clipped": "NotRequired[bool]",  # The value is the beginning of its text.
    "commit": "int",  # The commit that set it.
    "execution": "int",  # Whose scope has it; 0: the workflow.
    "hidden": "NotRequired[bool]",  # The value is null, as what set it keeps its inputs or outputs out of the journal.
    "name": "str",
    "node": "Union[str, None]",  # That made that commit.
    "time": "Union[str, None]",  # Of that commit.
    "value": "Any",
})

Variables = TypedDict("Variables", {
    "at": "int",  # The commit that left them so; 0: there is none yet.
    "complete": "bool",  # Nothing is missing, apart from what is clipped or hidden.
    "first": "int",  # The oldest commit that the journal still has.
    "gaps": "Gaps",
    "instanceId": "str",
    "last": "int",  # The newest commit.
    "revision": "int",  # Of etcd, at which all of it was read.
    "variables": "List[VariableState]",  # The workflow's first. If complete is true, a variable that is not among them is null.
})

Version = TypedDict("Version", {
    "createdAt": "str",
    "notation": "str",  # One of "yaml", "json".
    "published": "bool",  # It is the published one.
    "version": "int",
})

VersionList = TypedDict("VersionList", {
    "items": "List[Version]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

Wait = TypedDict("Wait", {
    "dueAt": "Union[str, None]",  # When a timer resumes it.
    "kind": "str",  # event, task, timer, child, http, or the type of the activity.
    "name": "Union[str, None]",  # Of the event or the task; the method and the path; the instance id of the child.
    "since": "str",
})

Waiter = TypedDict("Waiter", {
    "fence": "int",  # Create revision of its key in etcd: the fence that it will have.
    "nodeId": "Union[str, None]",
    "since": "Union[str, None]",  # When it asked for the lock, by its clock; null if not known.
})

Way = TypedDict("Way", {
    "port": "str",
    "to": "str",
})

Webhook = TypedDict("Webhook", {
    "because": "Union[str, None]",  # Why it is paused, if nobody asked for it.
    "by": "Union[str, None]",  # Who put it.
    "definitions": "List[str]",
    "failed": "int",  # Letters that were given up.
    "labels": "Dict[str, str]",
    "name": "str",
    "next": "Union[WebhookNext, None]",  # Of the letters that wait the one that is tried next; null: none waits.
    "nodeId": "str",  # That tells it.
    "on": "List[str]",
    "paused": "bool",
    "secrets": "List[str]",  # Names.
    "url": "str",
    "waiting": "int",  # Letters, with up to 100 events each, that were not taken yet.
    "warnings": "List[ProblemItem]",  # What may be a mistake, such as a definition that there is not.
})

WebhookAgain = TypedDict("WebhookAgain", {
    "events": "int",  # How many.
})

WebhookEvent = TypedDict("WebhookEvent", {
    "definitionId": "Union[str, None]",
    "id": "str",  # The webhook-id of its requests.
    "subject": "str",  # The id of the instance, or of the dead letter.
    "what": "str",  # A sub-status, incident, or deadLetter.
})

WebhookLetter = TypedDict("WebhookLetter", {
    "at": "str",  # Of the first attempt.
    "attempts": "int",
    "events": "List[WebhookEvent]",
    "id": "str",
    "last": "Union[str, None]",  # What went wrong last.
})

WebhookLetterList = TypedDict("WebhookLetterList", {
    "items": "List[WebhookLetter]",
    "nextCursor": "Union[str, None]",  # Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one.
    "revision": "int",  # Of etcd: all of the page is as it was then.
})

WebhookNext = TypedDict("WebhookNext", {
    "attempts": "int",  # How often it was tried again.
    "dueAt": "str",  # When it is tried again, at the soonest.
    "last": "Union[str, None]",  # What went wrong last.
    "since": "str",  # When it was tried first.
})

WebhookRequest = TypedDict("WebhookRequest", {
    "definitions": "NotRequired[List[str]]",  # Only instances of these, 16 at most; none: of all.
    "labels": "NotRequired[Dict[str, str]]",  # Only instances with all of these.
    "on": "NotRequired[List[str]]",  # What is told: ended (in any way), faulted, incident (also of an instance that goes on), deadLetter.
    "paused": "NotRequired[bool]",  # Nothing is sent. What happens until it goes on is told later, as far as etcd knows it then.
    "secrets": "NotRequired[List[str]]",  # The names of one or two secrets (--secrets-dir) that sign.
    "url": "NotRequired[str]",  # https or http; without a name, a password and a fragment. Private addresses are refused when it is dialled, unless the nodes have --allow-private-addresses.
})

Webhooks = TypedDict("Webhooks", {
    "items": "List[Webhook]",
})


class Client(_Core):
    """Calls a cluster. Its parameters: server, token, attempts, timeout (seconds of one attempt), pause (seconds before the second)."""

    def alter_instance(self, id: str, body: Optional["AlterRequest"] = None, *, dry_run: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Instance, Altered]"]:
        """Change an instance that runs or is faulted: run activities again, skip them, set variables, migrate, reschedule, cancel: POST /api/v1/instances/{id}/alterations."""
        return self._call("POST", f"/api/v1/instances/{_part(id)}/alterations", {"dryRun": dry_run}, body or {}, wait=wait, accept=accept, key=key)

    def assign_user_task(self, id: str, body: Optional["AssignUserRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Queued]"]:
        """Give a user task to a person, who is to do it alone: POST /api/v1/user-tasks/{id}/assign."""
        return self._call("POST", f"/api/v1/user-tasks/{_part(id)}/assign", {}, body or {}, wait=wait, accept=accept, key=key)

    def cancel_instance(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Instance"]:
        """End the instance, and the call that it waits for outside: POST /api/v1/instances/{id}/cancel."""
        return self._call("POST", f"/api/v1/instances/{_part(id)}/cancel", {}, wait=wait, accept=accept, key=key)

    def cancel_job(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Job"]:
        """Cancel a job: it goes no further; one that has ended stays as it is: POST /api/v1/jobs/{id}/cancel."""
        return self._call("POST", f"/api/v1/jobs/{_part(id)}/cancel", {}, wait=wait, accept=accept, key=key)

    def cancel_user_task(self, id: str, body: Optional["CancelUserRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Queued]"]:
        """End a user task with the outcome Cancelled, if its activity allows that: POST /api/v1/user-tasks/{id}/cancel."""
        return self._call("POST", f"/api/v1/user-tasks/{_part(id)}/cancel", {}, body or {}, wait=wait, accept=accept, key=key)

    def check_definition(self, body: Union[str, bytes, Mapping[str, Any]], *, picture: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None, content_type: Optional[str] = None) -> Answer["Checked"]:
        """Find the mistakes of a definition while it is written; 200 also with mistakes, and nothing is written: POST /api/v1/definitions/check."""
        return self._call("POST", "/api/v1/definitions/check", {"picture": picture}, body, wait=wait, accept=accept, key=key, content_type=content_type)

    def claim_tasks(self, body: Optional["ClaimRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Claimed"]:
        """Claim tasks for a worker, for the time of a lease: POST /api/v1/tasks/claim."""
        return self._call("POST", "/api/v1/tasks/claim", {}, body or {}, wait=wait, accept=accept, key=key)

    def claim_user_task(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["UserTask"]:
        """Take a user task, so that nobody else does it: POST /api/v1/user-tasks/{id}/claim."""
        return self._call("POST", f"/api/v1/user-tasks/{_part(id)}/claim", {}, wait=wait, accept=accept, key=key)

    def comment_user_task(self, id: str, body: Optional["CommentUserRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Queued]"]:
        """Write something to a user task: POST /api/v1/user-tasks/{id}/comment."""
        return self._call("POST", f"/api/v1/user-tasks/{_part(id)}/comment", {}, body or {}, wait=wait, accept=accept, key=key)

    def complete_task(self, id: str, body: Optional["TaskRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Queued]"]:
        """Report the result of a task, or its error: POST /api/v1/tasks/{id}/complete."""
        return self._call("POST", f"/api/v1/tasks/{_part(id)}/complete", {}, body or {}, wait=wait, accept=accept, key=key)

    def complete_user_task(self, id: str, body: Optional["CompleteUserRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Queued]"]:
        """Complete a user task with an outcome and the data of its form: POST /api/v1/user-tasks/{id}/complete."""
        return self._call("POST", f"/api/v1/user-tasks/{_part(id)}/complete", {}, body or {}, wait=wait, accept=accept, key=key)

    def create_job(self, body: Optional["JobRequest"] = None, *, dry_run: Optional[bool] = None, limit: Optional[int] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[JobPreview, Job]"]:
        """Alter, retry, cancel or delete all instances of a filter: POST /api/v1/jobs."""
        return self._call("POST", "/api/v1/jobs", {"dryRun": dry_run, "limit": limit}, body or {}, wait=wait, accept=accept, key=key)

    def delegate_user_task(self, id: str, body: Optional["AssignUserRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Queued]"]:
        """Give a user task that the caller has to another person: POST /api/v1/user-tasks/{id}/delegate."""
        return self._call("POST", f"/api/v1/user-tasks/{_part(id)}/delegate", {}, body or {}, wait=wait, accept=accept, key=key)

    def delete_dead_letter(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["None"]:
        """Forget a dead letter: DELETE /api/v1/dead-letters/{id}."""
        return self._call("DELETE", f"/api/v1/dead-letters/{_part(id)}", {}, wait=wait, accept=accept, key=key)

    def delete_dead_letters(self, body: Optional["LettersRequest"] = None, *, dry_run: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Several"]:
        """Forget the dead letters of a filter, a page at a time: POST /api/v1/dead-letters/delete."""
        return self._call("POST", "/api/v1/dead-letters/delete", {"dryRun": dry_run}, body or {}, wait=wait, accept=accept, key=key)

    def delete_definition(self, id: str, *, force: Optional[bool] = None, set: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None, if_match: Optional[str] = None) -> Answer["None"]:
        """Remove a definition: DELETE /api/v1/definitions/{id}."""
        return self._call("DELETE", f"/api/v1/definitions/{_part(id)}", {"force": force, "set": set}, wait=wait, accept=accept, key=key, if_match=if_match)

    def delete_instance(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Dispatched, None]"]:
        """Cancel the instance if it runs, and remove it: DELETE /api/v1/instances/{id}."""
        return self._call("DELETE", f"/api/v1/instances/{_part(id)}", {}, wait=wait, accept=accept, key=key)

    def delete_job(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["None"]:
        """Forget a job that has ended: DELETE /api/v1/jobs/{id}."""
        return self._call("DELETE", f"/api/v1/jobs/{_part(id)}", {}, wait=wait, accept=accept, key=key)

    def delete_limit(self, name: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["None"]:
        """Forget a limit: who has a place keeps it, who waits goes on waiting: DELETE /api/v1/limits/{name}."""
        return self._call("DELETE", f"/api/v1/limits/{_part(name)}", {}, wait=wait, accept=accept, key=key)

    def delete_queue_item(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["None"]:
        """Forget a stimulus of the queue: DELETE /api/v1/queue/{id}."""
        return self._call("DELETE", f"/api/v1/queue/{_part(id)}", {}, wait=wait, accept=accept, key=key)

    def delete_queue_items(self, body: Optional["ItemsRequest"] = None, *, dry_run: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Several"]:
        """Forget the stimuli of a filter that are in the queue, a page at a time: POST /api/v1/queue/delete."""
        return self._call("POST", "/api/v1/queue/delete", {"dryRun": dry_run}, body or {}, wait=wait, accept=accept, key=key)

    def delete_version(self, id: str, version: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["None"]:
        """Remove a version that nothing needs; its source goes an hour later: DELETE /api/v1/definitions/{id}/versions/{version}."""
        return self._call("DELETE", f"/api/v1/definitions/{_part(id)}/versions/{_part(version)}", {}, wait=wait, accept=accept, key=key)

    def delete_webhook(self, name: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["None"]:
        """Forget a webhook, with all that it has not told: DELETE /api/v1/webhooks/{name}."""
        return self._call("DELETE", f"/api/v1/webhooks/{_part(name)}", {}, wait=wait, accept=accept, key=key)

    def dispatch_alterations(self, body: Optional["RunAlterationsRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["AlterationPlan"]:
        """Alter instances by a job: POST /api/v1/alterations/dispatch."""
        return self._call("POST", "/api/v1/alterations/dispatch", {}, body or {}, wait=wait, accept=accept, key=key)

    def dispatch_definition(self, id: str, body: Optional["StartRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Dispatched"]:
        """Start an instance and answer once that is durable: POST /api/v1/definitions/{id}/dispatch."""
        return self._call("POST", f"/api/v1/definitions/{_part(id)}/dispatch", {}, body or {}, wait=wait, accept=accept, key=key)

    def drain_node(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Node"]:
        """Drain a node and end it, as SIGTERM does: POST /api/v1/nodes/{id}/drain."""
        return self._call("POST", f"/api/v1/nodes/{_part(id)}/drain", {}, wait=wait, accept=accept, key=key)

    def draw_definition(self, id: str, *, version: Optional[int] = None, against: Optional[int] = None, format: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Any"]:
        """A picture of a definition: its activities, and the ways between them: GET /api/v1/definitions/{id}/graph."""
        return self._call("GET", f"/api/v1/definitions/{_part(id)}/graph", {"version": version, "against": against, "format": format}, wait=wait, accept=accept)

    def draw_instance(self, id: str, *, format: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Any"]:
        """A picture of an instance: its definition with what ran, runs, waits and faulted, and the ways that were taken: GET /api/v1/instances/{id}/graph."""
        return self._call("GET", f"/api/v1/instances/{_part(id)}/graph", {"format": format}, wait=wait, accept=accept)

    def edit_definition(self, body: Optional["SourceEditRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["SourceEdited"]:
        """Change the text of a definition as its picture is pointed at: comments and all else stay; nothing is stored: POST /api/v1/definitions/edit."""
        return self._call("POST", "/api/v1/definitions/edit", {}, body or {}, wait=wait, accept=accept, key=key)

    def execute_definition(self, id: str, body: Optional["StartRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Instance"]:
        """Start an instance and answer after its first burst is committed, also when it faulted: POST /api/v1/definitions/{id}/execute."""
        return self._call("POST", f"/api/v1/definitions/{_part(id)}/execute", {}, body or {}, wait=wait, accept=accept, key=key)

    def explain_event(self, name: str, *, correlation_id: Optional[str] = None, instance_id: Optional[str] = None, dry_run: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Effect"]:
        """Who waits for an event: what it would do if it were sent now: GET /api/v1/events/{name}."""
        return self._call("GET", f"/api/v1/events/{_part(name)}", {"correlationId": correlation_id, "instanceId": instance_id, "dryRun": dry_run}, wait=wait, accept=accept)

    def explain_instance(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Explanation"]:
        """Why an instance is where it is: who runs it, what it waits for, what nearly met it, what to do: GET /api/v1/instances/{id}/explain."""
        return self._call("GET", f"/api/v1/instances/{_part(id)}/explain", {}, wait=wait, accept=accept)

    def export_state(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["State"]:
        """Export the instance with everything that it needs to go on, its files too: GET /api/v1/instances/{id}/state."""
        return self._call("GET", f"/api/v1/instances/{_part(id)}/state", {}, wait=wait, accept=accept)

    def fail_task(self, id: str, body: Optional["TaskFailRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["TaskFailed"]:
        """Report that an attempt at a claimed task failed: POST /api/v1/tasks/{id}/fail."""
        return self._call("POST", f"/api/v1/tasks/{_part(id)}/fail", {}, body or {}, wait=wait, accept=accept, key=key)

    def fire_schedule(self, id: str, activity: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Dispatched"]:
        """Start what a schedule starts, now and beside its time; answered once that is durable: POST /api/v1/definitions/{id}/schedules/{activity}/fire."""
        return self._call("POST", f"/api/v1/definitions/{_part(id)}/schedules/{_part(activity)}/fire", {}, wait=wait, accept=accept, key=key)

    def follow_link(self, token: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Any"]:
        """Resume the one place that a link is for, once; 410 when it was followed before or has expired: POST /links/{token}."""
        return self._call("POST", f"/links/{_part(token)}", {}, wait=wait, accept=accept, key=key)

    def forget_failed_events(self, name: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["WebhookAgain"]:
        """Forget all that was given up: DELETE /api/v1/webhooks/{name}/failed."""
        return self._call("DELETE", f"/api/v1/webhooks/{_part(name)}/failed", {}, wait=wait, accept=accept, key=key)

    def get_balance(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Balance"]:
        """What was accepted, and what became of it: GET /api/v1/cluster/balance."""
        return self._call("GET", "/api/v1/cluster/balance", {}, wait=wait, accept=accept)

    def get_dead_letter(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Letter"]:
        """A dead letter, with what it brought and what it would do now: GET /api/v1/dead-letters/{id}."""
        return self._call("GET", f"/api/v1/dead-letters/{_part(id)}", {}, wait=wait, accept=accept)

    def get_definition(self, id: str, *, version: Optional[int] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Any"]:
        """The source of a definition: as it was written, or as Accept wants it: GET /api/v1/definitions/{id}."""
        return self._call("GET", f"/api/v1/definitions/{_part(id)}", {"version": version}, wait=wait, accept=accept)

    def get_etcd(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Etcd"]:
        """How etcd answers the node that is asked: a round trip, and each member with its version, leader and alarms; within 2 s, also where it does not answer: GET /api/v1/cluster/etcd."""
        return self._call("GET", "/api/v1/cluster/etcd", {}, wait=wait, accept=accept)

    def get_instance(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Instance"]:
        """Show an instance; with Prefer: wait, at its end: GET /api/v1/instances/{id}."""
        return self._call("GET", f"/api/v1/instances/{_part(id)}", {}, wait=wait, accept=accept)

    def get_interface(self, id: str, *, version: Optional[int] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Interface"]:
        """What a definition takes and gives, and what starts it: GET /api/v1/definitions/{id}/interface."""
        return self._call("GET", f"/api/v1/definitions/{_part(id)}/interface", {"version": version}, wait=wait, accept=accept)

    def get_job(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Job"]:
        """How far a job is, and who refused: GET /api/v1/jobs/{id}."""
        return self._call("GET", f"/api/v1/jobs/{_part(id)}", {}, wait=wait, accept=accept)

    def get_journal(self, id: str, *, tail: Optional[int] = None, before: Optional[int] = None, after: Optional[int] = None, activity: Optional[Sequence[str]] = None, event: Optional[Sequence[str]] = None, items: Optional[int] = None, text: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["JournalPage"]:
        """What the instance did: from its beginning, from its end (tail), or around a commit: GET /api/v1/instances/{id}/journal."""
        return self._call("GET", f"/api/v1/instances/{_part(id)}/journal", {"tail": tail, "before": before, "after": after, "activity": activity, "event": event, "items": items, "text": text, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_journal(self, id: str, *, tail: Optional[int] = None, before: Optional[int] = None, after: Optional[int] = None, activity: Optional[Sequence[str]] = None, event: Optional[Sequence[str]] = None, items: Optional[int] = None, text: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["Journal"]:
        """All pages of get_journal."""
        return _pages(self.get_journal, {"tail": tail, "before": before, "after": after, "activity": activity, "event": event, "items": items, "text": text, "limit": limit, "cursor": cursor, "id": id})

    def get_limit(self, name: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Limit"]:
        """One limit, and how it stands for each key: GET /api/v1/limits/{name}."""
        return self._call("GET", f"/api/v1/limits/{_part(name)}", {}, wait=wait, accept=accept)

    def get_lineage(self, id: str, *, depth: Optional[int] = None, descendants: Optional[int] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Lineage"]:
        """Who started an instance, and whom it started: GET /api/v1/instances/{id}/lineage."""
        return self._call("GET", f"/api/v1/instances/{_part(id)}/lineage", {"depth": depth, "descendants": descendants}, wait=wait, accept=accept)

    def get_memory(self, id: str, *, instance_id: Optional[str] = None, name: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Memory"]:
        """What only a node knows of an instance, and of events, in one answer; explanations ask for it, and any node does: GET /api/v1/nodes/{id}/memory."""
        return self._call("GET", f"/api/v1/nodes/{_part(id)}/memory", {"instanceId": instance_id, "name": name}, wait=wait, accept=accept)

    def get_meters(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Meters"]:
        """What a node does: commits by outcome, how requests to etcd are batched, what it runs and holds, how full etcd is; any node asks it: GET /api/v1/nodes/{id}/meters."""
        return self._call("GET", f"/api/v1/nodes/{_part(id)}/meters", {}, wait=wait, accept=accept)

    def get_queue_item(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["QueuedItem"]:
        """A stimulus of the queue, with what it brings and what it would do: GET /api/v1/queue/{id}."""
        return self._call("GET", f"/api/v1/queue/{_part(id)}", {}, wait=wait, accept=accept)

    def get_receipts(self, key: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Receipts"]:
        """What became of the requests that came with an Idempotency-Key: GET /api/v1/receipts/{key}."""
        return self._call("GET", f"/api/v1/receipts/{_part(key)}", {}, wait=wait, accept=accept)

    def get_stats(self, *, definition_id: Optional[str] = None, by: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Stats"]:
        """How many instances there are, by sub-status and by definition: GET /api/v1/stats."""
        return self._call("GET", "/api/v1/stats", {"definitionId": definition_id, "by": by}, wait=wait, accept=accept)

    def get_store(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Filling"]:
        """What fills etcd: by kind and definition, the largest instances, days until it is full: GET /api/v1/cluster/store."""
        return self._call("GET", "/api/v1/cluster/store", {}, wait=wait, accept=accept)

    def get_user_task(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["UserTask"]:
        """One user task that the caller may complete: GET /api/v1/user-tasks/{id}."""
        return self._call("GET", f"/api/v1/user-tasks/{_part(id)}", {}, wait=wait, accept=accept)

    def get_variable_changes(self, id: str, *, from_: Optional[int] = None, to: Optional[int] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["VariableChanges"]:
        """How the variables of an instance differ between two of its commits: GET /api/v1/instances/{id}/variables/changes."""
        return self._call("GET", f"/api/v1/instances/{_part(id)}/variables/changes", {"from": from_, "to": to}, wait=wait, accept=accept)

    def get_variables(self, id: str, *, at: Optional[int] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Variables"]:
        """The variables of an instance after one of its commits, and who set them: GET /api/v1/instances/{id}/variables."""
        return self._call("GET", f"/api/v1/instances/{_part(id)}/variables", {"at": at}, wait=wait, accept=accept)

    def get_webhook(self, name: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Webhook"]:
        """One webhook, and how it is: GET /api/v1/webhooks/{name}."""
        return self._call("GET", f"/api/v1/webhooks/{_part(name)}", {}, wait=wait, accept=accept)

    def heartbeat_task(self, id: str, body: Optional["HeartbeatRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Heard"]:
        """Extend the lease of a claimed task, and say how far it is: POST /api/v1/tasks/{id}/heartbeat."""
        return self._call("POST", f"/api/v1/tasks/{_part(id)}/heartbeat", {}, body or {}, wait=wait, accept=accept, key=key)

    def import_state(self, id: str, body: Optional["StateRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None, if_match: Optional[str] = None) -> Answer["State"]:
        """Replace the state of an instance by an exported one, or bring one that is not there: PUT /api/v1/instances/{id}/state."""
        return self._call("PUT", f"/api/v1/instances/{_part(id)}/state", {}, body or {}, wait=wait, accept=accept, key=key, if_match=if_match)

    def list_activities(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Activities"]:
        """The activities that this node's program has, with what they take and give, and where they are used: GET /api/v1/activities."""
        return self._call("GET", "/api/v1/activities", {}, wait=wait, accept=accept)

    def list_audit(self, *, who: Optional[str] = None, operation: Optional[str] = None, target: Optional[str] = None, result: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Audit"]:
        """Who did what lately, on all live nodes, the newest first: GET /api/v1/audit."""
        return self._call("GET", "/api/v1/audit", {"who": who, "operation": operation, "target": target, "result": result}, wait=wait, accept=accept)

    def list_bookmarks(self, *, event: Optional[str] = None, definition_id: Optional[str] = None, correlation_id: Optional[str] = None, activity_type: Optional[str] = None, name: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Bookmarks"]:
        """Places where instances wait, by what they wait for: GET /api/v1/bookmarks."""
        return self._call("GET", "/api/v1/bookmarks", {"event": event, "definitionId": definition_id, "correlationId": correlation_id, "activityType": activity_type, "name": name, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_bookmarks(self, *, event: Optional[str] = None, definition_id: Optional[str] = None, correlation_id: Optional[str] = None, activity_type: Optional[str] = None, name: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["Awaiting"]:
        """All pages of list_bookmarks."""
        return _pages(self.list_bookmarks, {"event": event, "definition_id": definition_id, "correlation_id": correlation_id, "activity_type": activity_type, "name": name, "limit": limit, "cursor": cursor})

    def list_bursts(self, id: str, *, instance_id: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Bursts"]:
        """What a node runs at the moment: instances, their activities, since when; any node asks it: GET /api/v1/nodes/{id}/bursts."""
        return self._call("GET", f"/api/v1/nodes/{_part(id)}/bursts", {"instanceId": instance_id}, wait=wait, accept=accept)

    def list_dead_letters(self, *, reason: Optional[str] = None, name: Optional[str] = None, activity_type: Optional[str] = None, correlation_id: Optional[str] = None, instance_id: Optional[str] = None, before: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["DeadLetterList"]:
        """Work that could not be done, with the reason: GET /api/v1/dead-letters."""
        return self._call("GET", "/api/v1/dead-letters", {"reason": reason, "name": name, "activityType": activity_type, "correlationId": correlation_id, "instanceId": instance_id, "before": before, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_dead_letters(self, *, reason: Optional[str] = None, name: Optional[str] = None, activity_type: Optional[str] = None, correlation_id: Optional[str] = None, instance_id: Optional[str] = None, before: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["DeadLetter"]:
        """All pages of list_dead_letters."""
        return _pages(self.list_dead_letters, {"reason": reason, "name": name, "activity_type": activity_type, "correlation_id": correlation_id, "instance_id": instance_id, "before": before, "limit": limit, "cursor": cursor})

    def list_definitions(self, *, starts: Optional[bool] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["DefinitionList"]:
        """List definitions: GET /api/v1/definitions."""
        return self._call("GET", "/api/v1/definitions", {"starts": starts, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_definitions(self, *, starts: Optional[bool] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["Definition"]:
        """All pages of list_definitions."""
        return _pages(self.list_definitions, {"starts": starts, "limit": limit, "cursor": cursor})

    def list_failed_events(self, name: str, *, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["WebhookLetterList"]:
        """Events that the receiver did not take within a day: GET /api/v1/webhooks/{name}/failed."""
        return self._call("GET", f"/api/v1/webhooks/{_part(name)}/failed", {"limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_failed_events(self, name: str, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["WebhookLetter"]:
        """All pages of list_failed_events."""
        return _pages(self.list_failed_events, {"limit": limit, "cursor": cursor, "name": name})

    def list_instances(self, *, q: Optional[str] = None, definition_id: Optional[str] = None, version: Optional[int] = None, correlation_id: Optional[str] = None, parent: Optional[str] = None, name: Optional[str] = None, label: Optional[Mapping[str, str]] = None, status: Optional[str] = None, sub_status: Optional[str] = None, waits_for: Optional[str] = None, has_incidents: Optional[bool] = None, incident: Optional[str] = None, view: Optional[str] = None, sort: Optional[str] = None, created_after: Optional[str] = None, created_before: Optional[str] = None, updated_after: Optional[str] = None, updated_before: Optional[str] = None, finished_after: Optional[str] = None, finished_before: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Union[InstanceFound, SummaryFound]"]:
        """List instances, the newest first, or the oldest: GET /api/v1/instances."""
        return self._call("GET", "/api/v1/instances", {"q": q, "definitionId": definition_id, "version": version, "correlationId": correlation_id, "parent": parent, "name": name, "label": label, "status": status, "subStatus": sub_status, "waitsFor": waits_for, "hasIncidents": has_incidents, "incident": incident, "view": view, "sort": sort, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "finishedAfter": finished_after, "finishedBefore": finished_before, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_instances(self, *, q: Optional[str] = None, definition_id: Optional[str] = None, version: Optional[int] = None, correlation_id: Optional[str] = None, parent: Optional[str] = None, name: Optional[str] = None, label: Optional[Mapping[str, str]] = None, status: Optional[str] = None, sub_status: Optional[str] = None, waits_for: Optional[str] = None, has_incidents: Optional[bool] = None, incident: Optional[str] = None, view: Optional[str] = None, sort: Optional[str] = None, created_after: Optional[str] = None, created_before: Optional[str] = None, updated_after: Optional[str] = None, updated_before: Optional[str] = None, finished_after: Optional[str] = None, finished_before: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["Union[Instance, Summary]"]:
        """All pages of list_instances."""
        return _pages(self.list_instances, {"q": q, "definition_id": definition_id, "version": version, "correlation_id": correlation_id, "parent": parent, "name": name, "label": label, "status": status, "sub_status": sub_status, "waits_for": waits_for, "has_incidents": has_incidents, "incident": incident, "view": view, "sort": sort, "created_after": created_after, "created_before": created_before, "updated_after": updated_after, "updated_before": updated_before, "finished_after": finished_after, "finished_before": finished_before, "limit": limit, "cursor": cursor})

    def list_jobs(self, *, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["JobList"]:
        """Jobs that run or have ended: GET /api/v1/jobs."""
        return self._call("GET", "/api/v1/jobs", {"limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_jobs(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["Job"]:
        """All pages of list_jobs."""
        return _pages(self.list_jobs, {"limit": limit, "cursor": cursor})

    def list_limits(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Limits"]:
        """All limits, and those that somebody waits for, with how they stand: GET /api/v1/limits."""
        return self._call("GET", "/api/v1/limits", {}, wait=wait, accept=accept)

    def list_locks(self, *, scope: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Locks"]:
        """Locks that are held, with who waits: GET /api/v1/locks."""
        return self._call("GET", "/api/v1/locks", {"scope": scope, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_locks(self, *, scope: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["Lock"]:
        """All pages of list_locks."""
        return _pages(self.list_locks, {"scope": scope, "limit": limit, "cursor": cursor})

    def list_meters(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["AllMeters"]:
        """The same of all live nodes, asked at the same time: GET /api/v1/cluster/meters."""
        return self._call("GET", "/api/v1/cluster/meters", {}, wait=wait, accept=accept)

    def list_node_audit(self, id: str, *, who: Optional[str] = None, operation: Optional[str] = None, target: Optional[str] = None, result: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["NodeAudit"]:
        """Who did what lately on a node, of the last 1,000 lines of its audit log, the newest first; any node asks it: GET /api/v1/nodes/{id}/audit."""
        return self._call("GET", f"/api/v1/nodes/{_part(id)}/audit", {"who": who, "operation": operation, "target": target, "result": result}, wait=wait, accept=accept)

    def list_nodes(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["NodeList"]:
        """Live nodes of the cluster: GET /api/v1/nodes."""
        return self._call("GET", "/api/v1/nodes", {}, wait=wait, accept=accept)

    def list_owners(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Owners"]:
        """Which node made which commits of an instance, who took over from whom, and what a fence refused: GET /api/v1/instances/{id}/owners."""
        return self._call("GET", f"/api/v1/instances/{_part(id)}/owners", {}, wait=wait, accept=accept)

    def list_places_taken(self, name: str, *, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["LimitPlaces"]:
        """Who has places of a limit, by key: GET /api/v1/limits/{name}/taken."""
        return self._call("GET", f"/api/v1/limits/{_part(name)}/taken", {"limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_places_taken(self, name: str, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["LimitPlace"]:
        """All pages of list_places_taken."""
        return _pages(self.list_places_taken, {"limit": limit, "cursor": cursor, "name": name})

    def list_places_waiting(self, name: str, *, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["LimitPlaces"]:
        """Who waits for places of a limit: of each key in the order in which they are given one: GET /api/v1/limits/{name}/waiting."""
        return self._call("GET", f"/api/v1/limits/{_part(name)}/waiting", {"limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_places_waiting(self, name: str, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["LimitPlace"]:
        """All pages of list_places_waiting."""
        return _pages(self.list_places_waiting, {"limit": limit, "cursor": cursor, "name": name})

    def list_queue(self, *, name: Optional[str] = None, activity_type: Optional[str] = None, correlation_id: Optional[str] = None, instance_id: Optional[str] = None, before: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["QueueItemList"]:
        """Stimuli that nothing waits for yet: GET /api/v1/queue."""
        return self._call("GET", "/api/v1/queue", {"name": name, "activityType": activity_type, "correlationId": correlation_id, "instanceId": instance_id, "before": before, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_queue(self, *, name: Optional[str] = None, activity_type: Optional[str] = None, correlation_id: Optional[str] = None, instance_id: Optional[str] = None, before: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["QueueItem"]:
        """All pages of list_queue."""
        return _pages(self.list_queue, {"name": name, "activity_type": activity_type, "correlation_id": correlation_id, "instance_id": instance_id, "before": before, "limit": limit, "cursor": cursor})

    def list_recent_events(self, id: str, *, name: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["RecentEvents"]:
        """Events that a node sent lately, of its last 10,000, half of them of those that met nobody, and where they went; any node asks it: GET /api/v1/nodes/{id}/events."""
        return self._call("GET", f"/api/v1/nodes/{_part(id)}/events", {"name": name}, wait=wait, accept=accept)

    def list_refusals(self, id: str, *, instance_id: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Refusals"]:
        """Commits of a node that a fence refused, as another node had the instance by then; any node asks it: GET /api/v1/nodes/{id}/refusals."""
        return self._call("GET", f"/api/v1/nodes/{_part(id)}/refusals", {"instanceId": instance_id}, wait=wait, accept=accept)

    def list_tasks(self, *, name: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["TaskList"]:
        """Tasks that wait for a worker outside, and who has them: GET /api/v1/tasks."""
        return self._call("GET", "/api/v1/tasks", {"name": name, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_tasks(self, *, name: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["Task"]:
        """All pages of list_tasks."""
        return _pages(self.list_tasks, {"name": name, "limit": limit, "cursor": cursor})

    def list_timers(self, *, kind: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["TimerItemList"]:
        """Timers and cron occurrences to come, the soonest first: GET /api/v1/timers."""
        return self._call("GET", "/api/v1/timers", {"kind": kind, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_timers(self, *, kind: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["TimerItem"]:
        """All pages of list_timers."""
        return _pages(self.list_timers, {"kind": kind, "limit": limit, "cursor": cursor})

    def list_user_tasks(self, *, others: Optional[bool] = None, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["UserTaskList"]:
        """User tasks that wait for the caller: GET /api/v1/user-tasks."""
        return self._call("GET", "/api/v1/user-tasks", {"others": others, "limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_user_tasks(self, *, others: Optional[bool] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["UserTask"]:
        """All pages of list_user_tasks."""
        return _pages(self.list_user_tasks, {"others": others, "limit": limit, "cursor": cursor})

    def list_versions(self, id: str, *, limit: Optional[int] = None, cursor: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["VersionList"]:
        """List the versions of a definition, the newest first: GET /api/v1/definitions/{id}/versions."""
        return self._call("GET", f"/api/v1/definitions/{_part(id)}/versions", {"limit": limit, "cursor": cursor}, wait=wait, accept=accept)

    def all_versions(self, id: str, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Iterator["Version"]:
        """All pages of list_versions."""
        return _pages(self.list_versions, {"limit": limit, "cursor": cursor, "id": id})

    def list_webhooks(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Webhooks"]:
        """All webhooks, and how they are: GET /api/v1/webhooks."""
        return self._call("GET", "/api/v1/webhooks", {}, wait=wait, accept=accept)

    def live(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Health"]:
        """The process answers; never asks etcd: GET /livez."""
        return self._call("GET", "/livez", {}, wait=wait, accept=accept)

    def metrics(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Any"]:
        """Prometheus metrics: GET /metrics."""
        return self._call("GET", "/metrics", {}, wait=wait, accept=accept)

    def openapi(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Any"]:
        """This document: GET /openapi.json."""
        return self._call("GET", "/openapi.json", {}, wait=wait, accept=accept)

    def pause(self, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Paused"]:
        """Stop new work on all nodes: starts, events, timers and the queue; work that runs goes on: POST /api/v1/pause."""
        return self._call("POST", "/api/v1/pause", {}, wait=wait, accept=accept, key=key)

    def publish_definition(self, body: Union[str, bytes, Mapping[str, Any]], *, publish: Optional[bool] = None, dry_run: Optional[bool] = None, strict: Optional[bool] = None, set: Optional[str] = None, file: Optional[str] = None, beside: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None, if_match: Optional[str] = None, content_type: Optional[str] = None) -> Answer["Published"]:
        """Check a definition and publish it; content equal to the published one is no new version: POST /api/v1/definitions."""
        return self._call("POST", "/api/v1/definitions", {"publish": publish, "dryRun": dry_run, "strict": strict, "set": set, "file": file, "beside": beside}, body, wait=wait, accept=accept, key=key, if_match=if_match, content_type=content_type)

    def publish_version(self, id: str, body: Optional["PublishRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Published"]:
        """Publish a stored version: a draft, or an older one again: POST /api/v1/definitions/{id}/publish."""
        return self._call("POST", f"/api/v1/definitions/{_part(id)}/publish", {}, body or {}, wait=wait, accept=accept, key=key)

    def put_limit(self, name: str, body: Optional["LimitRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Limit"]:
        """Set how many may have a place of a limit at once, of each key, and how many units may be taken in a time: PUT /api/v1/limits/{name}."""
        return self._call("PUT", f"/api/v1/limits/{_part(name)}", {}, body or {}, wait=wait, accept=accept, key=key)

    def put_webhook(self, name: str, body: Optional["WebhookRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Webhook"]:
        """Make or change a webhook: who is told, and of what, from now on: PUT /api/v1/webhooks/{name}."""
        return self._call("PUT", f"/api/v1/webhooks/{_part(name)}", {}, body or {}, wait=wait, accept=accept, key=key)

    def ready(self, *, unready: Optional[str] = None, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Health"]:
        """The node takes work; else 503 says why not: GET /readyz."""
        return self._call("GET", "/readyz", {"unready": unready}, wait=wait, accept=accept)

    def refresh_definitions(self, body: Optional["RefreshRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Result"]:
        """Index the triggers of stored definitions again; one node at a time does the same refresh: POST /api/v1/definitions/refresh."""
        return self._call("POST", "/api/v1/definitions/refresh", {}, body or {}, wait=wait, accept=accept, key=key)

    def release_task(self, id: str, body: Optional["ReleaseRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["TaskFailed"]:
        """Give a claimed task back, undone: POST /api/v1/tasks/{id}/release."""
        return self._call("POST", f"/api/v1/tasks/{_part(id)}/release", {}, body or {}, wait=wait, accept=accept, key=key)

    def release_user_task(self, id: str, body: Optional["ReleaseUserRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Released"]:
        """Give a user task back, undone: POST /api/v1/user-tasks/{id}/release."""
        return self._call("POST", f"/api/v1/user-tasks/{_part(id)}/release", {}, body or {}, wait=wait, accept=accept, key=key)

    def reload_definitions(self, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Result"]:
        """Read the definitions directory of a node again; one node at a time does: POST /api/v1/definitions/reload."""
        return self._call("POST", "/api/v1/definitions/reload", {}, wait=wait, accept=accept, key=key)

    def replay_dead_letter(self, id: str, body: Optional["EditRequest"] = None, *, dry_run: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Effect, Queued]"]:
        """Send a dead letter again, as it was, edited or to an instance: POST /api/v1/dead-letters/{id}/replay."""
        return self._call("POST", f"/api/v1/dead-letters/{_part(id)}/replay", {"dryRun": dry_run}, body or {}, wait=wait, accept=accept, key=key)

    def replay_dead_letters(self, body: Optional["ReplayLettersRequest"] = None, *, dry_run: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Several"]:
        """Send the dead letters of a filter again, as they were, edited or to an instance, a page at a time: POST /api/v1/dead-letters/replay."""
        return self._call("POST", "/api/v1/dead-letters/replay", {"dryRun": dry_run}, body or {}, wait=wait, accept=accept, key=key)

    def replay_webhook(self, name: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["WebhookAgain"]:
        """Try all that was given up again: POST /api/v1/webhooks/{name}/replay."""
        return self._call("POST", f"/api/v1/webhooks/{_part(name)}/replay", {}, wait=wait, accept=accept, key=key)

    def resume_bookmark(self, id: str, body: Optional["ResumeRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Queued]"]:
        """Resume an instance at one place where it waits: POST /api/v1/bookmarks/{id}/resume."""
        return self._call("POST", f"/api/v1/bookmarks/{_part(id)}/resume", {}, body or {}, wait=wait, accept=accept, key=key)

    def retract_definition(self, id: str, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Published"]:
        """Take the published version back: nothing starts by it any more: POST /api/v1/definitions/{id}/retract."""
        return self._call("POST", f"/api/v1/definitions/{_part(id)}/retract", {}, wait=wait, accept=accept, key=key)

    def retry_instance(self, id: str, body: Optional["RetryOneRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Instance"]:
        """Run an instance again: what failed, or from an activity: POST /api/v1/instances/{id}/retry."""
        return self._call("POST", f"/api/v1/instances/{_part(id)}/retry", {}, body or {}, wait=wait, accept=accept, key=key)

    def retry_instances(self, body: Optional["RetryRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Retried"]:
        """Run every faulted instance of a filter again from the activity that faulted, a page at a time: POST /api/v1/instances/retry."""
        return self._call("POST", "/api/v1/instances/retry", {}, body or {}, wait=wait, accept=accept, key=key)

    def retry_workflows(self, body: Optional["RetryWorkflowsRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["AlterationResults"]:
        """As in Elsa: run what faulted in instances, or activities of them, again: POST /api/v1/alterations/workflows/retry."""
        return self._call("POST", "/api/v1/alterations/workflows/retry", {}, body or {}, wait=wait, accept=accept, key=key)

    def run_alterations(self, body: Optional["RunAlterationsRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["AlterationResults"]:
        """As in Elsa: alter instances, and answer what came of each: POST /api/v1/alterations/run."""
        return self._call("POST", "/api/v1/alterations/run", {}, body or {}, wait=wait, accept=accept, key=key)

    def schema(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Any"]:
        """The JSON Schema of definitions in YAML, for editors; it knows the activities of this node: GET /schema/v1.json."""
        return self._call("GET", "/schema/v1.json", {}, wait=wait, accept=accept)

    def schema_of_tests(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Any"]:
        """The JSON Schema of test files, for editors: GET /schema/test-v1.json."""
        return self._call("GET", "/schema/test-v1.json", {}, wait=wait, accept=accept)

    def send_event(self, name: str, body: Optional["EventRequest"] = None, *, dry_run: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Effect, Queued]"]:
        """Send an event to the instances and definitions that wait for it: POST /api/v1/events/{name}."""
        return self._call("POST", f"/api/v1/events/{_part(name)}", {"dryRun": dry_run}, body or {}, wait=wait, accept=accept, key=key)

    def send_queue_item(self, id: str, body: Optional["EditRequest"] = None, *, dry_run: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Effect, Queued]"]:
        """Take a stimulus out of the queue and send it again, edited or to an instance: POST /api/v1/queue/{id}/send."""
        return self._call("POST", f"/api/v1/queue/{_part(id)}/send", {"dryRun": dry_run}, body or {}, wait=wait, accept=accept, key=key)

    def send_queue_items(self, body: Optional["SendItemsRequest"] = None, *, dry_run: Optional[bool] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Several"]:
        """Take the stimuli of a filter out of the queue and send them again, edited or to an instance, a page at a time: POST /api/v1/queue/send."""
        return self._call("POST", "/api/v1/queue/send", {"dryRun": dry_run}, body or {}, wait=wait, accept=accept, key=key)

    def send_stimulus(self, body: Optional["StimulusRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Union[Sent, Queued]"]:
        """Send any stimulus: POST /api/v1/stimuli."""
        return self._call("POST", "/api/v1/stimuli", {}, body or {}, wait=wait, accept=accept, key=key)

    def show_link(self, token: str, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Any"]:
        """A page that asks whether to follow a resume link; it changes nothing: GET /links/{token}."""
        return self._call("GET", f"/links/{_part(token)}", {}, wait=wait, accept=accept)

    def skip_schedule(self, id: str, activity: str, body: Optional["SkipRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Skipped"]:
        """Drop the occurrence of a schedule that is due at a time: nothing starts by it: POST /api/v1/definitions/{id}/schedules/{activity}/skip."""
        return self._call("POST", f"/api/v1/definitions/{_part(id)}/schedules/{_part(activity)}/skip", {}, body or {}, wait=wait, accept=accept, key=key)

    def submit_alterations(self, body: Optional["SubmitAlterationsRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["AlterationPlan"]:
        """As in Elsa: alter all instances of a filter, by a job: POST /api/v1/alterations/submit."""
        return self._call("POST", "/api/v1/alterations/submit", {}, body or {}, wait=wait, accept=accept, key=key)

    def suggest(self, body: Union[str, bytes, Mapping[str, Any]], *, line: Optional[int] = None, column: Optional[int] = None, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None, content_type: Optional[str] = None) -> Answer["Suggested"]:
        """What may stand at a place of a definition in YAML, and what stands there: POST /api/v1/definitions/suggest."""
        return self._call("POST", "/api/v1/definitions/suggest", {"line": line, "column": column}, body, wait=wait, accept=accept, key=key, content_type=content_type)

    def try_definition(self, body: Optional["TryRequest"] = None, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Tried"]:
        """Run the cases of a test file against a definition, with mocks and a clock of its own; nothing is stored, and nothing goes out: POST /api/v1/definitions/test."""
        return self._call("POST", "/api/v1/definitions/test", {}, body or {}, wait=wait, accept=accept, key=key)

    def unpause(self, *, wait: Optional[int] = None, accept: Optional[str] = None, key: Optional[str] = None) -> Answer["Paused"]:
        """Go on after a pause: POST /api/v1/unpause."""
        return self._call("POST", "/api/v1/unpause", {}, wait=wait, accept=accept, key=key)

    def whoami(self, *, wait: Optional[int] = None, accept: Optional[str] = None) -> Answer["Caller"]:
        """Who calls: by which name, with which role, known by what, and until when: GET /api/v1/whoami."""
        return self._call("GET", "/api/v1/whoami", {}, wait=wait, accept=accept)
