package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// command runs a program and gives its standard output without white space
// around it. The error has what it said.
func command(ctx context.Context, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(errs.String() + out.String())
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, said)
	}
	return strings.TrimSpace(out.String()), nil
}

func docker(ctx context.Context, args ...string) (string, error) {
	return command(ctx, nil, "docker", args...)
}

// startDocker starts the engine as Debian does, unless it runs.
func startDocker(ctx context.Context) error {
	_, err := docker(ctx, "version", "--format", "{{.Server.Version}}")
	if err == nil {
		return nil
	}
	if _, err := command(ctx, nil, "service", "docker", "start"); err != nil {
		return fmt.Errorf("start the Docker engine (apt-get install docker.io docker-compose): %w", err)
	}
	return eventually(ctx, 30*time.Second, func() error {
		_, err := docker(ctx, "version", "--format", "{{.Server.Version}}")
		return err
	})
}

// composeCommand is today's Compose if it is there, else docker-compose.
func composeCommand(ctx context.Context) ([]string, error) {
	if _, err := docker(ctx, "compose", "version"); err == nil {
		return []string{"docker", "compose"}, nil
	}
	if _, err := exec.LookPath("docker-compose"); err != nil {
		return nil, errors.New("there is neither docker compose nor docker-compose (apt-get install docker-compose)")
	}
	return []string{"docker-compose"}, nil
}

// eventually asks again and again until there is no error or the time is over.
func eventually(ctx context.Context, limit time.Duration, ok func() error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := ok()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("still so after %v: %w", limit, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
