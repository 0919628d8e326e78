package compute

import (
	"cmp"
	"fmt"
	"slices"
)

// factor is a number of each of four neighbouring records: a vector in GLSL, and how many bits it has at most.
type factor struct {
	text string
	bits int
}

// product is the product of up to [lower.MaxFactors] factors. words are its words of 32 bits, low first, as vectors;
// declare declares them under a name of their own. Narrow factors are multiplied first, in one word.
func product(name string, list []factor) (declare string, words []string) {
	list = slices.SortedStableFunc(slices.Values(list), func(a, b factor) int { return cmp.Compare(a.bits, b.bits) })
	for len(list) > 1 && list[0].bits+list[1].bits <= 32 {
		list[1] = factor{list[0].text + " * " + list[1].text, list[0].bits + list[1].bits}
		list = list[1:]
	}
	if len(list) == 1 {
		return "", []string{list[0].text}
	}
	width := 0
	for _, f := range list {
		width += f.bits
	}
	words = []string{"low_" + name, "high_" + name, "top_" + name}
	if len(list) == 2 {
		return fmt.Sprintf("uvec4 %s, %s; umulExtended(%s, %s, %[2]s, %[1]s);", words[0], words[1], list[0].text, list[1].text), words[:2]
	}
	declare = fmt.Sprintf("uvec4 %s, %s, %s; multiply(%s, %s, %s, %[1]s, %[2]s, %[3]s);", words[0], words[1], words[2], list[0].text, list[1].text, list[2].text)
	return declare, words[:(width+31)/32]
}
