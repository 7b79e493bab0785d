package elastic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

func (i *inspection) template() {
	var t struct {
		Templates []struct {
			Name     string
			Template struct {
				Patterns []string        `json:"index_patterns"`
				Auto     *bool           `json:"allow_auto_create"`
				Meta     json.RawMessage `json:"_meta"`
			} `json:"index_template"`
		} `json:"index_templates"`
	}
	s := i.store
	const mend = "every process that opens a generation makes it: restart `vimbank serve`, or `vimbank rebuild`"
	err := i.ask(func() esapi.Request { return esapi.IndicesGetIndexTemplateRequest{Name: s.opt.Prefix} }, &t)
	switch {
	case isStatus(err, 404) || err == nil && len(t.Templates) == 0:
		i.wrong("template", "no index template "+s.opt.Prefix, "one", mend)
	case err != nil:
		i.failed("template", err)
	default:
		x := t.Templates[0].Template
		if !slices.Equal(x.Patterns, []string{s.opt.Prefix + ".*"}) || x.Auto == nil || *x.Auto {
			i.wrong("template", fmt.Sprintf("index template %s for %v", s.opt.Prefix, x.Patterns), "one for "+s.opt.Prefix+".* that forbids auto-creation", mend)
			return
		}
		i.fine("template", s.opt.Prefix)
	}
}

// live looks at the generation that serves, and at each of its indices.
func (i *inspection) live() {
	name, err := i.store.live(i.ctx, i.op)
	switch {
	case err != nil:
		i.failed("alias", err)
	case name == "":
		i.wrong("alias", "the alias "+i.store.opt.Prefix+" points nowhere", "it on the list of a generation", rebuild)
	default:
		i.fine("alias", i.store.opt.Prefix+" is generation "+name)
		i.indices(i.store.index(name))
	}
}

// indices compares the indices of a generation with how they should have been
// made and with the list.
func (i *inspection) indices(x *Index) {
	s := i.store
	all, err := s.describe(i.ctx, i.op, strings.Join(x.all(), ","))
	if err != nil {
		i.failed("mapping", err)
		return
	}
	before := len(i.found)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		i.made(name, all[name])
	}
	listed, err := x.tenants(i.ctx, i.op)
	if err != nil {
		i.failed("mapping", err)
	}
	for _, part := range listed {
		if name := x.all()[0] + "." + part; all[name] == nil {
			i.wrong("mapping", "no index "+name, "it: the list says that it held memories", rebuild)
		}
	}
	if len(i.found) == before {
		i.fine("mapping", fmt.Sprintf("%d indices as they were made", len(all)))
	}
}

// made looks at one index: its mapping, and whether it takes writes.
func (i *inspection) made(name string, m *made) {
	if found, wanted := i.store.schema.differs(m); found != "" {
		i.wrong("mapping", name+": "+brief(found), brief(wanted), rebuild)
	}
	if _, ok := m.Aliases[writable(name)]; !ok {
		i.wrong("alias", name+" lacks the alias "+writable(name), "it, for writes", rebuild)
	}
	words, _ := json.Marshal(m.Settings.Index["blocks"])
	if strings.Contains(string(words), `"true"`) {
		i.wrong("settings", name+" has index.blocks "+string(words), "none",
			"free space on the disks, or take the block off: PUT /"+name+"/_settings {\"index.blocks\": null}")
	}
}
