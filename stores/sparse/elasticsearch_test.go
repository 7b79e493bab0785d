package sparse_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// TestElasticsearchRanksAlike holds the index to a real Elasticsearch, over
// the abstracts and claims of SciFact cut into the same tokens: the ten best
// must be the same, but for the order of equal scores, for at least 99 % of
// the claims.
func TestElasticsearchRanksAlike(t *testing.T) {
	server := elasticsearch(t)
	items, probes := scifact(t)
	if len(items) < 5000 || len(probes) < 800 {
		t.Fatalf("SciFact has %d abstracts and %d claims here, want its 5,183 and 809", len(items), len(probes))
	}
	analyzer := sparse.NewAnalyzer(&sparse.AnalyzerOptions{Plain: true})
	ix := opener(nil)(t)
	scope := testScope(t, "")
	docs := make([]sparse.Doc, len(items))
	for i, item := range items {
		docs[i] = sparse.Doc{
			ID: memtypes.ID(item.ID), Rev: 1, Facets: memtypes.Facets{Scope: scope},
			Fields: map[sparse.Field][]string{sparse.Text: analyzer.Tokens(item.Text)},
		}
	}
	if err := ix.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	server.index(t, docs)

	for _, tt := range []struct {
		name  string
		terms func(*rand.Rand, []string) []sparse.Term
	}{
		{"plain", plainTerms},
		{"weighted and expanded", func(r *rand.Rand, tokens []string) []sparse.Term { return expandedTerms(r, tokens, docs) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			alike, equal, hits := 0, 0, 0
			for _, p := range probes {
				terms := tt.terms(r, analyzer.Tokens(p.Query))
				ours, err := ix.Search(t.Context(), sparse.Query{Field: sparse.Text, Terms: terms, K: 100, Filter: memtypes.Filter{Scope: scope}})
				if err != nil {
					t.Fatal(err)
				}
				theirs := server.search(t, terms, 10)
				same, n := compareTop(ours, theirs)
				hits += len(theirs)
				equal += n
				if same {
					alike++
				} else {
					t.Logf("%s %q:\nours   %v\ntheirs %v", p.ID, p.Query, ours[:min(10, len(ours))], theirs)
				}
			}
			t.Logf("the same ten best for %d of %d claims (%.2f %%); of %d scores %d are ours within one part in a million",
				alike, len(probes), 100*float64(alike)/float64(len(probes)), hits, equal)
			if alike*100 < len(probes)*99 {
				t.Errorf("got the same ten best for %d of %d claims, want at least 99 %%", alike, len(probes))
			}
			if equal*100 < hits*99 {
				t.Errorf("got %d of %d scores within one part in a million, want at least 99 %%", equal, hits)
			}
		})
	}
}

// compareTop reports whether theirs are our best, ties aside: each of their
// hits must have by our scores what our hit of that rank has. equal counts the
// ranks whose scores are the same too: Elasticsearch still multiplies by k1 + 1,
// which Lucene has given up because it changes no order.
func compareTop(ours, theirs []memtypes.Scored) (same bool, equal int) {
	score := map[memtypes.ID]float64{}
	for _, h := range ours {
		score[h.ID] = h.Score
	}
	same = len(theirs) == min(10, len(ours))
	for i, h := range theirs {
		if i < len(ours) {
			same = same && score[h.ID] == ours[i].Score
			if math.Abs(h.Score/(sparse.K1+1)/ours[i].Score-1) < 1e-6 {
				equal++
			}
		}
	}
	return same, equal
}

func plainTerms(_ *rand.Rand, tokens []string) []sparse.Term {
	terms := make([]sparse.Term, len(tokens))
	for i, t := range tokens {
		terms[i] = sparse.Term{Token: t}
	}
	return terms
}

// expandedTerms gives each token a weight and some random stand-ins.
func expandedTerms(r *rand.Rand, tokens []string, docs []sparse.Doc) []sparse.Term {
	terms := plainTerms(r, tokens)
	for i := range terms {
		terms[i].Boost = .25 + r.Float64()
		for range r.IntN(6) {
			some := docs[r.IntN(len(docs))].Fields[sparse.Text]
			terms[i].Near = append(terms[i].Near, sparse.Near{Token: some[r.IntN(len(some))], Weight: .05 + .7*r.Float64()})
		}
	}
	return terms
}

func testScope(tb testing.TB, tenant string) memtypes.Scope {
	tb.Helper()
	s, err := memtypes.NewScope(tenant, "ann", "", "")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// elastic is an index of a real server.
type elastic struct{ url string }

// elasticsearch finds the server that VIMBANK_TEST_ELASTICSEARCH names, as
// ../shared/servers/elasticsearch.sh prints it, and makes an index there.
func elasticsearch(t *testing.T) *elastic {
	t.Helper()
	base, _, _ := strings.Cut(os.Getenv("VIMBANK_TEST_ELASTICSEARCH"), ",")
	if base == "" {
		needServer(t, `no Elasticsearch: VIMBANK_TEST_ELASTICSEARCH is not set; eval "$(../shared/servers/elasticsearch.sh start)" sets it`)
	}
	e := &elastic{url: fmt.Sprintf("%s/vimbank-test-%d-%d", base, os.Getpid(), rand.Uint64())}
	e.call(t, http.MethodPut, "", strings.NewReader(`{
		"settings": {"number_of_shards": 1, "number_of_replicas": 0},
		"mappings": {"properties": {"text": {"type": "text", "analyzer": "whitespace"}}}}`), nil)
	t.Cleanup(func() { e.call(t, http.MethodDelete, "", nil, nil) })
	return e
}

// needServer skips, or fails where the servers are promised.
func needServer(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("VIMBANK_REQUIRE_SERVERS") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func (e *elastic) call(t *testing.T, method, path string, body io.Reader, answer any) {
	t.Helper()
	req, err := http.NewRequest(method, e.url+path, body) // not t.Context: clean-up calls too
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s, %v: %.500s", method, path, res.Status, err, b)
	}
	if answer != nil {
		if err := json.Unmarshal(b, answer); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
	}
}

func (e *elastic) index(t *testing.T, docs []sparse.Doc) {
	t.Helper()
	var body bytes.Buffer
	to := json.NewEncoder(&body)
	for _, d := range docs {
		to.Encode(map[string]any{"index": map[string]any{"_id": d.ID}})
		to.Encode(map[string]any{"text": strings.Join(d.Fields[sparse.Text], " ")})
	}
	var answer struct{ Errors bool }
	e.call(t, http.MethodPost, "/_bulk?refresh=true", &body, &answer)
	if answer.Errors {
		t.Fatal("Elasticsearch refused a document")
	}
}

// search asks for terms as a bool query of should clauses, each a term query,
// or a dis_max over the term and its stand-ins.
func (e *elastic) search(t *testing.T, terms []sparse.Term, k int) []memtypes.Scored {
	t.Helper()
	term := func(token string, boost float64) map[string]any {
		return map[string]any{"term": map[string]any{"text": map[string]any{"value": token, "boost": boost}}}
	}
	should := []any{}
	for _, q := range terms {
		boost := q.Boost
		if boost == 0 {
			boost = 1
		}
		either := []any{term(q.Token, boost)}
		for _, n := range q.Near {
			either = append(either, term(n.Token, boost*n.Weight))
		}
		if len(either) == 1 {
			should = append(should, either[0])
		} else {
			should = append(should, map[string]any{"dis_max": map[string]any{"queries": either}})
		}
	}
	body, err := json.Marshal(map[string]any{"size": k, "_source": false, "query": map[string]any{"bool": map[string]any{"should": should}}})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Hits struct {
			Hits []struct {
				ID    memtypes.ID `json:"_id"`
				Score float64     `json:"_score"`
			}
		}
	}
	e.call(t, http.MethodPost, "/_search", bytes.NewReader(body), &answer)
	var out []memtypes.Scored
	for _, h := range answer.Hits.Hits {
		out = append(out, memtypes.Scored{ID: h.ID, Score: h.Score})
	}
	return out
}

// record is a line of the evaluation data.
type record struct{ ID, Text, Query string }

// scifact reads the abstracts and claims, from VIMBANK_TEST_DATA or from the
// folder beside the checkout.
func scifact(t *testing.T) (items, probes []record) {
	t.Helper()
	data := os.Getenv("VIMBANK_TEST_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "data")
	}
	read := func(name string) (rows []record) {
		f, err := os.Open(filepath.Join(data, "scifact", name))
		if err != nil {
			needServer(t, fmt.Sprintf("no evaluation data: %v", err))
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var r record
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			rows = append(rows, r)
		}
		if err := lines.Err(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return rows
	}
	return read("items.jsonl"), read("probes.jsonl")
}
