// Package inference finds the types of columns from their texts.
//
//   - [Classify]: what one text looks like: an integer, a date, and so on (classify.go), eight bytes at a time (word.go)
//   - [Column]: what the values of a column look like, and the narrowest type that holds them all (inference.go)
//   - [Field], [Content]: where a field is in its block, and what it holds (field.go)
//   - [IsNullWord]: words that are NULL where the values around them are not text (null_words.go)
package inference
