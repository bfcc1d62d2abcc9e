package act

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/pkg/workflow"
)

// searched is the search line of the rows that were ticked.
func searched(ids []string) (string, error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
	if len(ids) == 0 {
		return "", &page.Problem{Status: http.StatusUnprocessableEntity, Title: "No row is chosen", Detail: "Go back and tick the rows that it is for; for all that match there is another form below the list.", Code: string(workflow.CodeInvalid)}
	}
	return "id:" + strings.Join(ids, ","), nil
}

// join puts the typed members of an input over those of one that is written as JSON, as a member of the body.
func join(body map[string]any, as string, input map[string]any) error {
	if len(input) == 0 {
		return nil
	}
	if raw, ok := body[as].(json.RawMessage); ok {
		var whole map[string]json.RawMessage
		if err := json.Unmarshal(raw, &whole); err != nil {
			return &page.Problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: "The input as JSON has to be an object beside its fields.", Code: string(workflow.CodeInvalid)}
		}
		for name, value := range whole {
			if _, given := input[name]; !given {
				input[name] = value
			}
		}
	}
	body[as] = input
	return nil
}

// typed reads a field of a run form, by the kind in its name, into the input.
func typed(input map[string]any, field, text string) error {
	field, masked := strings.CutPrefix(field, page.MaskedKind)
	kind, name, _ := strings.Cut(field, ":")
	wrong := func(want string) error {
		is := fmt.Sprintf("is %q, and has to be", page.Short(60, text))
		if masked {
			is = "has to be"
		}
		return &page.Problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("%s %s %s.", name, is, want), Code: string(workflow.CodeInvalid)}
	}
	switch kind {
	case "number":
		if !json.Valid([]byte(text)) || strings.ContainsAny(text, `"{[tfn`) {
			return wrong("a number")
		}
		input[name] = json.Number(text)
	case "boolean":
		input[name] = text == "true"
	case "json":
		if !json.Valid([]byte(text)) {
			return wrong("JSON; a text needs quotation marks around it")
		}
		input[name] = json.RawMessage(text)
	default:
		input[name] = text
	}
	return nil
}
