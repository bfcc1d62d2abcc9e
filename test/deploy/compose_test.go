package deploy_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// load reads the file as today's Compose does.
func load(t *testing.T, environ ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "docker-compose.yml")}, cli.WithName("weft"), cli.WithEnv(environ))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestOldComposeAcceptsTheFile(t *testing.T) {
	t.Parallel()
	run(t, root, tool(t, "docker-compose", "docker-compose"), "config", "--quiet")
}

func TestComposeFileIsWhatTheDocsSay(t *testing.T) {
	t.Parallel()
	p := load(t)
	images := map[string]int{}
	published := map[string]string{}
	for name, s := range p.Services {
		images[strings.SplitN(s.Image, ":", 2)[0]]++
		for _, port := range s.Ports {
			published[name] += port.HostIP + ":" + port.Published
		}
		checked := s.HealthCheck != nil && len(s.HealthCheck.Test) > 0 || s.Image == "weft" && s.HealthCheck == nil
		once := strings.HasPrefix(name, "init")
		if !once && !checked {
			t.Errorf("%s has no health check", name)
		}
		if !once && s.Restart != "unless-stopped" {
			t.Errorf("%s: restart is %q", name, s.Restart)
		}
		if name != "grafana" && !s.ReadOnly {
			t.Errorf("%s can write to its root file system", name)
		}
		if len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL" || s.Privileged {
			t.Errorf("%s drops the capabilities %v", name, s.CapDrop)
		}
		if !once && (s.MemLimit < 256<<20 || s.Image == "weft" && s.MemLimit < 1<<30) {
			t.Errorf("%s may take %d bytes of memory: one that takes all takes the others with it", name, s.MemLimit)
		}
		least := map[string]time.Duration{"weft": 46 * time.Second, "haproxy": 46 * time.Second, "gcr.io/etcd-development/etcd": 30 * time.Second}[strings.SplitN(s.Image, ":", 2)[0]]
		if !once && least > 0 && (s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) < least) {
			t.Errorf("%s is killed before it has ended what it has: stop_grace_period is %v, want %v or more", name, s.StopGracePeriod, least)
		}
		if s.Image == "weft" && s.Build == nil {
			t.Errorf("%s cannot be built", name)
		}
		for on, how := range s.DependsOn {
			want := types.ServiceConditionHealthy
			if strings.HasPrefix(on, "init") {
				want = types.ServiceConditionCompletedSuccessfully
			}
			if how.Condition != want {
				t.Errorf("%s waits for %s until %s", name, on, how.Condition)
			}
		}
	}
	for image, want := range map[string]int{"gcr.io/etcd-development/etcd": 3, "weft": 5, "haproxy": 1, "prom/prometheus": 1, "grafana/grafana": 1} {
		if images[image] != want {
			t.Errorf("%d services of %s, want %d", images[image], image, want)
		}
	}
	want := map[string]string{"haproxy": "127.0.0.1:8080", "prometheus": "127.0.0.1:9090", "grafana": "127.0.0.1:3000"}
	if len(published) != len(want) {
		t.Errorf("published are %v", published)
	}
	for name, addr := range want {
		if published[name] != addr {
			t.Errorf("%s is published at %q, want %q", name, published[name], addr)
		}
	}
}

func TestComposeFileHasNoSecrets(t *testing.T) {
	t.Parallel()
	secret := regexp.MustCompile(`(?i)password|secret|token|key`)
	for name, s := range load(t).Services {
		for variable, value := range s.Environment {
			// A path to a file, and the name that etcd gives its cluster.
			if secret.MatchString(variable) && value != nil && !strings.HasPrefix(*value, "/") && variable != "ETCD_INITIAL_CLUSTER_TOKEN" {
				t.Errorf("%s: %s has a value", name, variable)
			}
		}
	}
}

func TestComposePortsFollowTheEnvironment(t *testing.T) {
	t.Parallel()
	p := load(t, "WEFT_BIND=0.0.0.0", "WEFT_API_PORT=80")
	if port := p.Services["haproxy"].Ports[0]; port.HostIP != "0.0.0.0" || port.Published != "80" || port.Target != 8080 {
		t.Errorf("the API is published as %+v", port)
	}
}
