// Package typed has the values of C# with their types, and makes the JavaScript of what is done with them: operators,
// conversions, and the members of .NET's types, which are a table ([members]).
//
// Guaranteed: what it makes means what C# means by the types. What the types do not allow, or do not decide, is refused. It is
// for internal use by csharp, its parent.
package typed
