package fdlibm

import "math"

var (
	sinS = []float64{
		8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
		-2.50507602534068634195e-08, 1.58969099521155010221e-10,
	}
	cosC = []float64{
		4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
		-2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
	}
	tanT = [...]float64{
		3.33333333333334091986e-01, 1.33333333333201242699e-01, 5.39682539762260521377e-02, 2.18694882948595424599e-02,
		8.86323982359930005737e-03, 3.59207910759131235356e-03, 1.45620945432529025516e-03, 5.88041240820264096874e-04,
		2.46463134818469906812e-04, 7.81794442939557092300e-05, 7.14072491382608190305e-05, -1.85586374855275456654e-05,
		2.59073051863633712884e-05,
	}
)

const sinS1 = -1.66666666666666324348e-01

// Sin is the sine of x radians.
func Sin(x float64) float64 {
	n, y, tail, ok := quarters(x)
	switch {
	case !ok:
		return math.NaN()
	case n&1 == 0:
		y = sinNear(y, tail, highAbs(x) > quarterHigh)
	default:
		y = cosNear(y, tail)
	}
	if n&2 != 0 {
		return -y
	}
	return y
}

// Cos is the cosine of x radians.
func Cos(x float64) float64 {
	n, y, tail, ok := quarters(x)
	switch {
	case !ok:
		return math.NaN()
	case n&1 == 0:
		y = cosNear(y, tail)
	default:
		y = sinNear(y, tail, true)
	}
	if (n+1)&2 != 0 {
		return -y
	}
	return y
}

// Tan is the tangent of x radians.
func Tan(x float64) float64 {
	n, y, tail, ok := quarters(x)
	if !ok {
		return math.NaN()
	}
	return tanNear(y, tail, n&1 != 0)
}

// sinNear is the sine of x+tail, of at most a quarter of pi.
func sinNear(x, tail float64, tailed bool) float64 {
	if highAbs(x) < 0x3e400000 {
		return x
	}
	z := float64(x * x)
	v := float64(z * x)
	r := poly(z, sinS...)
	if !tailed {
		return x + float64(v*(sinS1+float64(z*r)))
	}
	return x - ((float64(z*(float64(0.5*tail)-float64(v*r))) - tail) - float64(v*sinS1))
}

// cosNear is the cosine of x+tail, of at most a quarter of pi.
func cosNear(x, tail float64) float64 {
	h := highAbs(x)
	if h < 0x3e400000 {
		return 1
	}
	z := float64(x * x)
	r := float64(z * poly(z, cosC...))
	rest := float64(z*r) - float64(x*tail)
	if h < 0x3fd33333 { // 0.3
		return 1 - (float64(0.5*z) - rest)
	}
	q := 0.28125
	if h <= 0x3fe90000 { // 0.78125
		q = withHigh(0, h-0x00200000) // about x/4
	}
	return (1 - q) - ((float64(0.5*z) - q) - rest)
}

const (
	quarterPi     = 7.85398163397448278999e-01
	quarterPiTail = 3.06161699786838301793e-17
)

// tanNear is the tangent of x+tail, of at most a quarter of pi, or what is -1 by it.
func tanNear(x, tail float64, inverse bool) float64 {
	h := high(x)
	a := h & 0x7fffffff
	if a < 0x3e300000 && !inverse {
		return x
	}
	if a < 0x3e300000 {
		return inverted(x+tail, x, tail)
	}
	wide := a >= 0x3fe59428 // 0.6744
	if wide {
		if h < 0 {
			x, tail = -x, -tail
		}
		x, tail = (quarterPi-x)+(quarterPiTail-tail), 0
	}
	z := float64(x * x)
	w := float64(z * z)
	r := poly(w, tanT[1], tanT[3], tanT[5], tanT[7], tanT[9], tanT[11])
	v := float64(z * poly(w, tanT[2], tanT[4], tanT[6], tanT[8], tanT[10], tanT[12]))
	s := float64(z * x)
	r = tail + float64(z*(float64(s*(r+v))+tail))
	r += float64(tanT[0] * s)
	w = x + r
	if wide {
		v, sign := 1.0, 1.0
		if inverse {
			v = -1
		}
		if h < 0 {
			sign = -1
		}
		return sign * (v - float64(2*(x-(float64(w*w)/(w+v)-r))))
	}
	if !inverse {
		return w
	}
	return inverted(w, x, r)
}

// inverted is -1/w, w being x+r.
func inverted(w, x, r float64) float64 {
	z := short(w)
	v := r - (z - x)
	a := -1 / w
	t := short(a)
	s := 1 + float64(t*z)
	return t + float64(a*(s+float64(t*v)))
}

const (
	halfPiHi   = 1.57079632679489655800e+00
	halfPiLo   = 6.12323399573676603587e-17
	asinLimit  = 0x3fef3333 // 0.975
	highHalf   = 0x3fe00000 // the high half of 0.5
	tinyInAsin = 0x3e400000
)

var (
	asinP = []float64{
		1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01,
		-4.00555345006794114027e-02, 7.91534994289814532176e-04, 3.47933107596021167570e-05,
	}
	asinQ = []float64{
		1, -2.40339491173441421878e+00, 2.02094576023350569471e+00, -6.88283971605453293030e-01, 7.70381505559019352791e-02,
	}
)

// asinR is (asin(x)-x) / x for the square of x.
func asinR(z float64) float64 { return float64(z*poly(z, asinP...)) / poly(z, asinQ...) }

// Asin is the inverse of [Sin].
func Asin(x float64) float64 {
	h, a := highAbs(x), math.Abs(x)
	switch {
	case math.IsNaN(x), a > 1:
		return math.NaN()
	case a == 1:
		return float64(x*halfPiHi) + float64(x*halfPiLo)
	case h < tinyInAsin:
		return x
	case h < highHalf:
		return x + float64(x*asinR(float64(x*x)))
	}
	t := (1 - a) * 0.5
	s, r := math.Sqrt(t), asinR(t)
	if h >= asinLimit {
		return math.Copysign(halfPiHi-(float64(2*(s+float64(s*r)))-halfPiLo), x)
	}
	w := short(s)
	c := (t - float64(w*w)) / (s + w)
	p := float64(2*s*r) - (halfPiLo - float64(2*c))
	q := quarterPi - float64(2*w)
	return math.Copysign(quarterPi-(p-q), x)
}

// Acos is the inverse of [Cos].
func Acos(x float64) float64 {
	h, a := highAbs(x), math.Abs(x)
	switch {
	case math.IsNaN(x), a > 1:
		return math.NaN()
	case x == 1:
		return 0
	case x == -1:
		return math.Pi
	case h <= 0x3c600000:
		return halfPiHi
	case h < highHalf:
		return halfPiHi - (x - (halfPiLo - float64(x*asinR(float64(x*x)))))
	}
	z := (1 - a) * 0.5
	s, r := math.Sqrt(z), asinR(z)
	if x < 0 {
		w := float64(r*s) - halfPiLo
		return math.Pi - float64(2*(s+w))
	}
	f := short(s)
	c := (z - float64(f*f)) / (s + f)
	return 2 * (f + (float64(r*s) + c))
}

// atanOf are arc tangents of 1/2, 1, 3/2 and infinity, with what these numbers lack.
var atanOf = [...]struct{ hi, lo float64 }{
	{4.63647609000806093515e-01, 2.26987774529616870924e-17},
	{7.85398163397448278999e-01, 3.06161699786838301793e-17},
	{9.82793723247329054082e-01, 1.39033110312309984516e-17},
	{halfPiHi, halfPiLo},
}

var atanT = [...]float64{
	3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
	9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
	4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02,
}

// Atan is the inverse of [Tan].
func Atan(x float64) float64 {
	h, a := highAbs(x), math.Abs(x)
	switch {
	case math.IsNaN(x), h < 0x3e400000:
		return x
	case h >= 0x44100000: // 2**66
		return math.Copysign(halfPiHi, x)
	}
	near, t := -1, x
	switch {
	case h < 0x3fdc0000: // 7/16
	case h < 0x3fe60000: // 11/16
		near, t = 0, (float64(2*a)-1)/(2+a)
	case h < 0x3ff30000: // 19/16
		near, t = 1, (a-1)/(a+1)
	case h < 0x40038000: // 39/16
		near, t = 2, (a-1.5)/(1+float64(1.5*a))
	default:
		near, t = 3, -1/a
	}
	z := float64(t * t)
	w := float64(z * z)
	odd := float64(z * poly(w, atanT[0], atanT[2], atanT[4], atanT[6], atanT[8], atanT[10]))
	even := float64(w * poly(w, atanT[1], atanT[3], atanT[5], atanT[7], atanT[9]))
	rest := float64(t * (odd + even))
	if near < 0 {
		return x - rest
	}
	return math.Copysign(atanOf[near].hi-((rest-atanOf[near].lo)-t), x)
}

// Atan2 is the angle of the point x, y.
func Atan2(y, x float64) float64 {
	const piLo = 1.2246467991473531772e-16
	hx, hy := highAbs(x), highAbs(y)
	switch {
	case math.IsNaN(x), math.IsNaN(y):
		return math.NaN()
	case x == 1:
		return Atan(y)
	case y == 0 && !math.Signbit(x):
		return y
	case y == 0:
		return math.Copysign(math.Pi, y)
	case x == 0:
		return math.Copysign(halfPiHi, y)
	case math.IsInf(x, 0):
		return ofInfinity(y, x)
	case math.IsInf(y, 0):
		return math.Copysign(halfPiHi, y)
	}
	var z float64
	switch k := (hy - hx) >> 20; {
	case k > 60:
		return math.Copysign(halfPiHi+0.5*piLo, y)
	case x < 0 && k < -60:
	default:
		z = Atan(math.Abs(y / x))
	}
	if x < 0 {
		z = math.Pi - (z - piLo)
	}
	return math.Copysign(z, y)
}

// ofInfinity is the angle where x is infinite.
func ofInfinity(y, x float64) float64 {
	z := 0.0
	switch finite := !math.IsInf(y, 0); {
	case finite && x < 0:
		z = math.Pi
	case finite:
	case x < 0:
		z = 3 * quarterPi
	default:
		z = quarterPi
	}
	return math.Copysign(z, y)
}
