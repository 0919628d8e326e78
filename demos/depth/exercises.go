package depth

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:     "Which state does CopyToDepth draw its quad with?",
		Choices: []string{"depth function ALWAYS, depth writes on", "depth function ALWAYS, depth writes off", "depth function GREATER, depth writes on", "depth function EQUAL, depth writes on"},
		Answer:  "depth function ALWAYS, depth writes on",
		Hints: map[string]string{
			"depth function ALWAYS, depth writes off": "Then all fragments pass and nothing is stored.",
			"depth function GREATER, depth writes on": "Then only records that lie deeper than what is in the buffer would be stored.",
			"depth function EQUAL, depth writes on":   "Then only records that are in the buffer already would be stored.",
		},
		Why: "Every record is written, whatever was there before.",
	},
	{
		Ask:     "An attribute has codes of 25 bits, and each is kept as one float. Which of the codes 2^24 and 2^24 + 1 does `code > 2^24` find?",
		Choices: []string{"both", "none of them", "2^24 + 1 alone"},
		Answer:  "none of them",
		Hints: map[string]string{
			"2^24 + 1 alone": "That is right for whole numbers. As a float 2^24 + 1 is 2^24.",
			"both":           "2^24 is not greater than itself, in any arithmetic.",
		},
		Why: "As floats the two are the same number, so one of the two answers is lost.",
	},
	{
		Ask:    "Codes of `delay` lose their lowest 2 bits, in the copy and in the quad. The code of 61 minutes is 147. At which code does the quad of `delay < 61` stand?",
		Answer: "144",
		Hints: map[string]string{
			"147": "The quad loses the same bits as the records.",
			"36":  "147 shifted by 2 bits is 36; as a depth it stays where it was, at 36 * 4.",
			"148": "Bits are dropped, not rounded.",
		},
		Why: "147 = 10010011 in bits, and 10010000 is 144. Flights of 58 to 60 minutes stand there too and are lost.",
	},
	{
		Ask:     "A fixed-point depth buffer of 24 bits stores depth * (2^24 - 1), rounded to a whole number. What is that product for the code 2^23, before it is rounded?",
		Choices: []string{"2^23", "2^23 - 0.5", "2^23 - 1"},
		Answer:  "2^23 - 0.5",
		Hints: map[string]string{
			"2^23":     "It would be, if the buffer had 2^24 steps. It has one less.",
			"2^23 - 1": "The code is half of 2^24, so the product falls short by half a step.",
		},
		Why: "It is half way between two whole numbers, so no rounding is safe. Where a device computes with floats that happens from 2^22 on: so codes of up to 22 bits.",
	},
	{
		Ask:    "Codes of `distance` have 13 bits; the smallest distance is 30. Suppose the depth buffer kept only the upper 8 of them, of the records and of the constant. How many flights would `distance < 700` miss? Find out between which distances they lie, and count them with SQL: `./stencildb query 'SELECT ... FROM flights'`.",
		Answer: "SELECT COUNT(*) FROM flights WHERE distance >= 670 AND distance < 700",
		Hints: map[string]string{
			"SELECT COUNT(*) FROM flights WHERE distance >= 672 AND distance < 700":  "You have left out the minimum: bits are cut off the code, distance - 30.",
			"SELECT COUNT(*) FROM flights WHERE distance >= 670 AND distance <= 700": "You have written <= where < is meant: flights of 700 miles are not asked for.",
			"0": "That would be so if the code of 700 were a multiple of 32.",
		},
		Why: "The code of 700 is 670, and without its lowest 5 bits 640: the code of 670.",
	},
}
