// Package csharp translates C# of definitions to the JavaScript that runs here: a subset, by the types that C# gives.
//
// Guaranteed: what is translated means what C# means, by C#'s own types: whole numbers divide and overflow as there, a text and a
// value join as there, members have .NET's names. Where a type is not known and the meaning depends on it, a function of
// js/dotnet (CSharp.…) decides as it runs, or the script is refused. What is beyond the subset is refused with its line, its
// column, what it is, and what to write instead. No source makes the translator panic, and its time and what it writes grow
// with the source, which is bounded, as is how deep it nests.
//
// Not guaranteed: what needs .NET itself. The culture is the invariant one, times are UTC and have milliseconds, a decimal is a
// number of 53 bits that is computed with as a decimal; docs/csharp.md has the table. C# that .NET's compiler would
// refuse may be taken, if it can mean one thing only.
//
// How: one pass. The parser knows the type of what it has read, and writes JavaScript at once; there is no tree. [members] are
// the members of .NET's types as a table.
package csharp
