// Package backends holds no code: its tests compare the backends with one another and with package reference.
//
//   - TestFunctionsOfColumns: all functions and operators, many expressions in one select list, and conditions.
//   - TestGroupsAgree: GROUP BY, HAVING, sums of products and aggregates of expressions beside their definitions.
//   - TestDoubleArithmetic*, TestSemilinearIsExactUpTo24Bits, TestTheCalendarEnds: facts that a random statement once
//     showed to be false.
//   - TestParts*, TestVisits*: chunks on several backends, and windows one after the other, merge to the answer of the whole.
//   - TestRowsOfASelection, TestValuesAreGathered: which rows and values a selection has.
//   - TestFaultsLeaveNothingBehind: a statement whose n-th call fails, for every n.
package backends
