package filter

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// directive is one of a format: its flags, its width, and what it stands for.
var directive = regexp.MustCompile(`%([-_0^#]*)(\d*)(:*)([EO]?)([A-Za-z%])`)

// strftime writes a time as Ruby's Time#strftime does, which Shopify's Liquid calls. What is no directive there is written
// as it is.
func strftime(format string, t time.Time) string {
	return directive.ReplaceAllStringFunc(format, func(found string) string {
		m := directive.FindStringSubmatch(found)
		d := directed{flags: m[1], sign: m[5][0]}
		d.width, _ = strconv.Atoi(m[2]) // "" is 0
		colons := len(m[3])
		if !modified(m[4], d.sign) || colons > 0 && d.sign != 'z' || colons > 3 {
			return found
		}
		if d.sign == 'z' {
			return d.zone(t, colons)
		}
		if text, ok := d.digits(t); ok {
			return text
		}
		if text, ok := d.text(t); ok {
			return text
		}
		return found
	})
}

// directed is a directive that is being written.
type directed struct {
	flags string
	width int
	sign  byte
}

func (d directed) has(flag string) bool { return strings.Contains(d.flags, flag) }

// modified reports whether a directive may have this letter before it: E or O, which change nothing.
func modified(by string, sign byte) bool {
	switch by {
	case "E":
		return strings.IndexByte("cCxXyY", sign) >= 0
	case "O":
		return strings.IndexByte("deHkIlmMSuUVwWy", sign) >= 0
	}
	return true
}

// padding is that of the flag which stands last; otherwise if there is none.
func (d directed) padding(otherwise byte) byte {
	if i := strings.LastIndexAny(d.flags, "-_0"); i >= 0 {
		otherwise = d.flags[i]
	}
	if otherwise == '_' {
		return ' '
	}
	return otherwise
}

// digits writes what is a number.
func (d directed) digits(t time.Time) (string, bool) {
	switch d.sign {
	case 'L':
		return d.fraction(t, 3), true
	case 'N':
		return d.fraction(t, 9), true
	}
	n, width, pad := numbered(t, d.sign)
	if width == 0 {
		return "", false
	}
	if n < 0 && d.sign != 's' {
		width++ // its sign
	}
	if d.width > 0 {
		width = d.width
	}
	return padded(strconv.FormatInt(n, 10), width, d.padding(pad)), true
}

// numbered is the number that a directive stands for, with the width and the padding that it has; no width if it is none.
func numbered(t time.Time, sign byte) (n int64, width int, pad byte) {
	pad, width = '0', 2
	year, week := t.ISOWeek()
	of := map[byte]int{
		'C': floorDiv(t.Year(), 100), 'y': t.Year() - 100*floorDiv(t.Year(), 100), 'g': year - 100*floorDiv(year, 100),
		'm': int(t.Month()), 'd': t.Day(), 'e': t.Day(), 'H': t.Hour(), 'k': t.Hour(), 'I': (t.Hour()+11)%12 + 1, 'l': (t.Hour()+11)%12 + 1,
		'M': t.Minute(), 'S': t.Second(), 'V': week, 'U': (t.YearDay() + 6 - int(t.Weekday())) / 7, 'W': (t.YearDay() + 6 - int(t.Weekday()+6)%7) / 7,
		'Y': t.Year(), 'G': year, 'j': t.YearDay(), 'u': (int(t.Weekday())+6)%7 + 1, 'w': int(t.Weekday()),
	}
	switch sign {
	case 's':
		return t.Unix(), 1, pad
	case 'e', 'k', 'l':
		pad = ' '
	case 'Y', 'G':
		width = 4
	case 'j':
		width = 3
	case 'u', 'w':
		width = 1
	}
	v, ok := of[sign]
	if !ok {
		return 0, 0, 0
	}
	return int64(v), width, pad
}

func floorDiv(n, by int) int {
	if n < 0 {
		return -((-n + by - 1) / by)
	}
	return n / by
}

// padded fills up a number on its left. Zeros stand behind its sign, spaces before it.
func padded(number string, width int, pad byte) string {
	missing := width - len(number)
	switch {
	case pad == '-' || missing <= 0:
		return number
	case pad == ' ' || number[0] != '-':
		return strings.Repeat(string(pad), missing) + number
	}
	return "-" + strings.Repeat("0", missing) + number[1:]
}

// fraction is the part of a second, cut to some digits.
func (d directed) fraction(t time.Time, digits int) string {
	if d.width > 0 {
		digits = d.width
	}
	text := fmt.Sprintf("%09d", t.Nanosecond())
	if digits > len(text) {
		text += strings.Repeat("0", digits-len(text))
	}
	return text[:digits]
}

// zone is the distance from UTC, with as many colons as there are in the directive.
func (d directed) zone(t time.Time, colons int) string {
	_, offset := t.Zone()
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	hours, minutes, seconds := offset/3600, offset/60%60, offset%60
	rest := fmt.Sprintf("%02d", minutes)
	switch {
	case colons == 1, colons == 3 && minutes != 0 && seconds == 0:
		rest = ":" + rest
	case colons == 2, colons == 3 && seconds != 0:
		rest = fmt.Sprintf(":%s:%02d", rest, seconds)
	case colons == 3:
		rest = ""
	}
	width, number := max(2, d.width-len(rest)-1), strconv.Itoa(hours)
	if d.padding('0') == ' ' {
		return strings.Repeat(" ", max(0, width-len(number))) + sign + number + rest
	}
	return sign + padded(number, width, '0') + rest
}

// composed are the directives that stand for others.
var composed = map[byte]string{
	'c': "%a %b %e %T %Y", 'D': "%m/%d/%y", 'x': "%m/%d/%y", 'F': "%Y-%m-%d", 'T': "%H:%M:%S", 'X': "%H:%M:%S", 'R': "%H:%M", 'r': "%I:%M:%S %p", 'v': "%e-%^b-%Y",
}

// text writes what is a text, or is made of other directives.
func (d directed) text(t time.Time) (string, bool) {
	if format, ok := composed[d.sign]; ok {
		text := strftime(format, t)
		if d.has("^") {
			text = strings.ToUpper(text)
		}
		return d.aligned(text, ' '), true
	}
	var text string
	lower := false // is what the flag # makes of it
	switch d.sign {
	case 'A':
		text = t.Weekday().String()
	case 'a':
		text = t.Weekday().String()[:3]
	case 'B':
		text = t.Month().String()
	case 'b', 'h':
		text = t.Month().String()[:3]
	case 'p':
		text, lower = t.Format("PM"), true
	case 'P':
		text = t.Format("pm")
	case 'Z':
		text, _ = t.Zone()
		lower = true
	case 'n':
		text = "\n"
	case 't':
		text = "\t"
	case '%':
		text = "%"
	default:
		return "", false
	}
	switch {
	case d.has("#") && lower:
		text = strings.ToLower(text)
	case d.has("#") || d.has("^"):
		text = strings.ToUpper(text)
	}
	return d.aligned(text, '-'), true
}

// aligned fills up a text on its left; short is what the flag - makes of that, which is - if nothing is filled up then.
func (d directed) aligned(text string, short byte) string {
	pad := d.padding(' ')
	if pad == '-' {
		pad = short
	}
	if pad == '-' || len(text) >= d.width {
		return text
	}
	return strings.Repeat(string(pad), d.width-len(text)) + text
}
