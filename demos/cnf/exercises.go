package cnf

import "github.com/stencildb/stencildb/demos/lesson"

// Exercises are those of the lesson; [Solve] finds the answer to the last.
var Exercises = []lesson.Exercise{
	{
		Ask:    "WHERE (A OR B) AND (C OR D). A record satisfies B, C and D, but not A. Which stencil value does it hold after the pass of B?",
		Answer: "2",
		Hints: map[string]string{
			"1": "In clause 1 the valid value is 1, and a pass adds one where both tests succeed.",
			"0": "Only the quad at the end of a clause sets 0.",
		},
		Why: "It was still at 1 and satisfies B: INCR.",
	},
	{
		Ask:    "And which value does the same record hold after the pass of D, the last predicate?",
		Answer: "1",
		Hints: map[string]string{
			"0": "C has taken it from 2 to 1. D touches only records that still hold 2.",
			"2": "In clause 2 the valid value is 2, and C has taken one away.",
		},
		Why: "C took it to 1, and at D it fails the stencil test, so that it is counted once.",
	},
	{
		Ask:    "How many passes is that WHERE, the copies to depth left out?",
		Answer: "6",
		Hints: map[string]string{
			"4": "After each clause one more quad drops what has failed.",
			"5": "The last clause ends with such a quad, too: what has failed it must not look selected.",
			"8": "A predicate is one pass, and a clause one more.",
		},
		Why: "A pass for each of four predicates and a quad for each of two clauses.",
	},
	{
		Ask:    "Which stencil value do the selected records hold after three clauses?",
		Answer: "2",
		Hints: map[string]string{
			"1": "Clause 3 is odd: its valid value is 1, and who satisfies it moves on.",
			"3": "Two values take turns, however many clauses there are.",
		},
		Why: "The valid value of an odd clause is 1, and who satisfies it goes to 2.",
	},
	{
		Ask:    "Add a third clause to the program: `AND (distance >= 500 OR delay > 30)`. How many flights are selected?",
		Answer: "SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND (distance < 250 OR delay >= -10) AND (distance >= 500 OR delay > 30)",
		Hints: map[string]string{
			"SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND (distance < 250 OR delay >= -10)":                                    "That is the answer with two clauses.",
			"SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND (distance < 250 OR delay >= -10) AND distance >= 500 AND delay > 30": "The third clause is an OR: one of its predicates is enough.",
			"SELECT COUNT(*) FROM flights WHERE (delay < 0 OR distance > 2000) AND (distance < 250 OR delay >= -10) AND (distance > 500 OR delay > 30)": "You have written > where >= is meant: flights of exactly 500 miles satisfy it.",
		},
		Why: "They hold 2, and the counts of the third clause's passes add up to them.",
	},
}
