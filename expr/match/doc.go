// Package match matches texts with patterns: LIKE, and PostgreSQL's regular expressions.
//
// # Where what is
//
//   - like.go: [Like] is a pattern of LIKE or ILIKE, ready to match many texts. like_texts.go: a list of texts at once.
//   - regexp.go: [Regexp] is a regular expression, ready to match. regexp_syntax.go: PostgreSQL's syntax in Go's.
//   - byte_class.go: a pattern of one class of bytes. word_boundary.go: patterns with boundaries of words in any language.
//   - ascii.go: texts of ASCII, whose characters are bytes.
package match
