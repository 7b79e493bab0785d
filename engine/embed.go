package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// embedBatch bounds one call of the embedder.
const embedBatch = 256

// cheap is the optional power of an Embedder whose vectors are not worth
// keeping: making them again costs less than reading them.
type cheap interface{ Cheap() bool }

// vectorsOf embeds the memories of ps and of their context, each once. What a
// dear embedder made is kept in the ledger and taken from there.
// Texts that it refuses as such have none, and are named.
func (e *Engine) vectorsOf(ctx context.Context, ps []projection) (map[memtypes.ID]memtypes.Vector, refusals, error) {
	refused := refusals{}
	out := map[memtypes.ID]memtypes.Vector{}
	var ids []memtypes.ID
	var texts []string
	for _, p := range ps {
		near, _ := p.around(contextReach)
		if p.memory().Kind != memtypes.Dialogue {
			near = p.mems[p.at : p.at+1]
		}
		for i := range near {
			if _, seen := out[near[i].ID]; !seen {
				out[near[i].ID] = nil
				ids, texts = append(ids, near[i].ID), append(texts, ownText(&near[i]))
			}
		}
	}
	for from := 0; from < len(ids); from += embedBatch {
		to := min(from+embedBatch, len(ids))
		before := len(refused)
		vs, err := e.embedEach(ctx, ids[from:to], texts[from:to], refused)
		if n := len(refused) - before; err == nil && n > 1 && n == to-from {
			err = refused[ids[from]] // not these texts are wrong, but how the embedder is asked
		}
		if err != nil {
			return nil, nil, err
		}
		for i, v := range vs {
			out[ids[from+i]] = v
		}
	}
	return out, refused, nil
}

// refusals are what was refused of a batch, item by item.
type refusals map[memtypes.ID]error

// embedEach is embed, but where indexes are shared a text that the embedder
// refuses costs the others nothing: the batch is halved until it stands alone.
func (e *Engine) embedEach(ctx context.Context, ids []memtypes.ID, texts []string, refused refusals) ([]memtypes.Vector, error) {
	vs, err := e.embed(ctx, ids, texts)
	if err == nil || e.shared == nil || memtypes.CodeOf(err) != memtypes.Invalid {
		return vs, err
	}
	if len(ids) == 1 {
		refused[ids[0]] = err
		return []memtypes.Vector{nil}, nil
	}
	half := len(ids) / 2
	first, err := e.embedEach(ctx, ids[:half], texts[:half], refused)
	if err != nil {
		return nil, err
	}
	second, err := e.embedEach(ctx, ids[half:], texts[half:], refused)
	return append(slices.Clip(first), second...), err
}

// embed makes or recalls one vector for each text.
func (e *Engine) embed(ctx context.Context, ids []memtypes.ID, texts []string) ([]memtypes.Vector, error) {
	emb := e.parts.Embedder
	if c, ok := emb.(cheap); ok && c.Cheap() {
		return emb.Embed(ctx, texts)
	}
	hashes := make([]string, len(texts))
	for i, t := range texts {
		sum := sha256.Sum256([]byte(t))
		hashes[i] = hex.EncodeToString(sum[:8])
	}
	vs, err := e.parts.Ledger.GetVectors(ctx, emb.Fingerprint(), ids, hashes)
	if err != nil {
		return nil, err
	}
	var missing []int
	var ask, askHashes []string
	var askIDs []memtypes.ID
	for i, v := range vs {
		if v == nil {
			missing, ask = append(missing, i), append(ask, texts[i])
			askIDs, askHashes = append(askIDs, ids[i]), append(askHashes, hashes[i])
		}
	}
	if len(ask) == 0 {
		return vs, nil
	}
	made, err := emb.Embed(ctx, ask)
	if err != nil {
		return nil, err
	}
	for j, i := range missing {
		vs[i] = made[j]
	}
	err = e.parts.Ledger.PutVectors(ctx, emb.Fingerprint(), askIDs, askHashes, made)
	if c := memtypes.CodeOf(err); err != nil && c != memtypes.ReadOnly && c != memtypes.Full {
		return nil, err
	}
	return vs, nil
}
