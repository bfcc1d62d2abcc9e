package fdlibm

import "math"

// The algorithms choose their ways by the high half of a number, as a signed whole number: it orders numbers as they are.

func high(x float64) int32 { return int32(uint32(math.Float64bits(x) >> 32)) }

func highAbs(x float64) int32 { return high(x) & 0x7fffffff }

func low(x float64) uint32 { return uint32(math.Float64bits(x)) }

// withHigh is x with another high half.
func withHigh(x float64, h int32) float64 {
	return math.Float64frombits(uint64(uint32(h))<<32 | uint64(low(x)))
}

// short is x with a low half of zeros, so that the product of two of these is exact or nearly so.
func short(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ 0xffffffff) }

// power2 is 2**k, for what is no subnormal.
func power2(k int32) float64 { return withHigh(0, 0x3ff00000+k<<20) }

// poly is c[0] + z*(c[1] + z*(c[2] + …)), each product rounded before it is added.
func poly(z float64, c ...float64) float64 {
	sum := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		sum = c[i] + float64(z*sum)
	}
	return sum
}
