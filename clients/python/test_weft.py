"""Run by go test ./clients, which starts a node: every way in which the client may be answered."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import weft  # noqa: E402

RUN = os.urandom(4).hex()  # another one each time
ORDER, PAID = f"py-order-{RUN}", f"py-paid-{RUN}"
WAITING = "id: py-order\ninputs: {id: {type: string, required: true}}\nlabels: {kind: py}\noutputs: {by: \"${{ variables.paid.by }}\"}\nvariables: {paid: object}\nroot:\n  - correlate: ${{ inputs.id }}\n  - {event: py-paid, result: paid}\n".replace("py-order", ORDER).replace("py-paid", PAID).replace("kind: py", f"kind: \"{RUN}\"")

client = weft.Client(os.environ["WEFT_SERVER"])
published = client.publish_definition(WAITING)
assert published.status == 201 and published.body["id"] == ORDER, published.body
assert client.publish_definition(WAITING).status == 200
assert PAID in client.get_definition(ORDER, accept="application/yaml").body

# A start whose answer is lost is repeated with its key, and happens once.
losing = weft.Client(os.environ["WEFT_LOSING"], pause=0.01)
started = losing.execute_definition(ORDER, {"input": {"id": "p-1"}, "correlationId": "p-1"})
again = client.execute_definition(ORDER, {"input": {"id": "p-1"}, "correlationId": "p-1"}, key=started.key)
assert started.body["instanceId"] == again.body["instanceId"] and started.body["subStatus"] == "Suspended"

for n in range(2, 8):
    client.execute_definition(ORDER, {"input": {"id": f"p-{n}"}})
found = [i["instanceId"] for i in client.all_instances(limit=2, label={"kind": RUN})]
assert len(found) == len(set(found)) == 7, found
assert client.list_instances(has_incidents=True, definition_id=ORDER).body["items"] == []

sent = client.send_event(PAID, {"correlationId": "p-1", "payload": {"by": "Ann"}})
assert sent.status == 200 and not sent.accepted
ended = client.get_instance(started.body["instanceId"], wait=30).body
assert ended["subStatus"] == "Finished" and ended["output"] == {"by": "Ann"}, ended
assert client.delete_instance(ended["instanceId"]).status in (202, 204)

for call, status, code in (
    (lambda: client.get_instance("nobody"), 404, "instance-not-found"),
    (lambda: client.execute_definition(ORDER, {"input": {}}), 422, "invalid-input"),
    (lambda: list(client.stream(["nothing"])), 422, "invalid-request"),
    (lambda: client.publish_definition("id: x\nroot: [{writeLin: a}]\n"), 422, "definition-invalid"),
    (lambda: client.publish_definition(WAITING + "  - writeLine: more\n", if_match='"0"'), 409, "definition-moved"),
):
    try:
        call()
    except weft.WeftProblem as problem:
        assert problem.status == status, (problem.status, problem.code)
        assert status != 422 or problem.problem["errors"], problem.problem
    else:
        raise AssertionError(code)

try:
    weft.Client("http://127.0.0.1:9", attempts=2, pause=0.01).execute_definition(ORDER, {}, key="k-1")
except weft.NoAnswer as unknown:
    assert unknown.key == "k-1" and "k-1" in str(unknown)
else:
    raise AssertionError("an answer from nobody")

for event in client.stream(["cluster"]):
    assert event["id"] and event["data"] is not None, event
    break

# A stream that is lost goes on behind its last event, and ends when the server refuses it.
cutting = weft.Client(os.environ["WEFT_CUTTING"], pause=0.01)
watched = client.execute_definition(ORDER, {"input": {"id": "p-8"}, "correlationId": "p-8"}).body["instanceId"]
told = []
try:
    for event in cutting.stream([f"instance:{watched}"]):
        told.append(event["data"]["instance"]["subStatus"])
        if len(told) == 1:
            client.send_event(PAID, {"correlationId": "p-8", "payload": {"by": "Ann"}})
except weft.WeftProblem as problem:
    assert problem.status == 403 and problem.code == "forbidden", problem
else:
    raise AssertionError("the stream ended by itself")
assert told == ["Suspended", "Finished"], told
quiet = next(weft.Client(os.environ["WEFT_CUTTING"] + "/quiet", pause=0.01).stream(["cluster"]))
assert quiet == {"id": "", "event": "cluster", "data": {}}, quiet
for address, failure in ((os.environ["WEFT_CUTTING"] + "/page", weft.WeftError), (os.environ["WEFT_CUTTING"] + "/mute", weft.NoAnswer), ("http://127.0.0.1:9", weft.NoAnswer)):
    try:
        next(weft.Client(address, attempts=2, pause=0.01).stream(["cluster"]))
    except failure as error:
        assert failure is weft.NoAnswer or "text/html and no stream" in str(error), error
    else:
        raise AssertionError(address)
print("ok")
