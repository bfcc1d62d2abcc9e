// Package near finds the name that was probably meant by one that there is not.
//
// It compares letters only, and gives nothing where nothing is near: a wrong hint is worse than none.
package near
