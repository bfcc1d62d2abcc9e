package schema

import (
	"maps"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

// closed is an object with these properties and no others.
func closed(props object) object {
	return object{"type": "object", "properties": props, "additionalProperties": false}
}

func typeSchema() object {
	names := append(slices.Sorted(maps.Keys(notation.TypeNames)), "list", "array")
	return anyOf(object{"enum": names}, object{"type": "string", "pattern": `^([A-Z]|(string|text|number|integer|boolean|object|any|datetime|duration)\[\]$)`})
}

func inputSchema() object {
	return anyOf(object{"type": "null"}, ref("type"), closed(object{
		"type": ref("type"), "default": object{}, "required": object{"type": "boolean"},
		"description": object{"type": "string"}, "storage": ref("storage"),
	}))
}

func variableSchema() object {
	return anyOf(object{"type": []string{"null", "number", "boolean"}}, ref("type"), closed(object{
		"type": ref("type"), "value": object{}, "default": object{}, "storage": ref("storage"), "id": object{"type": "string"},
	}))
}

func labelsSchema() object {
	return object{"type": []string{"object", "null"}, "maxProperties": workflow.MaxLabels, "propertyNames": object{"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"},
		"additionalProperties": anyOf(object{"type": []string{"string", "number", "boolean", "null"}}, ref("dynamic"))}
}

func optionsSchema() object {
	return object{"type": []string{"object", "null"}, "additionalProperties": false, "properties": object{
		"activation":       object{"type": "string", "examples": notation.ActivationNames},
		"incidents":        object{"type": "string", "examples": notation.IncidentNames},
		"commit":           object{"type": "string", "examples": notation.CommitNames},
		"commitInterval":   object{"type": "string", "examples": []string{"30s"}},
		"calls":            anyOf(object{"const": "turns"}, object{"type": "integer", "minimum": 1, "maximum": 256}),
		"usableAsActivity": object{"type": "boolean"},
		"autoUpdate":       object{"type": "boolean"},
		"additionalInputs": object{"type": "boolean"},
		"catchUp":          object{"enum": notation.CatchUpNames},
		"logging":          object{"enum": notation.LoggingNames},
		"flowcharts":       object{"enum": notation.ModeNames},
	}}
}

func caseSchema() object {
	return anyOf(object{"type": []string{"string", "number"}}, closed(object{
		"label": object{"type": []string{"string", "number"}}, "status": object{"type": []string{"string", "number"}},
		"when": object{}, "then": ref("activity"), "do": ref("activity"),
	}))
}

func casesSchema() object {
	return anyOf(object{"type": "array", "items": ref("case")}, object{"type": []string{"object", "null"}})
}

func stateSchema() object {
	transition := closed(object{
		"name": object{"type": "string"}, "on": ref("activity"), "when": object{}, "then": ref("activity"), "to": object{"type": "string"},
	})
	transition["required"] = []string{"to"}
	return anyOf(object{"type": "null"}, closed(object{
		"name": object{"type": "string"}, "entry": ref("activity"), "exit": ref("activity"),
		"transitions": object{"type": []string{"array", "null"}, "items": transition}, "final": object{"type": "boolean"},
	}))
}

func connectionSchema() object {
	end := object{"type": "string"}
	return anyOf(object{"type": "string", "pattern": "->|→"}, closed(object{
		"from": end, "source": end, "port": end, "sourcePort": end, "to": end, "target": end, "targetPort": end,
	}))
}

// retrySchema is retry: …, for any activity.
func retrySchema(types workflow.Types) object {
	d := types.ByType(workflow.RetryType)
	if d == nil {
		return object{"not": object{}}
	}
	props := object{}
	for _, in := range d.Inputs {
		props[in.Name] = inputValue(in)
	}
	return object{"anyOf": []any{object{"type": "integer", "minimum": 1}, ref("dynamic"), closed(props)},
		"description": "What is done when this fails: how many attempts there are, or {attempts, delay, factor, …}."}
}

// definitionsSchema is workflow: … for a definition that is run.
func definitionsSchema() object {
	return anyOf(object{"type": "string"}, object{"type": "object", "properties": object{
		"id": object{"type": "string"}, "versionId": object{"type": "string"}, "version": object{"type": "integer"},
		"inputs": object{"type": []string{"object", "null"}},
	}})
}

// commonSchemas has the schema of each of [notation.Common].
var commonSchemas = object{
	"id":                 described("What connections, the journal and scripts call it; derived if it is left out."),
	"name":               described("For people, and for getResultFromName() in scripts."),
	"result":             object{"type": "string", "description": "The variable that takes the first output."},
	"outputs":            object{"type": []string{"object", "null"}, "additionalProperties": textSchema, "description": "Which variable takes which output."},
	"trigger":            object{"type": "boolean", "description": "A matching stimulus starts an instance here."},
	"timeout":            object{"description": "How long this may take, such as 48h."},
	"onTimeout":          object{"anyOf": []any{ref("activity")}, "description": "What runs when the time is over."},
	notation.RetryKey:    ref(notation.RetryKey),
	notation.GiveUpKey:   object{"anyOf": []any{ref("activity")}, "description": "What runs when the last attempt has failed."},
	notation.UndoKey:     object{"anyOf": []any{ref("activity")}, "description": "What undoes this once it is done, when what is around it fails or the instance is cancelled."},
	"variables":          ref("variables"),
	"commit":             object{"enum": notation.ActivityCommitNames, "description": "When the instance is saved because of this activity."},
	"logging":            object{"enum": notation.ActivityLoggingNames, "description": "Whether its inputs and outputs are in the journal."},
	"mergeMode":          object{"enum": notation.MergeModeNames, "description": "How tokens meet here, in a flowchart of tokens."},
	"version":            object{"type": "integer", "description": "The version of the activity type."},
	"metadata":           object{"type": []string{"object", "null"}, "description": "For designers and other programs; kept."},
	"customProperties":   object{"type": []string{"object", "null"}, "description": "For other programs; kept."},
	"inputs":             object{"type": []string{"object", "null"}, "description": "The inputs of a definition that is used as an activity."},
	notation.WorkflowKey: ref("definitions"),
}

var textSchema = object{"type": "string"}

func described(text string) object { return object{"type": "string", "description": text} }
