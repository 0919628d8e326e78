package cmd

import (
	"errors"
	"fmt"
	"image"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencildb/stencildb/demos"
	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/demos/lessons"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
)

// notALesson is the error of one word that is neither a lesson nor SQL.
func notALesson(demo *cobra.Command, word string) error {
	hint := "; the lessons are "
	demo.SuggestionsMinimumDistance = 2
	if near := demo.SuggestionsFor(word); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "? The lessons are "
	}
	return fmt.Errorf("%q is neither a statement nor a lesson%s%s", word, hint, listed())
}

// listed lists the lessons.
func listed() string {
	list := xslices.Map(lessons.All(), func(l *lesson.Lesson) string { return fmt.Sprintf("%d %s", l.Number, l.Name) })
	return strings.Join(list, ", ")
}

// demoFlagError words a flag of the lessons that is given without one.
func demoFlagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if name := unknown.GetSpecifiedName(); name == "answer" || name == "solve" {
			return fmt.Errorf("--%s is for a lesson, named before it; the lessons are %s", name, listed())
		}
	}
	return flagError(c, err)
}

type lessonFlags struct {
	common
	out    string
	answer string
	solve  bool
}

func newLesson(l *lesson.Lesson) *cobra.Command {
	var o lessonFlags
	c := &cobra.Command{
		Use:     l.Name,
		Aliases: []string{strconv.Itoa(l.Number)},
		Short:   fmt.Sprintf("Lesson %d: %s", l.Number, l.Title),
		Long: fmt.Sprintf(`Runs lesson %d, %s, on the embedded table of
200,000 US flights: it prints what it does step by step, and what to look at. The
page of the lesson is demos/%s/README.md (docs/lessons/%s.html), its program
demos/%s/%s.go. It needs no display and no GPU.

With --answer it checks an answer to one of the exercises on that page, with SQL on
backend cpu, and gives a hint where it is wrong; with --solve it shows a program that
solves the last one, and what that finds.`, l.Number, l.Title, l.Name, l.Name, l.Name, l.Name),
		Example: fmt.Sprintf(`  stencildb demo %s
  stencildb demo %s --answer 2=ANSWER
  stencildb demo %s --out pictures`, l.Name, l.Name, l.Name),
		Args: cobra.NoArgs,
	}
	c.RunE = run(func(c *cobra.Command, _ []string) error {
		given := c.Flags().Changed("answer")
		switch {
		case given && o.solve:
			return usagef("--answer and --solve: take one of them")
		case (given || o.solve) && o.out != "":
			return usagef("--out is for the lesson's pictures: leave out --answer and --solve")
		case given:
			return o.check(c, l)
		case o.solve:
			return o.solution(c, l)
		}
		return o.play(c, l)
	})
	o.registerDevice(c)
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "write the lesson's pictures (PNG) to `DIR`")
	f.StringVar(&o.answer, "answer", "", "check an answer to an exercise, `N=ANSWER`: a whole number or the letter of a choice; without N= it is one to the last exercise")
	f.BoolVar(&o.solve, "solve", false, "show a program that solves the last exercise, and run it")
	f.Bool("headless", true, "no effect: a lesson never needs a display")
	c.SetFlagErrorFunc(lessonFlagError)
	return c
}

// lessonFlagError words a flag of demo that its lessons do not take.
func lessonFlagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return flagError(c, err)
	}
	demo, name, dashes := c.Parent().Flags(), unknown.GetSpecifiedName(), "--"
	known := demo.Lookup(name)
	if unknown.GetSpecifiedShortnames() != "" && len(name) == 1 { // a letter beyond ASCII is longer
		known, dashes = demo.ShorthandLookup(name), "-"
	}
	if known == nil {
		return err
	}
	return fmt.Errorf("%s%s is not for lessons, which have statements and data of their own: leave it out", dashes, name)
}

func (o *lessonFlags) play(c *cobra.Command, l *lesson.Lesson) error {
	tidy, err := outFolder("--out", o.out)
	if err != nil {
		return err
	}
	defer tidy()
	options := lesson.Options{Device: o.options.Device, Out: c.OutOrStdout()}
	if o.out != "" {
		options.Picture = func(name string, img image.Image) error {
			path := filepath.Join(o.out, name)
			if err := draw.WritePNG(path, img); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "  picture %s\n", path)
			return err
		}
	}
	if err := l.Play(options); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "\nExercises\n\n%sAn answer is checked by: stencildb demo %s --answer N=ANSWER\n", l.Questions(), l.Name)
	return err
}

// check says whether the answer is right; a wrong one is a failure.
func (o *lessonFlags) check(c *cobra.Command, l *lesson.Lesson) error {
	n, answer, err := l.Find(o.answer)
	if err != nil {
		return usageError{err}
	}
	which := fmt.Sprintf("exercise %d", n)
	if answer == o.answer {
		which += ", the last one (for another give N=ANSWER)"
	}
	right, say, err := l.Check(c.Context(), n, answer)
	switch {
	case errors.Is(err, lesson.ErrNoAnswer):
		return usageError{fmt.Errorf("%s: %w", which, err)}
	case err != nil:
		return err
	case !right:
		return fmt.Errorf("%s is not the answer to %s: %s", answer, which, say)
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s is right. %s\n", answer, say)
	return err
}

// solution prints the solution's program and what it finds, which backend cpu confirms.
func (o *lessonFlags) solution(c *cobra.Command, l *lesson.Lesson) error {
	text, err := demos.Files.ReadFile(l.Name + "/answer.go")
	if err != nil {
		return err
	}
	n, err := l.Solution(lesson.Options{Device: o.options.Device})
	if err != nil {
		return err
	}
	last := len(l.Exercises)
	query := l.Exercises[last-1].Answer
	switch right, _, err := l.Check(c.Context(), last, fmt.Sprint(n)); {
	case err != nil:
		return err
	case !right:
		return fmt.Errorf("the solution finds %d, which is not what backend cpu gives for %s", n, query)
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "// demos/%s/answer.go\n%s\nThis finds %s, as does backend cpu with\n  %s\n", l.Name, text, numbers.Grouped(n), query)
	return err
}
