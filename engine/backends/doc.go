// Package backends has the backends that run queries, behind one interface: cpu, the passes on devices, and both.
//
//   - [Backend] is the interface (backend.go). [Step] is a pass of it in EXPLAIN.
//   - [CPU] is package cpu with the operators of its one sweep as steps (cpu.go).
//   - [Passes] runs a query as passes on the devices of a pool ([Devices], devices.go): aggregates (passes.go), rows (gpu_rows.go), groups
//     (gpu_groups.go), sorted runs (gpu_order.go). States of several devices are merged (merged_selection.go).
//   - A query that a device has no room for goes over windows of its chunks: windows.go, stream.go.
//   - [Coprocessing] is both: compute and cpu each take some windows (GDB, section 5: EXEC_COP). [Costs] says what either takes,
//     [UploadAmortisation] what a query is charged with of the upload of columns.
//   - A [Set] has the backends of a DB, and opens the devices when somebody first needs them (set.go). A [View] of it has the settings of a
//     session (session_view.go), and predicts what work takes on either side (weigh.go).
//
// Nothing here knows a DB, a statement or a setting: who asks gives what is to be run and by what to decide.
package backends
