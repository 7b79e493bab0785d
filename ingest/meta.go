package ingest

import (
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// into takes from an item's meta what a draft has a place for.
func (f *fields) into(d *memtypes.Draft) {
	d.Title = f.text("title")
	f.rounds(d)
	switch d.Kind {
	case memtypes.TaskKind:
		d.Task = f.task()
		if d.Task != nil {
			d.Task.TaskID = d.Talk.Session
		}
	default:
		f.triple(d)
	}
}

// rounds makes the text of a query-response round where the line has none. A
// round whose two halves are the two lines of the text needs no second copy.
func (f *fields) rounds(d *memtypes.Draft) {
	var round struct{ query, response string }
	if _, ok := f.values["query"]; !ok {
		return
	}
	if _, ok := f.values["response"]; !ok {
		return
	}
	query, response := f.values["query"], f.values["response"]
	round.query, round.response = f.text("query"), f.text("response")
	joined := round.query + "\n" + round.response
	if d.Text == "" {
		d.Text = joined
	}
	if f.err != nil || d.Text == joined && strings.Count(joined, "\n") == 1 {
		return
	}
	f.values["query"], f.values["response"] = query, response
}

// triple takes a fact, if all three parts are there.
func (f *fields) triple(d *memtypes.Draft) {
	for _, name := range []string{"head", "relation", "tail"} {
		if _, ok := f.values[name]; !ok {
			return
		}
	}
	d.Triple = &memtypes.Triple{Head: f.text("head"), Relation: f.text("relation"), Tail: f.text("tail")}
}

// task takes a trajectory; nil if meta has nothing of one.
func (f *fields) task() *memtypes.Task {
	t := &memtypes.Task{
		Name: f.text("task_name"), Object: f.text("object"), Place: f.text("receptacle"),
		Observation: f.text("observation"), Result: f.text("result"),
	}
	f.take("commands", &t.Commands, `a list of {"name", "args": [...], "result"}`)
	var success *bool
	f.take("success", &success, "true, false or null")
	if success != nil {
		t.Outcome = memtypes.Failure
		if *success {
			t.Outcome = memtypes.Success
		}
	}
	if t.Name == "" && t.Object == "" && t.Place == "" && t.Observation == "" && t.Result == "" && len(t.Commands) == 0 && success == nil {
		return nil
	}
	return t
}
