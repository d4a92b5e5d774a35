package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/cli/clitest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"halfulp": main})
}

// TestScripts runs the command-line scripts of testdata.
func TestScripts(t *testing.T) {
	testlength.SkipRace(t, "the programs that it starts are not watched")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           clitest.Condition,
		Setup: func(e *testscript.Env) error {
			// of the program
			bin, _, _ := strings.Cut(e.Getenv("PATH"), string(os.PathListSeparator))
			e.Setenv("BIN", bin)
			for name, text := range exampleFiles() {
				if err := os.WriteFile(e.Cd+"/"+name, []byte(text), 0o666); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"numacc":    writing(numAcc),
			"summation": writing(summationSet),
			"ratsum":    rationalSum,
			"unended":   unended,
			"status":    clitest.Status,
			"nofiles":   clitest.NoFiles,
		},
	})
}

// writing makes a script command "name N FILE" of a function from N to text.
func writing(generate func(n int) (string, error)) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if len(args) != 2 {
			ts.Fatalf("want a number and a file")
		}
		n, err := strconv.Atoi(args[0])
		ts.Check(err)
		text, err := generate(n)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
	}
}

// unended is the script command "unended FILE": it removes the last line feed of a file.
func unended(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("want a file")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.TrimSuffix(ts.ReadFile(args[0]), "\n")), 0o666))
}

// numAcc returns the data of the NIST StRD sets NumAcc1 to NumAcc4, of which the
// mean, the standard deviation and the autocorrelation are known exactly.
func numAcc(n int) (string, error) {
	if n == 1 {
		return "10000001\n10000003\n10000002\n", nil
	}
	whole, ok := map[int]string{2: "1", 3: "1000000", 4: "10000000"}[n]
	if !ok {
		return "", fmt.Errorf("there is no NumAcc%d", n)
	}
	return whole + ".2\n" + strings.Repeat(whole+".1\n"+whole+".3\n", 500), nil
}

// summationSet returns the three sets on which Isupov, Knyazkov and Kuvaev (2018)
// measure the accuracy of summation, and a variant of the third.
func summationSet(n int) (string, error) {
	switch n {
	case 1: // exact sum 2e-18
		return strings.Repeat("10\n", 2047) + "1e-18\n1e-18\n" + strings.Repeat("-10\n", 2047), nil
	case 2: // exact sum 1.0000000001
		return "1\n" + strings.Repeat("1e-16\n", 1000000), nil
	case 3, 4: // x^i / i! for 0 <= i < 64, x = -4 pi
		// The paper's sum, 3.48733745e-6, is the sum of terms computed in double precision, set 3
		// here, in hexadecimal. The sum of the series itself, set 4 with 70 digits, is exp(-4
		// pi) = 3.48734236e-6.
		pi, ok := new(big.Rat).SetString("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
		if !ok {
			return "", errors.New("pi is no number")
		}
		x := new(big.Rat).Mul(big.NewRat(-4, 1), pi)
		if n == 3 {
			x.SetFloat64(-4 * math.Pi)
		}
		var b strings.Builder
		power, factorial := big.NewRat(1, 1), big.NewRat(1, 1)
		for i := range 64 {
			if n == 3 {
				p, _ := power.Float64()
				f, _ := factorial.Float64()
				fmt.Fprintf(&b, "%x\n", p/f)
			} else {
				term := new(big.Rat).Quo(power, factorial)
				fmt.Fprintln(&b, new(big.Float).SetPrec(400).SetRat(term).Text('e', 70))
			}
			power.Mul(power, x)
			factorial.Mul(factorial, big.NewRat(int64(i+1), 1))
		}
		return b.String(), nil
	}
	return "", fmt.Errorf("there is no set %d", n)
}

// rationalSum is the script command "ratsum FILE OUT": it writes the float64
// nearest to the exact sum of the numbers of FILE.
func rationalSum(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("want an input and an output file")
	}
	sum := new(big.Rat)
	for _, s := range strings.Fields(ts.ReadFile(args[0])) {
		x, ok := new(big.Rat).SetString(s)
		if !ok {
			ts.Fatalf("%q is no number", s)
		}
		sum.Add(sum, x)
	}
	f, _ := sum.Float64()
	format := byte('e')
	if a := math.Abs(f); a == 0 || a >= 1e-6 && a < 1e21 {
		format = 'f' // the range without exponent
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strconv.FormatFloat(f, format, -1, 64)+"\n"), 0o666))
}
