package ignored

import (
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// Of a variable a script reads its list by one of these, which have its name in one of two groups, and changes it in place.
const (
	readsVariable = `(?:getVariable\(\s*["'` + "`" + `]([^"'` + "`" + `\n]+)["'` + "`" + `]\s*\)|variables\s*\.\s*(\w+)|\bget(\w+)\(\s*\))`
	changesList   = `\s*\??\.\s*(push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin)\s*\(`
)

var (
	changesRead  = regexp.MustCompile(readsVariable + changesList)
	holdsRead    = regexp.MustCompile(`(?:\b(?:const|let|var)\s+)(\w+)\s*=\s*` + readsVariable + `\s*(?:;|,|\n|$)`)
	changesNamed = regexp.MustCompile(`(?:^|[^.\w$])(\w+)` + changesList)
)

// changedList finds a variable whose list a script changes in place and does not set; way is the method that does. Elsa gives
// scripts a copy of a list, which goes with the script.
//
// It looks at the text: a list that reaches the method by a longer way is not found.
func changedList(script string) (variable, way string) {
	of := map[string]string{} // the variable that a name of the script was given
	for _, m := range holdsRead.FindAllStringSubmatch(script, -1) {
		of[m[1]] = nameIn(m[2:])
	}
	changes := changesRead.FindAllStringSubmatch(script, -1)
	for _, m := range changesNamed.FindAllStringSubmatch(script, -1) {
		if name, held := of[m[1]]; held {
			changes = append(changes, []string{"", name, "", "", m[2]})
		}
	}
	for _, m := range changes {
		if name := nameIn(m[1:]); !setIn(script, name) {
			return name, m[4]
		}
	}
	return "", ""
}

// nameIn is the name of the variable in the groups of a read.
func nameIn(groups []string) string {
	i := slices.IndexFunc(groups[:3], func(s string) bool { return s != "" })
	return groups[max(i, 0)]
}

// setIn reports whether a script sets a variable, of which a name in one case is as good as one in the other.
func setIn(script, name string) bool {
	quoted := regexp.QuoteMeta(name)
	set, err := regexp.Compile(`(?i)setVariable\(\s*["'` + "`" + `]` + quoted + `["'` + "`" + `]|\bset` + quoted + `\(|variables\s*\.\s*` + quoted + `\s*=[^=]`)
	return err == nil && set.MatchString(script)
}

// scripts are the scripts of an activity, by the inputs that have them.
func scripts(a *workflow.Activity) map[string]string {
	found := map[string]string{}
	for name, e := range a.Inputs {
		text, _ := e.Value.(string)
		if text != "" && (e.Kind == workflow.JavaScript || is(a, "Elsa.RunJavaScript") && strings.EqualFold(name, "script")) {
			found[name] = text
		}
	}
	return found
}
