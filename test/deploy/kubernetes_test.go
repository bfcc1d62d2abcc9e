package deploy_test

import (
	"bytes"
	"cmp"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// installation is what the API server gets, each document decoded into its type:
// an unknown field fails.
type installation struct {
	namespace  corev1.Namespace
	account    corev1.ServiceAccount
	service    corev1.Service
	deployment appsv1.Deployment
	budget     policyv1.PodDisruptionBudget
	policy     networkingv1.NetworkPolicy
	others     []string // what the Prometheus Operator and Grafana read, as text
}

func (in *installation) container() corev1.Container {
	return in.deployment.Spec.Template.Spec.Containers[0]
}

var (
	documentStart = regexp.MustCompile(`(?m)^---\n`)
	chartShown    = regexp.MustCompile("(?s)```yaml\n(# values.yaml\n.*?)```")
	overlay       = regexp.MustCompile("(?s)```yaml\n(# overlay/kustomization.yaml\n.*?)```")
)

// installations are the base, alone, with TLS and with the overlay that docs/operations/install.md shows, and the chart.
func installations(t *testing.T) map[string]*installation {
	t.Helper()
	fs := filesys.MakeFsInMemory()
	base := filepath.Join(root, "deploy/kubernetes")
	if err := filepath.WalkDir(base, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return fs.WriteFile("/weft/"+filepath.ToSlash(rel), raw)
	}); err != nil {
		t.Fatal(err)
	}
	shown := overlay.FindStringSubmatch(readFile(t, "docs/operations/install.md"))
	if shown == nil {
		t.Fatal("docs/operations/install.md shows no overlay/kustomization.yaml")
	}
	if err := fs.WriteFile("/overlay/kustomization.yaml", []byte(shown[1])); err != nil {
		t.Fatal(err)
	}
	if err := fs.WriteFile("/tls/kustomization.yaml", []byte("resources: [../weft/deploy/kubernetes]\ncomponents: [../weft/deploy/kubernetes/tls]\n")); err != nil {
		t.Fatal(err)
	}
	ins := map[string]*installation{"base": kustomize(t, fs, "/weft/deploy/kubernetes"), "overlay": kustomize(t, fs, "/overlay"), "tls": kustomize(t, fs, "/tls")}
	for name, values := range chartValues {
		ins["chart"+name] = chart(t, values)
	}
	values := chartShown.FindStringSubmatch(readFile(t, "docs/operations/install.md"))
	if values == nil {
		t.Fatal("docs/operations/install.md shows no values.yaml")
	}
	ins["chart, as shown"] = chart(t, values[1])
	// A patch or an image that meets nothing is no error for kustomize.
	c := ins["overlay"].container()
	for _, name := range []string{"WEFT_PUBLIC_URL", "WEFT_TLS_CERT", "WEFT_TLS_KEY"} {
		if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name }) {
			t.Errorf("the overlay sets no %s", name)
		}
	}
	if !strings.Contains(c.Image, "/weft:") {
		t.Errorf("the overlay leaves the image as %s", c.Image)
	}
	return ins
}

func kustomize(t *testing.T, fs filesys.FileSystem, dir string) *installation {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, dir)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	raw, err := made.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return read(t, dir, string(raw), true)
}

// read decodes what is rendered, each kind once. A chart has no namespace of its own.
func read(t *testing.T, what, raw string, namespace bool) *installation {
	t.Helper()
	in := new(installation)
	want := map[string]any{
		"v1 ServiceAccount": &in.account, "v1 Service": &in.service, "apps/v1 Deployment": &in.deployment,
		"policy/v1 PodDisruptionBudget": &in.budget, "networking.k8s.io/v1 NetworkPolicy": &in.policy,
	}
	if namespace {
		want["v1 Namespace"] = &in.namespace
	}
	for _, doc := range documentStart.Split(raw, -1) {
		var meta struct {
			metav1.TypeMeta
			Metadata metav1.ObjectMeta
		}
		if err := yaml.Unmarshal([]byte(doc), &meta); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, doc)
		}
		kind := meta.APIVersion + " " + meta.Kind
		if meta.Kind != "Namespace" && kind != " " && meta.Metadata.Namespace != "weft" {
			t.Errorf("%s: %s is in namespace %q", what, kind, meta.Metadata.Namespace)
		}
		if kind == " " { // nothing but comments
			continue
		}
		if slices.Contains([]string{"ServiceMonitor", "PrometheusRule", "ConfigMap"}, meta.Kind) {
			in.others = append(in.others, doc)
			continue
		}
		into, ok := want[kind]
		if !ok {
			t.Errorf("%s: %s is there twice, or nothing checks it", what, kind)
			continue
		}
		delete(want, kind)
		if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
			t.Fatalf("%s: %s: %v\n%s", what, kind, err, doc)
		}
	}
	for kind := range want {
		t.Fatalf("%s: there is no %s", what, kind)
	}
	return in
}

func TestKubernetesManifestsFitTogether(t *testing.T) {
	t.Parallel()
	for name, in := range installations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod, c := in.deployment.Spec.Template.Spec, in.container()
			pods := labels.Set(in.deployment.Spec.Template.Labels)
			for name, selector := range map[string]*metav1.LabelSelector{
				"deployment": in.deployment.Spec.Selector, "budget": in.budget.Spec.Selector, "policy": &in.policy.Spec.PodSelector,
				"service": {MatchLabels: in.service.Spec.Selector}, "spread": pod.TopologySpreadConstraints[0].LabelSelector, "zones": pod.TopologySpreadConstraints[1].LabelSelector,
			} {
				if s, err := metav1.LabelSelectorAsSelector(selector); err != nil || s.Empty() || !s.Matches(pods) {
					t.Errorf("the selector of the %s does not choose the pods: %v %v", name, s, err)
				}
			}
			if !strings.HasPrefix(name, "chart") && in.namespace.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
				t.Error("the namespace does not hold pods to the restricted standard")
			}
			if a, b := pod.TopologySpreadConstraints[0], pod.TopologySpreadConstraints[1]; a.TopologyKey != corev1.LabelHostname || b.TopologyKey != corev1.LabelTopologyZone || len(pod.TopologySpreadConstraints) != 2 {
				t.Errorf("pods are spread by %+v", pod.TopologySpreadConstraints)
			}
			if pod.ServiceAccountName != in.account.Name || pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
				t.Error("a node needs no access to Kubernetes")
			}
			if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
				t.Error("Kubernetes would set variables WEFT_… for the Service, which are settings of the node")
			}
			if u := in.deployment.Spec.Strategy.RollingUpdate; u.MaxUnavailable.IntValue() != 0 || u.MaxSurge.IntValue() < 1 {
				t.Errorf("a rollout takes a node away before there is another: %+v", u)
			}
			scheme := corev1.URISchemeHTTP
			if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "WEFT_TLS_CERT" }) {
				scheme = corev1.URISchemeHTTPS
			}
			for path, probe := range map[string]*corev1.Probe{"/readyz": c.ReadinessProbe, "/livez": c.LivenessProbe, "/livez ": c.StartupProbe} {
				get := probe.HTTPGet
				if get.Path != strings.TrimSpace(path) || get.Port != intstr.FromString(c.Ports[0].Name) || len(get.HTTPHeaders) > 0 || cmp.Or(get.Scheme, corev1.URISchemeHTTP) != scheme {
					t.Errorf("the probe %+v, want %s over %s and no credentials", get, path, scheme)
				}
			}
			if p := in.service.Spec.Ports[0].TargetPort; p != intstr.FromString(c.Ports[0].Name) {
				t.Errorf("the Service goes to port %v", p)
			}
			if s := c.SecurityContext; !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
				!*pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Error("the container may do more than it needs")
			}
			for _, v := range pod.Volumes {
				mounted := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name && m.ReadOnly && m.SubPath == "" })
				// Files of a subPath do not follow their Secret.
				if !mounted || v.Secret == nil || v.Secret.DefaultMode == nil || *v.Secret.DefaultMode != 0o440 || pod.SecurityContext.FSGroup == nil {
					t.Errorf("volume %s is not a Secret, mounted whole, for the nodes' group to read", v.Name)
				}
			}
		})
	}
}

func TestKubernetesServiceMonitorFindsTheService(t *testing.T) {
	t.Parallel()
	ins := installations(t)
	for name, c := range map[string]struct {
		monitor string
		service corev1.Service
		scheme  string
	}{
		"base":       {readFile(t, "deploy/kubernetes/servicemonitor.yaml"), ins["base"].service, ""},
		"chart":      {strings.Join(ins["chart, monitored"].others, ""), ins["chart, monitored"].service, ""},
		"chart, TLS": {strings.Join(ins["chart, TLS"].others, ""), ins["chart, TLS"].service, "https"},
	} {
		// The part of the operator's type that the file uses.
		var m struct {
			metav1.TypeMeta `json:",inline"`
			Metadata        metav1.ObjectMeta
			Spec            struct {
				JobLabel  string
				Selector  metav1.LabelSelector
				Endpoints []struct {
					Port, Path, Interval, Scheme string
					TLSConfig                    struct{ ServerName string }
				}
			}
		}
		if err := yaml.UnmarshalStrict([]byte(c.monitor), &m); err != nil {
			t.Fatal(err)
		}
		s, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
		if err != nil || s.Empty() || !s.Matches(labels.Set(c.service.Labels)) || m.Metadata.Namespace != c.service.Namespace || m.Kind != "ServiceMonitor" {
			t.Errorf("%s: it does not choose the Service: %v %v", name, s, err)
		}
		if job := c.service.Labels[m.Spec.JobLabel]; job != "weft" {
			t.Errorf("%s: the job is called %q; alerts and dashboards ask for weft", name, job)
		}
		e := m.Spec.Endpoints
		if len(e) != 1 || e[0].Port != c.service.Spec.Ports[0].Name || e[0].Path != "/metrics" || e[0].Scheme != c.scheme || (c.scheme != "") != (e[0].TLSConfig.ServerName == "weft.weft.svc") {
			t.Errorf("%s: it scrapes %+v", name, e)
		}
	}
}

var flagName = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z][a-z-]*)`)

// Every setting is one of the program, with a value that agrees with the rest.
func TestKubernetesSettingsAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	theCluster(t)
	help := command(t, cluster().program, "--help")
	flags := map[string]bool{}
	for _, m := range flagName.FindAllStringSubmatch(help, -1) {
		flags[m[1]] = true
	}
	if !flags["http-addr"] || !flags["drain-timeout"] {
		t.Fatalf("the help is not understood: %s", help)
	}
	for name, in := range installations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in.checkSettings(t, flags)
		})
	}
}

func (in *installation) checkSettings(t *testing.T, flags map[string]bool) {
	c := in.container()
	env := map[string]string{}
	for _, e := range c.Env {
		if _, twice := env[e.Name]; twice {
			t.Errorf("%s is there twice", e.Name)
		}
		env[e.Name] = e.Value
		flag, ours := strings.CutPrefix(e.Name, "WEFT_")
		if flag = strings.ToLower(strings.ReplaceAll(flag, "_", "-")); ours && !flags[flag] {
			t.Errorf("%s: there is no setting --%s", e.Name, flag)
		}
		if strings.HasPrefix(e.Value, "/") && !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return strings.HasPrefix(e.Value+"/", m.MountPath+"/") }) {
			t.Errorf("%s names %s, where nothing is mounted", e.Name, e.Value)
		}
	}
	stop := 10 * time.Second // what the rest of a stop may take
	for _, name := range []string{"WEFT_DRAIN_DELAY", "WEFT_DRAIN_TIMEOUT"} {
		d, err := time.ParseDuration(env[name])
		if err != nil {
			t.Error(err)
		}
		stop += d
	}
	if grace := time.Duration(*in.deployment.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second; grace <= stop {
		t.Errorf("a pod is killed after %v, and its node may need %v to stop", grace, stop)
	}
	p := c.ReadinessProbe
	delay, _ := time.ParseDuration(env["WEFT_DRAIN_DELAY"])
	if noticed := time.Duration(p.FailureThreshold*(p.PeriodSeconds+p.TimeoutSeconds)) * time.Second; noticed > delay {
		t.Errorf("it takes up to %v until a node counts as not ready, and it serves for %v after it says so", noticed, delay)
	}
	if env["WEFT_HTTP_ADDR"] != "0.0.0.0:8080" || env["WEFT_ADVERTISE_ADDR"] != "$(POD_IP):8080" || c.Ports[0].ContainerPort != 8080 {
		t.Error("the node listens elsewhere than the container says, or others look for it elsewhere")
	}
	if env["WEFT_INSECURE"] != "" || env["WEFT_AUTH_KEYS_FILE"] == "" {
		t.Error("the API is open")
	}
	// Below 512 MiB a node cannot keep its collector at rest: internal/heapfloor.
	soft, err := resource.ParseQuantity(strings.TrimSuffix(env["GOMEMLIMIT"], "B"))
	hard := c.Resources.Limits.Memory()
	if err != nil || soft.Value() > hard.Value()*95/100 || soft.Value() < hard.Value()*3/4 || soft.Value() < 512<<20 {
		t.Errorf("GOMEMLIMIT is %v with a limit of %v, %v", soft.String(), hard.String(), err)
	}
	if requests := c.Resources.Requests; requests.Cpu().IsZero() || requests.Memory().IsZero() || !c.Resources.Limits.Cpu().IsZero() {
		t.Errorf("resources are %+v: want requests, and no limit of processor time", c.Resources)
	}
	for endpoint := range strings.SplitSeq(env["WEFT_ETCD_ENDPOINTS"], ",") {
		u, err := url.Parse(endpoint)
		if err != nil || u.Scheme != "https" || u.Port() != "2379" || strings.Count(u.Hostname(), ".") < 2 {
			t.Errorf("etcd at %q: want https://member.service.namespace:2379; %v", endpoint, err)
			continue
		}
		etcd := peer{namespace: labels.Set{corev1.LabelMetadataName: strings.Split(u.Hostname(), ".")[2]}}
		if !allows(t, in.policy.Spec.Egress, etcd, corev1.ProtocolTCP, 2379) {
			t.Errorf("the policy keeps nodes from %s", endpoint)
		}
	}
}

// command runs a program and gives what it prints.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, problems.String())
	}
	return strings.TrimSpace(out.String())
}
