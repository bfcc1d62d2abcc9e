// Package signouts keeps in etcd which sessions of the console have ended before their time.
//
// Guaranteed: what was put is listed until it is forgotten, also when it was put twice or late.
// Not guaranteed: that who watches hears of each; a watch hints that the list has changed.
package signouts
