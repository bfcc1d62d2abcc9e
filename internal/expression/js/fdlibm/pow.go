package fdlibm

import "math"

// Pow is x to the power of y. As JavaScript has it, one to an infinite power is none.
func Pow(x, y float64) float64 {
	if z, ok := simplePow(x, y); ok {
		return z
	}
	whole, odd := wholeness(y)
	if z, ok := edgePow(x, y, odd); ok {
		return z
	}
	sign := 1.0
	if x < 0 {
		if !whole {
			return math.NaN()
		}
		if odd {
			sign = -1
		}
	}
	a := math.Abs(x)
	var hi, lo float64 // together, the logarithm of a to base 2
	if highAbs(y) > 0x41e00000 {
		if grows, far := beyond(a, y); far && grows {
			return sign * math.Inf(1)
		} else if far {
			return sign * 0
		}
		hi, lo = log2Near(a)
	} else {
		hi, lo = log2Pieces(a)
	}
	// The power is that of 2, to y times the logarithm, in two pieces too.
	y1 := short(y)
	tail := float64((y-y1)*hi) + float64(y*lo)
	head := float64(y1 * hi)
	switch z := tail + head; {
	case z > 1024, z == 1024 && tail+8.0085662595372944372e-17 > z-head:
		return sign * math.Inf(1)
	case z < -1075, z == -1075 && tail <= z-head:
		return sign * 0
	}
	return sign * exp2(head, tail)
}

// simplePow is for powers that have a name of their own.
func simplePow(x, y float64) (float64, bool) {
	switch {
	case y == 0:
		return 1, true
	case math.IsNaN(x), math.IsNaN(y):
		return math.NaN(), true
	case math.IsInf(y, 0):
		a := math.Abs(x)
		switch {
		case a == 1:
			return math.NaN(), true
		case (a > 1) == (y > 0):
			return math.Inf(1), true
		}
		return 0, true
	case y == 1:
		return x, true
	case y == -1:
		return 1 / x, true
	case y == 2:
		return x * x, true
	case y == 0.5 && !math.Signbit(x):
		return math.Sqrt(x), true
	}
	return 0, false
}

// wholeness tells whether y is a whole number, and an odd one.
func wholeness(y float64) (whole, odd bool) {
	if whole = math.Trunc(y) == y; whole {
		odd = math.Mod(y, 2) != 0
	}
	return whole, odd
}

// edgePow is for powers of 0, 1 and what is infinite, and their negatives.
func edgePow(x, y float64, odd bool) (float64, bool) {
	a := math.Abs(x)
	if a != 0 && a != 1 && !math.IsInf(a, 0) {
		return 0, false
	}
	if y < 0 {
		a = 1 / a
	}
	switch {
	case odd:
		return math.Copysign(a, x), true
	case x == -1 && math.Trunc(y) != y:
		return math.NaN(), true
	}
	return a, true
}

// beyond tells whether the power of a to a y beyond 2**31 is surely infinite (it grows) or 0, which it is unless a is nearly 1.
func beyond(a, y float64) (grows, far bool) {
	h := high(a)
	switch {
	case highAbs(y) > 0x43f00000: // 2**64
		return (h >= 0x3ff00000) == (y > 0), true
	case h < 0x3fefffff:
		return y < 0, true
	case h > 0x3ff00000:
		return y > 0, true
	}
	return false, false
}

// 1/ln 2, as one number, and as one of 24 bits and the rest.
const (
	pow1ByLn2   = 1.44269504088896338700e+00
	pow1ByLn2Hi = 1.44269502162933349609e+00
	pow1ByLn2Lo = 1.92596299112661746887e-08
)

// log2Near is the logarithm to base 2 of what is within 2**-20 of 1, by the first terms of its series.
func log2Near(a float64) (hi, lo float64) {
	t := a - 1
	w := float64(float64(t*t) * (0.5 - float64(t*(0.3333333333333333333333-float64(t*0.25)))))
	u := float64(pow1ByLn2Hi * t)
	v := float64(t*pow1ByLn2Lo) - float64(w*pow1ByLn2)
	hi = short(u + v)
	return hi, v - (hi - u)
}

// powL are the coefficients of Remez's polynomial for 3/2 * (ln a - 2s - 2/3 s**3), where a is (1+s)/(1-s), in s*s.
var powL = []float64{
	5.99999999999994648725e-01, 4.28571428578550184252e-01, 3.33333329818377432918e-01,
	2.72728123808534006489e-01, 2.30660745775561754067e-01, 2.06975017800338417784e-01,
}

// 2 / (3 ln 2), as one number and as two.
const (
	twoBy3Ln2   = 9.61796693925975554329e-01
	twoBy3Ln2Hi = 9.61796700954437255859e-01
	twoBy3Ln2Lo = -7.02846165095275826516e-09
)

// bases are what a number is near to, with the logarithm to base 2 in two pieces, and a number for the high half of a + near.
var bases = [...]struct {
	near, hi, lo float64
	bits         int32
}{
	{1, 0, 0, 0},
	{1.5, 5.84962487220764160156e-01, 1.35003920212974897128e-08, 1 << 18},
}

// log2Pieces is the logarithm to base 2 of any number, in a short piece and the rest.
func log2Pieces(a float64) (hi, lo float64) {
	var n int32
	if high(a) < 0x00100000 {
		a *= 0x1p53
		n = -53
	}
	h := high(a)
	n += h>>20 - 0x3ff
	m := h & 0xfffff
	h = m | 0x3ff00000
	base := bases[0]
	switch {
	case m <= 0x3988e: // to the root of 3/2
	case m < 0xbb67a: // to the root of 3
		base = bases[1]
	default:
		n++
		h -= 0x00100000
	}
	a = withHigh(a, h)

	// s is (a-near) / (a+near), in two pieces.
	u := a - base.near
	v := 1 / (a + base.near)
	s := float64(u * v)
	sHi := short(s)
	sumHi := withHigh(0, (h>>1|0x20000000)+0x00080000+base.bits)
	sumLo := a - (sumHi - base.near)
	sLo := float64(v * ((u - float64(sHi*sumHi)) - float64(sHi*sumLo)))

	// The logarithm of a is s times 2/3 * (3 + square + r).
	square := float64(s * s)
	r := float64(float64(square*square) * poly(square, powL...))
	r += float64(sLo * (sHi + s))
	square = float64(sHi * sHi)
	tHi := short(3 + square + r)
	tLo := r - ((tHi - 3) - square)
	u = float64(sHi * tHi)
	v = float64(sLo*tHi) + float64(tLo*s)
	pHi := short(u + v)
	pLo := v - (pHi - u)
	zHi := float64(twoBy3Ln2Hi * pHi)
	zLo := float64(twoBy3Ln2Lo*pHi) + float64(pLo*twoBy3Ln2) + base.lo
	t := float64(n)
	hi = short(((zHi + zLo) + base.hi) + t)
	return hi, zLo - (((hi - t) - base.hi) - zHi)
}

// exp2 is 2 to the power of head+tail.
func exp2(head, tail float64) float64 {
	const (
		lnHi = 6.93147182464599609375e-01
		lnLo = -1.90465429995776804525e-09
	)
	var n int32
	j := high(tail + head)
	if i := j & 0x7fffffff; i > 0x3fe00000 { // more than a half: n is the whole number next to it
		n = j + 0x00100000>>(i>>20-0x3ff+1)
		k := (n&0x7fffffff)>>20 - 0x3ff
		t := withHigh(0, n&^(0xfffff>>k))
		n = (n&0xfffff | 0x00100000) >> (20 - k)
		if j < 0 {
			n = -n
		}
		head -= t
	}
	t := short(tail + head)
	u := float64(t * lnHi)
	v := float64((tail-(t-head))*math.Ln2) + float64(t*lnLo)
	z := u + v
	w := v - (z - u)
	t = float64(z * z)
	t1 := z - float64(t*poly(t, expR...))
	r := float64(z*t1) / ((t1 - 2) - (w + float64(z*w))) // as V8 has it; the published way subtracts from the quotient
	z = 1 - (r - z)
	if h := high(z) + n<<20; h>>20 > 0 {
		return withHigh(z, h)
	}
	return math.Ldexp(z, int(n)) // a subnormal number
}
