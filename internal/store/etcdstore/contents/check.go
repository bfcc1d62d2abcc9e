package contents

import (
	"fmt"
	"strconv"
	"strings"
)

// Check looks through the keys of files, below their range and in order. Of a file all pieces are there, or none is the
// first; tell gets what is otherwise: that one may be for a moment, or a hint what people do about it.
func Check(below []string, has func(instance string) bool, tell func(rule, below, detail, hint string)) {
	last, next := "", 0
	for _, at := range below {
		parts := strings.Split(at, "/")
		n, err := 0, error(nil)
		if len(parts) == 3 {
			n, err = strconv.Atoi(parts[2])
		}
		if len(parts) != 3 || err != nil {
			tell("content-unknown", at, "there is no such key", "")
			continue
		}
		of := parts[0] + "/" + parts[1]
		if of != last {
			last, next = of, 0
			if !has(parts[0]) {
				tell("content-without-instance", at, "there is no such instance: it is taken up now, or goes an hour after it came", "")
			}
			if n > 0 {
				tell("content-begun", at, "the file has no beginning: it is taken up now, or was given up, and goes with its instance", "")
				next = n
			}
		}
		if n != next {
			tell("content-gap", at, fmt.Sprintf("pieces %d to %d of the file are not there", next, n-1), "what the instance did with the file has to be done again: send or download it again")
		}
		next = n + 1
	}
}
