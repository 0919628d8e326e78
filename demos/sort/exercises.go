package sort

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:    "How many passes does the network need for 16 records?",
		Answer: "10",
		Hints: map[string]string{
			"4":  "That is the number of levels. Level k has k passes.",
			"16": "16 is 2^4: there are four levels.",
			"15": "Level k has k passes, not 2^(k-1): add 1 + 2 + 3 + 4.",
			"64": "That is passes times records beside each other. Each pass looks at all 16 at once.",
		},
		Why: "Four levels with 1, 2, 3 and 4 passes. For 2^18 records it is 171.",
	},
	{
		Ask:     "Why does a radix sort begin with the lowest digit?",
		Choices: []string{"the lowest digit has the fewest values", "each pass keeps the order of those that are alike, so that the last, highest digit decides", "the highest digit would need a larger table of counts"},
		Answer:  "each pass keeps the order of those that are alike, so that the last, highest digit decides",
		Hints: map[string]string{
			"the lowest digit has the fewest values":                "All digits have the same width here.",
			"the highest digit would need a larger table of counts": "Each table has 16 counts, whatever the digit.",
		},
		Why: "Each pass is stable. What the passes before have put in order stays in order where the digits are alike.",
	},
	{
		Ask:    "Codes of 13 bits, digits of 4: how many passes does the radix sort make?",
		Answer: "4",
		Hints: map[string]string{
			"3":  "Three digits have 12 bits: one bit is left over.",
			"13": "That would be one bit a pass.",
			"52": "Digits times bits of a digit is at least the bits of a code.",
		},
		Why: "13 / 4, rounded up. With digits of 8 bits, as backend compute has them, it is 2.",
	},
	{
		Ask:    "A pass has counted three digits: 0 is there 5 times, 1 is there 7 times, 2 is there 3 times. At which place, counted from 0, does the second record with digit 2 go?",
		Answer: "13",
		Hints: map[string]string{
			"12": "That is where the first record with digit 2 goes.",
			"14": "Places count from 0.",
			"2":  "Behind all records with the digits 0 and 1.",
		},
		Why: "5 + 7 = 12 records go before the first one with digit 2, and one more before the second.",
	},
	{
		Ask:    "How many flights come before the first one of 1,946 miles or more, in order of distance? A sort by counts of whole codes knows without moving a record.",
		Answer: "SELECT COUNT(*) FROM flights WHERE distance < 1946",
		Hints: map[string]string{
			"SELECT COUNT(*) FROM flights WHERE distance <= 1946": "Flights of 1,946 miles themselves do not come before.",
			"SELECT COUNT(*) FROM flights WHERE distance >= 1946": "Those are the ones that come behind.",
		},
		Why: "The prefix sum of the counts up to a code is the COUNT of `distance <` its value.",
	},
}
