// Package ingest reads what people already have and makes drafts of it: JSON
// Lines of items, memories that `vimbank export` wrote, chat logs, and text
// and Markdown documents.
//
// It is pure parsing: a reader in, drafts out, one at a time, so that a file
// may be larger than memory. It promises that reading the same content again
// gives the same drafts with the same idempotency keys (nothing is remembered
// twice, and an import that was interrupted is resumed by running it again),
// that a line which cannot be read costs that line only and is named, and that
// nothing is left out in silence. Keeping the drafts is left to the caller;
// refusing duplicates and secrets to package admit.
package ingest
