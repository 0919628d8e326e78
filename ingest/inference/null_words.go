package inference

// IsNullWord reports the words that are NULL where the values around them are not text.
func IsNullWord(c Content) bool {
	if c.Quoted || len(c.Text) == 0 || c.Text[0] != 'N' && c.Text[0] != 'n' && c.Text[0] != '\\' {
		return false
	}
	switch string(c.Text) {
	case "NULL", "null", "NA", "N/A", `\N`:
		return true
	}
	return false
}
