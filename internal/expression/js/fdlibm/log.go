package fdlibm

import "math"

// lg are the coefficients of Remez's polynomial for (ln(1+s) - ln(1-s)) / s - 2, in s*s.
var lg = [...]float64{
	6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
}

// evenOdd is the polynomial of lg for s, its even and odd terms summed apart.
func evenOdd(s float64) float64 {
	z := float64(s * s)
	w := float64(z * z)
	even := float64(w * poly(w, lg[1], lg[3], lg[5]))
	return float64(z*poly(w, lg[0], lg[2], lg[4], lg[6])) + even
}

// ofLog is what a logarithm gives for what has none or needs no work; false for the rest.
func ofLog(x float64) (float64, bool) {
	switch {
	case x == 0:
		return math.Inf(-1), true
	case x < 0:
		return math.NaN(), true
	case math.IsNaN(x), math.IsInf(x, 1):
		return x, true
	case x == 1:
		return 0, true
	}
	return 0, false
}

// normal is x as a number that is not subnormal, times 2**k.
func normal(x float64) (y float64, k int32) {
	if high(x) < 0x00100000 {
		return x * 0x1p54, -54
	}
	return x, 0
}

// mantissa splits x > 0 into 2**k and a rest of about 1: from the root of a half to that of two. m is what is behind the comma of
// the rest, as it was in x.
func mantissa(x float64) (rest float64, k, m int32) {
	x, k = normal(x)
	h := high(x)
	k += h>>20 - 1023
	m = h & 0xfffff
	up := (m + 0x95f64) & 0x100000 // then it is halved
	return withHigh(x, m|(up^0x3ff00000)), k + up>>20, m
}

// Log is the natural logarithm.
func Log(x float64) float64 {
	if y, ok := ofLog(x); ok {
		return y
	}
	x, k, m := mantissa(x)
	f, n := x-1, float64(k)
	hi, lo := float64(n*ln2Hi), float64(n*ln2Lo)
	if (m+2)&0xfffff < 3 { // near 1
		if f == 0 {
			return hi + lo
		}
		r := float64(float64(f*f) * (0.5 - float64(0.33333333333333333*f)))
		if k == 0 {
			return f - r
		}
		return hi - ((r - lo) - f)
	}
	s := f / (2 + f)
	r := evenOdd(s)
	if (m-0x6147a)|(0x6b851-m) > 0 {
		square := float64(0.5 * f * f)
		if k == 0 {
			return f - (square - float64(s*(square+r)))
		}
		return hi - ((square - (float64(s*(square+r)) + lo)) - f)
	}
	if k == 0 {
		return f - float64(s*(f-r))
	}
	return hi - ((float64(s*(f-r)) - lo) - f)
}

// Log1p is the natural logarithm of 1+x.
func Log1p(x float64) float64 {
	h, a := high(x), highAbs(x)
	switch {
	case math.IsNaN(x), math.IsInf(x, 1), a < 0x3c900000:
		return x
	case x == -1:
		return math.Inf(-1)
	case x < -1:
		return math.NaN()
	case a < 0x3e200000:
		return x - float64(float64(x*x)*0.5)
	}
	var (
		k    int32
		c    float64 // what 1+x lost
		f    = x
		near = false
	)
	if h >= 0x3fda827a || h < 0 && a > 0x3fd2bec4 { // beyond the roots of two and of a half, less 1
		f, c, k, near = ofSum(x)
	}
	n := float64(k)
	hi, lo := float64(n*ln2Hi), float64(n*ln2Lo)+c
	square := float64(0.5 * f * f)
	if near {
		if f == 0 {
			return hi + lo
		}
		r := float64(square * (1 - float64(0.66666666666666666*f)))
		if k == 0 {
			return f - r
		}
		return hi - ((r - lo) - f)
	}
	s := f / (2 + f)
	z := float64(s * s)
	r := float64(z * poly(z, lg[:]...))
	if k == 0 {
		return f - (square - float64(s*(square+r)))
	}
	return hi - ((square - (float64(s*(square+r)) + lo)) - f)
}

// ofSum splits 1+x into 2**k and 1+f; c is what the sum lost, and near tells that f is nearly 0.
func ofSum(x float64) (f, c float64, k int32, near bool) {
	u := x
	if high(x) < 0x43400000 { // 2**53
		u = 1 + x
	}
	k = high(u)>>20 - 1023
	switch {
	case u == x && high(x) >= 0x43400000:
	case k > 0:
		c = (1 - (u - x)) / u
	default:
		c = (x - (u - 1)) / u
	}
	m := high(u) & 0xfffff
	if m < 0x6a09e {
		u = withHigh(u, m|0x3ff00000)
	} else {
		k++
		u = withHigh(u, m|0x3fe00000)
		m = (0x100000 - m) >> 2
	}
	return u - 1, c, k, m == 0
}

const (
	invLn2Hi = 1.44269504072144627571e+00
	invLn2Lo = 1.67517131648865118353e-10
	invLn10  = 4.34294481903251816668e-01
	log2Hi   = 3.01029995663611771306e-01 // of 10
	log2Lo   = 3.69423907715893078616e-13
)

// Log2 is the logarithm to base 2.
func Log2(x float64) float64 {
	if y, ok := ofLog(x); ok {
		return y
	}
	x, k, _ := mantissa(x)
	f, n := x-1, float64(k)
	square := float64(0.5 * f * f)
	s := f / (2 + f)
	r := float64(s * (square + evenOdd(s)))
	hi := short(f - square)
	lo := (f - hi) - square + r
	whole := float64(hi * invLn2Hi)
	rest := float64((lo+hi)*invLn2Lo) + float64(lo*invLn2Hi)
	sum := n + whole
	rest += (n - sum) + whole
	return rest + sum
}

// Log10 is the logarithm to base 10.
func Log10(x float64) float64 {
	if y, ok := ofLog(x); ok {
		return y
	}
	x, k := normal(x)
	h := high(x)
	k += h>>20 - 1023
	var less int32
	if k < 0 {
		less = 1
	}
	n := float64(k + less)
	x = withHigh(x, h&0xfffff|(0x3ff-less)<<20)
	return float64(n*log2Lo) + float64(invLn10*Log(x)) + float64(n*log2Hi)
}

// Acosh is the inverse of [Cosh].
func Acosh(x float64) float64 {
	switch {
	case x < 1:
		return math.NaN()
	case math.IsNaN(x), math.IsInf(x, 1):
		return x
	case x == 1:
		return 0
	case high(x) >= 0x41b00000: // 2**28
		return Log(x) + math.Ln2
	case high(x) > 0x40000000:
		t := float64(x * x)
		return Log(float64(2*x) - 1/(x+math.Sqrt(t-1)))
	}
	t := x - 1
	return Log1p(t + math.Sqrt(float64(2*t)+float64(t*t)))
}

// Asinh is the inverse of [Sinh].
func Asinh(x float64) float64 {
	a, h := math.Abs(x), highAbs(x)
	var w float64
	switch {
	case h >= 0x7ff00000, h < 0x3e300000: // 2**-28
		return x
	case h > 0x41b00000: // 2**28
		w = Log(a) + math.Ln2
	case h > 0x40000000:
		w = Log(float64(2*a) + 1/(math.Sqrt(float64(x*x)+1)+a))
	default:
		t := float64(x * x)
		w = Log1p(a + t/(1+math.Sqrt(1+t)))
	}
	return math.Copysign(w, x)
}

// Atanh is the inverse of [Tanh].
func Atanh(x float64) float64 {
	a := math.Abs(x)
	var t float64
	switch {
	case math.IsNaN(x), a > 1:
		return math.NaN()
	case a == 1:
		return math.Copysign(math.Inf(1), x)
	case a < 0x1p-28:
		return x
	case a < 0.5:
		t = a + a
		t = 0.5 * Log1p(t+float64(t*a)/(1-a))
	default:
		t = 0.5 * Log1p((a+a)/(1-a))
	}
	return math.Copysign(t, x)
}

// Cbrt is the cubic root.
func Cbrt(x float64) float64 {
	h := highAbs(x)
	if x == 0 || h >= 0x7ff00000 {
		return x
	}
	guess := h/3 + 715094163
	if h < 0x00100000 {
		guess = highAbs(0x1p54*x)/3 + 696219795
	}
	t := math.Copysign(withHigh(0, guess), x)
	r := float64(float64(t*t) * (t / x))
	tail := float64(float64(float64(r*r)*r) * poly(r, -0.758397934778766047437, 0.145996192886612446982))
	t *= poly(r, 1.87595182427177009643, -1.88497979543377169875, 1.621429720105354466140) + tail
	t = math.Float64frombits((math.Float64bits(t) + 0x80000000) &^ 0x3fffffff) // so few bits that t*t is exact
	r = x / (t * t)
	r = (r - t) / (t + t + r)
	return t + float64(t*r)
}
