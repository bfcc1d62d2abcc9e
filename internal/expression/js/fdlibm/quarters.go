package fdlibm

import (
	"math"
	"math/big"
	"sync"
)

// quarterHigh is the high half of pi/4.
const quarterHigh = 0x3fe921fb

// quarters splits x into n times pi/2 and a rest y+tail of at most a quarter of pi. There is none of what is infinite or no number.
func quarters(x float64) (n int, y, tail float64, ok bool) {
	h := highAbs(x)
	switch {
	case h >= 0x7ff00000:
		return 0, 0, 0, false
	case h <= 0x3fe921fb:
		return 0, x, 0, true
	case h < 0x4002d97c: // 3/4 pi
		n, y, tail = oneQuarter(math.Abs(x), h)
	case h <= 0x413921fb: // 2**19 times pi/2
		n, y, tail = fewQuarters(math.Abs(x), h)
	default:
		n, y, tail = manyQuarters(math.Abs(x), h)
	}
	if x < 0 {
		n, y, tail = -n, -y, -tail
	}
	return n, y, tail, true
}

// Of pi/2, the first, second and third 33 bits, each with what follows.
const (
	pio21 = 1.57079632673412561417e+00
	pio2t = 6.07710050650619224932e-11
	pio22 = 6.07710050630396597660e-11
	pi22t = 2.02226624879595063154e-21
	pio23 = 2.02226624871116645580e-21
	pi23t = 8.47842766036889956997e-32
)

func oneQuarter(x float64, h int32) (n int, y, tail float64) {
	z, rest := x-pio21, pio2t
	if h == 0x3ff921fb { // near pi/2: more digits are wanted
		z, rest = z-pio22, pi22t
	}
	y = z - rest
	return 1, y, (z - y) - rest
}

func fewQuarters(x float64, h int32) (n int, y, tail float64) {
	const twoByPi = 6.36619772367581382433e-01
	n = int(float64(x*twoByPi) + 0.5)
	f := float64(n)
	r, w := x-float64(f*pio21), float64(f*pio2t)
	y = r - w
	if n >= 32 || h == high(float64(f*halfPiHi)) { // digits may have been lost
		lost := func() int32 { return h>>20 - highAbs(y)>>20 }
		again := func(next, rest float64) {
			t := r
			w = float64(f * next)
			r = t - w
			w = float64(f*rest) - ((t - r) - w)
			y = r - w
		}
		if lost() > 16 {
			if again(pio22, pi22t); lost() > 49 {
				again(pio23, pi23t)
			}
		}
	}
	return n, y, (r - y) - w
}

// pieces are the digits of 2/pi behind the comma, and halfPi numbers that are pi/2 together, each in pieces of 24 bits.
var pieces = sync.OnceValue(func() (out struct{ twoByPi, halfPi []float64 }) {
	const digits = 70 // pieces of 24 bits: 66 reach the largest number
	one := new(big.Int).Lsh(big.NewInt(1), 24*(digits+2))
	arcCot := func(n int64) *big.Int { // of 1/n
		sum, power := new(big.Int), new(big.Int).Quo(one, big.NewInt(n))
		for i := int64(1); power.Sign() != 0; i += 2 {
			term := new(big.Int).Quo(power, big.NewInt(i))
			if i%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, big.NewInt(n*n))
		}
		return sum
	}
	// Machin: pi/4 is 4 arccot 5 - arccot 239.
	half := new(big.Int).Lsh(arcCot(5), 3)
	half.Sub(half, new(big.Int).Lsh(arcCot(239), 1))
	inverse := new(big.Int).Quo(new(big.Int).Mul(one, one), half)
	piece := func(of *big.Int, i int) float64 {
		d := new(big.Int).Rsh(of, uint(24*(digits+2-i)))
		return float64(d.And(d, big.NewInt(0xffffff)).Int64())
	}
	for i := 1; i <= digits; i++ {
		out.twoByPi = append(out.twoByPi, piece(inverse, i))
	}
	// The pieces of pi/2 begin with its first digit.
	half.Rsh(half, 1) // so that the first piece, of 24 bits, is behind the comma
	for i := 1; i <= 8; i++ {
		out.halfPi = append(out.halfPi, math.Ldexp(piece(half, i), 1-24*i))
	}
	return out
})

// manyQuarters is for what is so large that digits of 2/pi far behind the comma decide: Payne and Hanek's way, in pieces of 24 bits.
func manyQuarters(x float64, h int32) (n int, y, tail float64) {
	e := h>>20 - 1046
	z := withHigh(x, h-e<<20)
	var parts []float64
	for range 2 {
		p := math.Trunc(z)
		parts = append(parts, p)
		z = (z - p) * 0x1p24
	}
	parts = append(parts, z)
	for parts[len(parts)-1] == 0 {
		parts = parts[:len(parts)-1]
	}
	p := product{parts: parts, first: max(int(e-3)/24, 0)}
	p.scale = int(e) - 24*(p.first+1)
	return p.split()
}

// digitsWanted are the pieces that a rest of 53 bits and its tail need.
const digitsWanted = 4

// product is a number times 2/pi, as far as it matters.
type product struct {
	parts  []float64 // of the number, the first the largest
	first  int       // piece of 2/pi that matters
	scale  int       // the exponent of the last digit before the comma
	sums   []float64 // of products of equal weight
	digits []int     // of sums, the last first
}

func (p *product) sum(i int) float64 {
	s := 0.0
	for j, part := range p.parts {
		if at := p.first + i - j; at >= 0 {
			s += float64(part * pieces().twoByPi[at])
		}
	}
	return s
}

// split gives the whole quarters, and the rest of the product times pi/2.
func (p *product) split() (n int, y, tail float64) {
	for i := 0; i <= digitsWanted; i++ {
		p.sums = append(p.sums, p.sum(i))
	}
	for {
		n, z, flipped := p.whole()
		if z == 0 && p.more() {
			continue
		}
		y, tail = p.rest(z)
		if flipped {
			y, tail = -y, -tail
		}
		return n & 7, y, tail
	}
}

// whole takes the quarters from the sums: n of them, and z is what the digits leave. Flipped: the rest is one quarter less the digits.
func (p *product) whole() (n int, z float64, flipped bool) {
	last := len(p.sums) - 1
	p.digits = make([]int, last, last+2)
	z = p.sums[last]
	for i := range last {
		carry := math.Trunc(z * 0x1p-24)
		p.digits[i] = int(z - 0x1p24*carry)
		z = p.sums[last-1-i] + carry
	}
	z = math.Ldexp(z, p.scale)
	z -= 8 * math.Floor(z*0.125)
	n = int(z)
	z -= float64(n)
	above := 0
	top := &p.digits[last-1]
	switch {
	case p.scale > 0:
		i := *top >> (24 - p.scale)
		n += i
		*top -= i << (24 - p.scale)
		above = *top >> (23 - p.scale)
	case p.scale == 0:
		above = *top >> 23
	case z >= 0.5:
		above = 2
	}
	if above == 0 {
		return n, z, false
	}
	carried := p.complement()
	if p.scale > 0 {
		*top &= 1<<(24-p.scale) - 1
	}
	if above == 2 {
		z = 1 - z
		if carried {
			z -= math.Ldexp(1, p.scale)
		}
	}
	return n + 1, z, true
}

// complement makes of the digits what they lack to a whole quarter.
func (p *product) complement() (carried bool) {
	for i, d := range p.digits {
		switch {
		case carried:
			p.digits[i] = 0xffffff - d
		case d != 0:
			carried = true
			p.digits[i] = 0x1000000 - d
		}
	}
	return carried
}

// more adds sums if the digits that are wanted are all zero.
func (p *product) more() bool {
	last := len(p.digits)
	for i := digitsWanted; i < last; i++ {
		if p.digits[i] != 0 {
			return false
		}
	}
	k := 1
	for p.digits[digitsWanted-k] == 0 {
		k++
	}
	for i := last + 1; i <= last+k; i++ {
		p.sums = append(p.sums, p.sum(i))
	}
	return true
}

// rest is what z and the digits below it are, times pi/2, as a number and its tail.
func (p *product) rest(z float64) (y, tail float64) {
	if z == 0 {
		for p.scale -= 24; p.digits[len(p.digits)-1] == 0; p.scale -= 24 {
			p.digits = p.digits[:len(p.digits)-1]
		}
	} else if z = math.Ldexp(z, -p.scale); z >= 0x1p24 {
		carry := math.Trunc(z * 0x1p-24)
		p.digits = append(p.digits, int(z-0x1p24*carry), int(carry))
		p.scale += 24
	} else {
		p.digits = append(p.digits, int(z))
	}
	top := len(p.digits) - 1
	weighed := make([]float64, top+1)
	weight := math.Ldexp(1, p.scale)
	for i := top; i >= 0; i-- {
		weighed[i] = weight * float64(p.digits[i])
		weight *= 0x1p-24
	}
	terms := make([]float64, top+1)
	for i := range terms {
		for k := 0; k <= digitsWanted && k <= i; k++ {
			terms[i] += float64(pieces().halfPi[k] * weighed[top-i+k])
		}
	}
	for i := top; i >= 0; i-- {
		y += terms[i]
	}
	tail = terms[0] - y
	for _, t := range terms[1:] {
		tail += t
	}
	return y, tail
}
