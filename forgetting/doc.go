// Package forgetting knows the curve by which memories fade, and plans who is
// to be forgotten: VIMBank's equation 6, after Ebbinghaus.
//
// Retention is R = R0 * exp(-t/lambda). Lambda is 1 at first and grows by 1 at
// each recall, in a unit of time that [Options] sets; t runs from the last
// recall. A [Planner] takes memories one by one and gives a [Plan]: who is due
// to be retired, who has been retired longer than the grace, each with its
// reason, and whether the breaker or the clock stops the run.
//
// Everything here is a pure function of facts that the ledger keeps and of the
// time handed in. There is no counter that a missed or a doubled run could put
// wrong: the same facts at the same moment give the same plan, byte for byte.
// Nothing is written here; the engine applies a plan, and the ledger keeps the
// undo.
package forgetting
