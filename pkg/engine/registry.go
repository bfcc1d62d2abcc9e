package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// Registry joins activity types with the code that runs them. It implements
// [workflow.Types] for the notations. Fill it before it is used; after that it
// is safe for concurrent use.
type Registry struct {
	byType  map[string]*registration // by lower-case type
	byShort map[string]*registration // by short name
}

var _ workflow.Types = (*Registry)(nil)

type registration struct {
	desc workflow.Descriptor
	impl Activity
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	return &Registry{byType: map[string]*registration{}, byShort: map[string]*registration{}}
}

// Register adds an activity type. It returns an error if the descriptor names
// no type, names one twice, or if the type or its short name is taken.
func (r *Registry) Register(d workflow.Descriptor, a Activity) error {
	switch {
	case strings.TrimSpace(d.Type) == "":
		return fmt.Errorf("register activity: the descriptor has no type")
	case a == nil:
		return fmt.Errorf("register activity %s: no code given", d.Type)
	case r.byType[strings.ToLower(d.Type)] != nil:
		return fmt.Errorf("register activity %s: the type is registered already", d.Type)
	case r.byShort[d.ShortName()] != nil:
		return fmt.Errorf("register activity %s: the short name %s is registered already", d.Type, d.ShortName())
	}
	if _, ok := a.(Triggerer); d.Trigger && !ok {
		return fmt.Errorf("register activity %s: the descriptor says it is a trigger, and it has no method Triggers", d.Type)
	}
	for _, in := range d.Inputs {
		if in.Default == nil {
			continue
		}
		if _, err := convertDefault(in); err != nil {
			return fmt.Errorf("register activity %s: default of input %s: %w", d.Type, in.Name, err)
		}
	}
	reg := &registration{desc: d, impl: a}
	r.byType[strings.ToLower(d.Type)] = reg
	r.byShort[d.ShortName()] = reg
	return nil
}

// Replace swaps the code of a registered type, as tests do, and who has what it needs: a mail server.
// It returns an error for unknown types.
func (r *Registry) Replace(typ string, a Activity) error {
	reg := r.byType[strings.ToLower(typ)]
	if reg == nil {
		return fmt.Errorf("replace activity %s: the type is not registered", typ)
	}
	next := &registration{desc: reg.desc, impl: a}
	r.byType[strings.ToLower(typ)] = next
	r.byShort[reg.desc.ShortName()] = next
	return nil
}

// Wrapped is a copy of the registry with the code that wrap gives for each type;
// r stays as it is. What wrap gives should have the optional methods of what it
// got ([Resumer], [Parent], …), or the type behaves differently.
func (r *Registry) Wrapped(wrap func(d *workflow.Descriptor, a Activity) Activity) *Registry {
	out := NewRegistry()
	for typ, reg := range r.byType {
		next := &registration{desc: reg.desc}
		next.impl = wrap(&next.desc, reg.impl)
		out.byType[typ], out.byShort[next.desc.ShortName()] = next, next
	}
	return out
}

// ByType finds the descriptor of a type such as Elsa.WriteLine, regardless of
// case; nil if there is none.
func (r *Registry) ByType(typ string) *workflow.Descriptor {
	if reg := r.byType[strings.ToLower(typ)]; reg != nil {
		return &reg.desc
	}
	return nil
}

// ByShortName finds the descriptor of a short name such as writeLine; nil if
// there is none.
func (r *Registry) ByShortName(name string) *workflow.Descriptor {
	if reg := r.byShort[name]; reg != nil {
		return &reg.desc
	}
	return nil
}

// All lists every descriptor, sorted by type.
func (r *Registry) All() []*workflow.Descriptor {
	out := make([]*workflow.Descriptor, 0, len(r.byType))
	for _, k := range slices.Sorted(maps.Keys(r.byType)) {
		out = append(out, &r.byType[k].desc)
	}
	return out
}

func (r *Registry) lookup(typ string) *registration { return r.byType[strings.ToLower(typ)] }
