package definitions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/elsastate"
	"github.com/weft-run/weft/internal/people/command/ask"
	"github.com/weft-run/weft/pkg/activities/declared"
)

// sources reads the definitions of a file, of a directory and what is below it, or of standard input. Of a directory it leaves out
// what declares activity types, and says so.
func (a commands) sources(args []string) ([]ask.Source, error) {
	const what = "definitions (*.yaml, *.yml, *.json)"
	all, err := a.ask.Files(args, what, ask.IsDefinitionFile, a.ask.ReadDefinition)
	if err != nil {
		return nil, err
	}
	there := len(all)
	all = slices.DeleteFunc(all, func(s ask.Source) bool {
		return !slices.Contains(args, s.Name) && declared.IsDeclaration(s.Src, s.Name)
	})
	if n := there - len(all); n > 0 {
		a.ask.Note(fmt.Sprintf("%d files that declare activity types are no definitions, and left alone", n))
	}
	for _, s := range all {
		if elsastate.Looks(s.Src) {
			return nil, ask.Usage("%s is an instance that Elsa exported, and no definition: weft migrate elsa --instances makes it one of Weft's", s.Name)
		}
	}
	if len(all) == 0 {
		return nil, ask.Usage("%s has no %s", strings.Join(args, ", "), what)
	}
	return all, nil
}
