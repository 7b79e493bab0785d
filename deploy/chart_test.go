package deploy_test

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigs "sigs.k8s.io/yaml"
)

const (
	chartDir  = "helm/vimbank"
	namespace = "agents"
)

// rendered is a release: its objects as Kubernetes would read them.
type rendered struct {
	Deployment     *appsv1.Deployment
	StatefulSet    *appsv1.StatefulSet
	ConfigMap      *corev1.ConfigMap
	Service        *corev1.Service
	ServiceAccount *corev1.ServiceAccount
	Budget         *policyv1.PodDisruptionBudget
	Network        *networkingv1.NetworkPolicy
	Check          *corev1.Pod // of helm test
	Monitor        map[string]any
	Notes          string
	Text           string // of all objects
}

// valuesOf reads a file of values.
func valuesOf(t *testing.T, path string) map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := loader.LoadValues(f)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// files are the sets of values that the chart is tried with, by name.
func files(t *testing.T) map[string]map[string]any {
	t.Helper()
	paths, err := filepath.Glob(chartDir + "/ci/*-values.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("values: %v, %v", paths, err)
	}
	out := map[string]map[string]any{}
	for _, p := range paths {
		out[strings.TrimSuffix(filepath.Base(p), "-values.yaml")] = valuesOf(t, p)
	}
	return out
}

// render makes a release as `helm install vb` would, schema checked.
func render(t *testing.T, values map[string]any) (*rendered, error) {
	t.Helper()
	c, err := loader.LoadDir(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	release := common.ReleaseOptions{Name: "vb", Namespace: namespace, Revision: 1, IsInstall: true}
	v, err := util.ToRenderValues(c, values, release, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	out, err := engine.Engine{Strict: true}.RenderWithContext(t.Context(), c, v)
	if err != nil {
		return nil, err
	}
	r := &rendered{}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if strings.HasSuffix(name, "NOTES.txt") {
			r.Notes = out[name]
			continue
		}
		if strings.HasSuffix(name, ".yaml") {
			r.Text += "---\n" + out[name] + "\n"
			r.take(t, name, out[name])
		}
	}
	return r, nil
}

// take decodes the objects of one template strictly: a field that Kubernetes
// does not know is a fault.
func (r *rendered) take(t *testing.T, name, text string) {
	t.Helper()
	reader := yaml.NewYAMLReader(newLines(text))
	for {
		doc, err := reader.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var head struct {
			Kind string `json:"kind"`
		}
		if err := sigs.Unmarshal(doc, &head); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, doc)
		}
		places := map[string]any{
			"Deployment": &r.Deployment, "StatefulSet": &r.StatefulSet, "ConfigMap": &r.ConfigMap, "Service": &r.Service,
			"ServiceAccount": &r.ServiceAccount, "PodDisruptionBudget": &r.Budget, "NetworkPolicy": &r.Network, "Pod": &r.Check,
			"ServiceMonitor": &r.Monitor,
		}
		if head.Kind == "" {
			continue
		}
		place, ok := places[head.Kind]
		if !ok {
			t.Fatalf("%s: an object of kind %s, which no test looks at", name, head.Kind)
		}
		if err := sigs.UnmarshalStrict(doc, place); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, doc)
		}
	}
}

func mustRender(t *testing.T, values map[string]any) *rendered {
	t.Helper()
	r, err := render(t, values)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pod is that of the Deployment or the StatefulSet: there must be one of them.
func (r *rendered) pod(t *testing.T) *corev1.PodTemplateSpec {
	t.Helper()
	switch {
	case r.Deployment != nil && r.StatefulSet == nil:
		return &r.Deployment.Spec.Template
	case r.StatefulSet != nil && r.Deployment == nil:
		return &r.StatefulSet.Spec.Template
	}
	t.Fatal("want either a Deployment or a StatefulSet")
	return nil
}

// TestChartLints: without errors or warnings, with its defaults and with each
// set of values.
func TestChartLints(t *testing.T) {
	sets := files(t)
	sets["defaults"] = map[string]any{}
	for name, values := range sets {
		t.Run(name, func(t *testing.T) {
			for _, m := range lint.RunAll(chartDir, values, namespace).Messages {
				if m.Severity > support.InfoSev {
					t.Errorf("%s: %v", m.Path, m.Err)
				}
			}
		})
	}
}

// set makes {"a": {"b": value}} of "a.b".
func set(key string, value any) map[string]any {
	if head, rest, more := strings.Cut(key, "."); more {
		return map[string]any{head: set(rest, value)}
	}
	return map[string]any{key: value}
}

// with is the least set of values and one more.
func with(t *testing.T, key string, value any) map[string]any {
	t.Helper()
	return loader.MergeMaps(valuesOf(t, chartDir+"/ci/cluster-values.yaml"), set(key, value))
}

func TestChartRefuses(t *testing.T) {
	for _, tt := range []struct {
		key   string
		value any
		want  []string
	}{
		{"secrets.ledgerPassword.name", "", []string{"secrets.ledgerPassword.name", "PostgreSQL"}},
		{"secrets.denseKey.name", "", []string{"secrets.denseKey.name", "Qdrant"}},
		{"secrets.sparsePassword.name", "", []string{"secrets.sparsePassword.name", "Elasticsearch"}},
		{"config.ledger.kind", "sqlite", []string{"replicas", "found 2", "wanted 1"}},
		{"config.ledger.kind", "mysql", []string{"kind"}},
		{"config.ledger.password", "hush", []string{"password"}},
		{"config.dense.api_key", "hush", []string{"api_key"}},
		{"config.sparse.password", "hush", []string{"password"}},
		{"config.embedder.api_key", "hush", []string{"api_key"}},
		{"config.completer.api_key", "hush", []string{"api_key"}},
		{"config.ledger.url", "postgres://vimbank:hush@postgres/vimbank", []string{"config.ledger.url", "password in an address"}},
		{"config.sparse.urls", "https://a:9200,https://ann:hush@b:9200", []string{"config.sparse.urls", "password in an address"}},
		{"config.bank", "/elsewhere", []string{"bank"}},
		{"image.tag", "latest", []string{"tag"}},
		{"image.digest", "md5:1", []string{"digest"}},
		{"replicas", 0, []string{"replicas"}},
		{"replicas", "2", []string{"replicas"}},
		{"adminPort", 80, []string{"adminPort"}},
		{"terminationGracePeriodSeconds", 1, []string{"terminationGracePeriodSeconds"}},
		{"resources", nil, []string{"resources"}},
		{"secrets.ledgerPassword.value", "hush", []string{"value"}},
		{"securityContext", map[string]any{"privileged": true}, []string{"securityContext"}},
		{"replica", 2, []string{"replica"}},
	} {
		t.Run(tt.key, func(t *testing.T) {
			_, err := render(t, with(t, tt.key, tt.value))
			if err == nil {
				t.Fatalf("%s: %v is taken", tt.key, tt.value)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q in it", err, want)
				}
			}
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
	if r := mustRender(t, set("secrets.required", false)); !strings.Contains(r.Notes, "WARNING") {
		t.Errorf("notes without a warning about servers without passwords:\n%s", r.Notes)
	}
}
