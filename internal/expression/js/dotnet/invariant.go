package dotnet

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// mostFormat is how many bytes a format may have.
const mostFormat = 200

// invariantDates are what .NET's formats of one letter mean in the invariant culture, for a time with its offset.
var invariantDates = map[string]string{
	"": "MM/dd/yyyy HH:mm:ss zzz", "d": "MM/dd/yyyy", "D": "dddd, dd MMMM yyyy", "f": "dddd, dd MMMM yyyy HH:mm", "F": "dddd, dd MMMM yyyy HH:mm:ss",
	"g": "MM/dd/yyyy HH:mm", "G": "MM/dd/yyyy HH:mm:ss", "m": "MMMM dd", "M": "MMMM dd", "o": "yyyy-MM-ddTHH:mm:ss.fffffffzzz", "O": "yyyy-MM-ddTHH:mm:ss.fffffffzzz",
	"s": "yyyy-MM-ddTHH:mm:ss", "t": "HH:mm", "T": "HH:mm:ss", "y": "yyyy MMMM", "Y": "yyyy MMMM",
}

// InvariantTime is a time in a format of .NET's, as DateTimeOffset writes it in the invariant culture. An error says what
// is wrong with the format.
func InvariantTime(t time.Time, format string) (string, error) {
	if len(format) > mostFormat {
		return "", formatError(fmt.Sprintf("a format may have %d bytes, and this one has %d", mostFormat, len(format)))
	}
	switch format {
	case "u", "r", "R":
		return formatTime(t.UTC(), format), nil
	}
	if of, ok := invariantDates[format]; ok {
		format = of
	} else if len(format) == 1 {
		return "", formatError("times have no format " + format + "; they have d, D, f, F, g, G, M, o, r, s, t, T, u, y, and forms such as yyyy-MM-dd HH:mm:ss")
	}
	var out strings.Builder
	for rest := format; rest != ""; {
		n, err := datePart(&out, t, rest)
		if err != nil {
			return "", err
		}
		rest = rest[n:]
	}
	return out.String(), nil
}

// datePart writes what the beginning of a format means, and gives how long that is.
func datePart(out *strings.Builder, t time.Time, format string) (int, error) {
	c := format[0]
	n := 1
	for n < len(format) && format[n] == c {
		n++
	}
	switch c {
	case '\\':
		_, size := utf8.DecodeRuneInString(format[1:])
		if size == 0 {
			return 0, formatError(`\ stands before the letter that is meant, and here at the end`)
		}
		out.WriteString(format[1 : 1+size])
		return 1 + size, nil
	case '\'', '"':
		end := strings.IndexByte(format[1:], c)
		if end < 0 {
			return 0, formatError("a quote has no end")
		}
		out.WriteString(format[1 : 1+end])
		return end + 2, nil
	case '%':
		if len(format) == 1 || format[1] == '%' || !strings.ContainsRune("yMdHhmsfFtgKz", rune(format[1])) {
			return 0, formatError("% stands before one letter of a format")
		}
		return 1, nil
	case 'f', 'F':
		return n, secondPart(out, t, c, n)
	case 'K':
		zone(out, t, 3)
		return 1, nil
	case 'z':
		zone(out, t, n)
		return n, nil
	}
	if text, ok := partOf(t, c, n); ok {
		out.WriteString(text)
		return n, nil
	}
	_, size := utf8.DecodeRuneInString(format)
	out.WriteString(format[:size])
	return size, nil
}

// partOf is a part of a time, by its letter and how often that stands there.
func partOf(t time.Time, letter byte, n int) (string, bool) {
	padded := func(v int) (string, bool) { return fmt.Sprintf("%0*d", min(n, 2), v), true }
	named := func(name string, v int) (string, bool) {
		switch {
		case n == 3:
			return name[:3], true
		case n > 3:
			return name, true
		}
		return padded(v)
	}
	switch letter {
	case 'y':
		if n < 3 {
			return padded(t.Year() % 100)
		}
		return fmt.Sprintf("%0*d", n, t.Year()), true
	case 'M':
		return named(t.Month().String(), int(t.Month()))
	case 'd':
		return named(t.Weekday().String(), t.Day())
	case 'H':
		return padded(t.Hour())
	case 'h':
		return padded((t.Hour()+11)%12 + 1)
	case 'm':
		return padded(t.Minute())
	case 's':
		return padded(t.Second())
	case 't':
		return t.Format("PM")[:min(n, 2)], true
	case 'g':
		return "A.D.", true
	}
	return "", false
}

// secondPart is the fraction of a second; F leaves out zeros at its end, and a point before it if nothing is left.
func secondPart(out *strings.Builder, t time.Time, letter byte, n int) error {
	if n > 7 {
		return formatError("a second has seven digits behind its point, and the format asks for more")
	}
	digits := fmt.Sprintf("%09d", t.Nanosecond())[:n]
	if letter == 'F' {
		if digits = strings.TrimRight(digits, "0"); digits == "" {
			before := strings.TrimSuffix(out.String(), ".")
			out.Reset()
			out.WriteString(before)
		}
	}
	out.WriteString(digits)
	return nil
}

// zone is the offset: +2, +02 or +02:00.
func zone(out *strings.Builder, t time.Time, n int) {
	_, seconds := t.Zone()
	sign := '+'
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	out.WriteRune(sign)
	fmt.Fprintf(out, "%0*d", min(n, 2), seconds/3600)
	if n > 2 {
		fmt.Fprintf(out, ":%02d", seconds/60%60)
	}
}

var (
	standardDecimal = regexp.MustCompile(`^([CcFfNnPp])(\d{0,2})$`)
	mostDecimal     = new(big.Rat).SetInt(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 96), big.NewInt(1)))
	hundred         = big.NewRat(100, 1)
)

const decimalFormats = "numbers have C, F, G, N and P, with digits such as N2, and forms of # and 0 such as #,##0.00 and 0.0%"

// InvariantDecimal is a number in a format of .NET's, as its type decimal writes it in the invariant culture. An error says
// what is wrong.
func InvariantDecimal(r *big.Rat, format string) (string, error) {
	if new(big.Rat).Abs(r).Cmp(mostDecimal) > 0 {
		return "", formatError("the number is beyond a decimal of .NET, which has 28 digits")
	}
	m := standardDecimal.FindStringSubmatch(format)
	switch {
	case format == "", format == "G", format == "g":
		return strings.TrimSuffix(strings.TrimRight(r.FloatString(28), "0"), "."), nil
	case m == nil:
		return customDecimal(r, format)
	}
	digits := 2
	if m[2] != "" {
		digits, _ = strconv.Atoi(m[2])
	}
	letter := strings.ToUpper(m[1])
	if letter == "P" {
		r = new(big.Rat).Mul(r, hundred)
	}
	s := r.FloatString(digits)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	if letter != "F" {
		s = grouped(s)
	}
	negative := strings.HasPrefix(s, "-")
	switch {
	case letter == "P":
		return s + " %", nil
	case letter == "C" && negative:
		return "(¤" + s[1:] + ")", nil
	case letter == "C":
		return "¤" + s, nil
	}
	return s, nil
}

func customDecimal(r *big.Rat, format string) (string, error) {
	form, percent := strings.CutSuffix(format, "%")
	if len(format) > mostFormat || form == "" || !customNumber.MatchString(form) {
		return "", formatError(decimalFormats)
	}
	if percent {
		r = new(big.Rat).Mul(r, hundred)
	}
	_, part, _ := strings.Cut(form, ".")
	s := r.FloatString(len(part))
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	s = shaped(s, form)
	if percent {
		s += "%"
	}
	return s, nil
}
