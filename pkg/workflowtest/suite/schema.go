package suite

import "encoding/json"

// object is a JSON Schema in the making.
type object = map[string]any

func closed(description string, props object) object {
	return object{"type": []string{"object", "null"}, "description": description, "properties": props, "additionalProperties": false}
}

func described(typ, text string) object { return object{"type": typ, "description": text} }

func listOf(item any, text string) object {
	return object{"type": []string{"array", "null"}, "items": item, "description": text}
}

func anyOf(schemas ...any) object { return object{"anyOf": schemas} }

func mapOf(item any, text string) object {
	return object{"type": []string{"object", "null"}, "additionalProperties": item, "description": text}
}

// Schema gives the JSON Schema (draft 2020-12) of test files, for editors. It is more
// lenient than [RunFile] about values, and as strict about keys.
func Schema() []byte {
	file := worldSchema()
	file["$schema"] = object{"type": "string"}
	file["definition"] = described("string", "The definition under test; a path from this file. Absent: the one of this file's name without .test.")
	file["others"] = listOf(object{"type": "string"}, "Further definitions: those it uses as activities, and those it runs as children.")
	file["description"] = described("string", "For people.")
	file["cases"] = object{"type": "array", "minItems": 1, "items": object{"$ref": "#/$defs/case"}, "description": "Each runs an instance of its own."}
	root := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Weft workflow tests",
		"type": "object", "properties": file, "required": []string{"cases"}, "additionalProperties": false,
		"$defs": object{
			"case": caseSchema(), "step": stepSchema(), "expect": expectSchema(), "mock": mockSchema(),
			"child": closed("A child that does not run.", object{
				"status": object{"enum": ends, "description": "How it ends; Finished if absent."}, "output": mapOf(object{}, "Its outputs."),
				"hold": described("boolean", "It ends only with a step."),
			}),
			"answer": closed("What the other side answers.", object{
				"method": described("string", "Of the requests it is for; absent: all."), "url": described("string", "Of the requests it is for; it may end with *."),
				"status": described("integer", "The status; 200 if absent."), "headers": mapOf(object{"type": "string"}, "The headers."), "body": object{"description": "Text as it is, anything else as JSON."},
			}),
		},
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil // not reached: the schema is made of plain data
	}
	return append(out, '\n')
}

// worldSchema has the keys of a file and of each of its cases.
func worldSchema() object {
	return object{
		"mocks":      mapOf(anyOf(object{"$ref": "#/$defs/mock"}, object{"type": "array", "items": object{"$ref": "#/$defs/mock"}}), "Activities that do not run, by id, name or type. A list is one answer after the other."),
		"children":   mapOf(object{"$ref": "#/$defs/child"}, "Child workflows that do not run, by the id of their definition."),
		"http":       listOf(object{"$ref": "#/$defs/answer"}, "What other servers answer; the first that fits counts."),
		"secrets":    mapOf(object{"type": "string"}, "By name, of at least 6 bytes each."),
		"properties": mapOf(object{}, "Of the start."),
		"now":        described("string", "When the case begins, such as 2026-03-01T12:00:00Z."),
	}
}

func caseSchema() object {
	props := worldSchema()
	props["name"] = described("string", "For people and --run.")
	props["input"] = mapOf(object{}, "What the instance is started with.")
	props["correlationId"] = described("string", "What the instance is started with.")
	props["start"] = described("boolean", "false: a step starts it.")
	props["steps"] = listOf(object{"$ref": "#/$defs/step"}, "What happens, in order.")
	props["expect"] = object{"$ref": "#/$defs/expect"}
	props["recorded"] = described("string", "An instance that Elsa exported with its logs, a path from this file: lines, end, outputs and what completed are to be the same.")
	return closed("A case.", props)
}

func stepSchema() object {
	props := object{
		"advance": described("string", "The clock moves; timers fire in order."), "event": described("string", "The name of an event that comes."), "task": described("string", "A task that is completed."),
		"child": described("string", "A held child that ends, by its definition."), "resume": described("string", "A bookmark that is resumed, by its name or its activity."), "trigger": described("string", "The trigger that starts the instance."),
		"start": object{"description": "Start the instance."}, "retry": object{"description": "Retry the instance."}, "cancel": object{"description": "Cancel the instance."}, "expect": object{"$ref": "#/$defs/expect"},
		"at":      described("string", "When it happens, such as 2026-03-01T12:00:00Z; the clock moves there first."),
		"payload": object{"description": "Of an event."}, "correlationId": described("string", "Of an event."), "early": described("boolean", "The event may come before anyone waits for it."),
		"result": object{"description": "Of a task."}, "error": described("string", "Of a task that fails."), "outcome": described("string", "Of a user task."), "data": mapOf(object{}, "Of a user task: the fields of its form."), "by": described("string", "Of a user task: who completes it, key:somebody if it is not said."), "input": mapOf(object{}, "Of a resume or trigger."),
		"status": object{"enum": ends, "description": "How a child ends."}, "output": mapOf(object{}, "Of a child."),
	}
	return anyOf(object{"enum": []string{"start", "retry", "cancel"}}, closed("One thing that happens.", props))
}

func mockSchema() object {
	return closed("What the activity does instead.", object{
		"result": object{"description": "Its first output."}, "outputs": mapOf(object{}, "Its outputs."), "outcome": described("string", "The outcome that it completes with."),
		"outcomes": object{"description": "Several outcomes."}, "branch": object{"type": []string{"string", "number"}, "description": "The branch that runs."}, "fault": described("string", "It faults with this message."),
		"after": described("string", "How long it takes, such as 2s; what is called beside it may be answered before."),
	})
}

func expectSchema() object {
	texts := func(text string) object {
		return object{"anyOf": []any{object{"type": "string"}, object{"type": "array"}, object{"type": "null"}}, "description": text}
	}
	return closed("What is to be seen; only what is written is compared.", object{
		"status": object{"enum": states, "description": "Where the instance stands."}, "correlationId": described("string", "Of the instance."), "name": described("string", "Of the instance."),
		"lines": texts("Every line that writeLine wrote, in order."), "output": mapOf(object{}, "Outputs of the workflow."), "outcomes": mapOf(object{}, "Outcomes of activities, by id or name."),
		"incidents": texts("In order, a part of each message; none: []."), "undone": texts("The activities that were undone, in order; none: []."), "waits": texts("What it waits for."),
		"calls":    mapOf(object{}, "How often activities ran, or the inputs of each run."),
		"events":   listOf(anyOf(object{"type": "string"}, closed("An event that was published.", object{"name": object{"type": "string"}, "correlationId": object{"type": "string"}, "payload": object{}})), "What was published, in order."),
		"children": listOf(anyOf(object{"type": "string"}, closed("A child that was started.", object{"definition": object{"type": "string"}, "correlationId": object{"type": "string"}, "input": mapOf(object{}, "Its input.")})), "The mocked children that were started, in order."),
		"response": closed("What writeHttpResponse wrote.", object{"status": object{"type": "integer"}, "contentType": object{"type": "string"}, "headers": mapOf(object{"type": "string"}, "The headers."), "body": object{}}),
	})
}
