package archtest

// VIMBank is the rules of this module. docs/design.md has them in words: a new
// room needs a line in both.
func VIMBank() Rules {
	return Rules{
		Module:    "github.com/vimbank/vimbank",
		Rooms:     rooms(),
		Tests:     []string{"memtypes", "llm", "llm/llmtest", "stores/ledger", "stores/ledger/ledgertest", "stores/dense", "stores/dense/densetest", "stores/sparse", "stores/sparse/sparsetest", "internal/live"},
		TestRooms: testRooms(),
		Gates:     gates(),
		TestLibs: []string{"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "go.uber.org/goleak", "pgregory.net/rapid",
			"golang.org/x/sys", "go.yaml.in/yaml/v3", "github.com/prometheus/client_golang/prometheus/testutil"},
		Pure:  []string{"memtypes", "fusion", "forgetting", "segment", "timeword", "admit", "stores/facet", "stores/ledger"},
		Clock: []string{"stores/ledger/postgres", "engine", "eval", "upkeep", "cmd/vimbank"},
	}
}

func rooms() map[string][]string {
	return map[string][]string{
		"memtypes": {},

		// Minds: values in, values out.
		"fusion":     {"memtypes"},
		"forgetting": {"memtypes"},
		"segment":    {"memtypes"},
		"timeword":   {"memtypes"},
		"admit":      {"memtypes", "llm"},

		// Ports, their contract tests, and the products behind them.
		"llm":                            {"memtypes"},
		"llm/llmtest":                    {"memtypes", "llm"},
		"llm/local":                      {"memtypes", "llm", "internal/kernel"},
		"llm/openai":                     {"memtypes", "llm"},
		"stores/ledger":                  {"memtypes"},
		"stores/ledger/ledgertest":       {"memtypes", "stores/ledger"},
		"stores/ledger/sqlite":           {"memtypes", "stores/ledger"},
		"stores/ledger/postgres":         {"memtypes", "stores/ledger"},
		"stores/dense":                   {"memtypes", "stores/facet", "stores/snapshot", "internal/kernel"},
		"stores/dense/qdrant":            {"memtypes", "stores/dense"},
		"stores/dense/qdrant/qdranttest": {"memtypes"},
		"stores/dense/densetest":         {"memtypes", "stores/dense"},
		"stores/sparse":                  {"memtypes", "stores/facet", "stores/snapshot"},
		"stores/sparse/sparsetest":       {"memtypes", "stores/sparse"},
		"stores/sparse/elastic":          {"memtypes", "stores/sparse"},
		"stores/facet":                   {"memtypes"},
		"stores/snapshot":                {"memtypes"},
		"internal/kernel":                {},

		// Where minds and stores meet, and what stands around it.
		"engine": {"memtypes", "fusion", "forgetting", "segment", "timeword", "admit",
			"llm", "stores/ledger", "stores/dense", "stores/sparse"},
		"upkeep":  {"memtypes"},
		"ingest":  {"memtypes", "segment"},
		"eval":    {"memtypes", "engine", "ingest", "fusion"},
		"sample":  {"memtypes"},
		"configs": {"memtypes", "fusion", "forgetting", "admit", "llm", "llm/openai", "upkeep"},
		"bank": {"memtypes", "engine", "llm", "llm/local", "upkeep", "stores/ledger", "stores/ledger/sqlite", "stores/ledger/postgres",
			"stores/dense", "stores/dense/qdrant", "stores/sparse", "stores/sparse/elastic"},
		"server/admin": {"memtypes"},
		"cmd/vimbank": {"memtypes", "fusion", "forgetting", "timeword", "engine", "bank", "configs", "eval", "ingest",
			"sample", "upkeep", "llm", "llm/local", "llm/openai", "stores/ledger", "stores/dense", "server/admin",
			"stores/ledger/postgres", "stores/dense/qdrant", "stores/sparse/elastic"},

		// What only tests use.
		"internal/archtest": {},
		"internal/faults":   {"memtypes", "stores/dense", "stores/sparse"},
		"internal/docs":     {},
		"internal/live":     {},
	}
}

// testRooms: the engine and what stands around it are tested over real
// backends, the embedded default; no fakes are kept for them.
func testRooms() map[string][]string {
	embedded := []string{"bank", "engine", "llm/local", "stores/ledger/sqlite"}
	return map[string][]string{
		"engine":              append(embedded, "internal/faults"),
		"eval":                embedded,
		"ingest":              embedded,
		"bank":                append(embedded, "eval"),
		"stores/dense/qdrant": {"stores/dense/qdrant/qdranttest"},
		"cmd/vimbank":         append(embedded, "internal/docs", "internal/faults"),
		"sample":              {"ingest"},
		"internal/docs":       {"configs"},
		"stores/dense":        {"llm/local"}, // real vectors
	}
}

// gates: each library behind one door, so that it can be replaced there.
func gates() map[string][]string {
	indexes := []string{"stores/dense", "stores/sparse", "stores/facet"}
	command := []string{"cmd/vimbank"}
	return map[string][]string{
		"github.com/Shopify/toxiproxy/v2":            {"internal/live"},
		"github.com/prometheus/client_golang":        {"internal/live", "server/admin"},
		"github.com/rs/zerolog":                      {"internal/live"},
		"github.com/elastic/elastic-transport-go/v8": {"stores/sparse/elastic"},
		"github.com/elastic/go-elasticsearch/v8":     {"stores/sparse/elastic"},
		"github.com/jackc/pgx/v5":                    {"stores/ledger/postgres"},
		"github.com/qdrant/go-client":                {"stores/dense/qdrant", "stores/dense/qdrant/qdranttest"},
		"google.golang.org/grpc":                     {"stores/dense/qdrant", "stores/dense/qdrant/qdranttest"},
		"google.golang.org/protobuf":                 {"stores/dense/qdrant", "stores/dense/qdrant/qdranttest"},
		"modernc.org/sqlite":                         {"stores/ledger/sqlite"},
		"github.com/RoaringBitmap/roaring/v2":        indexes,
		"github.com/clipperhouse/uax29/v2":           {"stores/sparse"},
		"github.com/kljensen/snowball":               {"stores/sparse"},
		"golang.org/x/text":                          {"stores/sparse", "llm/local"},
		"golang.org/x/sys":                           {"internal/kernel", "cmd/vimbank"},
		"golang.org/x/sync":                          {"engine", "stores/sparse/elastic"},
		"github.com/cenkalti/backoff/v5":             {"llm"},
		"github.com/sony/gobreaker/v2":               {"llm", "engine"},
		"github.com/sashabaranov/go-openai":          {"llm/openai"},
		"github.com/spf13/viper":                     {"configs"},
		"go.yaml.in/yaml/v3":                         {"configs", "cmd/vimbank", "internal/live"},
		"github.com/robfig/cron/v3":                  {"upkeep"},
		"github.com/yuin/goldmark":                   {"ingest"},
		"github.com/spf13/cobra":                     command,
		"github.com/spf13/pflag":                     command,
		"github.com/fatih/color":                     command,
		"github.com/rivo/uniseg":                     command,
		"github.com/guptarohit/asciigraph":           command,
		"github.com/schollz/progressbar/v3":          command,
		"golang.org/x/term":                          command,
	}
}
