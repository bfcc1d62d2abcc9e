package evaluation

import (
	"fmt"
	"regexp"
	"slices"
)

// NoSecret is the error of an expression that reads a secret which is not there.
func NoSecret(name string) error {
	return fmt.Errorf("there is no secret %s that this node can read; it comes from a file of that name in --secrets-dir, and one that is no good secret (6 bytes of text at least) is not taken: the log of the node names it", name)
}

// SecretNames adds the names that a pattern finds in source, in either of its two
// groups, to those that are known.
func SecretNames(pattern *regexp.Regexp, source string, names []string) []string {
	for _, m := range pattern.FindAllStringSubmatch(source, -1) {
		if name := m[1] + m[2]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
