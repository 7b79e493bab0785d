package deploy_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestChartProbes: the probes ask the admin port, and only readiness looks at
// the servers: a restart does not bring back Qdrant.
func TestChartProbes(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *rendered) {
		c := r.pod(t).Spec.Containers[0]
		for name, tt := range map[string]struct {
			probe *corev1.Probe
			path  string
		}{
			"startup": {c.StartupProbe, "/healthz"}, "liveness": {c.LivenessProbe, "/healthz"}, "readiness": {c.ReadinessProbe, "/readyz"},
		} {
			if tt.probe == nil || tt.probe.HTTPGet == nil || tt.probe.HTTPGet.Path != tt.path || tt.probe.HTTPGet.Port.StrVal != "admin" {
				t.Errorf("%s: %+v, want GET %s at the port admin", name, tt.probe, tt.path)
			}
		}
		if len(c.Ports) != 1 || c.Ports[0].Name != "admin" || c.Ports[0].HostPort != 0 {
			t.Fatalf("ports %+v, want admin alone", c.Ports)
		}
		port := c.Ports[0].ContainerPort
		if settings := loadWith(t, nil, r.ConfigMap.Data["vimbank.yaml"]); !strings.HasSuffix(settings.Admin.Addr, ":"+strconv.Itoa(int(port))) {
			t.Errorf("VIMBank listens at %s, the port is %d", settings.Admin.Addr, port)
		}
		if s := r.Service.Spec; s.ClusterIP != "None" || !s.PublishNotReadyAddresses || len(s.Ports) != 1 || s.Ports[0].Port != port || s.Ports[0].TargetPort.StrVal != "admin" {
			t.Errorf("service %+v, want the port admin of each pod, ready or not", s)
		}
		if want := []string{"health", r.Service.Name + ":" + strconv.Itoa(int(port))}; !cmp.Equal(r.Check.Spec.Containers[0].Args, want) {
			t.Errorf("the test runs %v, want %v", r.Check.Spec.Containers[0].Args, want)
		}
	})
}

// TestChartDrains: there is time between "not ready" and SIGTERM, and after it
// for the job that runs.
func TestChartDrains(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *rendered) {
		p := r.pod(t).Spec
		l := p.Containers[0].Lifecycle
		if l == nil || l.PreStop == nil || l.PreStop.Sleep == nil || l.PreStop.Sleep.Seconds < 1 {
			t.Fatalf("lifecycle %+v, want a preStop that sleeps: there is no shell", l)
		}
		if grace := p.TerminationGracePeriodSeconds; grace == nil || *grace < l.PreStop.Sleep.Seconds+30 {
			t.Errorf("grace %v after %d s of drain, want 30 s more at least", grace, l.PreStop.Sleep.Seconds)
		}
		if r.Deployment != nil {
			u := r.Deployment.Spec.Strategy.RollingUpdate
			if u == nil || u.MaxUnavailable.IntValue() != 0 {
				t.Errorf("strategy %+v, want no pod less while rolling", u)
			}
		}
		if b := r.Budget.Spec; b.MaxUnavailable == nil || b.MinAvailable != nil {
			t.Errorf("budget %+v, want maxUnavailable, which lets a node be emptied", b)
		}
	})
}

// TestChartNetwork: nobody comes in but who is named, and nothing goes out but
// to the servers and for names.
func TestChartNetwork(t *testing.T) {
	sets := files(t)
	for name, want := range map[string]map[string][]string{
		"cluster":  {"in": {"1 at admin"}, "out": {"1 at 53/UDP,53", "1 at 5432", "1 at 6334", "1 at 9200"}},
		"minimal":  {"in": {"1 at admin"}, "out": {"1 at 53/UDP,53", "1 at 6334", "1 at 9200,9243"}},
		"embedded": {"in": {"1 at admin"}, "out": {"1 at 53/UDP,53"}},
		"full":     {"in": {"2 at admin"}, "out": {"1 at 53/UDP,53", "1 at 5432", "1 at 6434", "1 at 9200", "1 at 443"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustRender(t, sets[name]).Network.Spec
			if want := []networkingv1.PolicyType{"Ingress", "Egress"}; !cmp.Equal(p.PolicyTypes, want) {
				t.Errorf("types %v, want both", p.PolicyTypes)
			}
			got := map[string][]string{}
			for _, rule := range p.Ingress {
				got["in"] = append(got["in"], strconv.Itoa(len(rule.From))+" at "+ports(rule.Ports))
			}
			for _, rule := range p.Egress {
				got["out"] = append(got["out"], strconv.Itoa(len(rule.To))+" at "+ports(rule.Ports))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
	r := mustRender(t, with(t, "networkPolicy.enabled", false))
	if r.Network != nil {
		t.Error("a policy that was not wanted")
	}
	r = mustRender(t, sets["cluster"])
	if peer := r.Network.Spec.Ingress[0].From[0].PodSelector; peer == nil || !covers(r.Check.Labels, peer.MatchLabels) {
		t.Errorf("the pod of the test is not let in: %+v", peer)
	}
}

func ports(list []networkingv1.NetworkPolicyPort) string {
	var out []string
	for _, p := range list {
		s := p.Port.String()
		if *p.Protocol != corev1.ProtocolTCP {
			s += "/" + string(*p.Protocol)
		}
		out = append(out, s)
	}
	return strings.Join(out, ",")
}

// TestChartMonitor: off unless it is asked for, and then of the port there is.
func TestChartMonitor(t *testing.T) {
	sets := files(t)
	if r := mustRender(t, sets["cluster"]); r.Monitor != nil || r.Notes == "" {
		t.Error("want no ServiceMonitor by itself, and notes")
	}
	r := mustRender(t, sets["full"])
	want := map[string]any{
		"selector":  map[string]any{"matchLabels": anyMap(r.Service.Spec.Selector)},
		"endpoints": []any{map[string]any{"port": "admin", "path": "/metrics", "interval": "15s"}},
	}
	if diff := cmp.Diff(want, r.Monitor["spec"]); diff != "" {
		t.Errorf("monitor (-want +got):\n%s", diff)
	}
	if r.Monitor["apiVersion"] != "monitoring.coreos.com/v1" || !covers(r.Service.Labels, r.Service.Spec.Selector) {
		t.Error("the monitor does not find the service")
	}
}

func anyMap(m map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}
