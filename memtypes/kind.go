package memtypes

import "strings"

// Kind is one of the three memories of VIMBank.
type Kind string

// The kinds. Each has its own retrieval strategy in package fusion.
const (
	Knowledge Kind = "knowledge" // documents and facts, in segments
	Dialogue  Kind = "dialogue"  // what was said: turns, or query-response rounds
	TaskKind  Kind = "task"      // trajectories: commands, their results, the outcome
)

// Kinds lists the kinds in their fixed order.
func Kinds() []Kind { return []Kind{Knowledge, Dialogue, TaskKind} }

// ParseKind accepts exactly the names of Kinds.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(s); k {
	case Knowledge, Dialogue, TaskKind:
		return k, nil
	}
	return "", BadField("memtypes.ParseKind", "kind", s, "knowledge, dialogue or task")
}

// Layer separates what was said from what was concluded (TiM section 3).
type Layer string

// The layers.
const (
	Raw     Layer = "raw"     // the memory bank: verbatim, immutable text
	Thought Layer = "thought" // the metacognition space: triples, which evolve
)

// State says whether a memory can be recalled.
type State string

// The states. Retired memories keep their text until they are purged.
const (
	Active  State = "active"
	Retired State = "retired"
)

// Trust is how far the source of a memory is believed; higher is more.
type Trust int8

// The tiers, lowest first.
const (
	Untrusted Trust = iota // web pages, other agents' output
	Normal                 // the user's and the agent's own talk: the default
	Verified               // checked by the caller
)

// Triple is a thought's or a fact's (head, relation, tail).
type Triple struct {
	Head     string `json:"head"`
	Relation string `json:"relation"`
	Tail     string `json:"tail"`
}

// Outcome is how a task ended.
type Outcome string

// The outcomes; the empty Outcome is unknown.
const (
	Success Outcome = "success"
	Failure Outcome = "failure"
)

// Command is one step of a trajectory: what was done, with what, and what came of it.
type Command struct {
	Name   string   `json:"name"`
	Args   []string `json:"args,omitempty"`
	Result string   `json:"result,omitempty"`
}

// Task is the record of a trajectory (VIMBank's task_name, task_id, command and result).
type Task struct {
	Name        string    `json:"name,omitempty"`        // the skill or type: "pick_and_place"
	TaskID      string    `json:"task_id,omitempty"`     // the caller's own id of the run
	Object      string    `json:"object,omitempty"`      // what was acted on
	Place       string    `json:"place,omitempty"`       // where it had to go
	Observation string    `json:"observation,omitempty"` // the first observation: the environment
	Commands    []Command `json:"commands,omitempty"`
	Result      string    `json:"result,omitempty"`
	Outcome     Outcome   `json:"outcome,omitempty"` // success, failure, or empty for unknown
}

// Steps renders the commands one a line: "name(arg, arg)".
func (t *Task) Steps() string {
	var b strings.Builder
	for i, c := range t.Commands {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(c.Name + "(" + strings.Join(c.Args, ", ") + ")")
	}
	return b.String()
}
