package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// called is the server that the activities of some workloads call. It is in the
// process of the callers.
type called struct {
	base   string
	server *http.Server
	served chan error
}

func answerCalls(ctx context.Context) (*called, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	answer := func(after time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if after > 0 {
				time.Sleep(after)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"ok":true}`)
		}
	}
	mux.Handle("/"+threeCalls, answer(0))
	mux.Handle("/"+threeCallsSlow, answer(5*time.Millisecond))
	c := &called{base: "http://" + l.Addr().String() + "/", server: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}, served: make(chan error, 1)}
	go func() { c.served <- c.server.Serve(l) }()
	return c, nil
}

// url is what the activities of a workload call.
func (c *called) url(workload string) string { return c.base + workload }

func (c *called) close() error {
	err := c.server.Close()
	if end := <-c.served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}
