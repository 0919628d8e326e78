package format

import (
	"strconv"
	"strings"
)

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// ordinal is the suffix of a number: st, nd, rd or th, in the case of another.
func ordinal(digits, like string) string {
	if like == "" || digits == "" {
		return ""
	}
	out := "th"
	if n := len(digits); n < 2 || digits[n-2] != '1' {
		switch digits[n-1] {
		case '1':
			out = "st"
		case '2':
			out = "nd"
		case '3':
			out = "rd"
		}
	}
	if like == "TH" {
		return strings.ToUpper(out)
	}
	return out
}

// quotedText reads text in double quotes, or the quote of \", that a pattern begins with: size is
// 0 where there is neither.
func quotedText(pattern string) (text string, size int) {
	if strings.HasPrefix(pattern, `\"`) {
		return `"`, 2
	}
	if !strings.HasPrefix(pattern, `"`) {
		return "", 0
	}
	var out strings.Builder
	for size = 1; size < len(pattern) && pattern[size] != '"'; size++ {
		if pattern[size] == '\\' && size+1 < len(pattern) {
			size++
		}
		out.WriteByte(pattern[size])
	}
	return out.String(), min(size+1, len(pattern))
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// LeadingDigits reads the number that a text begins with.
func LeadingDigits(s string) (n int64, size int) {
	for size < len(s) && size < 9 && s[size] >= '0' && s[size] <= '9' {
		n = 10*n + int64(s[size]-'0')
		size++
	}
	return n, size
}

// appendDigits appends a number that is not below 0, with zeros before it up to a width.
func appendDigits(out []byte, n int64, width int) []byte {
	for k, ten := 1, int64(10); k < width; k++ {
		if n < ten {
			for ; k < width; k++ {
				out = append(out, '0')
			}
			break
		}
		ten *= 10
	}
	return strconv.AppendInt(out, n, 10)
}
