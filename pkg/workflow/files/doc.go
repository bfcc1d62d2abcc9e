// Package files is what an HTTP endpoint asks of the files of a form.
package files
