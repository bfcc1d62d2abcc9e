package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// step is one thing that happens to the cluster, and what must hold after it.
type step struct {
	name string
	run  func(context.Context, *cluster) error
}

// ttl is the time after which a dead node's work goes to others: the session's
// TTL of the compose file plus what G5 adds.
const ttl = 12 * time.Second

var steps = []step{
	{"everything starts and is healthy", start},
	{"containers are locked down, ports are on loopback, the secret is random", hardened},
	{"examples run through the load balancer", examples},
	{"Prometheus scrapes everything and knows the alerts", scraped},
	{"a node drains, and no request fails", drain},
	{"a node is killed, and its work goes on", kill},
	{"a node is cut off its network, and comes back", cut},
	{"etcd's leader restarts", leader},
	{"nothing ran twice and nothing was breached", consistent},
}

func start(ctx context.Context, c *cluster) error {
	if out, err := c.run(ctx, append([]string{"up", "--detach", "--no-build"}, services...)...); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	for _, s := range []string{"etcd-1", "etcd-2", "etcd-3", "node-1", "node-2", "node-3", "haproxy", "prometheus"} {
		if err := c.healthy(ctx, s, time.Minute); err != nil {
			return err
		}
	}
	if status, _, err := c.call(ctx, "GET", "/api/v1/nodes", "", ""); err != nil || status != 401 {
		return fmt.Errorf("without a key the API answers %d, %w", status, err)
	}
	if err := c.readKey(ctx); err != nil {
		return err
	}
	return c.liveNodes(ctx, 3, 10*time.Second)
}

func hardened(ctx context.Context, c *cluster) error {
	size, err := docker(ctx, "image", "inspect", "--format", "{{.Size}}", "weft")
	if err != nil {
		return err
	}
	if len(size) > 8 || len(size) == 8 && size >= "60000000" {
		return fmt.Errorf("the image has %s bytes, more than 60 MB", size)
	}
	c.say("  the image has %s bytes", size)
	for service, want := range map[string]string{
		"node-1":     "65532:65532 true",
		"haproxy":    " true {8080/tcp 127.0.0.1}",
		"prometheus": " true {9090/tcp 127.0.0.1}",
	} {
		format := `{{.HostConfig.ReadonlyRootfs}}{{range $port, $to := .HostConfig.PortBindings}} {{"{"}}{{$port}}{{range $to}} {{.HostIp}}{{end}}{{"}"}}{{end}}`
		if service == "node-1" {
			format = `{{.Config.User}} ` + format
		}
		got, err := c.inspect(ctx, service, format)
		if err != nil {
			return err
		}
		if got != strings.TrimSpace(want) {
			return fmt.Errorf("%s is %q, want %q", service, got, want)
		}
	}
	for _, service := range []string{"init", "init-key"} {
		code, err := c.inspect(ctx, service, "{{.State.ExitCode}} {{.State.Status}}")
		if err != nil || code != "0 exited" {
			return fmt.Errorf("%s: %s, %w", service, code, err)
		}
	}
	// The user of the nodes gets at the hashes, and not at the key.
	if _, err := docker(ctx, "run", "--rm", "--volume", c.project+"_keys:/k", "weft", "secret", "--show", "/k/admin"); err == nil {
		return errors.New("the nodes can read the API key")
	}
	if said, err := docker(ctx, "run", "--rm", "--volume", c.project+"_keys:/k", "weft", "secret", "--show", "/k/nodes.yaml"); err != nil || !strings.Contains(said, "sha256") || strings.Contains(said, c.key) {
		return fmt.Errorf("the nodes' file is %q, %w", said, err)
	}
	said, err := docker(ctx, "run", "--rm", "--user", "0", "--volume", c.project+"_secrets:/s", "weft", "secret", "/s/grafana-admin-password")
	if err == nil && said != "kept /s/grafana-admin-password" {
		err = fmt.Errorf("the secret was not there: %s", said)
	}
	return err
}

func examples(ctx context.Context, c *cluster) error {
	got, err := c.must(ctx, "POST", "/api/v1/definitions/hello/execute", `{"input": {"name": "Ada"}}`)
	if err != nil {
		return err
	}
	if got["subStatus"] != "Finished" {
		return fmt.Errorf("hello: %v", got)
	}
	if err := c.ask(ctx, "ada-july"); err != nil {
		return err
	}
	if err := c.grant(ctx, "ada-july"); err != nil {
		return err
	}
	if status, _, _ := c.call(ctx, "GET", "/metrics", "", ""); status != 404 {
		return fmt.Errorf("the load balancer answers /metrics with %d", status)
	}
	return nil
}

// ask starts a leave request, which then waits.
func (c *cluster) ask(ctx context.Context, id string) error {
	got, err := c.must(ctx, "POST", "/api/v1/definitions/leave-request/execute",
		fmt.Sprintf(`{"instanceId": %[1]q, "correlationId": %[1]q, "input": {"who": "Ada", "days": 10}}`, id))
	if err == nil && got["subStatus"] != "Suspended" {
		err = fmt.Errorf("leave-request: %v", got)
	}
	return err
}

// grant lets it go on, and waits for its end.
func (c *cluster) grant(ctx context.Context, id string) error {
	err := eventually(ctx, patience, func() error {
		status, got, err := c.call(ctx, "POST", "/api/v1/events/leave-decided", "grant-"+id,
			fmt.Sprintf(`{"correlationId": %q, "payload": {"granted": true, "by": "Grace"}}`, id))
		if err == nil && status != 200 && status != 202 {
			err = fmt.Errorf("leave-decided: %d %v", status, got)
		}
		return err
	})
	if err != nil {
		return err
	}
	return eventually(ctx, patience, func() error {
		got, err := c.must(ctx, "GET", "/api/v1/instances/"+id, "")
		if err == nil && got["subStatus"] != "Finished" {
			err = fmt.Errorf("leave-request %s is %v", id, got["subStatus"])
		}
		return err
	})
}

func scraped(ctx context.Context, c *cluster) error {
	for expr, want := range map[string]string{
		`count(up == 1)`:                        "8",
		`count(up{job="weft"} == 1)`:            "3",
		`count(up{job="etcd"} == 1)`:            "3",
		`sum(weft_instances_started_total) > 1`: "2",
		`min(weft_nodes)`:                       "3",
		`count(etcd_server_has_leader == 1)`:    "3",
		`sum(haproxy_backend_active_servers)`:   "3",
	} {
		err := eventually(ctx, 45*time.Second, func() error {
			got, err := c.query(ctx, expr)
			if err == nil && got != want {
				err = fmt.Errorf("%s is %s, want %s", expr, got, want)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// consistent compares what clients were told with what the cluster has.
func consistent(ctx context.Context, c *cluster) error {
	c.load.stop()
	counted := 0
	for cursor := ""; ; {
		page, err := c.must(ctx, "GET", "/api/v1/instances?definitionId=hello&subStatus=Finished&limit=100&cursor="+cursor, "")
		if err != nil {
			return err
		}
		items, _ := page["items"].([]any)
		counted += len(items)
		next, _ := page["nextCursor"].(string)
		if next == "" {
			break
		}
		cursor = next
	}
	if want := c.load.total() + 1; counted != want { // one was run by hand
		return fmt.Errorf("%d instances of hello finished, and %d were answered", counted, want)
	}
	journal, err := c.must(ctx, "GET", "/api/v1/instances/survives-kill/journal", "")
	if err != nil {
		return err
	}
	if items, _ := journal["items"].([]any); len(items) == 0 {
		return errors.New("the journal is empty")
	}
	return eventually(ctx, 30*time.Second, func() error {
		got, err := c.query(ctx, `sum(max_over_time(weft_commits_total{outcome="breach"}[15m]))`)
		if err == nil && got != "0" {
			err = fmt.Errorf("%s commits breached", got)
		}
		return err
	})
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
