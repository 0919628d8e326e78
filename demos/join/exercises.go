package join

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:    "A star has 7 years, 25 nations and 5 regions as groups. How many slots are that?",
		Answer: "875",
		Hints: map[string]string{
			"37": "Each year may occur with each nation and each region.",
		},
		Why: "7 * 25 * 5: the groups are digits of the slot.",
	},
	{
		Ask:     "Codes of the keys have 40 bits together, and there are 1 million rows. How are the groups found?",
		Choices: []string{"in an array of slots", "by a sort of the keys and boundary flags", "by a bitmap with ranks"},
		Answer:  "by a sort of the keys and boundary flags",
		Hints: map[string]string{
			"in an array of slots":   "That would be 2^40 slots, nearly all empty.",
			"by a bitmap with ranks": "2^40 bits are 128 GiB.",
		},
		Why: "A sort needs room for the rows there are, not for the keys there could be.",
	},
	{
		Ask:    "Word 2 of a bitmap is 0b1011, and words 0 and 1 have 50 keys. At which place is the key of bit 3, counted from 0?",
		Answer: "52",
		Hints: map[string]string{
			"53": "Only the bits below bit 3 count, and two of them are set.",
			"3":  "Keys in the words before come first.",
		},
		Why: "50 before the word, and popcount(0b011) = 2 in it.",
	},
	{
		Ask:    "How many pairs of late flights (`delay > 60`) have the same delay, each flight with itself and pairs in both orders included?",
		Answer: "SELECT COUNT(*) FROM flights a JOIN flights b ON a.delay = b.delay WHERE a.delay > 60 AND b.delay > 60",
		Hints: map[string]string{
			"SELECT COUNT(*) FROM flights WHERE delay > 60": "That is how many flights there are. Each meets all of its delay.",
		},
		Why: "A slot with n flights has n * n pairs.",
	},
}
