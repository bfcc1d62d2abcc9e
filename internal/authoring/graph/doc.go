// Package graph draws workflow definitions: boxes, the ways between them, and
// what an instance did with them, as SVG, as text and as Mermaid or DOT.
//
// It guarantees that the same definition gives the same picture, that no two
// boxes overlap unless one holds the other, that each way ends at a box or a
// join, and that what is not drawn is counted in a box that says so. A type it
// does not know is a plain box. It does not check a definition: what the compiler
// refuses is drawn as far as it can be.
//
// The picture follows the notation and not the tree that the engine runs: an
// activity with a timeout is one box with a clock. Sequences, choices and loops
// are laid out exactly, each part in a rectangle of its own. Flowcharts and state
// machines are laid out in layers, after Sugiyama, Tagawa and Toda, "Methods for
// Visual Understanding of Hierarchical System Structures" (1981), unless every
// activity has the position that Elsa's designer gave it.
package graph
