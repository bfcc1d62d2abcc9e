//go:build !linux

package disk

import (
	"errors"
	"fmt"
)

var (
	errFull  = errors.New(full)
	errQuota = errors.New(quota)
)

// Look asks how full the disk is that has dir; this system is not asked.
func Look(dir string) (Space, error) {
	return Space{}, fmt.Errorf("ask how full the disk of %s is: %w", dir, errors.ErrUnsupported)
}

// Hold does nothing on this system.
func Hold(string, int64) error { return nil }

// Make does nothing on this system.
func Make(string, int64) error { return nil }
