package ignored_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/check/ignored"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	activity := func(fields string) string {
		return `{"definitionId": "x", "root": {"id": "w", "type": "Elsa.SendHttpRequest", ` + fields + `}}`
	}
	script := func(fields string) string {
		return `{"definitionId": "x", "root": {"id": "w", "type": "Elsa.RunJavaScript", ` + fields + `}}`
	}
	custom := func(properties string) string { return activity(`"customProperties": {` + properties + `}`) }
	for name, c := range map[string]struct {
		json string
		want string // the name of the setting; "": none
		says string
	}{
		"nothing":                      {json: custom(`"canStartWorkflow": false, "runAsynchronously": false, "resilienceStrategy": null`)},
		"an asynchronous call":         {json: custom(`"runAsynchronously": true`)},
		"asynchronous":                 {json: script(`"customProperties": {"runAsynchronously": true}`), want: "runAsynchronously"},
		"asynchronous, as a field":     {json: script(`"runAsynchronously": true`), want: "runAsynchronously"},
		"a resilience strategy":        {json: custom(`"resilienceStrategy": {"mode": "Identifier", "strategyId": "http"}`), want: "resilienceStrategy", says: "tried once"},
		"a strategy by an expression":  {json: custom(`"resilienceStrategy": {"mode": "Expression", "expression": {"type": "JavaScript", "value": "x"}}`), want: "resilienceStrategy"},
		"no strategy":                  {json: custom(`"resilienceStrategy": {"mode": "Identifier", "strategyId": ""}`)},
		"a converter":                  {json: activity(`"result": {"typeName": "Object", "memoryReference": {"id": "v"}, "converter": {"id": "csv"}}`), want: "converter", says: "result"},
		"no converter":                 {json: activity(`"result": {"typeName": "Object", "memoryReference": {"id": "v"}, "converter": null}`)},
		"a mode by an expression":      {json: custom(`"logPersistenceConfig": {"inputs": {"url": {"evaluationMode": "Expression", "expression": {"type": "JavaScript", "value": "x"}}}}`), want: "logPersistenceConfig", says: "journal"},
		"a mode by a literal":          {json: custom(`"logPersistenceConfig": {"default": {"evaluationMode": "Expression", "expression": {"type": "Literal", "value": "Include"}}}`)},
		"a mode by a strategy":         {json: custom(`"logPersistenceConfig": {"default": {"evaluationMode": "Strategy", "strategyType": "Elsa.Workflows.LogPersistence.Strategies.Exclude, Elsa.Workflows.Core", "expression": null}}`)},
		"a strategy of an application": {json: custom(`"logPersistenceConfig": {"inputs": {"url": {"evaluationMode": "Strategy", "strategyType": "My.NoSecrets, My", "expression": null}}}`), want: "logPersistenceConfig", says: "My.NoSecrets, My"},
		"Elsa's strategies":            {json: custom(`"logPersistenceConfig": {"default": {"evaluationMode": "Strategy", "strategyType": "Elsa.Workflows.LogPersistence.Strategies.Configuration, Elsa.Workflows.Core"}, "internalState": {"strategyType": "Elsa.Workflows.LogPersistence.Strategies.Inherit, Elsa.Workflows.Core"}}`)},
		"a delegate":                   {json: activity(`"content": {"typeName": "Object", "expression": {"type": "Delegate", "value": null}}`), want: "content", says: "write an expression"},
		"contexts":                     {json: `{"definitionId": "x", "customProperties": {"Elsa:WorkflowContextProviderTypes": ["My.Context, My"]}, "root": {"id": "s", "type": "Elsa.Start"}}`, want: "Elsa:WorkflowContextProviderTypes"},
		"no contexts":                  {json: `{"definitionId": "x", "customProperties": {"Elsa:WorkflowContextProviderTypes": []}, "root": {"id": "s", "type": "Elsa.Start"}}`},
		"a driver":                     {json: `{"definitionId": "x", "variables": [{"id": "v", "name": "v", "storageDriverTypeName": "My.BlobStorageDriver, My"}], "root": {"id": "s", "type": "Elsa.Start"}}`, want: "My.BlobStorageDriver, My", says: "kept with the instance"},
		"a driver of an input":         {json: `{"definitionId": "x", "inputs": [{"name": "v", "storageDriverType": "My.BlobStorageDriver, My"}], "root": {"id": "s", "type": "Elsa.Start"}}`, want: "My.BlobStorageDriver, My"},
		"a class":                      {json: `{"definitionId": "x", "variables": [{"id": "v", "name": "v", "typeName": "My.Order, My", "value": "{}"}], "root": {"id": "s", "type": "Elsa.Start"}}`, want: "My.Order, My", says: "its value is JSON"},
		"classes of .NET and Elsa":     {json: `{"definitionId": "x", "variables": [{"id": "v", "name": "v", "typeName": "System.Version, System"}], "inputs": [{"name": "f", "type": "Elsa.Http.HttpFile, Elsa.Http"}, {"name": "n", "type": "Int32"}], "root": {"id": "s", "type": "Elsa.Start"}}`},
		"Elsa's drivers":               {json: `{"definitionId": "x", "variables": [{"id": "v", "name": "v", "storageDriverTypeName": "Elsa.Workflows.WorkflowStorageDriver, Elsa.Workflows.Core"}, {"id": "w", "name": "w", "storageDriverTypeName": "Elsa.Workflows.MemoryStorageDriver, Elsa.Workflows.Core"}], "root": {"id": "s", "type": "Elsa.Start"}}`},
	} {
		def, problems := elsajson.Read([]byte(c.json), "x.json", activities.Default())
		if len(problems) > 0 {
			t.Fatal(name, problems)
		}
		got := ignored.Settings(def, activities.Default())
		if len(got) > 1 || len(got) == 1 != (c.want != "") || len(got) == 1 && (got[0].Name != c.want || !strings.Contains(got[0].Detail, c.says)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestInert(t *testing.T) {
	t.Parallel()
	for _, v := range []any{nil, false, "", " ", "False", "[]", int64(0), 0.0, []any{}, map[string]any{}} {
		if !ignored.Inert(v) {
			t.Errorf("%#v says nothing", v)
		}
	}
	for _, v := range []any{true, "x", "[1]", int64(1), 0.5, []any{nil}, map[string]any{"a": nil}} {
		if ignored.Inert(v) {
			t.Errorf("%#v says something", v)
		}
	}
}
