package semilinear

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:    "`2 * delay - distance > 100` is asked of codes. The smallest delay is -86, the smallest distance 30. What does the 100 become?",
		Answer: "302",
		Hints: map[string]string{
			"100":  "You have left out the minima: texels hold codes.",
			"-102": "The constant part goes to the other side, so its sign changes: 100 - (2 * -86 - 30).",
			"242":  "The coefficient of distance is -1, and so is that of its minimum.",
		},
		Why: "The minima make 2 * -86 - 30 = -202, and 100 - (-202) = 302.",
	},
	{
		Ask:     "The operations of the pass are KEEP, KEEP, REPLACE by 1. What happens to the stencil value of a record whose fragment the program discards?",
		Choices: []string{"it becomes 0", "it becomes 1", "it stays as it is"},
		Answer:  "it stays as it is",
		Hints: map[string]string{
			"it becomes 0": "No operation is done for a discarded fragment. It is the clear before the pass that makes it 0.",
			"it becomes 1": "REPLACE is for fragments that pass all tests.",
		},
		Why: "A discarded fragment is gone: it reaches no test and changes nothing.",
	},
	{
		Ask:    "How many passes does `COUNT(*) WHERE 10 * delay - distance > 0` take, with both attributes in a texture already?",
		Answer: "1",
		Hints: map[string]string{
			"2": "Nothing is copied to depth: the program reads the texture.",
			"3": "Nothing is copied to depth: the program reads both attributes from one texel.",
		},
		Why: "The program reads, computes and compares; the occlusion query counts what is not discarded.",
	},
	{
		Ask:     "Sums of an integer attribute reach 2^25. What goes wrong when the program adds them as floats?",
		Choices: []string{"nothing", "sums above 2^24 may be rounded, so records next to b may be judged wrongly", "the sums overflow", "the card refuses the program"},
		Answer:  "sums above 2^24 may be rounded, so records next to b may be judged wrongly",
		Hints: map[string]string{
			"the sums overflow":            "A float goes up to 10^38. It is the lowest digits that are lost.",
			"the card refuses the program": "It runs, and its answer may be wrong: that is worse.",
			"nothing":                      "A float holds whole numbers exactly up to 2^24 only (lesson 2).",
		},
		Why: "Odd sums above 2^24 are no floats. stencildb generates a program with integers there.",
	},
	{
		Ask:    "How many flights were more minutes late than they flew miles? Use SQL, `./stencildb query 'SELECT ... FROM flights'`, or put s = (1, -1) into the program.",
		Answer: "SELECT COUNT(*) FROM flights WHERE delay > distance",
		Hints: map[string]string{
			"SELECT COUNT(*) FROM flights WHERE delay < distance":           "That is the other way round: s = (1, -1).",
			"SELECT COUNT(*) FROM flights WHERE delay + 86 > distance - 30": "You have compared the codes: the two attributes have different minima.",
		},
		Why: "s = (1, -1), b = 0.",
	},
}
