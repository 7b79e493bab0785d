package configs

import "time"

// Config is every setting. [Load] makes a checked one; the yaml tags are the keys.
type Config struct {
	Profile    string     `yaml:"profile"` // what the other settings start from: embedded, paper or cluster
	Bank       string     `yaml:"bank"`    // the bank's folder; empty: the command must be told
	Scope      Scope      `yaml:"scope"`
	Embedder   Embedder   `yaml:"embedder"`
	Completer  Completer  `yaml:"completer"`
	Recall     Recall     `yaml:"recall"`
	Paper      Paper      `yaml:"paper"`
	Forgetting Forgetting `yaml:"forgetting"`
	Admit      Admit      `yaml:"admit"`
	Index      Index      `yaml:"index"`
	Ledger     Ledger     `yaml:"ledger"`
	Dense      Dense      `yaml:"dense"`
	Sparse     Sparse     `yaml:"sparse"`
	Pump       Pump       `yaml:"pump"`
	Admin      Admin      `yaml:"admin"`
	Upkeep     Upkeep     `yaml:"upkeep"`
}

// Scope is whose memories a command works on where it is not told.
type Scope struct {
	Tenant string `yaml:"tenant"`
	User   string `yaml:"user"`
	Agent  string `yaml:"agent"`
	Run    string `yaml:"run"`
}

// Endpoint is a model at an OpenAI-compatible server. At most one of APIKey,
// APIKeyEnv (the name of a variable) and APIKeyFile gives the key.
type Endpoint struct {
	BaseURL     string        `yaml:"base_url"`
	Model       string        `yaml:"model"`
	APIKey      Secret        `yaml:"api_key"`
	APIKeyEnv   string        `yaml:"api_key_env"`
	APIKeyFile  string        `yaml:"api_key_file"`
	Timeout     time.Duration `yaml:"timeout"` // of one try
	Tries       int           `yaml:"tries"`
	Concurrency int           `yaml:"concurrency"`
}

// Embedder says what makes the vectors.
type Embedder struct {
	Kind          string `yaml:"kind"` // local, openai or none (words only)
	Endpoint      `yaml:",inline"`
	Dim           int    `yaml:"dim"` // 0: asked of the server
	Batch         int    `yaml:"batch"`
	QueryModel    string `yaml:"query_model"`
	QueryPrefix   string `yaml:"query_prefix"`
	PassagePrefix string `yaml:"passage_prefix"`
}

// Completer says which language model is asked, if any: rules do without one.
type Completer struct {
	Kind        string `yaml:"kind"` // none or openai
	Endpoint    `yaml:",inline"`
	DailyTokens int `yaml:"daily_tokens"` // the most that may be spent a day; 0: no bound
}

// Recall says how memories are recalled.
type Recall struct {
	Profile   string `yaml:"profile"` // of ranking: default, paper, bm25, dense, rrf or convex
	K         int    `yaml:"k"`
	Reinforce bool   `yaml:"reinforce"` // a recalled memory is strengthened
}

// Paper sets the paper's equations 4 and 5, for the ranking profile paper.
type Paper struct {
	LambdaDialogue float64       `yaml:"lambda_dialogue"`
	LambdaTask     float64       `yaml:"lambda_task"`
	Unit           time.Duration `yaml:"unit"`
}

// Forgetting sets the curve and the guards of a decay run.
type Forgetting struct {
	Unit     time.Duration `yaml:"unit"` // of lambda
	Keep     Keep          `yaml:"keep"`
	Grace    time.Duration `yaml:"grace"`     // from retiring to purging
	MaxShare float64       `yaml:"max_share"` // of the memories that one run may retire
	MaxJump  time.Duration `yaml:"max_jump"`  // of the clock since the last run
	MaxItems int           `yaml:"max_items"` // that one run may retire, and purge
}

// Keep is how long a memory that is never recalled is kept, by kind: its
// threshold is the retention that is left after so long, exp(-keep/unit).
// Forever never forgets the kind.
type Keep struct {
	Knowledge time.Duration `yaml:"knowledge"`
	Dialogue  time.Duration `yaml:"dialogue"`
	Task      time.Duration `yaml:"task"`
}

// Admit sets what is let in.
type Admit struct {
	Secrets    string        `yaml:"secrets"`    // refuse, redact or allow
	Echoes     string        `yaml:"echoes"`     // refuse or allow
	Duplicates string        `yaml:"duplicates"` // refuse or allow
	MaxBytes   int           `yaml:"max_bytes"`  // of one text
	EchoWindow time.Duration `yaml:"echo_window"`
	Similarity float64       `yaml:"similarity"`
}

// Index sets the in-process index of vectors.
type Index struct {
	BinaryAbove int `yaml:"binary_above"` // vectors; -1: never
}

// Upkeep says when the background jobs run: specs of upkeep.Parse, in UTC; empty: not.
type Upkeep struct {
	Decay     string `yaml:"decay"`
	Purge     string `yaml:"purge"`
	Reconcile string `yaml:"reconcile"`
	Snapshot  string `yaml:"snapshot"`
}

// Forever is the duration that never ends; it is written as "forever".
const Forever time.Duration = 1<<63 - 1
