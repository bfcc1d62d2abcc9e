package deploy_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// chartValues are files of values; what they make is held to all that the kustomization is held to.
var chartValues = map[string]string{
	"":              "",
	", TLS":         "tls: {secret: weft-tls}\nserviceMonitor: {enabled: true, tlsConfig: {}}\n",
	", one replica": "replicas: 1\nresources: {limits: {memory: 700Mi}}\nconfig: {drain-delay: 20s, drain-timeout: 2m}\n",
	", monitored":   "serviceMonitor: {enabled: true, labels: {release: prometheus}}\nimage: {repository: registry.example.com:5000/weft, tag: 1.2.3}\n",
	", settings": `config: {console: off, burst-bytes: 268435456, public-url: https://weft.example.com}
networkPolicy: {from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress}}}], to: [{to: [{ipBlock: {cidr: 192.0.2.0/24}}], ports: [{port: 5432}]}]}
podLabels: {team: a}
nodeSelector: {disk: ssd}
`,
}

// rendered gives what Helm sends to the API server, and what it tells who has installed it.
func rendered(t *testing.T, release, values string) (objects, notes string, err error) {
	t.Helper()
	weft, err := loader.Load(filepath.Join(root, "deploy/helm/weft"))
	if err != nil {
		t.Fatal(err)
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(weft, given, chartutil.ReleaseOptions{Name: release, Namespace: "weft", Revision: 1, IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return "", "", err // of the schema
	}
	files, err := engine.Engine{Strict: true}.Render(weft, all)
	if err != nil {
		return "", "", err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		switch {
		case strings.HasSuffix(name, "NOTES.txt"):
			notes = files[name]
		case strings.HasSuffix(name, ".yaml"):
			objects += "---\n" + files[name]
		}
	}
	return objects, notes, nil
}

// make release packs the chart with its version, and the same bytes each time.
func TestThePackedChart(t *testing.T) {
	t.Parallel()
	var packed [][]byte
	for range 2 {
		dist := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "bash", ".ci/run", "chart")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "VERSION=v1.2.3-rc.1", "SOURCE_DATE_EPOCH=1700000000", "DIST="+dist)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("pack the chart: %v\n%s", err, out)
		}
		packed = append(packed, bytesOf(t, filepath.Join(dist, "weft-chart-1.2.3-rc.1.tgz")))
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("it is another one when it is made again")
	}
	weft, err := loader.LoadArchive(bytes.NewReader(packed[0]))
	if err != nil {
		t.Fatal(err)
	}
	if err := weft.Validate(); err != nil || weft.Metadata.Version != "1.2.3-rc.1" || weft.AppVersion() != "1.2.3-rc.1" || len(weft.Schema) == 0 {
		t.Errorf("the chart is %+v, %v", weft.Metadata, err)
	}
}

func chart(t *testing.T, values string) *installation {
	t.Helper()
	objects, _, err := rendered(t, "weft", values)
	if err != nil {
		t.Fatalf("the chart with %q: %v", values, err)
	}
	return read(t, "the chart", objects, false)
}

// Who moves from the one to the other gets the same nodes.
func TestTheChartIsTheKustomization(t *testing.T) {
	t.Parallel()
	ins := installations(t)
	for chart, base := range map[string]string{"chart": "base", "chart, TLS": "tls"} {
		got, want := ins[chart], ins[base]
		got.plain()
		want.plain()
		for what, pair := range map[string][2]any{
			"deployment": {want.deployment.Spec, got.deployment.Spec}, "service": {want.service.Spec, got.service.Spec}, "budget": {want.budget.Spec, got.budget.Spec},
			"policy": {want.policy.Spec, got.policy.Spec}, "account": {want.account.AutomountServiceAccountToken, got.account.AutomountServiceAccountToken},
		} {
			if diff := gocmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s: its %s is another one than that of %s (-) (+):\n%s", chart, what, base, diff)
			}
		}
	}
}

// plain takes away what has to differ: labels that name the release, the image's tag, the order, and
// the soft limit of memory, which the chart makes of the hard one (checkSettings looks at both).
func (in *installation) plain() {
	bare := func(set map[string]string) {
		maps.DeleteFunc(set, func(k, _ string) bool {
			return k != "app.kubernetes.io/name" && (k == "helm.sh/chart" || strings.HasPrefix(k, "app.kubernetes.io/"))
		})
	}
	spec := &in.deployment.Spec
	bare(spec.Selector.MatchLabels)
	bare(spec.Template.Labels)
	for _, c := range spec.Template.Spec.TopologySpreadConstraints {
		bare(c.LabelSelector.MatchLabels)
	}
	bare(in.service.Spec.Selector)
	bare(in.budget.Spec.Selector.MatchLabels)
	bare(in.policy.Spec.PodSelector.MatchLabels)
	for _, r := range in.policy.Spec.Ingress {
		for _, p := range r.From {
			if p.PodSelector != nil {
				bare(p.PodSelector.MatchLabels)
			}
		}
	}
	for _, r := range in.policy.Spec.Egress {
		for _, p := range r.To {
			if p.PodSelector != nil {
				bare(p.PodSelector.MatchLabels)
			}
		}
	}
	c := &spec.Template.Spec.Containers[0]
	c.Image, _, _ = strings.Cut(c.Image, ":")
	c.Env = slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "GOMEMLIMIT" })
	slices.SortFunc(c.Env, func(a, b corev1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.VolumeMounts, func(a, b corev1.VolumeMount) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(spec.Template.Spec.Volumes, func(a, b corev1.Volume) int { return cmp.Compare(a.Name, b.Name) })
}

func TestTheChartTakesItsValues(t *testing.T) {
	t.Parallel()
	ins := installations(t)
	env := func(in *installation) map[string]string {
		out := map[string]string{}
		for _, e := range in.container().Env {
			out[e.Name] = e.Value
		}
		return out
	}
	one, set := ins["chart, one replica"], ins["chart, settings"]
	if *one.deployment.Spec.Replicas != 1 || *one.deployment.Spec.Template.Spec.TerminationGracePeriodSeconds != 160 || env(one)["GOMEMLIMIT"] != "616MiB" {
		t.Errorf("one replica: %+v", one.deployment.Spec)
	}
	for name, want := range map[string]string{"WEFT_CONSOLE": "off", "WEFT_BURST_BYTES": "268435456", "WEFT_PUBLIC_URL": "https://weft.example.com", "WEFT_DRAIN_DELAY": "10s"} {
		if got := env(set)[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// A value stays one value, whatever is in it.
	evil := "debug\"\n            - name: EVIL\n  {{ .Release.Name }} \x01 ü # '"
	raw, err := json.Marshal(map[string]any{"config": map[string]any{"log-level": evil, "insecure": true}})
	if err != nil {
		t.Fatal(err)
	}
	if got := env(chart(t, string(raw))); got["WEFT_LOG_LEVEL"] != evil || got["WEFT_INSECURE"] != "true" || len(got) != len(env(ins["chart"]))+2 {
		t.Errorf("the variables are %q", got)
	}
	if set.deployment.Spec.Template.Labels["team"] != "a" || set.deployment.Spec.Template.Spec.NodeSelector["disk"] != "ssd" {
		t.Error("labels and selectors are not those of the values")
	}
	ingress := peer{namespace: labels.Set{corev1.LabelMetadataName: "ingress"}}
	if !allows(t, set.policy.Spec.Ingress, ingress, corev1.ProtocolTCP, 8080) || allows(t, one.policy.Spec.Ingress, ingress, corev1.ProtocolTCP, 8080) {
		t.Error("networkPolicy.from says who may come in")
	}
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	if image := chart(t, "image: {repository: registry.example.com/weft, tag: 1.2.3, digest: \""+digest+"\"}").container().Image; image != "registry.example.com/weft:1.2.3@"+digest {
		t.Errorf("the pinned image is %s", image)
	}
	if image := ins["chart, monitored"].container().Image; image != "registry.example.com:5000/weft:1.2.3" {
		t.Errorf("the image is %s", image)
	}
}

// An etcd elsewhere, with a password and without a client's certificate, and files that settings name.
func TestTheChartOfAnotherEtcd(t *testing.T) {
	t.Parallel()
	in := chart(t, `etcd: {endpoints: ["https://a.example.com:2379", "https://[2001:db8::1]:12379"], tls: {secret: ca, clientCertificate: false}, user: weft, password: {secret: "123", key: word}, namespace: "", cidrs: [192.0.2.0/28]}
auth: {secret: ""}
secrets: {secret: ""}
files: {oidc: weft-oidc}
config: {auth-oidc-issuer: "https://id.example.com", auth-oidc-client-secret-file: /etc/weft/files/oidc/secret}
env: [{name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "http://traces:4318"}]
networkPolicy: {enabled: true}
`)
	env, paths := map[string]string{}, map[string]string{}
	for _, e := range in.container().Env {
		env[e.Name] = e.Value
	}
	for i, v := range in.deployment.Spec.Template.Spec.Volumes {
		paths[in.container().VolumeMounts[i].MountPath] = v.Secret.SecretName
	}
	if want := map[string]string{"/etc/weft/etcd": "ca", "/etc/weft/etcd-password": "123", "/etc/weft/files/oidc": "weft-oidc"}; !maps.Equal(paths, want) {
		t.Errorf("mounted: %v, want %v", paths, want)
	}
	for name, want := range map[string]string{
		"WEFT_ETCD_ENDPOINTS": "https://a.example.com:2379,https://[2001:db8::1]:12379", "WEFT_ETCD_CERT": "", "WEFT_ETCD_USER": "weft", "WEFT_ETCD_PASSWORD_FILE": "/etc/weft/etcd-password/word",
		"WEFT_AUTH_KEYS_FILE": "", "WEFT_SECRETS_DIR": "", "WEFT_AUTH_OIDC_ISSUER": "https://id.example.com", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://traces:4318",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	egress := in.policy.Spec.Egress[2]
	if len(egress.To) != 1 || egress.To[0].IPBlock == nil || egress.To[0].IPBlock.CIDR != "192.0.2.0/28" || len(egress.Ports) != 2 || egress.Ports[1].Port.IntValue() != 12379 {
		t.Errorf("the way to etcd is %+v", egress)
	}
}

// What is watched is the same as without Kubernetes, whoever installs it.
func TestTheChartBringsAlertsAndDashboards(t *testing.T) {
	t.Parallel()
	if n := len(chart(t, "").others); n != 0 {
		t.Errorf("%d objects that the cluster may have no kind for", n)
	}
	in := chart(t, `prometheusRule: {enabled: true, labels: {release: prometheus}}
dashboards: {enabled: true, annotations: {grafana_folder: Weft}}
`)
	shown := map[string]string{}
	for _, doc := range in.others {
		var object struct {
			Kind     string
			Metadata metav1.ObjectMeta
			Spec     any
			Data     map[string]string
		}
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if object.Kind == "PrometheusRule" {
			var want any
			if err := yaml.Unmarshal([]byte(readFile(t, "deploy/prometheus/alerts.yml")), &want); err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, object.Spec); diff != "" || object.Metadata.Labels["release"] != "prometheus" {
				t.Errorf("its rules are others (-) (+), or nobody finds them by %v:\n%s", object.Metadata.Labels, diff)
			}
			continue
		}
		if m := object.Metadata; m.Labels["grafana_dashboard"] != "1" || m.Annotations["grafana_folder"] != "Weft" || len(object.Data) != 1 {
			t.Errorf("the sidecar does not take %+v", m)
		}
		maps.Copy(shown, object.Data)
	}
	want := filesOf(t, filepath.Join(root, "deploy/grafana/dashboards"))
	for name, text := range want {
		if strings.TrimSpace(shown["weft-"+name]) != strings.TrimSpace(text) {
			t.Errorf("the dashboard %s is another one, or not there", name)
		}
	}
	if len(shown) != len(want) || len(in.others) != len(want)+1 {
		t.Errorf("%d dashboards in %d objects, want %d", len(shown), len(in.others), len(want))
	}
}

func TestTheChartTakesVolumesZonesAndResolvers(t *testing.T) {
	t.Parallel()
	in := chart(t, `extraVolumes: [{name: authorities, configMap: {name: partners-ca}}]
extraVolumeMounts: [{name: authorities, mountPath: /etc/weft/extra, readOnly: true}]
spread: {kubernetes.io/hostname: ScheduleAnyway, topology.kubernetes.io/zone: DoNotSchedule}
networkPolicy: {dns: []}
`)
	pod := in.deployment.Spec.Template.Spec
	if v := pod.Volumes[len(pod.Volumes)-1]; v.ConfigMap == nil || v.ConfigMap.Name != "partners-ca" || len(pod.Volumes) != 4 {
		t.Errorf("the volumes are %+v", pod.Volumes)
	}
	if m := in.container().VolumeMounts; m[len(m)-1].MountPath != "/etc/weft/extra" || len(m) != 4 {
		t.Errorf("mounted: %+v", m)
	}
	for _, c := range pod.TopologySpreadConstraints {
		if want := map[string]corev1.UnsatisfiableConstraintAction{corev1.LabelHostname: corev1.ScheduleAnyway, corev1.LabelTopologyZone: corev1.DoNotSchedule}[c.TopologyKey]; c.WhenUnsatisfiable != want {
			t.Errorf("%s: %s, want %s", c.TopologyKey, c.WhenUnsatisfiable, want)
		}
	}
	if allows(t, in.policy.Spec.Egress, peer{addr: netip.MustParseAddr("169.254.20.10")}, corev1.ProtocolUDP, 53) {
		t.Error("networkPolicy.dns is not what the values say")
	}
	// Nothing is mounted but what the values say, and nothing at all is no list.
	bare := chart(t, `etcd: {endpoints: ["http://e:2379"], tls: {secret: ""}}
auth: {secret: ""}
secrets: {secret: ""}
config: {insecure: true}
spread: {kubernetes.io/hostname: null, topology.kubernetes.io/zone: null}
`)
	if spec := bare.deployment.Spec.Template.Spec; len(spec.Volumes)+len(bare.container().VolumeMounts)+len(spec.TopologySpreadConstraints) != 0 {
		t.Errorf("there is %+v", spec)
	}
}

// Two releases in one namespace do not take each other's pods.
func TestTwoReleasesOfTheChart(t *testing.T) {
	t.Parallel()
	var releases []*installation
	for _, name := range []string{"weft", "shop"} {
		objects, _, err := rendered(t, name, "")
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, read(t, name, objects, false))
	}
	if name := releases[1].deployment.Name; name != "shop-weft" {
		t.Errorf("the second one is called %s", name)
	}
	pods := labels.Set(releases[0].deployment.Spec.Template.Labels)
	for what, selector := range map[string]*metav1.LabelSelector{
		"deployment": releases[1].deployment.Spec.Selector, "service": {MatchLabels: releases[1].service.Spec.Selector}, "budget": releases[1].budget.Spec.Selector, "policy": &releases[1].policy.Spec.PodSelector,
	} {
		if chosen(t, selector, pods) {
			t.Errorf("the %s of the second takes the pods of the first", what)
		}
	}
}

// What cannot be meant is refused before anything is installed, and the text says where.
func TestTheChartRefuses(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"replica: 3":                                    "replica",
		"replicas: three":                               "replicas",
		"replicas: -1":                                  "replicas",
		"config: {retain-finised: 72h}":                 "retain-finised",
		"config: {etcd-endpoints: a}":                   "etcd-endpoints",
		"config: {coordination: local}":                 "coordination",
		"config: {session-ttl: soon}":                   "session-ttl",
		"config: {drain-delay: 1h30m}":                  "drain-delay",
		"config: {drain-delay: 010s}":                   "drain-delay",
		"config: {burst-bytes: many}":                   "burst-bytes",
		"config: {burst-bytes: 1.5}":                    "burst-bytes",
		"config: {log-level: [a]}":                      "log-level",
		"config: {console: maybe}":                      "console",
		"etcd: {endpoints: []}":                         "endpoints",
		"etcd: {endpoints: ['etcd:2379']}":              "endpoints",
		"etcd: {endpoints: [\"https://a:1\\n- name\"]}": "endpoints",
		"etcd: {endpoints: ['http://a:2379']}":          "etcd.tls.secret",
		"etcd: {tls: {secret: ../etc}}":                 "secret",
		"etcd: {user: weft}":                            "etcd.password.secret",
		"etcd: {namespace: ''}":                         "etcd.cidrs",
		"auth: {secret: ''}":                            "auth.secret",
		"auth: {secret: \"a\\nb\"}":                     "auth",
		"env: [{name: WEFT_INSECURE, value: 'true'}]":   "env",
		"env: [{name: GOMEMLIMIT, value: 1GiB}]":        "env",
		"resources: {limits: {cpu: 1, memory: 1Gi}}":    "cpu",
		"resources: {limits: {memory: 1000000000}}":     "memory",
		"image: {tag: \"1\\n- name: x\"}":               "tag",
		"files: {../x: a}":                              "../x",
		"image: {digest: 'sha256:12'}":                  "digest",
		"podLabels: {app.kubernetes.io/name: other}":    "app.kubernetes.io/name",
		"serviceMonitor: {enabled: true, labels: {app.kubernetes.io/name: other}}": "app.kubernetes.io/name",
		"disruption: {maxUnavailable: 0}":                                          "maxUnavailable",
		"networkPolicy: {to: [{ports: [{port: 1}]}]}":                              "to",
		"networkPolicy: {dns: [169.254.20.10]}":                                    "dns",
		"spread: {kubernetes.io/hostname: Sometimes}":                              "spread",
		"extraVolumes: [{name: auth, emptyDir: {}}]":                               "extraVolumes",
		"extraVolumes: [{emptyDir: {}}]":                                           "extraVolumes",
		"extraVolumeMounts: [{name: mine, mountPath: /etc/weft/secrets/more}]":     "extraVolumeMounts",
		"prometheusRule: {enabled: true, labels: {app.kubernetes.io/name: other}}": "app.kubernetes.io/name",
		"dashboards: {enable: true}":                                               "enable",
	} {
		if _, _, err := rendered(t, "weft", values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %s", values, err, want)
		}
	}
}

// Whoever has installed it is told what is missing and what is risky.
func TestTheChartsNotes(t *testing.T) {
	t.Parallel()
	for values, want := range map[string][]string{
		"":                                     {"3 node(s) as weft in the namespace weft", "weft-auth: keys.yaml", "weft-etcd: ca.crt, tls.crt, tls.key", "call http://weft.weft", "config.public-url"},
		"tls: {secret: my-tls}":                {"my-tls: tls.crt, tls.key", "call https://weft.weft", "8080:443"},
		"replicas: 1":                          {"WARNING: without a second node"},
		"config: {insecure: true}":             {"WARNING: config.insecure"},
		"resources: {limits: {memory: 512Mi}}": {"WARNING: with 512Mi"},
	} {
		_, notes, err := rendered(t, "weft", values)
		if err != nil {
			t.Error(err)
		}
		for _, text := range want {
			if !strings.Contains(notes, text) {
				t.Errorf("with %q the notes do not say %q:\n%s", values, text, notes)
			}
		}
	}
	if _, notes, _ := rendered(t, "weft", "config: {public-url: https://weft.example.com}"); strings.Contains(notes, "WARNING") || strings.Contains(notes, "public-url") {
		t.Errorf("there is nothing to warn of:\n%s", notes)
	}
}

// YAML takes on and off for booleans, and the template knows which settings mean the words.
func TestTheChartKnowsSettingsThatAreOnOrOff(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties struct {
			Config struct {
				Properties map[string]struct{ Enum []any }
			}
		}
	}
	if err := json.Unmarshal([]byte(readFile(t, "deploy/helm/weft/values.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, s := range schema.Properties.Config.Properties {
		if !slices.Contains(s.Enum, any(true)) {
			continue
		}
		n++
		in := chart(t, "config: {"+name+": off}")
		if !slices.Contains(in.container().Env, corev1.EnvVar{Name: "WEFT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")), Value: "off"}) {
			t.Errorf("%s: off becomes another value: %+v", name, in.container().Env)
		}
	}
	if n < 3 {
		t.Errorf("%d settings", n)
	}
}
