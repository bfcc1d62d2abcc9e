package filter

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Dates and times in texts, as Shopify's Liquid and liquidjs both read them. What only one of them reads, or each in another
// way (03/05/2026), is no time here.
const (
	monthPart = `(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
	dayPart   = `(?P<day>\d{1,2})`
	yearPart  = `(?P<year>\d{4})`
	anyYear   = `(?P<year>\d{4}|\d\d)`
	clockPart = `(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>\.\d+)?)?`
	halfPart  = `(?:\s+(?P<half>[ap])m)?`
	zonePart  = `(?:\s*(?P<zone>z|(?:utc|gmt)?[+-]\d\d(?::?\d\d)?|utc|gmt|[ecmp][sd]t))?`
	namedDay  = `(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*\.?,?\s+)?`
	clock     = `(?:(?:\s+|,\s*)` + clockPart + halfPart + zonePart + `)?$`
)

// timeTexts are the forms of them.
var timeTexts = compiled(
	`^`+yearPart+`(?P<sign>[-/.])`+`(?P<number>\d{1,2})[-/.]`+dayPart+`(?:(?:t|\s+|,\s*)`+clockPart+halfPart+zonePart+`)?$`,
	`^`+namedDay+dayPart+`[-\s]*`+monthPart+`[-,\s]*`+anyYear+clock,
	`^`+namedDay+monthPart+`\s*`+dayPart+`(?:,\s*|\s+)`+yearPart+clock,
	`^`+yearPart+`[-\s]+`+monthPart+`[-\s]*`+dayPart+clock,
	`^`+monthPart+`,?\s+`+yearPart+clock,
	`^`+namedDay+monthPart+`\s+`+dayPart+`\s+`+clockPart+zonePart+`\s+`+yearPart+`$`,
)

func compiled(forms ...string) (out []*regexp.Regexp) {
	for _, form := range forms {
		out = append(out, regexp.MustCompile(`(?i)`+form))
	}
	return out
}

// mostTimeText is how long the text of a time may be.
const mostTimeText = 64

// readTime reads a time from a text; not ok for what is none. Without a zone it is UTC.
func readTime(text string) (time.Time, bool) {
	if len(text) > mostTimeText {
		return time.Time{}, false
	}
	for _, form := range timeTexts {
		m := form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		part := map[string]string{}
		for i, name := range form.SubexpNames() {
			part[name] = m[i]
		}
		return timeIn(part)
	}
	return time.Time{}, false
}

// timeIn is the time of the parts of a text; not ok if there is no such day, or no such time of a day. 24:00 is the end of a day.
func timeIn(part map[string]string) (time.Time, bool) {
	number := func(name string) int { n, _ := strconv.Atoi(part[name]); return n } // "" is 0
	year, month, day := number("year"), number("number"), number("day")
	if len(part["year"]) == 2 {
		if year += 1900; year < 1969 {
			year += 100
		}
	}
	if name := strings.ToLower(part["month"]); name != "" {
		month = strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", name)/3 + 1
	}
	if part["day"] == "" {
		day = 1
	}
	hour, minute, second := number("hour"), number("minute"), number("second")
	if half := strings.ToLower(part["half"]); half != "" {
		if hour > 12 {
			return time.Time{}, false
		}
		if hour %= 12; half == "p" {
			hour += 12
		}
	}
	if hour > 24 || hour == 24 && minute+second > 0 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	nanos := 0
	if digits := strings.TrimPrefix(part["fraction"], "."); digits != "" {
		nanos, _ = strconv.Atoi((digits + "000000000")[:9])
	}
	zone, ok := zoneIn(strings.ToLower(part["zone"]))
	if !ok || time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() != day || month < 1 || month > 12 {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, nanos, zone), true
}

// northAmerican are the hours behind UTC of the zones whose letters RFC 822 has.
var northAmerican = map[string]int{"est": 5, "edt": 4, "cst": 6, "cdt": 5, "mst": 7, "mdt": 6, "pst": 8, "pdt": 7}

// zoneIn is the zone that a text names, in small letters; UTC for none.
func zoneIn(text string) (*time.Location, bool) {
	if hours := northAmerican[text]; hours > 0 {
		return time.FixedZone(strings.ToUpper(text), -hours*3600), true
	}
	digits := strings.ReplaceAll(strings.TrimLeft(text, "utcgmz"), ":", "")
	if digits == "" {
		return time.UTC, true
	}
	offset, _ := strconv.Atoi((digits[1:] + "00")[:4])
	hours, minutes := offset/100, offset%100
	if hours > 23 || minutes > 59 {
		return nil, false
	}
	seconds := hours*3600 + minutes*60
	if digits[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone("", seconds), true
}
