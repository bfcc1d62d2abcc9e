package fdlibm

import "math"

const (
	ln2Hi  = 6.93147180369123816490e-01
	ln2Lo  = 1.90821492927058770002e-10
	invLn2 = 1.44269504088896338700e+00

	largestExp  = 7.09782712893383973096e+02  // its power of e is the largest number
	smallestExp = -7.45133219101941108420e+02 // its power of e is the smallest one
	highExp     = 0x40862e42                  // the high half of largestExp
	halfLn2     = 0x3fd62e42                  // the high half of ln 2 / 2
	oneHalfLn2  = 0x3ff0a2b2                  // of ln 2 * 3 / 2
)

// expR are the coefficients of Remez's polynomial for x*(e**x+1)/(e**x-1), from the second.
var expR = []float64{
	1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
	-1.65339022054652515390e-06, 4.13813679705723846039e-08,
}

// Exp is e**x.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x), math.IsInf(x, 1):
		return x
	case x > largestExp:
		return math.Inf(1)
	case x < smallestExp:
		return 0
	case x == 1:
		return math.E // as V8 has it; the way below would be one off
	case highAbs(x) < 0x3e300000:
		return 1 + x
	}
	k, hi, lo := reduced(x)
	x = hi - lo
	t := float64(x * x)
	c := x - float64(t*poly(t, expR...))
	if k == 0 {
		return 1 - (float64(x*c)/(c-2) - x)
	}
	y := 1 - ((lo - float64(x*c)/(2-c)) - hi)
	switch {
	case k == 1024:
		return y * 2 * 0x1p1023
	case k < -1021:
		return y * power2(k+1000) * 0x1p-1000
	}
	return y * power2(k)
}

// reduced splits x into k times ln 2 and a rest hi-lo of at most half of ln 2.
func reduced(x float64) (k int32, hi, lo float64) {
	sign := math.Copysign(1, x)
	switch h := highAbs(x); {
	case h <= halfLn2:
		return 0, x, 0
	case h < oneHalfLn2:
		return int32(sign), x - sign*ln2Hi, sign * ln2Lo
	}
	k = int32(float64(invLn2*x) + 0.5*sign)
	return k, x - float64(float64(k)*ln2Hi), float64(k) * ln2Lo
}

// expm1Q are the coefficients of Remez's polynomial for (e**x+1)/(e**x-1), scaled for x*x/2.
var expm1Q = []float64{
	1, -3.33333333333331316428e-02, 1.58730158725481460165e-03, -7.93650757867487942473e-05,
	4.00821782732936239552e-06, -2.01099218183624371326e-07,
}

// Expm1 is e**x - 1.
func Expm1(x float64) float64 {
	h := highAbs(x)
	switch {
	case math.IsNaN(x), math.IsInf(x, 1), h < 0x3c900000:
		return x
	case x > largestExp:
		return math.Inf(1)
	case h >= 0x4043687a && x < 0: // less than -56 ln 2
		return -1
	}
	k, hi, lo := reduced(x)
	x = hi - lo
	c := (hi - x) - lo
	half := 0.5 * x
	squared := float64(x * half)
	r := poly(squared, expm1Q...)
	t := 3 - float64(r*half)
	e := float64(squared * ((r - t) / (6 - float64(x*t))))
	if k == 0 {
		return x - (float64(x*e) - squared)
	}
	e = float64(x*(e-c)) - c
	e -= squared
	return scaled(x, e, k)
}

// scaled is 2**k * (x - e + 1) - 1, by the way that loses least.
func scaled(x, e float64, k int32) float64 {
	switch {
	case k == -1:
		return float64(0.5*(x-e)) - 0.5
	case k == 1 && x < -0.25:
		return -2 * (e - (x + 0.5))
	case k == 1:
		return 1 + float64(2*(x-e))
	case k == 1024:
		return float64((1-(e-x))*2*0x1p1023) - 1
	case k <= -2 || k > 56:
		return float64((1-(e-x))*power2(k)) - 1
	case k < 20:
		return (withHigh(0, 0x3ff00000-0x200000>>k) - (e - x)) * power2(k) // the first is 1 - 2**-k
	}
	return (x - (e + power2(-k)) + 1) * power2(k)
}

const largestCosh = 710.4758600739439

// Cosh is the hyperbolic cosine.
func Cosh(x float64) float64 {
	x = math.Abs(x)
	switch h := high(x); {
	case math.IsNaN(x), math.IsInf(x, 1):
		return x
	case h <= halfLn2:
		t := Expm1(x)
		w := 1 + t
		if h < 0x3c800000 {
			return w
		}
		return 1 + float64(t*t)/(w+w)
	case h < 0x40360000: // 22
		t := Exp(x)
		return float64(0.5*t) + 0.5/t
	case h < highExp:
		return 0.5 * Exp(x)
	case x <= largestCosh:
		w := Exp(0.5 * x)
		return 0.5 * w * w
	}
	return math.Inf(1)
}

// Sinh is the hyperbolic sine.
func Sinh(x float64) float64 {
	a, half := math.Abs(x), math.Copysign(0.5, x)
	switch {
	case math.IsNaN(x), a < 0x1p-28:
		return x
	case a < 1:
		t := Expm1(a)
		return half * (float64(2*t) - float64(t*t)/(t+1))
	case a < 22:
		t := Expm1(a)
		return half * (t + t/(t+1))
	case a < 709.7822265625:
		return half * Exp(a)
	case a <= largestCosh:
		w := Exp(0.5 * a)
		return half * w * w
	}
	return math.Copysign(math.Inf(1), x)
}

// Tanh is the hyperbolic tangent.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case math.IsNaN(x), a < 0x1p-28:
		return x
	case a >= 22:
		return math.Copysign(1, x)
	case a >= 1:
		return math.Copysign(1-2/(Expm1(2*a)+2), x)
	}
	t := Expm1(-2 * a)
	return math.Copysign(-t/(t+2), x)
}
