package engine

import "github.com/weft-run/weft/pkg/engine/mistakes"

// Checker is implemented by evaluators that find mistakes in expressions which compile:
// names that nothing has, operands that do not go together.
type Checker = mistakes.Checker

// Mistake is what a [Checker] finds.
type Mistake = mistakes.Mistake

// Names are what an expression may name at its place in a definition.
type Names = mistakes.Names
