package deploy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A node as a process, with the environment and the volumes of its pod, but for
// etcd, which is the one here without TLS.
func TestKubernetesSettingsStartANode(t *testing.T) {
	t.Parallel()
	theCluster(t)
	c := cluster()
	for name, in := range installations(t) {
		name = strings.NewReplacer(",", "", " ", "-").Replace(name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mounts, key := in.mount(t, c.program)
			var environ, stray []string
			known := map[string]string{}
			data := filepath.Join(t.TempDir(), "data")
			// The image sets it; a node that asks etcd elsewhere has a root that is read only.
			environ = append(environ, "WEFT_DATA_DIR="+data)
			for _, e := range in.container().Env {
				value := e.Value
				if e.ValueFrom != nil {
					value = map[string]string{"metadata.name": "weft-5b9c-" + name, "status.podIP": "127.0.0.1"}[e.ValueFrom.FieldRef.FieldPath]
				}
				for variable, is := range known { // only what stands above it counts
					value = strings.ReplaceAll(value, "$("+variable+")", is)
				}
				known[e.Name] = value
				for in, here := range mounts {
					value = strings.Replace(value, in, here, 1)
				}
				switch e.Name {
				case "WEFT_HTTP_ADDR":
					value = "127.0.0.1:0"
				case "WEFT_ETCD_ENDPOINTS":
					value = c.etcd
				case "WEFT_ETCD_CACERT", "WEFT_ETCD_CERT", "WEFT_ETCD_KEY":
					continue
				}
				if value == "" || strings.Contains(value, "$(") {
					stray = append(stray, e.Name)
				}
				environ = append(environ, e.Name+"="+value)
			}
			if len(stray) > 0 {
				t.Errorf("without a value: %v", stray)
			}
			cmd := exec.Command(c.program)
			cmd.Env = append(environ, "WEFT_CLUSTER=kubernetes-"+name)
			addr, _, err := startNode(cmd)
			if err != nil {
				t.Fatal(err)
			}
			scheme := "http"
			if known["WEFT_TLS_CERT"] != "" {
				scheme = "https"
			}
			// Like the kubelet, which asks who answers of no certificate.
			client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
			t.Cleanup(client.CloseIdleConnections)
			get := func(path, key string, into any) int {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+addr+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if key != "" {
					req.Header.Set("Authorization", "Bearer "+key)
				}
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if into != nil {
					if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
						t.Errorf("%s: %s: %v", path, resp.Status, err)
					}
				}
				return resp.StatusCode
			}
			for _, path := range []string{"/livez", "/readyz", "/metrics"} {
				if status := get(path, "", nil); status != http.StatusOK {
					t.Errorf("%s answers %d", path, status)
				}
			}
			if status := get("/api/v1/nodes", "", nil); status != http.StatusUnauthorized {
				t.Errorf("a caller without a key gets %d", status)
			}
			var nodes struct {
				Items []struct{ NodeID, Address string }
			}
			if status := get("/api/v1/nodes", key, &nodes); status != http.StatusOK || len(nodes.Items) != 1 ||
				nodes.Items[0].NodeID != "weft-5b9c-"+name || !strings.HasSuffix(nodes.Items[0].Address, "127.0.0.1:8080") {
				t.Errorf("the node is known as %d %+v", status, nodes)
			}
			if _, err := os.Stat(data); !os.IsNotExist(err) {
				t.Errorf("the node wrote to its root: %v", err)
			}
		})
	}
}

// mount makes a directory of each volume, as the kubelet lays out a Secret: names
// that link to a version. It returns where each is, and the key in weft-auth.
func (in *installation) mount(t *testing.T, program string) (dirs map[string]string, key string) {
	t.Helper()
	content := map[string]map[string][]byte{}
	for _, v := range in.deployment.Spec.Template.Spec.Volumes {
		files := map[string][]byte{}
		switch v.Secret.SecretName {
		case "weft-auth":
			made := filepath.Join(t.TempDir(), "keys.yaml")
			key = command(t, program, "apikey", "shop", "--role", "operator", "--auth-keys-file", made)
			raw, err := os.ReadFile(made)
			if err != nil {
				t.Fatal(err)
			}
			files["keys.yaml"] = raw
		case "weft-tls":
			files["tls.crt"], files["tls.key"] = certificate(t)
		case "weft-secrets", "weft-etcd": // optional, so there may be nothing; not used here
		default:
			t.Errorf("the Secret %s is one that docs/operations/install.md does not make", v.Secret.SecretName)
		}
		content[v.Name] = files
	}
	dirs = map[string]string{}
	for _, m := range in.container().VolumeMounts {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "..1"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("..1", filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
		for name, raw := range content[m.Name] {
			if err := os.WriteFile(filepath.Join(dir, "..1", name), raw, 0o440); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		dirs[m.MountPath] = dir
	}
	return dirs, key
}

// certificate is one for 127.0.0.1, with its key.
func certificate(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}
