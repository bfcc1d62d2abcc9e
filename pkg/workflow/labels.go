package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of labels, by which people find instances: how many one instance has, and how
// many characters the name of one. A value is a name as [CheckName] takes it.
const (
	MaxLabels    = 16
	MaxLabelName = 63
)

// CheckLabelName returns an error that says what is wrong with the name of a label. Names
// match [A-Za-z0-9][A-Za-z0-9._-]{0,62}.
func CheckLabelName(name string) error {
	if name == "" || len(name) > MaxLabelName {
		return fmt.Errorf("the name of a label must have 1 to %d characters, it has %d", MaxLabelName, len(name))
	}
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", r)) {
			return fmt.Errorf("the name of a label has %q at position %d; it begins with a letter or a digit, and further ones may be . _ - too", r, i+1)
		}
	}
	return nil
}

// CheckLabel does the same for a label with its value.
func CheckLabel(name, value string) error {
	if err := CheckLabelName(name); err != nil {
		return err
	}
	return CheckName("label "+name, value)
}

// CheckLabels does the same for all labels of an instance.
func CheckLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return fmt.Errorf("an instance may have up to %d labels, it has %d", MaxLabels, len(labels))
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if err := CheckLabel(name, labels[name]); err != nil {
			return err
		}
		if labels[name] == "" {
			return fmt.Errorf("label %s has no value", name)
		}
	}
	return nil
}
