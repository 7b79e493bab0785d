package sparse

import (
	"math"
	"math/bits"
)

// The formula is that of Lucene 9 (and so of Elasticsearch 8), in single
// precision where Lucene has it, so that two documents which tie there tie here:
//
//	score(t, d) = w - w/(1 + tf/norm),  w = boost*idf(t)
//	idf(t)      = ln(1 + (N - df + 1/2)/(df + 1/2))
//	norm        = k1*(1 - b + b*len/avg)
//
// which is w*tf/(tf + norm). N counts the documents that have the field, avg
// is their true mean length, and len is the length after a round trip through
// one byte.

// idf is the weight of a token that df of n documents hold.
func idf(n, df int) float32 {
	return float32(math.Log(1 + (float64(n)-float64(df)+.5)/(float64(df)+.5)))
}

// saturate is what tf occurrences score under weight, given 1/norm. The
// conversions forbid a fused multiply-add, which would round differently from
// one processor to another.
func saturate(weight, tf, inverse float32) float32 {
	return weight - weight/(1+float32(tf*inverse))
}

// norms holds 1/norm for each length byte. Entry 0 is of the empty document,
// which is never asked for.
type norms [256]float32

// set fills n for a field of normalisation b whose documents are avg long.
func (n *norms) set(b, avg float32) {
	for i := range n {
		ratio := float32(b*float32(decodeLength(uint8(i)))) / avg
		n[i] = 1 / float32(float32(K1)*((1-b)+ratio))
	}
}

// exact is how many lengths from 0 up Lucene stores as they are before it
// begins to keep 4 significant bits of the rest.
const exact = 24

// encodeLength puts a length into one byte: exactly below 40, and with 4
// significant bits of what is over 24 above. Longer is never a smaller byte.
func encodeLength(n int) uint8 {
	if n < exact {
		return uint8(n)
	}
	over := uint32(min(n-exact, math.MaxInt32-exact))
	width := bits.Len32(over)
	if width < 4 {
		return uint8(exact + over)
	}
	shift := width - 4
	return uint8(exact + (over>>shift)&7 + uint32(shift+1)<<3)
}

// decodeLength is the least length that encodeLength puts into b.
func decodeLength(b uint8) int {
	if b < exact {
		return int(b)
	}
	mantissa, shift := int(b-exact)&7, int(b-exact)>>3-1
	if shift < 0 {
		return exact + mantissa
	}
	return exact + (mantissa|8)<<shift
}
