// Package operate is what the operators of ${{ }}, and the functions of times and durations, make of values.
//
// Guaranteed: numbers are compared by what they are worth, also where a float64 would not tell them apart; a duration stays a
// duration or is refused; a month and a day of the week are numbers. What is refused is refused in words for people.
//
// Not guaranteed: bounds. Who calls it counts what texts and lists take (native does); only numbers, times and single
// characters are made here.
package operate
