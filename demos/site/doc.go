// Command site builds the lessons into static pages: a page a lesson with its text,
// its pictures, what its program prints and the program itself; an index; and the
// glossary. The pages need no network and open from disk.
//
// The texts are Markdown files, written so that they read well where they lie too: a
// link to another file is rewritten to the page made of it, or to the file. The
// programs run on the software device, so that the pages are the same everywhere but
// for what was measured.
package main
