// Package papers holds papers that followed the one of 2004 as they were published, with their experiments: a package each.
//
// Nothing of the engine imports them. Package lab has what the experiments share, package scan a tree scan that several papers use.
package papers
