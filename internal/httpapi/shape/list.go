package shape

import (
	"github.com/weft-run/weft/pkg/runtime"
)

// List is one page.
type List[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor" doc:"Pass it as cursor for the next page; null at the end. A page may have fewer items than its limit and still have a next one."`
	Revision   int64   `json:"revision" doc:"Of etcd: all of the page is as it was then."`
}

// ListOf maps a page, item by item.
func ListOf[T, V any](page runtime.Page[T], view func(T) V) List[V] {
	return List[V]{Items: Each(page.Items, view), NextCursor: Some(page.Next), Revision: page.Revision}
}

// Each maps a list; it is never null.
func Each[T, V any](items []T, view func(T) V) []V {
	out := make([]V, 0, len(items))
	for _, item := range items {
		out = append(out, view(item))
	}
	return out
}
