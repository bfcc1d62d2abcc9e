package fdlibm

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

var one = map[string]func(float64) float64{
	"acos": Acos, "acosh": Acosh, "asin": Asin, "asinh": Asinh, "atan": Atan, "atanh": Atanh, "cbrt": Cbrt, "cos": Cos, "cosh": Cosh, "exp": Exp,
	"expm1": Expm1, "log": Log, "log10": Log10, "log1p": Log1p, "log2": Log2, "sin": Sin, "sinh": Sinh, "tan": Tan, "tanh": Tanh,
}

var two = map[string]func(x, y float64) float64{"atan2": Atan2, "pow": Pow}

// Each line was written by Node 20.20.2 (testdata/table.js): a function, its arguments and its result, as the bits of float64 in hex.
func TestNodeGivesTheSameBits(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/node.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		numbers := make([]float64, len(words)-1)
		for i, w := range words[1:] {
			numbers[i] = number(t, w)
		}
		want := numbers[len(numbers)-1]
		var got float64
		if len(numbers) == 2 {
			got = one[words[0]](numbers[0])
		} else {
			got = two[words[0]](numbers[0], numbers[1])
		}
		rows[words[0]]++
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s of %v: %v (%x), want %v (%s)", words[0], numbers[:len(numbers)-1], got, math.Float64bits(got), want, words[len(words)-1])
		}
	}
	for name := range one {
		if rows[name] < 75 {
			t.Errorf("%d rows of %s", rows[name], name)
		}
	}
}

func number(t *testing.T, hex string) float64 {
	t.Helper()
	if hex == "NaN" {
		return math.NaN()
	}
	bits, err := strconv.ParseUint(hex, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return math.Float64frombits(bits)
}
