package value

import (
	"net/http"
	"strconv"
	"strings"
)

// NumberOf reads a number from text, nil if it is none. It takes what Go does too,
// such as .5 and +7.
func NumberOf(s string) any {
	if n, ok := ParseNumber(s); ok {
		return n
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil
	}
	return Float(f)
}

// HTTPStatus is the number of a status by .NET's name, such as OK or NotFound.
func HTTPStatus(name string) (code int64, ok bool) {
	code, ok = statusByName[strings.ToLower(strings.TrimSpace(name))]
	return code, ok
}

var statusByName = func() map[string]int64 {
	m := map[string]int64{"redirect": 302, "ambiguous": 300, "moved": 301, "unused": 306, "redirectmethod": 303, "redirectkeepverb": 307}
	for code := 100; code < 600; code++ {
		if t := http.StatusText(code); t != "" {
			m[strings.ToLower(strings.NewReplacer(" ", "", "-", "", "'", "").Replace(t))] = int64(code)
		}
	}
	return m
}()
