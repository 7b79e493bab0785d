// Package deploy holds what VIMBank is run with by others: the Helm chart in
// helm/vimbank, and the versions that docker-compose.yml, Dockerfile and chart
// pin. Its tests render the chart, parse the compose file and compare the pinned
// versions with the servers that tests run on.
//
// It is a module of its own, so that the libraries of Helm, Kubernetes and
// Compose are no dependency of VIMBank.
package deploy

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// Pin is a version that is asked for by name.
type Pin struct {
	Version string `json:"version,omitempty"` // of a tool
	Image   string `json:"image,omitempty"`   // of a server, without its tag
	Tag     string `json:"tag,omitempty"`
	Line    string `json:"line,omitempty"` // the release line: what a tested version begins with
}

// Ref is the image with its tag.
func (p Pin) Ref() string { return p.Image + ":" + p.Tag }

// Versions reads a file of pins, by name: go, qdrant, elasticsearch, postgres.
func Versions(path string) (map[string]Pin, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out map[string]Pin
	if err := yaml.UnmarshalStrict(b, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}
