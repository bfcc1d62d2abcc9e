package workflow

import (
	"slices"
	"strings"
)

// Descriptors is a fixed list of descriptors as [Types], for tools and tests
// that have no engine.
type Descriptors []*Descriptor

// ByType finds the descriptor of a type such as Elsa.WriteLine.
func (ds Descriptors) ByType(typ string) *Descriptor {
	for _, d := range ds {
		if d.Type == typ {
			return d
		}
	}
	return nil
}

// ByShortName finds a descriptor by its name in YAML, such as writeLine.
func (ds Descriptors) ByShortName(name string) *Descriptor {
	for _, d := range ds {
		if d.ShortName() == name {
			return d
		}
	}
	return nil
}

// All gives the descriptors sorted by type.
func (ds Descriptors) All() []*Descriptor {
	return slices.SortedFunc(slices.Values(ds), func(a, b *Descriptor) int { return strings.Compare(a.Type, b.Type) })
}
