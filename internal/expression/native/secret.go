package native

import "slices"

// Secrets names what the template's expressions read.
func (n node) Secrets() []string {
	var names []string
	if n.code != nil {
		for _, r := range n.code.refs {
			if r.kind == refSecret && !slices.Contains(names, r.name) {
				names = append(names, r.name)
			}
		}
	}
	for _, k := range n.kids {
		for _, name := range k.Secrets() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
