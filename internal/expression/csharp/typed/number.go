package typed

import (
	"math"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/expression/csharp/scan"
)

// Number is a number as it is written.
func (p *Maker) Number(t scan.Token) Expr {
	s := strings.ToLower(strings.ReplaceAll(t.Text, "_", ""))
	e := Expr{Typ: Of(Integer), Prec: Primary, Off: t.Off, Constant: true, Written: true}
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0b") {
		return inBits(s, t, e)
	}
	suffix := strings.TrimLeft(s, "0123456789.e+-")
	digits := strings.TrimSuffix(s, suffix)
	f, err := strconv.ParseFloat(digits, 64)
	whole := !strings.ContainsAny(digits, ".e")
	n, notWhole := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil, suffix == "f" || strings.Contains(suffix, "u"):
		scan.Fail(t.Off, "the number "+t.Text, "write it as int, long (1L), double (1.5) or decimal (1.5m)")
	case suffix == "m":
		e.Typ = Of(Decimal)
	case suffix == "d" || suffix == "" && !whole:
		e.Typ = Of(Double)
	case whole && p.unsigned(suffix, n):
		scan.Fail(t.Off, "the number "+t.Text+", which is a uint in C#,", "write it with L")
	case (suffix == "" || suffix == "l") && whole && notWhole == nil && n < 1<<53:
		return inWhole(suffix, n, e)
	default:
		scan.Fail(t.Off, "the number "+t.Text, "write a whole number below 2^53, a double or a text")
	}
	if e.Kind == Decimal && len(strings.Trim(strings.ReplaceAll(digits, ".", ""), "0")) > 15 {
		p.Note(t.Off, "decimal-digits", "a decimal here is a number of 53 bits: of %s some 16 digits are kept", t.Text)
	}
	e.JS = strconv.FormatFloat(f, 'g', -1, 64)
	return e
}

// unsigned tells a number that C# takes for a uint, where nothing else is wanted.
func (p *Maker) unsigned(suffix string, n int64) bool {
	return suffix == "" && n > math.MaxInt32 && n <= math.MaxUint32 && !p.Wide
}

func inWhole(suffix string, n int64, e Expr) Expr {
	if suffix == "l" || n > math.MaxInt32 {
		e.Typ = Of(Long)
	}
	e.JS = strconv.FormatInt(n, 10)
	return e
}

// inBits is a number such as 0x1F or 0b101.
func inBits(s string, t scan.Token, e Expr) Expr {
	digits := strings.TrimSuffix(s, "l")
	n, err := strconv.ParseUint(digits, 0, 64)
	if err != nil || n >= 1<<53 || digits == s && n > 1<<31-1 {
		scan.Fail(t.Off, "the number "+t.Text, "write it as a whole number below 2^53, with L beyond 2,147,483,647")
	}
	if digits != s {
		e.Typ = Of(Long)
	}
	e.JS = strconv.FormatUint(n, 10)
	return e
}
