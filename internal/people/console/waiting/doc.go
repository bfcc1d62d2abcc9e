// Package waiting is the page of what waits for the person who looks: user tasks, each a card with what, who, until when, its
// form and a button for each outcome.
//
// Guaranteed: it shows what the API answers to that person and nothing else; all of it is text, also what says that it is
// markup. Not guaranteed: that a card is still free when its button is pressed; then the API says who was faster.
package waiting
