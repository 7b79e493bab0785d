package elastic

import (
	"cmp"
	"context"
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
	for _, node := range n.Nodes {
		if !strings.HasPrefix(node.Version, "8.") {
			return cmp.Or(node.Version, "unknown")
		}
	}
	if len(n.Nodes) == 0 {
		return "unknown"
	}
	return ""
}
