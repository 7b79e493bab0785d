package segment

// measure is an atom with the columns that stand before its start and its end.
type measure struct {
	Span
	from, to int
	last     bool // it ends a paragraph
}

// measured counts the columns of the atoms, and cuts those that are longer
// than limit.
func measured(text string, as []atom, limit int) []measure {
	ms := make([]measure, 0, len(as))
	at, columns := 0, 0
	if len(as) > 0 {
		at = as[0].Start
	}
	count := func(to int) int {
		columns += Length(text[at:to])
		at = to
		return columns
	}
	for _, a := range as {
		spans := cut(text, a.Span, limit)
		for i, s := range spans {
			ms = append(ms, measure{s, count(s.Start), count(s.End), a.last && i == len(spans)-1})
		}
	}
	return ms
}

// pack fills pieces with whole atoms. What is left is always shared out over
// as few pieces as will hold it, so that the last one is no scrap; a piece
// rather ends where a paragraph does.
func pack(ms []measure, limit, overlap int) []Span {
	var out []Span
	for i := 0; i < len(ms); {
		room := limit - overlap
		rest := ms[len(ms)-1].to - ms[i].from
		pieces := (rest + room - 1) / room
		end := i
		if pieces <= 1 {
			end = len(ms) - 1
		} else {
			end = best(ms[i:], rest/pieces, room) + i
		}
		start := i
		for start > 0 && ms[i-1].to-ms[start-1].from <= overlap && ms[end].to-ms[start-1].from <= limit {
			start--
		}
		out = append(out, Span{ms[start].Start, ms[end].End})
		i = end + 1
	}
	return out
}

// best picks the atom that a piece should end with: the one that brings it
// nearest to target, where the end of a paragraph may be a quarter of the
// target further away than another.
func best(ms []measure, target, room int) int {
	choice, least := 0, -1
	for j := range ms {
		n := ms[j].to - ms[0].from
		if n > room {
			break
		}
		cost := max(n-target, target-n) * 4
		if !ms[j].last {
			cost += target
		}
		if least < 0 || cost <= least {
			choice, least = j, cost
		}
	}
	return choice
}
