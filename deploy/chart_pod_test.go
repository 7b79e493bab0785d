package deploy_test

import (
	"bufio"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func newLines(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }

// eachRelease runs do with the release that each set of values makes.
func eachRelease(t *testing.T, do func(t *testing.T, r *rendered)) {
	for name, values := range files(t) {
		t.Run(name, func(t *testing.T) { do(t, mustRender(t, values)) })
	}
}

// TestChartPodsHaveNoRights: what the strictest of Kubernetes' pod security
// standards asks for, and a root that cannot be written.
func TestChartPodsHaveNoRights(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *rendered) {
		for name, p := range map[string]*corev1.PodSpec{"bank": &r.pod(t).Spec, "test": &r.Check.Spec} {
			checkPod(t, name, p)
			for i := range p.Containers {
				checkContainer(t, name, &p.Containers[i])
			}
			if len(p.Containers) != 1 || len(p.InitContainers) > 0 || len(p.EphemeralContainers) > 0 {
				t.Errorf("%s: other containers than one, which nothing here looks at", name)
			}
		}
	})
}

func checkPod(t *testing.T, name string, p *corev1.PodSpec) {
	t.Helper()
	s := p.SecurityContext
	if s == nil || !yes(s.RunAsNonRoot) || s.RunAsUser == nil || *s.RunAsUser == 0 || s.RunAsGroup == nil || *s.RunAsGroup == 0 ||
		s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("%s: security context %+v, want another user than root and seccomp RuntimeDefault", name, s)
	}
	if p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken {
		t.Errorf("%s: a token of the cluster is mounted", name)
	}
	if p.EnableServiceLinks == nil || *p.EnableServiceLinks {
		t.Errorf("%s: variables of other services are given", name)
	}
	if p.HostNetwork || p.HostPID || p.HostIPC || yes(p.ShareProcessNamespace) {
		t.Errorf("%s: shares the node's namespaces", name)
	}
	for _, v := range p.Volumes {
		if v.ConfigMap == nil && v.Projected == nil && v.EmptyDir == nil {
			t.Errorf("%s: volume %s is none of ConfigMap, projected Secrets and emptyDir", name, v.Name)
		}
		if v.EmptyDir != nil && v.EmptyDir.SizeLimit == nil {
			t.Errorf("%s: volume %s has no bound", name, v.Name)
		}
	}
}

func checkContainer(t *testing.T, name string, c *corev1.Container) {
	t.Helper()
	s := c.SecurityContext
	if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !yes(s.ReadOnlyRootFilesystem) || yes(s.Privileged) ||
		!yes(s.RunAsNonRoot) || s.Capabilities == nil || !cmp.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
		t.Errorf("%s: rights %+v, want none, and a root that is only read", name, s)
	}
	if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
		t.Errorf("%s: resources %+v, want requests and a limit of memory", name, c.Resources)
	}
	if _, tag, _ := strings.Cut(path.Base(c.Image), ":"); tag == "" || tag == "latest" {
		t.Errorf("%s: image %s, want one with a version or a digest", name, c.Image)
	}
	for _, e := range c.Env {
		if e.ValueFrom != nil {
			t.Errorf("%s: variable %s is from elsewhere: secrets are files", name, e.Name)
		}
	}
	for _, m := range c.VolumeMounts {
		if writable := m.MountPath == "/var/lib/vimbank" || m.MountPath == "/tmp"; m.ReadOnly == writable {
			t.Errorf("%s: %s is read-only: %v", name, m.MountPath, m.ReadOnly)
		}
	}
}

func yes(b *bool) bool { return b != nil && *b }

// TestChartSecretsAreReferences: the release holds no Secret, and each one that
// is named is a file which the settings name.
func TestChartSecretsAreReferences(t *testing.T) {
	for _, tt := range []struct {
		set  string
		want map[string]string // path of the file: SECRET/KEY
	}{
		{"cluster", map[string]string{"ledgerPassword": "vimbank-postgres/password", "denseKey": "vimbank-qdrant/api-key", "sparsePassword": "vimbank-elastic/password"}},
		{"minimal", map[string]string{"denseKey": "vimbank-qdrant/api-key", "sparseKey": "vimbank-elastic/encoded"}},
		{"embedded", map[string]string{}},
		{"full", map[string]string{"ledgerURL": "pg/uri", "denseKey": "qdrant/key", "sparsePassword": "es/elastic", "embedderKey": "embed/key"}},
	} {
		t.Run(tt.set, func(t *testing.T) {
			r := mustRender(t, files(t)[tt.set])
			got := map[string]string{}
			for _, v := range r.pod(t).Spec.Volumes {
				if v.Projected == nil {
					continue
				}
				if mode := v.Projected.DefaultMode; mode == nil || *mode != 0o440 {
					t.Errorf("mode of secrets %v, want 0440", mode)
				}
				for _, s := range v.Projected.Sources {
					got[s.Secret.Items[0].Path] = s.Secret.Name + "/" + s.Secret.Items[0].Key
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("secrets (-want +got):\n%s", diff)
			}
			settings := r.ConfigMap.Data["vimbank.yaml"]
			for file := range tt.want {
				if !strings.Contains(settings, "_file: /etc/vimbank/secrets/"+file+"\n") {
					t.Errorf("the settings do not name the file %s:\n%s", file, settings)
				}
			}
			if n := strings.Count(settings, "/etc/vimbank/secrets/"); n != len(tt.want) {
				t.Errorf("the settings name %d files of secrets, want %d:\n%s", n, len(tt.want), settings)
			}
		})
	}
}

// TestChartSettingsLoad: VIMBank takes the settings that each release has.
func TestChartSettingsLoad(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *rendered) {
		env := map[string]string{}
		for _, e := range r.pod(t).Spec.Containers[0].Env {
			if e.Name != "VIMBANK_CONFIG" {
				env[e.Name] = e.Value
			}
		}
		c := loadWith(t, env, r.ConfigMap.Data["vimbank.yaml"])
		want := "postgres"
		if r.StatefulSet != nil {
			want = "sqlite"
		}
		if c.Ledger.Kind != want || c.Bank != "/var/lib/vimbank" || !c.Admin.Public {
			t.Errorf("ledger %s, bank %s, admin %+v, want %s, the volume, and an address that probes reach", c.Ledger.Kind, c.Bank, c.Admin, want)
		}
	})
	c := loadWith(t, nil, mustRender(t, files(t)["full"]).ConfigMap.Data["vimbank.yaml"])
	if c.Sparse.User != "bank" || c.Sparse.CAFile != "/etc/vimbank/ca/ca.crt" || c.Dense.TLS.CAFile != "/etc/vimbank/ca/ca.crt" || !c.Dense.TLS.On ||
		c.Dense.HNSW.M != 32 || c.Ledger.MaxConns != 20 || c.Pump.MaxOwed != 1_000_000 || c.Forgetting.MaxShare != .1 || c.Admin.Addr != "0.0.0.0:9555" {
		t.Errorf("the settings are not those of the values: %+v", c)
	}
	c = loadWith(t, nil, mustRender(t, files(t)["cluster"]).ConfigMap.Data["vimbank.yaml"])
	if c.Sparse.User != "vimbank" || c.Ledger.PasswordFile != "/etc/vimbank/secrets/ledgerPassword" || !c.Dense.TLS.On {
		t.Errorf("the settings are not those of the defaults: %+v", c)
	}
}

// TestChartWorkloads: several processes over PostgreSQL, one with a volume over
// a file.
func TestChartWorkloads(t *testing.T) {
	sets := files(t)
	for name, want := range map[string]int32{"cluster": 2, "full": 5} {
		r := mustRender(t, sets[name])
		if r.Deployment == nil || *r.Deployment.Spec.Replicas != want {
			t.Errorf("%s: want a Deployment of %d", name, want)
		}
		if v := volume(r.pod(t), "bank"); v == nil || v.EmptyDir == nil {
			t.Errorf("%s: volume bank %+v, want scratch", name, v)
		}
	}
	for _, name := range []string{"minimal", "embedded"} {
		s := mustRender(t, sets[name]).StatefulSet
		if s == nil || *s.Spec.Replicas != 1 {
			t.Fatalf("%s: want a StatefulSet of 1", name)
		}
		if len(s.Spec.VolumeClaimTemplates) != 1 || !slices.Equal(s.Spec.VolumeClaimTemplates[0].Spec.AccessModes, []corev1.PersistentVolumeAccessMode{"ReadWriteOncePod"}) {
			t.Errorf("%s: claims %+v, want one of a single pod", name, s.Spec.VolumeClaimTemplates)
		}
		if p := s.Spec.PersistentVolumeClaimRetentionPolicy; p == nil || p.WhenDeleted != "Retain" || p.WhenScaled != "Retain" {
			t.Errorf("%s: claims are not kept: %+v", name, p)
		}
		if volume(&s.Spec.Template, "bank") != nil {
			t.Errorf("%s: the bank is scratch", name)
		}
	}
}

func volume(p *corev1.PodTemplateSpec, name string) *corev1.Volume {
	for i := range p.Spec.Volumes {
		if p.Spec.Volumes[i].Name == name {
			return &p.Spec.Volumes[i]
		}
	}
	return nil
}

// TestChartSelectors: Service, budget and policy mean the pods that there are,
// and the pod of the test is none of them.
func TestChartSelectors(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *rendered) {
		labels := r.pod(t).Labels
		selectors := map[string]map[string]string{
			"service": r.Service.Spec.Selector, "budget": r.Budget.Spec.Selector.MatchLabels, "policy": r.Network.Spec.PodSelector.MatchLabels,
		}
		if r.Deployment != nil {
			selectors["deployment"] = r.Deployment.Spec.Selector.MatchLabels
		} else {
			selectors["statefulset"] = r.StatefulSet.Spec.Selector.MatchLabels
		}
		for who, selector := range selectors {
			if len(selector) == 0 || !covers(labels, selector) {
				t.Errorf("%s selects %v, the pods have %v", who, selector, labels)
			}
			if covers(r.Check.Labels, selector) {
				t.Errorf("%s selects the pod of the test too", who)
			}
		}
		if len(r.pod(t).Spec.TopologySpreadConstraints) == 0 {
			t.Error("the pods are not spread")
		}
		if got := r.pod(t).Spec.ServiceAccountName; got != r.ServiceAccount.Name || yes(r.ServiceAccount.AutomountServiceAccountToken) {
			t.Errorf("service account %q, want %q, without a token", got, r.ServiceAccount.Name)
		}
	})
}

func covers(labels, selector map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// TestChartRollsOnNewSettings: a pod is replaced when its settings change.
func TestChartRollsOnNewSettings(t *testing.T) {
	sum := func(values map[string]any) string {
		return mustRender(t, values).pod(t).Annotations["checksum/settings"]
	}
	a, again, b := sum(with(t, "replicas", 2)), sum(with(t, "replicas", 3)), sum(with(t, "config.recall.k", 20))
	if a == "" || a != again || a == b {
		t.Errorf("sums %q, %q with more replicas, %q with other settings", a, again, b)
	}
	keys := slices.Sorted(maps.Keys(mustRender(t, with(t, "replicas", 2)).ConfigMap.Data))
	if !cmp.Equal(keys, []string{"vimbank.yaml"}) {
		t.Errorf("files %v, want the settings alone", keys)
	}
}
