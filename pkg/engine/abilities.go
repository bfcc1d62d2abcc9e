package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Abilities name what a program can run, in texts that nodes of different
// versions compare: its activity types, its kinds of expressions, and the formats
// of the state that it reads. Sorted.
func Abilities(r *Registry, evaluators []Evaluator) []string {
	out := []string{abilityState(stateVersion), abilityState(wideVersion)}
	for _, d := range r.All() {
		out = append(out, abilityType(d.Type))
	}
	for _, e := range evaluators {
		for _, kind := range e.Kinds() {
			out = append(out, abilityKind(kind))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func abilityType(typ string) string  { return "activity:" + typ }
func abilityKind(kind string) string { return "expression:" + kind }
func abilityState(v int) string      { return "state:" + strconv.Itoa(v) }

// Digest is a short text that is equal for programs of the same version whose
// activities have the same types, inputs and outputs.
func Digest(version string, r *Registry, evaluators []Evaluator) (string, error) {
	raw, err := json.Marshal([]any{version, Abilities(r, evaluators), r.All()})
	if err != nil {
		return "", fmt.Errorf("digest of the activities: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

// Needs are the abilities without which the program's definition cannot be
// compiled, those of the definitions that it uses as activities and of all its
// expressions included.
func (p *Program) Needs() []string {
	var out []string
	for _, n := range p.nodes {
		if n.activity == nil || n.desc == nil || n.desc.Type == workflowType {
			continue
		}
		if n.inner == nil {
			out = append(out, abilityType(n.desc.Type))
		}
	}
	for kind := range p.kinds {
		out = append(out, abilityKind(kind))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ActivityNeed is how [Program.Needs] names an activity type.
func ActivityNeed(typ string) string { return abilityType(typ) }

// Lacking are the needs that these abilities do not cover.
func Lacking(needs, abilities []string) []string {
	return slices.DeleteFunc(slices.Clone(needs), func(n string) bool { return slices.Contains(abilities, n) })
}
