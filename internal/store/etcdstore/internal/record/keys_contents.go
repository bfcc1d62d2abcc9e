package record

import "fmt"

// ContentKeys are the keys of the files beside instances.
type ContentKeys struct{ Root string }

// Contents is what files begin with.
func (k ContentKeys) Contents() string { return k.Root + "content/" }

// ContentsOf is what those of an instance begin with.
func (k ContentKeys) ContentsOf(id string) string { return k.Contents() + id + "/" }

// Content is what the pieces of one begin with.
func (k ContentKeys) Content(id, hash string) string { return k.ContentsOf(id) + hash + "/" }

// Piece holds a piece of a file.
func (k ContentKeys) Piece(id, hash string, n int) string {
	return fmt.Sprintf("%s%02d", k.Content(id, hash), n)
}
