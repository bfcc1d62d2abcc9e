// Package dotnet has the members of .NET's types that Elsa's scripts use: TimeSpan, Guid, DateTime and names of enums.
//
// Guaranteed: a TimeSpan is kept as its text in .NET's constant form, a date is JavaScript's own, a name of an enum a text, and
// a member that is not here is an error with its name. It is no .NET: nothing else of these types is here.
package dotnet
