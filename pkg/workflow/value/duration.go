package value

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	// .NET's TimeSpan: [-][d.]hh:mm[:ss[.fffffff]], or d:hh:mm:ss
	clockDuration = regexp.MustCompile(`^(-)?(?:(\d{1,8})\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,9})?)?$`)
	fourParts     = regexp.MustCompile(`^(-?\d{1,8}):(\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d{1,9})?)$`)
	// ISO 8601; the last of hours, minutes and seconds may have decimals.
	isoDuration = regexp.MustCompile(`^(?i)([+-])?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?(?:(\d+)[.,](\d{1,9})([HMS]))?)?$`)
	dayDuration = regexp.MustCompile(`^(-)?(\d+)d(.*)$`)
)

// LastYear is the last one that a time may be of.
const LastYear = 9999

// maxDays is the longest duration, in days: 292 years.
const maxDays = 106_751

// goDuration is a duration of Go's notation, however long.
var goDuration = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*$`)

// ParseDuration reads a duration in any of three notations: Go's with days
// ("90s", "48h", "1d12h"), .NET's TimeSpan ("00:00:05", "1.12:00:00") and ISO
// 8601 ("PT5M", "P2DT1H", "PT1,5H"; no years or months). It returns an error that shows
// examples for anything else, a bare number among them, and one that says so for what is too long
// or has years or months.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	bad := fmt.Errorf(`%q is not a duration; write it as "90s", "48h", "1d12h", "1.12:30:00" or "PT5M"`, CutBytes(s, 80))
	long := fmt.Errorf(`%q is too long a duration; the longest is %dd, which is 292 years. To wait longer, give a time: startAt takes the years up to %d`, CutBytes(s, 80), maxDays, LastYear)
	if m := clockDuration.FindStringSubmatch(fourParts.ReplaceAllString(text, "$1.$2")); m != nil {
		if num(m[4]) > 59 || num(m[5]) > 59 || num(m[3]) > 23 {
			return 0, bad
		}
		return total(m[1], long, num(m[2])*24*3600+num(m[3])*3600+num(m[4])*60+num(m[5]), fraction(m[6], time.Second))
	}
	if m := isoDuration.FindStringSubmatch(text); m != nil && strings.ContainsAny(text, "0123456789") && !strings.HasSuffix(strings.ToUpper(text), "T") {
		return isoTotal(m, text, bad, long)
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
		return total(m[1], long, num(m[2])*24*3600, rest)
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

// isoTotal adds up what isoDuration found.
func isoTotal(m []string, text string, bad, long error) (time.Duration, error) {
	if num(m[2])+num(m[3]) > 0 {
		return 0, fmt.Errorf("%q has years or months, which are of no one length: write it in days or weeks, as in P30D", CutBytes(text, 80))
	}
	seconds := num(m[4])*7*24*3600 + num(m[5])*24*3600 + num(m[6])*3600 + num(m[7])*60 + num(m[8])
	rest := time.Duration(0)
	if of := strings.ToUpper(m[11]); of != "" {
		at := strings.Index("HMS", of)
		for _, found := range m[6+at : 9] { // the decimals are of the last one, which is there once
			if found != "" {
				return 0, bad
			}
		}
		unit := []time.Duration{time.Hour, time.Minute, time.Second}[at]
		seconds += num(m[9]) * unit.Seconds()
		rest = fraction("."+m[10], unit)
	}
	return total(m[1], long, seconds, rest)
}

// fraction is what decimals, as in ".25", are of a unit.
func fraction(decimals string, unit time.Duration) time.Duration {
	return time.Duration(math.Round(num(decimals) * float64(unit)))
}

// num is a number; "" is 0.
func num(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64) // "" fails here, and what is too large, which is infinite
	return f
}

func total(sign string, long error, seconds float64, rest time.Duration) (time.Duration, error) {
	if seconds+rest.Seconds() > math.MaxInt64/1e9-1 {
		return 0, long
	}
	d := time.Duration(seconds)*time.Second + rest
	if sign == "-" {
		d = -d
	}
	return d, nil
}
