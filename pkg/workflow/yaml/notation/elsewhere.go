package notation

import "strings"

// What other notations call things, and what they are called here: for those who are told
// what they probably meant.
var (
	OtherTypes = map[string]string{
		"int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "bool": "boolean", "float": "number", "double": "number", "decimal": "number",
		"str": "string", "char": "string", "uuid": "string", "guid": "string", "map": "object", "dict": "object", "json": "object", "struct": "object",
		"date": "datetime", "time": "datetime", "timestamp": "datetime", "interval": "duration", "timespan": "duration", "set": "list",
	}

	// Where there are several, the first that the place has.
	OtherKeys = map[string]string{
		"body": "content payload value text", "data": "content payload value", "json": "content payload", "message": "text message", "msg": "text message",
		"do": "body activities", "steps": "root body activities", "tasks": "root activities", "workflow": "root", "jobs": "root", "vars": "variables", "params": "inputs input",
		"parameters": "inputs input", "arguments": "inputs input", "args": "inputs input", "as": "outputs", "into": "result", "save": "result", "register": "result",
		"expression": "condition value", "expr": "condition value", "cond": "condition when", "on_timeout": "onTimeout", "on_failure": "onGiveUp",
		"catch": "onGiveUp", "onError": "onGiveUp", "retries": "retry", "times": "attempts", "count": "attempts", "max": "attempts", "backoff": "factor", "interval": "delay",
		"until": "end", "duration": "timeSpan", "target": "to", "goto": "to", "next": "to", "event": "eventName on", "task": "taskName",
		"uri": "url", "address": "url", "query": "url", "header": "headers", "status": "statusCode", "code": "statusCode script", "definition": "workflowDefinitionId", "id": "workflowDefinitionId",
		"title": "name", "method": "supportedMethods", "methods": "supportedMethods", "name": "eventName taskName outputName",
		"to": "end", "from": "start", "case": "when", "optional": "required", "initial": "value", "doc": "description", "summary": "description",
	}
)

// TypeMeant says which type somebody meant who gave it the name that other systems have for
// it; "" if nobody knows.
func TypeMeant(name string) string { return activitiesElsewhere[strings.ToLower(name)] }

var activitiesElsewhere = func() map[string]string {
	out := map[string]string{}
	for ours, theirs := range map[string]string{
		"sendHttpRequest": "http httprequest request fetch get post put rest curl webrequest callapi", "httpEndpoint": "webhook endpoint httptrigger",
		"writeLine": "log print echo console println", "delay": "sleep wait pause timeout", "runJavaScript": "script js javascript code function",
		"setVariable": "set assign let var setvar", "setOutput": "output return", "publishEvent": "emit publish raise signal sendevent throwevent",
		"event": "receive waitfor listen waitforevent await message", "forEach": "loop each foreach iterate map", "while": "until repeat", "switch": "choice case match cond",
		"fault": "error throw raiseerror", "finish": "stop exit terminate", "runTask": "task", "userTask": "human manual approval approve", "executeWorkflow": "subworkflow child callworkflow startworkflow call subprocess",
		"cron": "schedule scheduled", "parallel": "concurrent all async", "correlate": "correlation setcorrelationid", "flowDecision": "decision", "sequence": "block group steps do",
	} {
		for _, name := range strings.Fields(theirs) {
			out[name] = ours
		}
	}
	return out
}()
