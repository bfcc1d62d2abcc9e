package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

func drain(ctx context.Context, c *cluster) error {
	c.load = startLoad(ctx, c)
	c.load.during("drain")
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	if _, err := c.run(ctx, "stop", "node-1"); err != nil {
		return err
	}
	code, err := c.inspect(ctx, "node-1", "{{.State.ExitCode}} {{.State.OOMKilled}}")
	if err != nil || code != "0 false" {
		return fmt.Errorf("the drained node ended with %s, %w", code, err)
	}
	if err := c.liveNodes(ctx, 2, ttl); err != nil {
		return err
	}
	if _, err := c.run(ctx, "start", "node-1"); err != nil {
		return err
	}
	if err := errors.Join(c.healthy(ctx, "node-1", 30*time.Second), c.liveNodes(ctx, 3, ttl)); err != nil {
		return err
	}
	repeated, last, err := c.load.report("drain")
	if err == nil && repeated > 0 {
		err = fmt.Errorf("%d requests failed during the drain; the last: %s", repeated, last)
	}
	return err
}

func kill(ctx context.Context, c *cluster) error {
	if err := c.ask(ctx, "survives-kill"); err != nil {
		return err
	}
	c.load.during("kill")
	id, err := c.container(ctx, "node-2")
	if err != nil {
		return err
	}
	if _, err := docker(ctx, "kill", id); err != nil {
		return err
	}
	if err := c.grant(ctx, "survives-kill"); err != nil {
		return err
	}
	if err := c.liveNodes(ctx, 2, ttl+3*time.Second); err != nil {
		return err
	}
	err = eventually(ctx, 40*time.Second, func() error {
		_, err := c.query(ctx, `ALERTS{alertname="WeftNodeMissing",instance="node-2:8080"}`)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := docker(ctx, "start", id); err != nil {
		return err
	}
	if err := errors.Join(c.healthy(ctx, "node-2", 30*time.Second), c.liveNodes(ctx, 3, ttl)); err != nil {
		return err
	}
	_, _, err = c.load.report("kill")
	return err
}

func cut(ctx context.Context, c *cluster) error {
	if err := c.ask(ctx, "survives-cut"); err != nil {
		return err
	}
	c.load.during("cut")
	id, err := c.container(ctx, "node-3")
	if err != nil {
		return err
	}
	if _, err := docker(ctx, "network", "disconnect", c.network(), id); err != nil {
		return err
	}
	if err := errors.Join(c.grant(ctx, "survives-cut"), c.liveNodes(ctx, 2, ttl+3*time.Second)); err != nil {
		return err
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return err
	}
	if _, err := docker(ctx, "network", "connect", "--alias", "node-3", c.network(), id); err != nil {
		return err
	}
	if err := errors.Join(c.healthy(ctx, "node-3", time.Minute), c.liveNodes(ctx, 3, 30*time.Second)); err != nil {
		return err
	}
	restarts, err := c.inspect(ctx, "node-3", "{{.RestartCount}}")
	if err != nil || restarts != "0" {
		return fmt.Errorf("the node restarted %s times instead of joining again, %w", restarts, err)
	}
	_, _, err = c.load.report("cut")
	return err
}

func leader(ctx context.Context, c *cluster) error {
	c.load.during("leader")
	name, err := c.leader(ctx)
	if err != nil {
		return err
	}
	c.say("  %s leads", name)
	if _, err := c.run(ctx, "restart", name); err != nil {
		return err
	}
	if err := errors.Join(c.healthy(ctx, name, time.Minute), c.ask(ctx, "after-leader"), c.grant(ctx, "after-leader")); err != nil {
		return err
	}
	_, _, err = c.load.report("leader")
	return err
}

// leader is the etcd member that leads.
func (c *cluster) leader(ctx context.Context) (string, error) {
	for _, name := range []string{"etcd-1", "etcd-2", "etcd-3"} {
		id, err := c.container(ctx, name)
		if err != nil {
			return "", err
		}
		out, err := docker(ctx, "exec", id, "etcdctl", "endpoint", "status", "--write-out=json")
		if err != nil {
			return "", err
		}
		var status []struct {
			Status struct {
				Header struct {
					MemberID uint64 `json:"member_id"`
				}
				Leader uint64
			}
		}
		if err := json.Unmarshal([]byte(out), &status); err != nil {
			return "", err
		}
		if len(status) == 1 && status[0].Status.Leader == status[0].Status.Header.MemberID {
			return name, nil
		}
	}
	return "", errors.New("no etcd member leads")
}
