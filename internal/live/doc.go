// Package live gives tests the real servers: those that run already, named by
// the environment, servers of a test's own that can be killed and come back, and
// links to either that can be cut, slowed, reset or held.
//
// A test that needs a server which is not there skips and says which variable
// names one, or fails where VIMBANK_REQUIRE_SERVERS is set. Only tests use it.
package live

import (
	"os"
	"strings"
	"testing"
)

// The variables that name running servers.
const (
	QdrantVar        = "VIMBANK_TEST_QDRANT"        // host:port of gRPC
	ElasticsearchVar = "VIMBANK_TEST_ELASTICSEARCH" // URLs, with commas between
	PostgresVar      = "VIMBANK_TEST_POSTGRES"      // a URL
)

// Qdrant is the address of a running Qdrant.
func Qdrant(t testing.TB) string { return named(t, QdrantVar) }

// Elasticsearch is the URLs of a running Elasticsearch.
func Elasticsearch(t testing.TB) []string { return strings.Split(named(t, ElasticsearchVar), ",") }

// Postgres is the URL of a running PostgreSQL.
func Postgres(t testing.TB) string { return named(t, PostgresVar) }

func named(t testing.TB, variable string) string {
	t.Helper()
	v := os.Getenv(variable)
	if v == "" {
		without(t, variable+" names no server")
	}
	return v
}

// without ends a test that lacks something: in CI it fails.
func without(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("VIMBANK_REQUIRE_SERVERS") != "" {
		t.Fatalf("%s, and VIMBANK_REQUIRE_SERVERS is set", what)
	}
	t.Skipf("%s (see ../shared/servers)", what)
}
