package yaml

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// idScope derives the ids of activities that have none, at one place of the tree.
// An activity in a list is called by its type and its number among the siblings
// of that type (writeLine1), below the id of its parent and the name of the branch
// (if1.then.writeLine1). What stands in the root has no prefix.
type idScope struct {
	path string         // of the parent, with the branch
	seen map[string]int // how many siblings of a type came before
	id   string         // given by the place: the root, a key in a flowchart
	root bool
	key  bool // id is a key that the author wrote
	port bool // it is a branch: a list here is called by the path
}

// branch is the scope of a named branch of an activity.
func branch(prefix, name string) idScope {
	return idScope{path: join(prefix, name), seen: map[string]int{}, port: true}
}

// next gives the id of the next sibling of this type.
func (s idScope) next(short string) string {
	if s.seen == nil {
		return join(s.path, short+"1")
	}
	s.seen[short]++
	return join(s.path, short+strconv.Itoa(s.seen[short]))
}

// listID gives the id of a Sequence that is written as a list.
func (s idScope) listID() string {
	switch {
	case s.id != "":
		return s.id
	case s.port:
		return s.path
	}
	return s.next("sequence")
}

// prefix gives the prefix of the ids of the children of the activity at s.
func (s idScope) prefix(id string) string {
	if s.root {
		return ""
	}
	return id
}

// maxID is the length from which a path is replaced by its hash.
const maxID = 96

func join(path, name string) string {
	if path == "" {
		return name
	}
	if len(path) > maxID {
		path = workflow.DeriveID(path)
	}
	return path + "." + name
}

// idBase makes the part of an id that tells the type: writeLine, ship.
func idBase(typ string) string {
	return cleanID(workflow.LowerFirst(typ[strings.LastIndexByte(typ, '.')+1:]))
}

// cleanID replaces what an id may not have.
func cleanID(s string) string {
	s = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '-'
	}, s)
	if len(s) > maxID {
		s = s[:maxID]
	}
	if s == "" {
		return "activity"
	}
	return s
}
