package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// cluster is the compose file, running.
type cluster struct {
	compose    []string // the command
	project    string
	env        []string
	api        string // base URL of the load balancer
	prometheus string
	key        string // of the API, once the cluster runs
	http       *http.Client
	begin      time.Time
	load       *load
}

// services are all but Grafana; what they depend on starts with them.
var services = []string{"init", "haproxy", "prometheus"}

// readKey does what the compose file tells its reader to do.
func (c *cluster) readKey(ctx context.Context) error {
	out, err := c.run(ctx, "run", "--rm", "init-key", "secret", "--show", "/keys/admin")
	lines := strings.Fields(out)
	if err != nil || len(lines) == 0 || !strings.HasPrefix(lines[len(lines)-1], "weft_") {
		return fmt.Errorf("the API key is %d words, %w", len(lines), err)
	}
	c.key = lines[len(lines)-1]
	return nil
}

func newCluster(ctx context.Context) (*cluster, error) {
	compose, err := composeCommand(ctx)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(ctx, 3)
	if err != nil {
		return nil, err
	}
	c := &cluster{
		compose: compose, project: fmt.Sprintf("weft-test-%d", os.Getpid()), begin: time.Now(),
		api: "http://127.0.0.1:" + ports[0], prometheus: "http://127.0.0.1:" + ports[1],
		http: &http.Client{Timeout: 40 * time.Second},
	}
	c.env = []string{
		"COMPOSE_PROJECT_NAME=" + c.project, "COMPOSE_FILE=docker-compose.yml", "WEFT_BIND=",
		"WEFT_API_PORT=" + ports[0], "WEFT_PROMETHEUS_PORT=" + ports[1], "WEFT_GRAFANA_PORT=" + ports[2],
	}
	return c, nil
}

// freePorts are free when it looks; compose takes them soon after.
func freePorts(ctx context.Context, n int) ([]string, error) {
	var out []string
	for range n {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		out = append(out, port)
	}
	return out, nil
}

func (c *cluster) say(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(c.begin).Seconds(), fmt.Sprintf(format, args...))
}

// run is the compose command with the project's settings.
func (c *cluster) run(ctx context.Context, args ...string) (string, error) {
	all := append(append([]string{}, c.compose[1:]...), args...)
	return command(ctx, c.env, c.compose[0], all...)
}

// manual is how a person goes on with a cluster that was kept.
func (c *cluster) manual() string {
	return fmt.Sprintf("%s %s ps; the API is %s", strings.Join(c.env, " "), strings.Join(c.compose, " "), c.api)
}

func (c *cluster) down(ctx context.Context) error {
	c.load.stop()
	_, err := c.run(ctx, "down", "--volumes", "--timeout", "20")
	return err
}

// logs shows the last words of every service.
func (c *cluster) logs(ctx context.Context) {
	all := append(append([]string{}, c.compose[1:]...), "logs", "--no-color", "--tail", "25")
	cmd := exec.CommandContext(ctx, c.compose[0], all...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	_ = cmd.Run() // it is only told on the way out
}

// container is the id of the one container of a service, running or not.
func (c *cluster) container(ctx context.Context, service string) (string, error) {
	id, err := docker(ctx, "ps", "--all", "--quiet", "--filter", "label=com.docker.compose.project="+c.project, "--filter", "label=com.docker.compose.service="+service)
	if err == nil && (id == "" || strings.ContainsAny(id, " \n")) {
		err = fmt.Errorf("service %s has containers %q, not one", service, id)
	}
	return id, err
}

// inspect gives what docker knows of a service's container, by a template.
func (c *cluster) inspect(ctx context.Context, service, format string) (string, error) {
	id, err := c.container(ctx, service)
	if err != nil {
		return "", err
	}
	return docker(ctx, "inspect", "--format", format, id)
}

// network is the one that the services share.
func (c *cluster) network() string { return c.project + "_default" }

// healthy waits until docker calls the service healthy.
func (c *cluster) healthy(ctx context.Context, service string, limit time.Duration) error {
	return eventually(ctx, limit, func() error {
		got, err := c.inspect(ctx, service, "{{.State.Health.Status}}")
		if err == nil && got != "healthy" {
			err = fmt.Errorf("%s is %s", service, got)
		}
		return err
	})
}

// call sends a request through the load balancer and decodes the answer.
func (c *cluster) call(ctx context.Context, method, path, key, body string) (status int, answer map[string]any, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.api+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	return c.do(req)
}

func (c *cluster) do(req *http.Request) (int, map[string]any, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return resp.StatusCode, nil, fmt.Errorf("%s %s: %s: %w", req.Method, req.URL.Path, resp.Status, err)
	}
	return resp.StatusCode, answer, nil
}

// must is call for what has to be answered with 200.
func (c *cluster) must(ctx context.Context, method, path, body string) (map[string]any, error) {
	status, answer, err := c.call(ctx, method, path, "", body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %v", method, path, status, answer)
	}
	return answer, err
}

// liveNodes waits until the cluster counts this many nodes.
func (c *cluster) liveNodes(ctx context.Context, want int, limit time.Duration) error {
	return eventually(ctx, limit, func() error {
		answer, err := c.must(ctx, "GET", "/api/v1/nodes", "")
		if err != nil {
			return err
		}
		items, _ := answer["items"].([]any)
		if len(items) != want {
			return fmt.Errorf("%d nodes are live, want %d", len(items), want)
		}
		return nil
	})
}

// query asks Prometheus for one number.
func (c *cluster) query(ctx context.Context, expr string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.prometheus+"/api/v1/query", nil)
	if err != nil {
		return "", err
	}
	q := req.URL.Query()
	q.Set("query", expr)
	req.URL.RawQuery = q.Encode()
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return "", err
	}
	if answer.Error != "" {
		return "", errors.New(answer.Error)
	}
	if len(answer.Data.Result) == 0 {
		return "", fmt.Errorf("%s has no data", expr)
	}
	return fmt.Sprint(answer.Data.Result[0].Value[1]), nil
}
