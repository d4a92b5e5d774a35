package rational

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// mostExponent bounds the exponents of numbers in text, so that "1e999999999" takes no memory.
// big.Rat reads no larger ones.
const mostExponent = 1000000

// ParseRat returns the rational number that a text denotes: an integer ("-12"), a fraction of
// integers ("7/15"), a decimal (".1", "2.5e-3") or a hexadecimal float ("0x1.8p3"), exactly. Zeros
// before an integer change nothing: no text is octal. Exponents are at most 10^6 in magnitude. The
// error wraps [ErrSyntax].
func ParseRat(s string) (*big.Rat, error) {
	t := strings.TrimSpace(s)
	fail := func() (*big.Rat, error) { return nil, fmt.Errorf("%q: %w", s, ErrSyntax) }
	if p, q, ok := strings.Cut(t, "/"); ok {
		n, ok := new(big.Int).SetString(p, 10)
		d, regular := new(big.Int).SetString(q, 10)
		if !ok || !regular || d.Sign() == 0 || strings.ContainsAny(q, "+-") {
			return fail()
		}
		return new(big.Rat).SetFrac(n, d), nil
	}
	mark := "eE"
	digits := strings.ToLower(strings.TrimLeft(t, "+-"))
	hex := strings.HasPrefix(digits, "0x")
	if hex {
		mark = "pP"
	}
	if strings.Contains(t, "_") || !hex && strings.ContainsAny(digits, "bop") {
		return fail()
	}
	if i := strings.IndexAny(t, mark); i >= 0 {
		e, err := strconv.Atoi(t[i+1:])
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return fail()
		}
		if err != nil || max(e, -e) > mostExponent {
			return nil, fmt.Errorf("%q: %w: its exponent exceeds %d", s, ErrSyntax, mostExponent)
		}
	}
	x, ok := new(big.Rat).SetString(t)
	if !ok {
		return fail()
	}
	return x, nil
}

// Parse returns the matrix with the rows that the texts denote, each read as by [ParseRat]. It
// panics if rows have different lengths. The error names the entry and wraps [ErrSyntax].
func Parse(rows [][]string) (*Matrix, error) {
	z := shaped(rows)
	for i, row := range rows {
		x := make([]*big.Rat, len(row))
		for j, s := range row {
			var err error
			if x[j], err = ParseRat(s); err != nil {
				return nil, fmt.Errorf("entry (%d, %d): %w", i, j, err)
			}
		}
		z.setRow(i, x)
	}
	return z, nil
}

// String returns the entries in lowest terms, columns aligned, each row on a line.
func (m *Matrix) String() string { return fmt.Sprint(m) }

// Format implements [fmt.Formatter]. The verbs v and s print entries in lowest terms, such as 7/15
// and 3; f with a precision prints decimals rounded to nearest, halves away from zero. Columns are
// aligned; rows are lines.
func (m *Matrix) Format(s fmt.State, verb rune) {
	if m == nil {
		fmt.Fprint(s, "<nil>")
		return
	}
	text := func(i, j int) string {
		x := m.At(i, j)
		if verb == 'f' {
			digits, ok := s.Precision()
			if !ok {
				digits = 6
			}
			return x.FloatString(digits)
		}
		return x.RatString()
	}
	if verb != 'v' && verb != 's' && verb != 'f' {
		fmt.Fprintf(s, "%%!%c(rational.Matrix)", verb)
		return
	}
	cells, width := make([]string, len(m.n.a)), make([]int, m.n.cols)
	for i := range m.n.rows {
		for j := range m.n.cols {
			c := text(i, j)
			cells[i*m.n.cols+j], width[j] = c, max(width[j], len(c))
		}
	}
	for i := range m.n.rows {
		for j := range m.n.cols {
			if j > 0 {
				fmt.Fprint(s, " ")
			}
			fmt.Fprintf(s, "%*s", width[j], cells[i*m.n.cols+j])
		}
		if i < m.n.rows-1 {
			fmt.Fprintln(s)
		}
	}
}
