package segment

// The limits of Options.Max, in columns. At the upper one, the longest
// characters fill the 64 KiB that one memory may hold.
const (
	minMax     = 32
	maxMax     = 16 << 10
	defaultMax = 1000
)

// Options sets how a document is cut. The zero value, and a nil pointer, are
// ready to use.
type Options struct {
	// Max is the limit of a piece in columns, from 32 to 16,384; what is
	// outside is taken as the nearer of the two. Zero means 1,000.
	Max int
	// Overlap is how many columns of whole sentences a piece may repeat from
	// the end of the piece before it, under the same heading; at most half of
	// Max. Zero repeats nothing: neighbours are found by their place, and a
	// repeated sentence is found twice.
	Overlap int
	// Plain takes the text for no Markdown: no line is a heading, nor code.
	Plain bool
}

// Segment is one piece of a document: Text is document[Start:End].
type Segment struct {
	Text  string
	Start int // bytes
	End   int
	// Heading is the path of the headings that the piece stands under, such as
	// "Manual > Storage", each shortened to 80 characters; empty before the
	// first heading. Added to the title of the document it says what a piece is
	// about that does not say so itself.
	Heading string
}

// Span is a range of bytes.
type Span struct{ Start, End int }

// Split cuts text into pieces, in order. A blank text gives none. Text that is
// not valid UTF-8 is cut too: each broken byte counts as a character.
func Split(text string, o *Options) []Segment {
	limit, overlap := defaultMax, 0
	var plain bool
	if o != nil {
		if o.Max != 0 {
			limit = min(max(o.Max, minMax), maxMax)
		}
		overlap = min(max(o.Overlap, 0), limit/2)
		plain = o.Plain
	}
	var out []Segment
	for _, s := range sections(atoms(text, plain)) {
		heading := s.path
		for _, p := range pack(measured(text, s.atoms, limit-overlap), limit, overlap) {
			out = append(out, Segment{Text: text[p.Start:p.End], Start: p.Start, End: p.End, Heading: heading})
		}
	}
	return out
}

// Sentences gives the sentences of text in order, none blank, without the
// space around them. A heading, a line of code and a row of a table count as
// one each.
func Sentences(text string) []Span {
	as := atoms(text, false)
	spans := make([]Span, len(as))
	for i, a := range as {
		spans[i] = a.Span
	}
	return spans
}
