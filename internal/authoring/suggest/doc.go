// Package suggest tells what may stand at a place of a definition in YAML, and what stands
// there, for editors.
//
// It reads half-written text: by its lines and their indentation, as it is seldom YAML while
// somebody types. What may stand there is what the JSON Schema of the notation says, so that it
// is told in one place. What it says is help, and nothing relies on it.
package suggest
