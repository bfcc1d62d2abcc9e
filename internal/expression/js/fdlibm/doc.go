// Package fdlibm computes the functions of JavaScript's Math as Node 20 does, to the last bit, on every machine.
//
// Guaranteed: each function gives the bits that Node 20.20.2 gives for the some thousand arguments of testdata/node.txt.
// Not guaranteed: the number that is nearest to the true one; it is off by at most one in the last place. Go's math has
// other last digits, and others again where a processor joins a product and a sum: here each product is rounded by itself.
//
// The algorithms are those of Sun's Freely Distributable LIBM 5.3 (K.C. Ng, 1993) and FreeBSD's msun, from their descriptions;
// the coefficients of their polynomials are written as they were published. The code is our own.
//
// The functions have no state; any number of goroutines may call them.
package fdlibm
