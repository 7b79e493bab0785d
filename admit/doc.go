// Package admit decides by rule what may become a memory: verdicts on drafts,
// each with a code to act on and a sentence to show.
//
// The rules keep junk and secrets out and let everything else in. Refused is
//
//   - what is blank, too large or not text;
//   - the echo: a text that was just recalled to the same scope and comes back
//     verbatim, as it does when an agent stores its own context;
//   - the duplicate: a knowledge segment or a thought that the scope has
//     already, in the same words;
//   - the secret: keys, tokens, private keys, passwords, card numbers, which
//     can also be redacted instead.
//
// Talk repeats itself, and that is no junk: "Thanks!" said again at another
// time, by another speaker or in another session is another memory, so a
// dialogue turn is never a duplicate here, and no task record is, as running
// the same task again is what task memory lives on. Where the rules doubt,
// they let in: a wrong refusal loses a memory, a wrong admission costs a row.
//
// [Rules.Check] is a pure function of a draft and of the [Facts] that the
// engine hands in; it finds nothing itself and writes nothing. Nothing is
// dropped in silence: the engine counts and shows each [Verdict]. A verdict
// never contains the secret that it is about. What a model thinks of a memory
// is left to other rules than these.
package admit
