// Package bench measures the backends of stencildb beside each other and beside other databases. They run in
// one process, over the same data, and with the same answers.
//
// # Where what is
//
//   - suite.go, suites.go: [Suite], a named set of cases: tables of several sizes with the statements to run over each. [Suites] lists
//     them. config.go, run.go, table_run.go: a run of a suite, table by table.
//   - statements.go: [Statements] makes a suite of a user's own. experiments.go, pary.go, wisconsin.go, hsu.go: suites of
//     experiments of papers. changers.go: databases whose tables are changed.
//   - system.go: a backend of package engine as a system. processes.go: processes that read files. file_load_trial.go: the loading of a
//     file as a case.
//   - timed_device.go, classic_variants.go, quickselect.go: the systems of the 2004 paper's figures. measure_floor.go: empty passes.
//   - Package workload has the operations, the tables that they run over and the parameters that are drawn.
//   - Package meter times contenders against each other. Package answer says how two right answers may differ.
//   - Package peer has the other databases: DuckDB and SQLite.
//   - Package report is what a run found: data, JSON, statistics, and the comparison of two reports.
//   - Package evaluation sets a report beside the paper that its suite repeats: figures, claims and targets.
//   - Package render shows a report: text, HTML, figures, CSV.
//   - schema.json describes the JSON.
//
// # How time is measured
//
// A time is the wall time of one call through the public API of the system. The statement is prepared, its columns are
// resident, and the answer is complete. All systems hold the table at the same time. It goes case by case. First every
// contender of the case runs twice. Then data are resident, programs are compiled, and the answers are compared.
// Answers that differ are an error (of a user's statements at the end). Then come rounds: in each round every
// contender runs once, and the order rotates from round to round. So contenders of a case run within moments of each
// other, and what disturbs the machine for a while falls on all of them. A ratio of two systems is the median of the
// ratios of the rounds, not the ratio of the medians. (Rounds over all cases of a table, one after the other, are
// another protocol. There each query comes after others that have read gigabytes of other columns, which makes it up
// to twice as slow on an H200.)
//
// # The fresh protocol
//
// A prepared statement that is repeated is not what a user of a dashboard or a notebook waits for: the next statement has other
// constants. The suites ssb and tpch, and statements of a user's with parameters ([Suite.Draws]), are therefore measured by three
// clocks, which [report.Result] has beside each other:
//
//   - MS, "new": from the text to the last row in hand, the columns resident. Each execution has parameters that this
//     process has not been asked before, drawn with a fixed seed, and all systems get the same texts. No two are alike; where a query's
//     rules give few, there are as few rounds. The first text (the parameters of a benchmark's specification) is not counted. A GL program
//     that a later text makes is in its time, and named.
//   - Repeated: the prepared statement again, with the first parameters, in the same rounds.
//   - Cold: the first execution in a process. The database is newly opened, on copies of the tables of which nothing is on the device. No
//     program is compiled (a driver may have kept some of its own). The opening of the device is not counted. Of another database it is
//     its first execution of the statement.
//
// Answers to the first text are compared with those of the backend cpu before anything is timed. Answers to each draw are compared with
// each other, up to 10,000 rows; beyond that only the numbers of rows are. A system that differs is left out of the case, and the run ends
// with that as an error.
//
// # Figures
//
// In the suite paper the systems on the device share one context and one budget. Their clock is around the
// query and a finish, on the GL thread, from an idle device to an idle device. The device's own time is
// reported, too, where its timer is real. All answers are compared with those of package cpu without vector
// instructions.
//
//   - "classic-copy-excluded", the paper's time of computation without the copies, is a run of its own of the
//     whole query. Its CopyToDepth passes are timed and subtracted. Timestamps on the device time them where
//     those are real, and wait for nothing; else the clock between two finishes does. So its answer is right,
//     and checked, in every run, also where attributes take turns in the depth buffer. The other costs of the
//     finishes count against it.
//   - copy_to_depth runs only the copies of the query of figure 3. The rest of the query runs on their
//     results for the answer, after the clock has stopped.
//   - "classic" leaves the selection in the stencil buffer in figures 3, 4, 5 and 11, as the paper's routines
//     do. "classic-count-only" does not, where one predicate decides. "classic-no-count" leaves it there
//     without occlusion queries; its records are counted after the clock has stopped. count_selection counts
//     one that is there before.
//   - "classic-float" is SemilinearFP in float32. Which records it gets wrong is counted on the
//     device: those that it or the exact form selects, less twice those that both do.
//   - "classic-no-guard" has no guard program (package pass); what it counts may be wrong.
//   - A case has 100 rounds, as in the paper. A contender that takes 0.1 s or longer runs in every seventh, from 2 s on five times, and
//     from 20 s on once.
//   - Headlines are judged over the table nearest to the paper's 1,000,000 records and over the
//     largest. [evaluation.Merge] makes one report of the parts of a run.
//   - Cold times are of tables whose chunks the device has never seen; programs are
//     compiled. They follow the rounds of their case, three of each system in turn.
//   - [report.Floor] is what empty passes take. over_floor is a median over the quad's for
//     classic and fused, over the larger of dispatch and copy for compute.
//   - quickselect is Hoare's FIND on one core over plain arrays of 32 bits; its pivots differ
//     from run to run.
//   - A polynomial takes the attribute with the narrowest range, less the middle of that range, and another
//     one to the first degree. Degrees whose values do not fit 64 bits are skipped.
//
// # Experiments of papers
//
// A suite of experiments runs those of a package papers/* ([lab.Paper]), whose ways contend in a case as systems do over a statement. The
// whole output of each is compared with plain Go's before anything is timed. In every run a digest of the output is compared after its
// clock has stopped. A difference ends the run. Sections are timed in up to 15 runs of their own; counters are of one run of an
// instrumented variant. The ways that are ours, and that no paper imports, are in a file a paper here (pary.go). What cases
// share is given back at the end of a run ([lab.Setting.AtEnd]).
//
// # Statements of a user's
//
// The right answer is that of the backend cpu. Cold times are of engine's backends on the device, after [engine.Inside.Renew]; by
// the fresh protocol as above. The case load goes from a file to its table. stencildb runs [ingest.Open] and reads columns,
// reported under cpu for all backends. DuckDB runs CREATE TABLE AS SELECT.
//
// # Attributes
//
// A suite measures on up to four columns of a table: integers first, then DECIMAL, floating-point numbers,
// dates and timestamps. Operations that take more attributes than there are use them again, each twice at
// most. A conjunction uses them from the other side, so that the planner does not merge the two comparisons
// into one. [report.Data] names the attributes of a run.
//
// # JSON
//
// A [report.Report] as JSON has "schema": 1; schema.json beside this file describes it. Names
// are only added within one schema.
//
// # Caveats
//
//   - Times of different cases are not comparable where the machine is shared: only
//     ratios within a case are.
//   - Processor time says what wall time would be on an idle machine of as many cores as the system keeps
//     busy. On a crowded machine it is the steadier of the two. It holds all that the process does meanwhile,
//     and nothing that a GPU does.
//   - Each system has its own copy: a table takes that many times its memory, in all
//     of host and device.
//   - A contender that took less than a millisecond runs three times untimed before each timed run. Otherwise
//     it would pay for the caches and the device's context of the contender before it. On an H200 it would
//     also pay up to half a millisecond for waking up.
//   - A contender on a hardware device that others have left idle for more than 5 ms runs untimed. It does so
//     for as long as that, up to a second, and for two at first. A device that is mostly idle lowers its
//     clocks. On an H200 a COUNT takes 0.13 ms, and 0.34 after seconds of idleness. A tenth of a second of work
//     does not bring the clocks back.
//   - A slow contender takes part in every second, fourth or eighth round only.
//   - Peers are linked by build tag only (see [peer.Known]): DuckDB alone is larger
//     than the rest of the program.
package bench
