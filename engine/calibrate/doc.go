// Package calibrate measures a device and the CPU: what the classes of algorithms cost on each backend. auto uses these costs (package
// cost). It also measures the routines of the 2004 paper. [Device] does it.
//
// It stands on top of package engine, which knows nothing of it: it executes statements on one backend after another
// ([engine.Planned]), and compares their answers.
package calibrate
