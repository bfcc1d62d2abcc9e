package workflowtest

import (
	"context"

	"github.com/weft-run/weft/pkg/workflowtest/answers"
	"github.com/weft-run/weft/pkg/workflowtest/compare"
	"github.com/weft-run/weft/pkg/workflowtest/crash"
	"github.com/weft-run/weft/pkg/workflowtest/suite"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// What a test says of a definition and its world.
type (
	// Config says what is tested, and in which world. One of File and Definition is
	// required.
	Config = trial.Config
	// Child is how a mocked child ends: at once, unless it is held until [Run.EndChild].
	Child = trial.Child
	// Mocks replaces activities, by id, name or type.
	Mocks = trial.Mocks
	// Mock is what an activity does instead of what it would: [Reply], [Replies] or [Func].
	Mock = trial.Mock
	// Reply is how a mocked activity ends. The zero value completes with Done and gives
	// nothing.
	Reply = trial.Reply
	// Replies answers one call after the other; the last one stays. None is the zero [Reply].
	Replies = trial.Replies
	// Func answers each call as it likes.
	Func = trial.Func
	// Call is one execution of an activity, mocked or not.
	Call = trial.Call
	// Answers plays the other side of outgoing HTTP requests, as [Config].HTTP: the first that
	// fits a request answers it. One that none fits does not connect.
	//
	// The pauses between retries of a request take no time.
	Answers = answers.Answers
	// Answer is one answer. Zero fields of the request fit every one.
	Answer = answers.Answer
)

// What a test does, and what it wants to see.
type (
	// Run is one test of one definition: the instance under test, the children that it
	// starts, and the clock. Its methods run everything there is to run before they return.
	// Make it with [New].
	Run = trial.Run
	// Expect is what a test wants to see at one moment. Zero fields are not looked at; an
	// empty list that is not nil wants none.
	Expect = trial.Expect
	// Published is an expected event. Zero fields are not looked at.
	Published = trial.Published
	// Started is an expected start of a mocked child. Inputs that are not named are not looked
	// at.
	Started = trial.Started
	// Response is the expected answer of an HTTP endpoint. Zero fields are not looked at.
	Response = trial.Response
	// Mismatch is one difference between what was expected and what is.
	Mismatch = compare.Mismatch
)

// What runs test files, and what becomes of them.
type (
	// FileOptions steer [RunFile].
	FileOptions = suite.FileOptions
	// FileResult is what became of a test file.
	FileResult = suite.FileResult
	// CaseResult is what became of one case. Without failures it passed.
	CaseResult = suite.CaseResult
	// Failure is one thing that was not as the test file says, or could not be done.
	Failure = suite.Failure
	// FileError is every problem of a test file.
	FileError = suite.FileError
	// Sent is a test file that somebody sent, with the definition that it tests. It runs as
	// [RunFile] runs a file, but it reads no files, so that it names other definitions without
	// folders, has the built-in activities only, so that others have to be mocked, and ends
	// with its context.
	Sent = suite.Sent
)

// CrashReport is what failures of nodes do to a workflow: the calls that may be made again, with or without the same
// Idempotency-Key and the same body, and each end that is another one.
type CrashReport = crash.Report

// Limits of a test that was sent.
const (
	MaxSentCases  = suite.MaxSentCases
	MaxSentOthers = suite.MaxSentOthers // definitions besides the one under test
)

// New compiles what cfg names. The instance begins with [Run.Start], or with an event or
// [Run.Trigger] if the definition has triggers. It returns an error that lists every problem
// of the definition, or says which mock replaces nothing.
func New(cfg Config) (*Run, error) { return trial.New(cfg) }

// RunFile runs the cases of a test file; docs/testing.md describes its form. It returns an
// error, with every problem and its place, if the file cannot be read. A definition that is
// not valid fails each case.
func RunFile(file string, opts FileOptions) (FileResult, error) { return suite.RunFile(file, opts) }

// RunSent runs the cases of a test that was sent, until its context ends: the error is then
// that of the context. A [*FileError] says what is wrong with the test itself.
func RunSent(ctx context.Context, sent Sent) (FileResult, error) { return suite.RunSent(ctx, sent) }

// Find lists the test files at and below the given paths, in the order of their names: files
// as they are, directories searched for *.test.yaml. It returns an error if a path does not
// exist or a directory has none.
func Find(paths ...string) ([]string, error) { return suite.Find(paths...) }

// DefinitionID is the id of a published definition that a test file means by a path such as
// ../greeting.yaml.
func DefinitionID(path string) string { return suite.DefinitionID(path) }

// Schema gives the JSON Schema (draft 2020-12) of test files, for editors. It is more lenient
// than [RunFile] about values, and as strict about keys.
func Schema() []byte { return suite.Schema() }
