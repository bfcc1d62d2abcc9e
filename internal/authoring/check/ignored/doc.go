// Package ignored finds what a definition of Elsa's JSON asks for and does not get here: settings that only Elsa follows,
// and activities that go another way.
package ignored
