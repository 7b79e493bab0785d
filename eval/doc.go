// Package eval measures retrieval: how well an engine finds, among the
// memories of a bank, those that hold the evidence for a question.
//
// It reads folders of items and probes (README, "Measuring"), puts the items
// of each bank into a fresh engine and asks the probes. Only a probe's
// question and its moment reach the engine; answers, categories and evidence
// stay here. Which engine is measured is the caller's choice.
package eval
