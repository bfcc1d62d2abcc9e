// Package expression compiles and evaluates the expressions of definitions:
// Literal, Object, Variable, Input, Expr (the ${{ }} of YAML), JavaScript and
// Liquid.
package expression
