package attributes

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:    "A texture is 512 texels wide. In which line of it does record 1,300 lie?",
		Answer: "2",
		Hints: map[string]string{
			"3":   "Lines are counted from 0.",
			"276": "That is its column, 1300 mod 512. The line is 1300 div 512.",
		},
		Why: "1300 div 512 is 2, and the column is 1300 mod 512 = 276.",
	},
	{
		Ask:    "A column has whole numbers from -7 to 2,040. How many bits does a code need?",
		Answer: "11",
		Hints: map[string]string{
			"12": "Codes begin at 0 and end at 2040 + 7 = 2047, which is 2^11 - 1.",
			"10": "2^10 codes are 1,024: half of what is needed.",
		},
		Why: "The largest code is 2047 = 2^11 - 1.",
	},
	{
		Ask:    "`delay >= 30` is asked of the texels of `delay`, whose smallest value is -86. Which constant are they compared with?",
		Answer: "116",
		Hints: map[string]string{
			"30":  "You have left out the minimum: texels hold delay - (-86).",
			"-56": "The minimum is taken away, not added: 30 - (-86).",
		},
		Why: "30 - (-86) = 116. The operator stays, since codes keep the order.",
	},
	{
		Ask:    "What is the largest number in the texture of `distance`? Use SQL: `./stencildb query 'SELECT ... FROM flights'`.",
		Answer: "SELECT MAX(distance) - MIN(distance) FROM flights",
		Hints: map[string]string{
			"SELECT MAX(distance) FROM flights": "That is the largest distance. A texel holds a code: take the smallest distance away.",
			"8191":                              "That is what 13 bits can hold. Which code does the longest flight have?",
		},
		Why: "The code of the longest flight, 4962 - 30.",
	},
}
