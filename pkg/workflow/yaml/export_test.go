package yaml

// CommonNames are the keys that any activity may have.
var CommonNames = commonNames
