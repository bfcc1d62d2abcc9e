package liquid

import (
	"errors"
	"slices"
)

// templateSecrets gives the names of secrets that a template reads: secrets.NAME and secrets['NAME'] in what it evaluates. The
// reader refuses what names none.
func templateSecrets(all []token) (names []string) {
	for _, t := range all {
		switch {
		case t.kind == plainText:
			continue
		case t.name == "liquid":
			for _, name := range templateSecrets(t.lines()) {
				names = with(names, name)
			}
			continue
		}
		for r := newReader(t.text, t.args); r.peek() != ""; r.next++ {
			if r.peek() != "secrets" || r.next > 0 && r.ahead(-1) == "." {
				continue
			}
			switch name := r.ahead(2); {
			case r.ahead(1) == "." && firstName.MatchString(name):
				names = with(names, name)
			case r.ahead(1) == "[" && len(name) > 1 && (name[0] == '"' || name[0] == '\''):
				names = with(names, name[1:len(name)-1])
			}
		}
	}
	return names
}

func with(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

var errSecret = errors.New("a secret has to be named, as in secrets.NAME")

// unnamed reports whether a path is all secrets, or one whose name is only known as it runs: none would be found.
func (p path) unnamed() bool {
	first := ""
	if len(p.steps) > 0 {
		l, _ := p.steps[0].(literal)
		first, _ = l.constant.(string)
	}
	return p.name == "secrets" && first == "" || p.name == "" && first == "secrets"
}
