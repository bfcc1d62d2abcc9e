package notation

import (
	"strconv"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// Scope derives the ids of activities that have none, at one place of the tree.
// An activity in a list is called by its type and its number among the siblings
// of that type (writeLine1), below the id of its parent and the name of the branch
// (if1.then.writeLine1). What stands in the root has no prefix.
type Scope struct {
	Path string         // of the parent, with the branch
	Seen map[string]int // how many siblings of a type came before
	ID   string         // given by the place: the root, a key in a flowchart
	Root bool
	Key  bool // ID is a key that the author wrote
	Port bool // it is a branch: a list here is called by the path
}

// Branch is the scope of a named branch of an activity.
func Branch(prefix, name string) Scope {
	return Scope{Path: Join(prefix, name), Seen: map[string]int{}, Port: true}
}

// Next gives the id of the next sibling of this type.
func (s Scope) Next(short string) string {
	if s.Seen == nil {
		return Join(s.Path, short+"1")
	}
	s.Seen[short]++
	return Join(s.Path, short+strconv.Itoa(s.Seen[short]))
}

// Derive gives the id that an activity of this type has here if none is given.
func (s Scope) Derive(typ string) string {
	if s.ID != "" {
		return s.ID
	}
	return s.Next(IDBase(typ))
}

// ListID gives the id of a Sequence that is written as a list.
func (s Scope) ListID() string {
	switch {
	case s.ID != "":
		return s.ID
	case s.Port:
		return s.Path
	}
	return s.Next("sequence")
}

// Prefix gives the prefix of the ids of the children of the activity at s.
func (s Scope) Prefix(id string) string {
	if s.Root {
		return ""
	}
	return id
}

// maxID is the length from which a path is replaced by its hash.
const maxID = 96

// Join gives the id of what is called name below a path.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	if len(path) > maxID {
		path = workflow.DeriveID(path)
	}
	return path + "." + name
}

// IDBase makes the part of an id that tells the type: writeLine, ship.
func IDBase(typ string) string {
	return CleanID(workflow.LowerFirst(typ[strings.LastIndexByte(typ, '.')+1:]))
}

// CleanID replaces what an id may not have.
func CleanID(s string) string {
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
