// Package compare says where values, lines and runs of workflows are not alike.
//
// Guaranteed: values are compared as JSON has them, so that 1 and 1.0 are one number; what is shown of a value has at
// most [MaxShown] bytes; and the same two give the same differences, in the same order.
//
// Not guaranteed: the shortest list of differences; of more than 1,000 lines the first are looked at.
package compare
