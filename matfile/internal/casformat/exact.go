package casformat

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
)

// exactKind is the notation of a program for a matrix of rational numbers.
type exactKind struct {
	head, tail func(integers bool) string
	row, next  string // before a row, between rows
	number     func(x *big.Rat, integers bool) string
}

var exactKinds = map[string]exactKind{
	// An expression of python-flint.
	"flint": {
		head: func(integers bool) string {
			if integers {
				return "fmpz_mat(["
			}
			return "fmpq_mat(["
		},
		tail: func(bool) string { return "])\n" }, row: "[", next: "],\n ",
		number: func(x *big.Rat, integers bool) string {
			if integers {
				return pythonInt(x.Num())
			}
			return "fmpq(" + pythonInt(x.Num()) + ", " + pythonInt(x.Denom()) + ")"
		},
	},
	"pari": {head: always("["), tail: always("]\n"), next: "; ", number: fractionText},
	"mathematica": {
		head: always("{"), tail: always("}\n"), row: "{", next: "},\n ", number: fractionText,
	},
}

func always(s string) func(bool) string { return func(bool) string { return s } }

func fractionText(x *big.Rat, _ bool) string { return x.RatString() }

// pythonInt returns an integer as Python reads it. Python refuses decimal integers of more than
// 4300 digits, and no hexadecimal ones.
func pythonInt(x *big.Int) string {
	const most = 14000 // bits of numbers of at most 4300 digits
	if x.BitLen() <= most {
		return x.String()
	}
	return fmt.Sprintf("%#x", x)
}

// ErrNoFractions is the error for notations that have no rational numbers.
var ErrNoFractions = errors.New("mpmath has no rational numbers")

// HoldsRats reports whether the notation has rational numbers.
func (k *Kind) HoldsRats() bool {
	_, ok := exactKinds[k.Name]
	return ok
}

// WriteRats writes a matrix of rational numbers.
func (k *Kind) WriteRats(w io.Writer, rows, cols int, values [][]*big.Rat) error {
	kind, ok := exactKinds[k.Name]
	if !ok {
		return ErrNoFractions
	}
	if rows == 0 || cols == 0 {
		return fmt.Errorf("a %d x %d matrix: %w (.mtx holds it)", rows, cols, ErrEmpty)
	}
	integers := true
	for _, row := range values {
		for _, x := range row {
			integers = integers && x.IsInt()
		}
	}
	b := bufio.NewWriter(w)
	_, _ = b.WriteString(kind.head(integers)) // Flush returns errors
	for i, row := range values {
		if i > 0 {
			_, _ = b.WriteString(kind.next)
		}
		_, _ = b.WriteString(kind.row)
		for j, x := range row {
			if j > 0 {
				_, _ = b.WriteString(", ")
			}
			_, _ = b.WriteString(kind.number(x, integers))
		}
	}
	if kind.row != "" {
		_, _ = b.WriteString(map[string]string{"[": "]", "{": "}"}[kind.row])
	}
	_, _ = b.WriteString(kind.tail(integers))
	return b.Flush()
}
