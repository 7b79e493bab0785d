package sparse

import "strings"

// dictionary numbers the tokens of a tenant. A token that no document holds
// any more loses its number, which the next new token gets.
type dictionary struct {
	numbers map[string]uint32
	names   []string
	uses    []uint32 // documents' fields that hold the token
	free    []uint32
}

// number gives the number of token, a new one if need be. Until it is used, a
// new number must be used or dropped.
func (d *dictionary) number(token string) uint32 {
	if n, ok := d.numbers[token]; ok {
		return n
	}
	token = strings.Clone(token) // it may be a part of a whole text
	var n uint32
	if last := len(d.free) - 1; last >= 0 {
		n, d.free = d.free[last], d.free[:last]
		d.names[n] = token
	} else {
		n = uint32(len(d.names))
		d.names, d.uses = append(d.names, token), append(d.uses, 0)
	}
	if d.numbers == nil {
		d.numbers = map[string]uint32{}
	}
	d.numbers[token] = n
	return n
}

// use counts one more use of a term.
func (d *dictionary) use(term uint32) { d.uses[term]++ }

// drop counts one use less and frees the number after the last.
func (d *dictionary) drop(term uint32) {
	if d.uses[term]--; d.uses[term] == 0 {
		delete(d.numbers, d.names[term])
		d.names[term] = ""
		d.free = append(d.free, term)
	}
}
