// Package strictjson reads the JSON of a request's body and tells of every
// mistake at once, each with its place: a field that there is not, a value of the wrong type, a name given twice,
// a text that is no JSON, nesting without end.
//
// Numbers keep their digits. A body that it takes has nothing in it that was not looked at.
package strictjson
