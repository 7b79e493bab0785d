// Package ledger is the port of the durable record: what VIMBank knows is what
// the ledger holds, and every index can be rebuilt from it.
//
// A [Ledger] keeps memories with all their revisions, the feed of changes that
// the indexes follow (the outbox), an audit trail, the runs of background jobs
// and the leases that give each job one runner. Append is one transaction and
// returns when it is on the disk. Each backend passes package ledgertest; rely
// on nothing else about a backend. What is remembered, ranked or forgotten is
// decided elsewhere.
package ledger

import (
	"context"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Ledger is what a backend implements. All methods are safe for concurrent
// use, also by several processes on one bank.
type Ledger interface {
	Memories
	Feed
	Jobs
	Vectors
	Outbox
	// Settings reads all settings of the bank.
	Settings(ctx context.Context) (map[string]string, error)
	// Set writes one setting durably; an empty value removes it.
	Set(ctx context.Context, key, value string) error
	// Close waits for the calls that run, flushes and releases the bank; every
	// later call is Unavailable, but for Close, which then does nothing.
	Close() error
}

// Memories reads and writes memories.
type Memories interface {
	// Append applies b in one transaction: all edits with their revisions,
	// outbox intents and audit entries, or nothing. It returns when the commit
	// is durable, with one Result for each edit in order. Concurrent calls
	// share commits (group commit). A cancelled ctx either stops it before the
	// commit or not at all.
	Append(ctx context.Context, b Batch) ([]Result, error)
	// Get returns the memories of ids that scope covers, in the order of ids;
	// what is unknown, purged or outside scope is left out.
	Get(ctx context.Context, scope memtypes.Scope, ids []memtypes.ID) ([]memtypes.Memory, error)
	// List pages through the memories that q admits.
	List(ctx context.Context, q ListQuery) (Page, error)
	// Around returns the active raw memories of id's session (same scope,
	// exactly) that stand at most n places before and after it, in the order
	// of the session: by When, then by Seq of insertion; id itself among them
	// if it is active. It is empty where id is unknown. For a memory without a
	// session it returns id alone.
	Around(ctx context.Context, id memtypes.ID, n int) ([]memtypes.Memory, error)
	// History returns every revision of id that scope covers, oldest first;
	// none once it is purged. Recalls make no revision, so past ones show the
	// present Recalls and LastRecall.
	History(ctx context.Context, scope memtypes.Scope, id memtypes.ID) ([]Revision, error)
	// Audit pages backwards through the audit trail of a tenant, newest
	// first, entries below seq before (0: from the newest), at most limit.
	Audit(ctx context.Context, tenant string, before uint64, limit int) ([]Entry, error)
	// Revs pages through the active memories of all tenants by ascending ID,
	// those after the one given (empty: from the first), at most limit, without
	// their content: for reconciliation only, never for a caller's request.
	Revs(ctx context.Context, after memtypes.ID, limit int) ([]Held, error)
}

// Held is what the ledger says that an index should hold.
type Held struct {
	ID     memtypes.ID
	Rev    uint64
	Tenant string
}

// Op is what an Edit does.
type Op string

// The operations. Each that is Done, but for Recall, gives the memory a new
// revision, an outbox intent and an audit entry. A retired memory can be
// restored, purged or inserted again; Revise, Recall, Pin, Unpin and Touch find it
// Missing.
const (
	// Insert adds Memory with its Strength, as an active one. The same ID with
	// the same Content, or with the Content it had at first, is Same; the same
	// ID with other Content (an idempotency key reused) or another scope is
	// Conflicting. A retired memory inserted again is restored (Done, and
	// recorded as Restore); a purged one is inserted anew.
	Insert Op = "insert"
	// Revise replaces text, title, meta, event time, task, triple, talk and
	// source of Memory.ID by those of Memory, as a new revision. The memory's
	// other fields stay, whatever Memory holds.
	Revise Op = "revise"
	// Retire makes Memory.ID unrecallable; nothing is lost until Purge.
	Retire Op = "retire"
	// Restore makes a retired memory active again, as it was before but for Rev.
	Restore Op = "restore"
	// Purge erases text and every revision of Memory.ID for good; a
	// content-free tombstone (id, scope, rev) stays.
	Purge Op = "purge"
	// Recall strengthens: Recalls+1, LastRecall = Batch.Now (only forward). It
	// makes no revision and no outbox intent, and needs no audit entry.
	Recall Op = "recall"
	// Pin and Unpin set Strength.Pinned.
	Pin   Op = "pin"
	Unpin Op = "unpin"
	// Touch gives the memory a new revision and changes nothing else, so that
	// every index projects it again.
	Touch Op = "touch"
)

// Edit is one change of one memory.
type Edit struct {
	Op Op
	// Memory is the whole memory for Insert and Revise; else only ID and Scope
	// (which must cover the stored one) are read.
	Memory memtypes.Memory
	// IfRev, unless zero, must be the memory's present revision; else the edit is Stale.
	IfRev uint64
	// IfRecalls, unless nil, must be the present number of recalls; else the edit is Stale.
	IfRecalls *int
	// Reason is kept in the audit trail. It must not hold memory text.
	Reason string
}

// Batch is one transaction.
type Batch struct {
	Now   time.Time // becomes the audit time, Created of what is inserted, Updated of what is revised
	Actor string    // who does it: "cli", "api:key-prefix", "decay"
	RunID string    // the job run it belongs to, or empty
	Edits []Edit
	// Fence, if given, must still be the newest of its lease and not released,
	// or the whole batch fails with Conflict.
	Fence *Lease
	// Runs are written with the edits, replacing runs of the same ID.
	Runs []Run
}

// Outcome says what became of an Edit.
type Outcome string

// The outcomes. Only Done changed anything.
const (
	Done        Outcome = "done"
	Same        Outcome = "same"        // it was so already
	Stale       Outcome = "stale"       // IfRev or IfRecalls did not hold
	Missing     Outcome = "missing"     // no such memory within the scope
	Conflicting Outcome = "conflicting" // Insert of another content under a known ID
)

// Result is what became of one edit.
type Result struct {
	ID      memtypes.ID
	Rev     uint64 // the memory's revision afterwards; 0 if missing
	Outcome Outcome
}

// ListQuery says what to list.
type ListQuery struct {
	Filter memtypes.Filter // Scope must be given, unless All
	// All lists every tenant: for rebuild and reconcile only, never for a caller's request.
	All    bool
	States []memtypes.State // empty: active only
	RunID  string           // only memories retired by this run, whatever States says by default; empty: any
	Since  uint64           // only memories of a higher Rev
	Limit  int              // 1..10000; zero means 100
	Cursor string           // from the last Page; empty: from the start
}

// Page is one page of a list, ordered by When, then ID; the cursor stays valid
// while others write.
type Page struct {
	Memories []memtypes.Memory
	Next     string // empty: no more
}

// Revision is one past or present content of a memory.
type Revision struct {
	Rev    uint64          `json:"rev"`
	At     time.Time       `json:"at"`
	Op     Op              `json:"op"`
	Actor  string          `json:"actor"`
	RunID  string          `json:"run_id,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Memory memtypes.Memory `json:"memory"`
}

// Entry is one line of the audit trail. It never holds memory text.
type Entry struct {
	Seq    uint64      `json:"seq"`
	At     time.Time   `json:"at"`
	Actor  string      `json:"actor"`
	Op     Op          `json:"op"`
	ID     memtypes.ID `json:"id"`
	RunID  string      `json:"run_id,omitempty"`
	Reason string      `json:"reason,omitempty"`
}

// Feed is the outbox: every change of content or state, in commit order.
type Feed interface {
	// Changes returns at most limit changes after seq, oldest first. Gone says
	// that the changes after seq cannot be told, because they were compacted
	// away or because seq is of another ledger: rebuild instead.
	Changes(ctx context.Context, after uint64, limit int) (changes []Change, gone bool, err error)
	// Head is the newest sequence number, 0 in an empty ledger. It is cheap:
	// every recall asks it.
	Head(ctx context.Context) (uint64, error)
	// Wait returns when there is a change after seq, whichever process made
	// it, when ctx ends (Canceled), or when the ledger is closed (Unavailable):
	// Close does not wait for it. It may return early for no reason.
	Wait(ctx context.Context, after uint64) error
}

// Change is one outbox intent: the projection of ID must be made anew from the
// ledger (it may be retired or purged by now).
type Change struct {
	Seq uint64
	ID  memtypes.ID
}

// Jobs keeps runs and leases.
type Jobs interface {
	// Acquire takes or renews the lease name for holder until now+ttl. It is
	// Conflict while another holder's lease has not expired at now. The fence
	// rises whenever the holder changes, also from nobody after a Release.
	Acquire(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (Lease, error)
	// Release gives l up; a lease that is another's by now is left alone.
	Release(ctx context.Context, l Lease) error
	// Run returns a run by ID; NotFound if there is none.
	Run(ctx context.Context, id string) (Run, error)
	// Runs lists runs of a job (empty: of all), newest first, at most limit.
	Runs(ctx context.Context, job string, limit int) ([]Run, error)
}

// Lease is the right to run a job.
type Lease struct {
	Name    string
	Holder  string
	Fence   uint64
	Expires time.Time
}

// Run is the record of one run of a job.
type Run struct {
	ID      string            `json:"id"`
	Job     string            `json:"job"` // "decay", "purge", ...
	Scope   memtypes.Scope    `json:"scope,omitzero"`
	Actor   string            `json:"actor"`
	Status  string            `json:"status"` // running, done, failed, stopped, undone
	Started time.Time         `json:"started"`
	Ended   time.Time         `json:"ended,omitzero"`
	Counts  map[string]int    `json:"counts,omitempty"` // "planned", "retired", "stale", ...
	Detail  map[string]string `json:"detail,omitempty"` // settings and messages
}

// Vectors keeps embeddings that were dear to make, so that a rebuild does not
// pay for them twice. Losing them loses no memory; they need not be fsynced.
type Vectors interface {
	// PutVectors stores one vector for each id under the embedder's
	// fingerprint; a nil vector and a purged memory are passed over. A purge
	// takes a memory's vectors with it.
	PutVectors(ctx context.Context, fingerprint string, ids []memtypes.ID, hash []string, vs []memtypes.Vector) error
	// GetVectors returns the vectors of ids whose text hash is still the same; nil where there is none.
	GetVectors(ctx context.Context, fingerprint string, ids []memtypes.ID, hash []string) ([]memtypes.Vector, error)
}

// Outbox is the feed for followers that several processes share: it remembers
// durably how far each follows and what it still owes, so that any process can
// go on where another stopped, and no two work on one memory at once.
//
// A follower owes each memory that changed since it began, once, however often
// it changed. An intent is claimed for a time and settled by its claimer; one
// that is not settled in time can be claimed again, by anybody.
type Outbox interface {
	// Follow registers the follower name, [a-z0-9/-]{1,100}, which has every
	// change up to from, which must not be beyond Head. One that is known stays
	// as it is.
	Follow(ctx context.Context, name string, from uint64) error
	// Unfollow forgets a follower and all it owes; an unknown one is no error.
	Unfollow(ctx context.Context, name string) error
	// Followers describes all of them, by name.
	Followers(ctx context.Context, now time.Time) ([]Follower, error)
	// Claim hands out at most limit intents that are due at now, those that
	// have waited longest first, and to nobody before now+hold, not even to
	// holder. NotFound for an unknown follower. It writes nothing if there is
	// nothing to hand out and no change to note.
	Claim(ctx context.Context, name, holder string, now time.Time, hold time.Duration, limit int) ([]Intent, error)
	// Settle says what became of intents that holder claimed. An intent that
	// somebody else has claimed since is left alone; a memory that changed
	// since the claim is owed again.
	Settle(ctx context.Context, name, holder string, settled []Settled) error
	// Dead lists the dead letters of a follower by ascending Seq, at most limit.
	Dead(ctx context.Context, name string, limit int) ([]Letter, error)
	// Revive makes dead letters due again, of ids or, if nil, all; it returns
	// how many.
	Revive(ctx context.Context, name string, ids []memtypes.ID) (int, error)
}

// Intent is a memory whose projection a follower owes.
type Intent struct {
	ID    memtypes.ID
	Seq   uint64 // of its newest change when it was claimed
	Tries int    // how often it was settled with Later since it was last revived
	// Tenant is the memory's, also where it is purged: an index must know where
	// to remove it. Claim gives it; Settle does not read it.
	Tenant string
}

// Verdict says how an intent was settled.
type Verdict string

// The verdicts.
const (
	Placed Verdict = "placed" // the index has it, or something newer
	Later  Verdict = "later"  // not now: due again at Settled.At, and not before if it changes meanwhile
	Poison Verdict = "poison" // never: a dead letter, until it is revived or the memory changes
)

// Settled is what became of an intent.
type Settled struct {
	Intent
	Verdict Verdict
	At      time.Time // for Later, when it is due again; for Poison, when it was given up
	Reason  string    // why, for Later and Poison, at most 1024 bytes; it must not hold memory text
}

// Follower is the state of one follower.
type Follower struct {
	Name string
	// Mark: whatever changed up to here is placed or a dead letter. It rises,
	// but falls back when an old dead letter is revived.
	Mark uint64
	Owed int       // memories that it has yet to place, dead letters apart; from 10,000 on it may be an estimate, not too low
	Dead int       // dead letters
	Due  time.Time // since when the oldest that is owed has been waiting; zero if none is
}

// Letter is an intent that can never be placed as it is.
type Letter struct {
	Intent
	At     time.Time // when it was given up
	Reason string
}
