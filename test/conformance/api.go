package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
)

// cluster is a set of nodes; each request goes to one of them at random.
type cluster struct {
	addrs []string // such as http://127.0.0.1:8080
	http  http.Client
}

// instance is what this program needs of an instance.
type instance struct {
	InstanceID       string         `json:"instanceId"`
	ParentInstanceID string         `json:"parentInstanceId"`
	Status           string         `json:"status"`
	SubStatus        string         `json:"subStatus"`
	DefinitionID     string         `json:"definitionId"`
	Output           map[string]any `json:"output"`
	Incidents        []struct {
		ActivityType string `json:"activityType"`
		Message      string `json:"message"`
	} `json:"incidents"`
	Bookmarks []struct {
		BookmarkID   string `json:"bookmarkId"`
		ActivityID   string `json:"activityId"`
		ActivityType string `json:"activityType"`
		Name         string `json:"name"`
	} `json:"bookmarks"`
}

// journalItem is one item of a journal.
type journalItem struct {
	Sequence int64     `json:"sequence"`
	Time     time.Time `json:"time"`
	Event    string    `json:"event"`
	Text     string    `json:"text"`

	ActivityID string         `json:"activityId"`
	Data       map[string]any `json:"data"`
}

// problem is a refusal.
type problem struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Errors []struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"errors"`
}

func (p *problem) Error() string {
	text := fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Detail)
	for _, e := range p.Errors {
		text += "; " + e.Detail
	}
	return text
}

// call sends one request and decodes its answer into out, unless out is nil. An
// answer of 400 and more is a [*problem].
func (c *cluster) call(ctx context.Context, method, path string, header http.Header, body []byte, out any) error {
	status, answer, err := c.send(ctx, method, path, header, body)
	if err != nil {
		return err
	}
	if status >= 400 {
		p := &problem{}
		if err := json.Unmarshal(answer, p); err != nil || p.Code == "" {
			return fmt.Errorf("%s %s: status %d without a problem: %.200s", method, path, status, answer)
		}
		return p
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s %s: the answer is not as agreed: %w", method, path, err)
	}
	return nil
}

func (c *cluster) send(ctx context.Context, method, path string, header http.Header, body []byte) (int, []byte, error) {
	addr := c.addrs[rand.IntN(len(c.addrs))]
	req, err := http.NewRequestWithContext(ctx, method, addr+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// postJSON sends v.
func (c *cluster) postJSON(ctx context.Context, path string, v, out any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, path, http.Header{"Content-Type": {"application/json"}}, body, out)
}

// pages reads a list to its end.
func pages[T any](ctx context.Context, c *cluster, path string) ([]T, error) {
	var all []T
	cursor := ""
	for {
		var page struct {
			Items      []T    `json:"items"`
			NextCursor string `json:"nextCursor"`
		}
		if err := c.call(ctx, http.MethodGet, path+"?limit=500&cursor="+url.QueryEscape(cursor), nil, nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.NextCursor == "" {
			return all, nil
		}
		cursor = page.NextCursor
	}
}

// family is the instance and everything that it started, directly or not, the
// instance first.
func (c *cluster) family(ctx context.Context, root string) ([]instance, error) {
	all, err := pages[instance](ctx, c, "/api/v1/instances")
	if err != nil {
		return nil, err
	}
	children := map[string][]instance{}
	var family []instance
	for _, in := range all {
		children[in.ParentInstanceID] = append(children[in.ParentInstanceID], in)
		if in.InstanceID == root {
			family = append(family, in)
		}
	}
	if len(family) == 0 {
		return nil, fmt.Errorf("instance %s is in no list", root)
	}
	for i := 0; i < len(family); i++ {
		family = append(family, children[family[i].InstanceID]...)
	}
	return family, nil
}
