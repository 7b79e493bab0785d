package elastic

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
)

// nodes is what the nodes of the cluster say of themselves.
type nodes struct {
	Nodes map[string]struct {
		Version string
		HTTP    struct {
			Max int `json:"max_content_length_in_bytes"`
		}
	}
}

func (s *Store) nodes(ctx context.Context, op string) (nodes, error) {
	var n nodes
	err := s.call(ctx, ask{op: op, make: func() esapi.Request {
		return esapi.NodesInfoRequest{Metric: []string{"http"}, FilterPath: []string{"nodes.*.version", "nodes.*.http.max_content_length_in_bytes"}}
	}}, &n)
	return n, err
}

// checkVersion refuses another major version of Elasticsearch.
func (s *Store) checkVersion(ctx context.Context, op string) error {
	n, err := s.nodes(ctx, op)
	if err != nil {
		return err
	}
	if v := n.foreign(); v != "" {
		return memtypes.Errorf(op, memtypes.Incompatible, "%s: found version %s, wanted Elasticsearch 8", s.where(), v)
	}
	return nil
}

// foreign is the version of a node that is not of the wanted major one; empty if
// all are.
func (n *nodes) foreign() string {
	for _, v := range n.versions() {
		if !strings.HasPrefix(v, "8.") {
			return v
		}
	}
	return ""
}

// versions are those of all nodes, each once.
func (n *nodes) versions() []string {
	seen := map[string]bool{}
	for _, node := range n.Nodes {
		seen[cmp.Or(node.Version, "unknown")] = true
	}
	if len(seen) == 0 {
		return []string{"unknown"}
	}
	return slices.Sorted(maps.Keys(seen))
}

// most is how many bytes a request may have at every node; zero if unknown.
func (n *nodes) most() int {
	least := 0
	for _, node := range n.Nodes {
		if least == 0 || node.HTTP.Max > 0 && node.HTTP.Max < least {
			least = node.HTTP.Max
		}
	}
	return least
}
