package run

import (
	"cmp"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/workflow"
)

// withFile is an answer whose body is a file: in ranges, and not again, for who asks so.
func withFile(c *serve.Call, res *workflow.Response, answer serve.Reply) (serve.Reply, error) {
	body, err := c.API.Config.Runtime.Endpoints.OpenFile(c.Request.Context(), *res.File, func() { c.API.Hurry(c.Writer) })
	if err != nil {
		return serve.Reply{}, err
	}
	head := c.Writer.Header()
	for name, value := range answer.Headers {
		head.Set(name, value)
	}
	head.Set("Content-Type", cmp.Or(res.ContentType, "application/octet-stream")) // it is not guessed from what is in it
	answer.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if plain := cmp.Or(res.Status, http.StatusOK) == http.StatusOK; plain && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			http.ServeContent(w, r, "", time.Time{}, body)
			return
		}
		w.Header().Set("Content-Length", strconv.FormatInt(res.File.Bytes, 10))
		w.WriteHeader(cmp.Or(res.Status, http.StatusOK))
		_, _ = io.Copy(w, body) // where less comes than was announced, the server breaks the connection
	})
	return answer, nil
}
