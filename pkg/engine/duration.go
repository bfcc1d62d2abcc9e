package engine

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

var (
	// .NET's TimeSpan: [-][d.]hh:mm[:ss[.fffffff]]
	clockDuration = regexp.MustCompile(`^(-)?(?:(\d{1,8})\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,9})?)?$`)
	// ISO 8601 without years and months, whose length varies.
	isoDuration = regexp.MustCompile(`^(-)?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)
	dayDuration = regexp.MustCompile(`^(-)?(\d+)d(.*)$`)
)

// maxDays is the longest duration, in days: 292 years.
const maxDays = 106_751

// goDuration is a duration of Go's notation, however long.
var goDuration = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*$`)

// ParseDuration reads a duration in any of three notations: Go's with days
// ("90s", "48h", "1d12h"), .NET's TimeSpan ("00:00:05", "1.12:00:00") and ISO
// 8601 ("PT5M", "P2DT1H"; no years or months). It returns an error that shows
// examples for anything else, a bare number among them, and one that says so for what is too long.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	bad := fmt.Errorf(`%q is not a duration; write it as "90s", "48h", "1d12h", "1.12:30:00" or "PT5M"`, workflow.CutBytes(s, 80))
	long := fmt.Errorf(`%q is too long a duration; the longest is %dd, which is 292 years. To wait longer, give a time: startAt takes the years up to %d`, workflow.CutBytes(s, 80), maxDays, workflow.LastYear)
	if m := clockDuration.FindStringSubmatch(text); m != nil {
		secs := 0.0
		if m[6] != "" {
			secs, _ = strconv.ParseFloat("0"+m[6], 64)
		}
		if num(m[4]) > 59 || num(m[5]) > 59 || num(m[3]) > 23 {
			return 0, bad
		}
		return total(m[1], long, num(m[2])*24*3600+num(m[3])*3600+num(m[4])*60+num(m[5])+secs)
	}
	if m := isoDuration.FindStringSubmatch(text); m != nil && strings.TrimLeft(text, "-PT") != "" && !strings.HasSuffix(text, "T") {
		return total(m[1], long, num(m[2])*7*24*3600+num(m[3])*24*3600+num(m[4])*3600+num(m[5])*60+num(m[6]))
	}
	if m := dayDuration.FindStringSubmatch(text); m != nil {
		rest := time.Duration(0)
		if m[3] != "" {
			var err error
			switch rest, err = time.ParseDuration(m[3]); {
			case err != nil && goDuration.MatchString(m[3]):
				return 0, long
			case err != nil, rest < 0:
				return 0, bad
			}
		}
		return total(m[1], long, num(m[2])*24*3600+rest.Seconds())
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && goDuration.MatchString(text):
		return 0, long
	case err != nil, text == "0":
		return 0, bad
	}
	return d, nil
}

func num(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64) // "" and nothing else fails here, and is 0
	return f
}

func total(sign string, long error, seconds float64) (time.Duration, error) {
	if seconds > math.MaxInt64/1e9-1 {
		return 0, long
	}
	whole, frac := math.Modf(seconds)
	d := time.Duration(whole)*time.Second + time.Duration(math.Round(frac*1e9))
	if sign == "-" {
		d = -d
	}
	return d, nil
}
