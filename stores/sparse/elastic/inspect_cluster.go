package elastic

import (
	"fmt"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

func (i *inspection) health() {
	var h struct {
		Status     string
		Unassigned int `json:"unassigned_shards"`
	}
	pattern := i.store.list("*")
	err := i.ask(func() esapi.Request {
		return esapi.ClusterHealthRequest{Index: []string{pattern}}
	}, &h)
	switch {
	case err != nil:
		i.failed("health", err)
	case h.Status == "red":
		i.wrong("health", fmt.Sprintf("red: %d shards of %s are nowhere, some of them the only copy", h.Unassigned, pattern), "green or yellow",
			"bring the missing nodes back (GET /_cluster/allocation/explain says why), or "+rebuild)
	case h.Status == "yellow":
		i.fine("health", fmt.Sprintf("yellow: %d copies of shards have no node; a node that is lost now takes data with it", h.Unassigned))
	default:
		i.fine("health", h.Status)
	}
}

// scarce is the free share of a disk below which Elasticsearch stops writes by
// default.
const scarce = .05

func (i *inspection) disk() {
	var n struct {
		Nodes map[string]struct {
			FS struct {
				Total struct {
					All  float64 `json:"total_in_bytes"`
					Free float64 `json:"available_in_bytes"`
				}
			}
		}
	}
	err := i.ask(func() esapi.Request {
		return esapi.NodesStatsRequest{Metric: []string{"fs"}, FilterPath: []string{"nodes.*.fs.total"}}
	}, &n)
	if err != nil {
		i.failed("disk", err)
		return
	}
	least, room := 1.0, 0.0
	for _, node := range n.Nodes {
		if t := node.FS.Total; t.All > 0 && t.Free/t.All <= least {
			least, room = t.Free/t.All, t.Free
		}
	}
	words := fmt.Sprintf("%.0f %% free, %.1f GB, at the fullest node", least*100, room/1e9)
	if least < scarce {
		i.wrong("disk", words, "more than 5 %", "free space there: Elasticsearch stops taking writes")
		return
	}
	i.fine("disk", words)
}
