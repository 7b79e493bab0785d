// Package segment cuts a document into pieces of about the same length that
// end where sentences end, in English and in Chinese.
//
// Nothing is lost: the ranges of the pieces cover every byte that is not
// blank, and each piece is the text of its range, verbatim. No piece is longer
// than the limit, and none has text from under two headings of a Markdown
// document. A sentence is cut only where it is longer than the limit by
// itself, and a character only if its marks alone exceed it.
//
// Length is counted in columns: a Han character, a kana or a full-width form
// is 2, every other character is 1, so that a piece holds about as much in
// either language. The default limit of 1,000 columns is some 170 words of
// English, 220 tokens of a usual tokenizer, or 500 Han characters. Retrieval
// of single facts is best with passages of 64 to 128 tokens, and that of what
// needs context with 512 and more (Bhat et al. 2025); dense passage retrieval
// settled on 100 words (Karpukhin et al. 2020). The default stands between: a
// few sentences about one thing, short enough for a fact to weigh in its
// vector.
//
// The package is pure, knows no other, and needs no model. What a piece means
// and where it is kept is left to others.
package segment
