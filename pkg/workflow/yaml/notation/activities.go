package notation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/workflow"
)

// Types that the notation itself knows.
const (
	SequenceType     = "Elsa.Sequence"
	FlowchartType    = "Elsa.Flowchart"
	StateMachineType = "Elsa.StateMachine"
	ForkType         = "Elsa.Fork"
	DelayType        = "Elsa.Delay"
)

// WorkflowKey names an activity that runs a definition, or, beside a type's
// name, which definition that is.
const WorkflowKey = "workflow"

// Keys of a retry, and of what undoes an activity, beside the activity that has them.
const (
	RetryKey  = "retry"
	GiveUpKey = "onGiveUp" // also the branch of the policy
	UndoKey   = workflow.UndoPort
)

// Lookup gives the type of this name, short or whole; nil if there is none.
func Lookup(types workflow.Types, name string) *workflow.Descriptor {
	if d := types.ByShortName(name); d != nil {
		return d
	}
	return types.ByType(name)
}

// IsDefinitionName tells whether a name can be that of a definition used as an
// activity: the designer gives those PascalCase names.
func IsDefinitionName(name string) bool {
	c, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(c) && !strings.Contains(name, ".")
}

// Pascal makes the type name that the designer would give a definition.
func Pascal(id string) string {
	var out strings.Builder
	for _, w := range strings.FieldsFunc(id, func(c rune) bool { return strings.ContainsRune("-_.: ", c) }) {
		out.WriteString(workflow.UpperFirst(w))
	}
	if out.Len() == 0 {
		return "Workflow"
	}
	return out.String()
}
