package inference

// Field is one field of a CSV record: where it is in its block, without quotes around it.
type Field struct {
	From, To int
	Line     int // on which it starts, from 1
	Quoted   bool
	Last     bool // of its record
}

// In is what it holds in the text of its block.
func (f *Field) In(text []byte) Content { return Content{text[f.From:f.To], f.Quoted} }

// Blank reports the only field of a blank line.
func (f *Field) Blank(col int) bool { return col == 0 && f.Last && !f.Quoted && f.From == f.To }

// Content is what a field holds; text is part of its block.
type Content struct {
	Text   []byte
	Quoted bool
}

// Heading is a field of the first record.
type Heading struct {
	Content
	Line int
}
