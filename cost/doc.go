// Package cost predicts what a query takes on each backend, and what has to be on
// the device first. It knows neither SQL nor GL.
//
// The model has the form of GDB's (He et al., Relational Query Coprocessing on
// Graphics Processors, TODS 2009, section 4):
//
//	T = T(transfer of what is not resident) + T(query)
//
// A transfer of x bytes takes T0 + x / Band (Equation 3). Columns are uploaded and
// brought into a backend's form slot by slot, one slot being filled while the
// device works on the one before. Band is that of the whole, measured at its end, so
// that what overlaps is counted once. A result is a few words; its way back is part
// of what a query costs at any size.
//
// T(query) is a calibrated unit cost per algorithm (Equations 4 and 5), the device
// being a black box. GDB divides by the rows at the one size where a row costs
// least. Here an algorithm has a [Curve] over several sizes up to that one.
// Small tables, where the overhead of a pass decides, have to be predicted too.
// Beyond its last point a curve goes on as steep as at its end. It never goes faster than
// the bytes that the algorithm reads can be moved (GDB's section 4.3).
//
// The types to know:
//
//   - [Work] is what a query asks for: the algorithms by chunk, and the columns. [Of]
//     reads it off a plan.
//   - [Profile] is what a machine costs: for each backend its overhead, its transfers,
//     and a curve for each [Class] of algorithm.
//   - [Prediction] is what a backend would take.
//   - [Key] names the device and the CPU that a profile was measured on. [Save] and
//     [Load] keep profiles in a folder, and [For] finds the one to go by.
//
// # Caveats
//
//   - Profiles are measured on uniform values, and selections of half of the rows.
//     An algorithm that stops early, or works row by row, takes more or less on others.
//   - The compilation of programs is part of a prediction for conditions of more than 16
//     predicates only: shorter ones repeat, and their programs are kept.
package cost
