// Package sqlstate has the codes that tell kinds of errors apart: those of PostgreSQL, which are SQLSTATE of the SQL standard
// and its own.
package sqlstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Code is a SQLSTATE of five characters, of which the first two are the class.
type Code string

// The codes that errors have here, in PostgreSQL's words.
const (
	FeatureNotSupported          Code = "0A000"
	CardinalityViolation         Code = "21000"
	StringTooLong                Code = "22001"
	NumericOutOfRange            Code = "22003"
	NullNotAllowed               Code = "22004"
	InvalidDatetimeFormat        Code = "22007"
	DatetimeOverflow             Code = "22008"
	SequenceLimitExceeded        Code = "2200H"
	SubstringError               Code = "22011"
	DivisionByZero               Code = "22012"
	InvalidFrameOffset           Code = "22013"
	InvalidArgumentForNtile      Code = "22014"
	InvalidArgumentForNthValue   Code = "22016"
	InvalidEscapeCharacter       Code = "22019"
	InvalidRegularExpression     Code = "2201B"
	InvalidArgumentForLog        Code = "2201E"
	InvalidArgumentForPower      Code = "2201F"
	InvalidArgumentForWidth      Code = "2201G"
	InvalidRowCountInLimit       Code = "2201W"
	InvalidRowCountInOffset      Code = "2201X"
	CharacterNotInRepertoire     Code = "22021"
	InvalidParameterValue        Code = "22023"
	InvalidEscapeSequence        Code = "22025"
	InvalidTablesampleArgument   Code = "2202H"
	InvalidText                  Code = "22P02"
	BadCopyFileFormat            Code = "22P04"
	NotNullViolation             Code = "23502"
	UniqueViolation              Code = "23505"
	CheckViolation               Code = "23514"
	InvalidTransactionState      Code = "25000"
	ActiveTransaction            Code = "25001"
	ReadOnlyTransaction          Code = "25006"
	NoActiveTransaction          Code = "25P01"
	FailedTransaction            Code = "25P02"
	InvalidStatementName         Code = "26000"
	DependentObjects             Code = "2BP01"
	InvalidSavepoint             Code = "3B001"
	InvalidSchema                Code = "3F000"
	SerializationFailure         Code = "40001"
	InsufficientPrivilege        Code = "42501"
	SyntaxError                  Code = "42601"
	DuplicateColumn              Code = "42701"
	AmbiguousColumn              Code = "42702"
	UndefinedColumn              Code = "42703"
	UndefinedObject              Code = "42704"
	DuplicateObject              Code = "42710"
	DuplicateAlias               Code = "42712"
	AmbiguousFunction            Code = "42725"
	GroupingError                Code = "42803"
	DatatypeMismatch             Code = "42804"
	WrongObjectType              Code = "42809"
	CannotCoerce                 Code = "42846"
	UndefinedFunction            Code = "42883"
	GeneratedAlways              Code = "428C9"
	UndefinedTable               Code = "42P01"
	UndefinedParameter           Code = "42P02"
	DuplicateStatement           Code = "42P05"
	DuplicateTable               Code = "42P07"
	AmbiguousAlias               Code = "42P09"
	InvalidColumnReference       Code = "42P10"
	InvalidTableDefinition       Code = "42P16"
	InvalidObjectDefinition      Code = "42P17"
	InvalidRecursion             Code = "42P19"
	WindowingError               Code = "42P20"
	InsufficientResources        Code = "53000"
	DiskFull                     Code = "53100"
	OutOfMemory                  Code = "53200"
	ConfigurationLimit           Code = "53400"
	ProgramLimitExceeded         Code = "54000"
	StatementTooComplex          Code = "54001"
	TooManyColumns               Code = "54011"
	TooManyArguments             Code = "54023"
	ObjectNotInPrerequisiteState Code = "55000"
	ObjectInUse                  Code = "55006"
	QueryCanceled                Code = "57014"
	AdminShutdown                Code = "57P01"
	IOError                      Code = "58030"
	UndefinedFile                Code = "58P01"
	DuplicateFile                Code = "58P02"
	InternalError                Code = "XX000"
	DataCorrupted                Code = "XX001"
)

// coded is an error with a code.
type coded struct {
	error
	code Code
}

func (e *coded) SQLState() string { return string(e.code) }
func (e *coded) Unwrap() error    { return e.error }

// Errorf is [fmt.Errorf] of an error with a code.
func Errorf(code Code, format string, args ...any) error {
	return &coded{fmt.Errorf(format, args...), code}
}

// Also is err, which is also another error that it does not mention: [errors.Is] and [errors.As] find both.
func Also(err, also error) error { return &both{err, also} }

type both struct {
	error
	also error
}

func (b *both) Unwrap() []error { return []error{b.error, b.also} }

// Of is the code of an error. That is the one of the first error in its tree with a method SQLState() string. It is [QueryCanceled] of one that ended with its
// context, that of what a file system refuses. Else it is [InternalError].
func Of(err error) Code {
	var e interface{ SQLState() string }
	if errors.As(err, &e) && e.SQLState() != "" {
		return Code(e.SQLState())
	}
	for _, of := range causes {
		if errors.Is(err, of.cause) {
			return of.code
		}
	}
	return InternalError
}

// causes are the codes of errors of Go's libraries; those of files are as in PostgreSQL's errcode_for_file_access.
var causes = []struct {
	cause error
	code  Code
}{
	{context.Canceled, QueryCanceled}, {context.DeadlineExceeded, QueryCanceled},
	{fs.ErrPermission, InsufficientPrivilege}, {fs.ErrNotExist, UndefinedFile}, {fs.ErrExist, DuplicateFile},
	{syscall.ENOTDIR, WrongObjectType}, {syscall.EISDIR, WrongObjectType}, {syscall.ENOTEMPTY, WrongObjectType},
	{syscall.ENOSPC, DiskFull}, {syscall.ENOMEM, OutOfMemory}, {syscall.ENFILE, InsufficientResources}, {syscall.EMFILE, InsufficientResources},
	{syscall.EIO, IOError},
}
