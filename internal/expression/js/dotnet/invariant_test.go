package dotnet

import (
	"math/big"
	"strings"
	"testing"
	"time"
)

// As DateTimeOffset.ToString in the invariant culture; the texts are those of .NET's documentation of its formats.
func TestTimesInFormatsOfDotnet(t *testing.T) {
	t.Parallel()
	at := time.Date(2009, 6, 5, 13, 4, 7, 61_700_000, time.FixedZone("", -7*3600))
	for format, want := range map[string]string{
		"d": "06/05/2009", "D": "Friday, 05 June 2009", "f": "Friday, 05 June 2009 13:04", "F": "Friday, 05 June 2009 13:04:07", "g": "06/05/2009 13:04", "G": "06/05/2009 13:04:07",
		"m": "June 05", "o": "2009-06-05T13:04:07.0617000-07:00", "r": "Fri, 05 Jun 2009 20:04:07 GMT", "s": "2009-06-05T13:04:07", "t": "13:04", "T": "13:04:07", "u": "2009-06-05 20:04:07Z", "y": "2009 June",
		"": "06/05/2009 13:04:07 -07:00", "%d": "5", "%h": "1", "%t": "P", "y yy yyy yyyyy": "9 09 2009 02009", "M MM MMM MMMM": "6 06 Jun June", "d dd ddd dddd": "5 05 Fri Friday",
		"h:hh:H:HH": "1:01:13:13", "m mm s ss": "4 04 7 07", "t tt": "P PM", "f ff fff fffffff": "0 06 061 0617000", "ss.FFF": "07.061", "ss.FFFFFFF": "07.0617", "z zz zzz K": "-7 -07 -07:00 -07:00",
		`yyyy'y'"M"\d`: "2009yMd", "HH 'o''clock'": "13 oclock", "d/M-ü": "5/6-ü", "gg": "A.D.",
	} {
		if got, err := InvariantTime(at, format); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", format, got, err, want)
		}
	}
	if got, err := InvariantTime(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "h tt|ss.FFF|yyyy|zzz"); err != nil || got != "12 AM|00|0001|+00:00" {
		t.Errorf("%q, %v", got, err)
	}
	for _, format := range []string{"x", "U", "K", `\`, "'a", `y"`, "%", "%%", "a%", "ffffffff", strings.Repeat("y", 201)} {
		if got, err := InvariantTime(at, format); err == nil {
			t.Errorf("%q: %q", format, got)
		}
	}
}

// As decimal.ToString in the invariant culture.
func TestDecimalsInFormatsOfDotnet(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"1234.5", "N2", "1,234.50"}, {"-1234.567", "N", "-1,234.57"}, {"2.5", "F0", "3"}, {"-2.5", "f0", "-3"}, {"-0.004", "N2", "0.00"}, {"12", "F3", "12.000"},
		{"0.12345", "P", "12.35 %"}, {"-1.5", "P0", "-150 %"}, {"1234", "C", "¤1,234.00"}, {"-1", "C0", "(¤1)"}, {"1.50", "G", "1.5"}, {"100", "", "100"}, {"0.0000001", "G", "0.0000001"},
		{"5", "000", "005"}, {"1234567.891", "#,##0.0#", "1,234,567.89"}, {"0", "#", ""}, {"0.5", "#.#", ".5"}, {"0.125", "0.0%", "12.5%"}, {"-0.001", "0.0", "0.0"},
		{"79228162514264337593543950335", "N0", "79,228,162,514,264,337,593,543,950,335"}, {"1", "F99", "1." + strings.Repeat("0", 99)},
	} {
		r, _ := new(big.Rat).SetString(c[0])
		if got, err := InvariantDecimal(r, c[1]); err != nil || got != c[2] {
			t.Errorf("%s as %q: %q, %v; want %q", c[0], c[1], got, err, c[2])
		}
	}
	for _, c := range [][2]string{{"1", "D2"}, {"1", "X"}, {"1", "E2"}, {"1", "R"}, {"1", "F100"}, {"1", "0;0"}, {"1", "%"}, {"1", strings.Repeat("0", 300)}, {"79228162514264337593543950336", "F0"}} {
		r, _ := new(big.Rat).SetString(c[0])
		if got, err := InvariantDecimal(r, c[1]); err == nil {
			t.Errorf("%s as %q: %q", c[0], c[1], got)
		}
	}
}
