package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/stores/sparse"
)

// How a query's word is widened by words of near meaning (research: the table
// inside BM25). The lexicon proposes many, because most of them do not occur
// in a bank, fewer the smaller it is; the nearest that do are kept.
const (
	proposed   = 256 // neighbours asked of the lexicon
	kept       = 8   // neighbours a term, at most
	nearWeight = .7  // of a neighbour that means the same
	nearFrom   = .3  // cosine from which a word counts as near
)

// terms sets s.terms: the words of the query, weighted and widened where the
// profile wants it and the embedder knows words. There, a word said twice counts
// once: it is no more wanted for that. The plain profiles add it up, as Lucene does.
func (e *Engine) terms(ctx context.Context, s *search, p fusion.Profile) error {
	if p.PlainTerms() {
		for _, t := range e.parts.Analyzer.Tokens(s.query.Text) {
			s.terms = append(s.terms, sparse.Term{Token: t})
		}
		return nil
	}
	words := once(e.parts.Analyzer.Words(fusion.QueryText(s.query.Text)))
	s.terms = make([]sparse.Term, len(words))
	for i, w := range words {
		s.terms[i] = sparse.Term{Token: w.Token, Boost: 1}
	}
	lex, ok := e.parts.Embedder.(llm.Lexicon)
	if !ok {
		return nil
	}
	near := e.lexical.neighbours(lex, e.parts.Analyzer, words)
	for i, w := range words {
		term := &s.terms[i]
		if weight, ok := lex.Weight(w.Surface); ok {
			term.Boost = weight
		}
		for _, n := range near[i] {
			if n.Token != w.Token {
				term.Near = append(term.Near, n)
			}
		}
	}
	return e.keepKnown(ctx, s)
}

// once leaves out the words whose token stands before them.
func once(words []sparse.Token) []sparse.Token {
	said := make(map[string]bool, len(words))
	return slices.DeleteFunc(words, func(w sparse.Token) bool {
		again := said[w.Token]
		said[w.Token] = true
		return again
	})
}

// keepKnown leaves each term the nearest neighbours that occur in the bank.
func (e *Engine) keepKnown(ctx context.Context, s *search) error {
	var tokens []string
	asked := map[string]bool{}
	for i := range s.terms {
		for _, n := range s.terms[i].Near {
			if !asked[n.Token] {
				asked[n.Token] = true
				tokens = append(tokens, n.Token)
			}
		}
	}
	occurs, ok := e.occurring(ctx, s, tokens)
	for i := range s.terms {
		t := &s.terms[i]
		if ok {
			in := t.Near[:0:0]
			for _, n := range t.Near {
				if occurs[n.Token] {
					in = append(in, n)
				}
			}
			t.Near = in
		}
		t.Near = t.Near[:min(kept, len(t.Near))]
	}
	return nil
}

// occurring says which of tokens occur in the bank; not ok if that cannot be
// told: then the search will say what is wrong. A service is asked once, and
// not again for a while.
func (e *Engine) occurring(ctx context.Context, s *search, tokens []string) (occurs map[string]bool, ok bool) {
	freq, ok := s.ix.sparse.(sparse.Frequencies)
	if !ok || len(tokens) == 0 {
		return nil, ok
	}
	tenant, occurs := s.filter.Scope.Tenant(), make(map[string]bool, len(tokens))
	if o, ok := freq.(*sparseOverlay); ok {
		return occurs, e.occurringIn(ctx, o, tenant, tokens, occurs)
	}
	df, err := freq.DocFreq(ctx, tenant, sparse.Text, tokens)
	if err != nil {
		return nil, false
	}
	for i, t := range tokens {
		occurs[t] = df[i] > 0
	}
	return occurs, true
}

// occurringIn says in occurs which tokens occur in a shared index: the tail is
// asked every time, the service only for what is not remembered. What it does
// not tell is not remembered either.
func (e *Engine) occurringIn(ctx context.Context, o *sparseOverlay, tenant string, tokens []string, occurs map[string]bool) (ok bool) {
	rest := e.lexical.unknown(tenant, tokens, e.now(), occurs)
	var told error
	if len(rest) > 0 {
		var df []int
		if df, told = o.countService(ctx, tenant, sparse.Text, rest); told == nil {
			for i, t := range rest {
				occurs[t] = df[i] > 0
			}
		}
	}
	df, err := o.countTail(ctx, tenant, sparse.Text, tokens)
	if err != nil {
		return false
	}
	if told != nil {
		rest = nil
	}
	for i, t := range tokens {
		if df[i] > 0 {
			occurs[t], rest = true, append(rest, t) // in the service soon
		}
	}
	e.lexical.learn(tenant, rest, occurs, e.now())
	return true
}

// lexicalCache remembers the analysed neighbours of words, a bounded number,
// and, where a service must be asked for it, which tokens occur in a bank.
type lexicalCache struct {
	mu     sync.Mutex
	near   map[string][]sparse.Near // guarded by mu
	occurs map[token]occurrence     // guarded by mu
}

// token is one of a tenant.
type token struct{ tenant, text string }

// occurrence is what was seen of a token, and until when that counts.
type occurrence struct {
	is    bool
	until time.Time
}

const (
	lexicalCacheSize = 2048
	occurrences      = 1 << 16
	occurrenceLasts  = time.Minute // a word that is new since then widens no query before
)

func newLexicalCache() *lexicalCache {
	return &lexicalCache{near: map[string][]sparse.Near{}, occurs: map[token]occurrence{}}
}

// unknown are the tokens that it cannot tell of; of the others it tells occurs.
func (c *lexicalCache) unknown(tenant string, tokens []string, now time.Time, occurs map[string]bool) (rest []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range tokens {
		if o, ok := c.occurs[token{tenant, t}]; ok && now.Before(o.until) {
			occurs[t] = o.is
		} else {
			rest = append(rest, t)
		}
	}
	return rest
}

func (c *lexicalCache) learn(tenant string, tokens []string, occurs map[string]bool, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.occurs)+len(tokens) > occurrences {
		clear(c.occurs)
	}
	for _, t := range tokens {
		c.occurs[token{tenant, t}] = occurrence{occurs[t], now.Add(occurrenceLasts)}
	}
}

// neighbours are the tokens near each of words, nearest first, each once.
func (c *lexicalCache) neighbours(lex llm.Lexicon, a *sparse.Analyzer, words []sparse.Token) [][]sparse.Near {
	out := make([][]sparse.Near, len(words))
	var unknown []string
	var places []int
	c.mu.Lock()
	for i, w := range words {
		var ok bool
		if out[i], ok = c.near[w.Surface]; !ok {
			unknown, places = append(unknown, w.Surface), append(places, i)
		}
	}
	c.mu.Unlock()
	if len(unknown) == 0 {
		return out
	}
	for j, list := range lex.Neighbours(unknown, proposed) {
		out[places[j]] = analysed(list, a)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.near)+len(unknown) > lexicalCacheSize {
		clear(c.near) // rare, and cheaper than keeping an order of use
	}
	for j, word := range unknown {
		c.near[word] = out[places[j]]
	}
	return out
}

// analysed makes weighted tokens of a word's neighbours.
func analysed(list []llm.Neighbour, a *sparse.Analyzer) []sparse.Near {
	var out []sparse.Near
	seen := map[string]bool{}
	for _, n := range list {
		weight := nearWeight * (n.Cosine - nearFrom) / (1 - nearFrom)
		tokens := a.Tokens(n.Word)
		if weight <= 0 || len(tokens) == 0 || seen[tokens[0]] {
			continue
		}
		seen[tokens[0]] = true
		out = append(out, sparse.Near{Token: tokens[0], Weight: weight})
	}
	return out
}
