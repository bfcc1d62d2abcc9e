// Package elsajson reads and writes workflow definitions as Elsa Workflows 3
// keeps them: the JSON that its designer exports.
//
// Guaranteed: what Elsa 3 exported is read unchanged, older spellings included
// (PascalCase names, $values arrays, one object where an array is meant, flat
// connections, applicationProperties, assembly-qualified type names). Every
// problem is reported at once, each with its JSON pointer, line and column. A
// definition that was read is written with every field it came with, in the
// form it came in, as long as nothing changed it; [Write] followed by [Read]
// gives an equal definition. No input makes these functions panic, and their
// time grows with the size of the input, which is limited.
//
// Not guaranteed: that what was read makes sense; the engine's compiler checks
// types, names and graphs. Unknown activity types and fields are kept, not
// reported. White space and the order of fields are not kept, and names come
// out in camelCase. nodeId is derived data: it is computed again where it was
// present.
//
// How a form is kept: a field that the domain types hold is written from them;
// where that would differ from the source (an explicit null, a bare scalar for
// a wrapper, an alias), the source is kept in Extra under the field's name, and
// is written as long as reading it still gives what the domain types say.
//
// Concurrency: the functions keep no state.
package elsajson
