// Package branch has what activities share that run one of several branches: which cases
// of a switch match, and how an operator runs a branch again.
package branch
