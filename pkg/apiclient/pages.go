package apiclient

import (
	"context"
	"iter"
)

// pages goes through the items of all pages; next is called with "" first. The error, if
// there is one, comes last.
func pages[T any](next func(cursor string) ([]T, *string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for cursor := ""; ; {
			items, more, err := next(cursor)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if more == nil {
				return
			}
			cursor = *more
		}
	}
}

// ListInstances lists instances, the newest first, as [Client.GetInstance] shows them.
// It is GET /api/v1/instances, for the role viewer.
func (c *Client) ListInstances(ctx context.Context, query ListInstancesQuery, opts ...Option) (*Answer[InstanceFound], error) {
	query.View = "full"
	return call[InstanceFound](ctx, c, request{method: "GET", path: "/api/v1/instances", query: query.values()}, opts)
}

// AllInstances goes through all pages of [Client.ListInstances], from the cursor of query on.
func (c *Client) AllInstances(ctx context.Context, query ListInstancesQuery, opts ...Option) iter.Seq2[Instance, error] {
	return pages(func(cursor string) ([]Instance, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListInstances(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}

// ListSummaries is [Client.ListInstances] in small rows, without inputs and outputs.
func (c *Client) ListSummaries(ctx context.Context, query ListInstancesQuery, opts ...Option) (*Answer[SummaryFound], error) {
	query.View = "summary"
	return call[SummaryFound](ctx, c, request{method: "GET", path: "/api/v1/instances", query: query.values()}, opts)
}

// AllSummaries goes through all pages of [Client.ListSummaries], from the cursor of query on.
func (c *Client) AllSummaries(ctx context.Context, query ListInstancesQuery, opts ...Option) iter.Seq2[Summary, error] {
	return pages(func(cursor string) ([]Summary, *string, error) {
		if cursor != "" {
			query.Cursor = cursor
		}
		page, err := c.ListSummaries(ctx, query, opts...)
		if err != nil {
			return nil, nil, err
		}
		return page.Body.Items, page.Body.NextCursor, nil
	})
}
