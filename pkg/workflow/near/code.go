package near

import "regexp"

// bareCode is how an expression begins that lacks its ${{ }}, or has another language's.
var bareCode = regexp.MustCompile(`^\s*(?:\{\{\s*)?!?\(*\s*(?:inputs|variables|outputs|secrets)\s*[.\[(]\s*["'\w]`)

// IsBareCode tells whether a text reads like an expression that lacks its ${{ }}: inputs.amount > 10.
func IsBareCode(text string) bool { return bareCode.MatchString(text) }
