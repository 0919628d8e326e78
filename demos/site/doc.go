// Command site builds the pages in docs. A lesson's page has its text, its pictures, its live figure, its
// exercises, what its program prints and the program itself. There are an index and the glossary, the front
// page, and a page for each text in docs. They need no network, open from disk, and link to nothing outside
// docs.
//
// The texts are Markdown files that read well where they are, too. A link to another file is rewritten to the
// page made of it. Where none is made, its words stay. A lesson's figure is figure.js in its folder.
// figures.js here is what all share: the flights of flights.js, a pipeline that does a pass record by record,
// pictures and controls. Exercises are those of package lesson, and exercises.js judges answers as
// [lesson.Key.Judge] does. With -traces it writes the traces, too.
//
// The programs run on the software device, so that the pages are the same everywhere but
// for what was measured.
package main
