// Package upkeep runs named jobs on cron schedules: the one gate to
// robfig/cron. It knows no memory; what a job does is the job's own affair.
//
// It promises, for every job:
//
//   - a schedule that was checked: five fields, a descriptor such as @daily, or
//     @every; in UTC, where no hour is skipped and none comes twice;
//   - one run at a time. A tick that comes while the last run goes on is
//     skipped and counted, never queued;
//   - one runner among processes, by a lease in a [Book] that is renewed while
//     the job runs. A runner that loses it has its context cancelled, and the
//     lease's fence lets the store refuse what it still writes;
//   - one run for each tick, whoever gets it, and one run at the start for the
//     ticks that were missed while no process was up;
//   - a panic ends the run and not the job: it is reported, and the next tick
//     runs again. For that the guard against a second run stands outside the
//     recovery and is opened whatever happens within; the other way round, a
//     job that panicked once would never run again.
//
// A run that is killed midway leaves no report, so its tick counts as missed:
// a job must bear being done again.
package upkeep
