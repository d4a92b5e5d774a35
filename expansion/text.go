package expansion

import (
	"fmt"
	"math"
	"strings"

	"github.com/halfulp/halfulp"
)

// ParseDD reads a number and rounds it once, to nearest. It accepts the texts of
// [halfulp.ParseScalar]: decimals with any number of digits, hexadecimal numbers such as 0x1.8p+3,
// inf, infinity and nan.
func ParseDD(s string) (DD, error) {
	x, err := halfulp.ParseScalar(halfulp.DD, s)
	if err != nil {
		return DD{}, err
	}
	return DDFromScalar(x), nil
}

// Text returns a in decimal: with digits = 0 the shortest text that ParseDD reads
// back to a, with digits > 0 that many significant digits, correctly rounded,
// and with digits = [halfulp.Hex] exact hexadecimal.
func (a DD) Text(digits int) string { return a.Scalar().Text(digits) }

// String returns Text(0).
func (a DD) String() string { return a.Text(0) }

// Format implements [fmt.Formatter]: %e, %f and %g with a precision as for a
// [big.Float], correctly rounded, and %v, %s and %g without one as Text(0).
func (a DD) Format(s fmt.State, verb rune) { format(s, verb, a[:], a.String) }

// MarshalText implements [encoding.TextMarshaler] with Text(0).
func (a DD) MarshalText() ([]byte, error) { return []byte(a.Text(0)), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] with ParseDD.
func (a *DD) UnmarshalText(text []byte) error {
	x, err := ParseDD(string(text))
	if err == nil {
		*a = x
	}
	return err
}

// ParseTD reads a number and rounds it once, to nearest. It accepts the texts of
// [halfulp.ParseScalar]: decimals with any number of digits, hexadecimal numbers such as 0x1.8p+3,
// inf, infinity and nan.
func ParseTD(s string) (TD, error) {
	x, err := halfulp.ParseScalar(halfulp.TD, s)
	if err != nil {
		return TD{}, err
	}
	return TDFromScalar(x), nil
}

// Text returns a in decimal: with digits = 0 the shortest text that ParseTD reads
// back to a, with digits > 0 that many significant digits, correctly rounded,
// and with digits = [halfulp.Hex] exact hexadecimal.
func (a TD) Text(digits int) string { return a.Scalar().Text(digits) }

// String returns Text(0).
func (a TD) String() string { return a.Text(0) }

// Format implements [fmt.Formatter]: %e, %f and %g with a precision as for a
// [big.Float], correctly rounded, and %v, %s and %g without one as Text(0).
func (a TD) Format(s fmt.State, verb rune) { format(s, verb, a[:], a.String) }

// MarshalText implements [encoding.TextMarshaler] with Text(0).
func (a TD) MarshalText() ([]byte, error) { return []byte(a.Text(0)), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] with ParseTD.
func (a *TD) UnmarshalText(text []byte) error {
	x, err := ParseTD(string(text))
	if err == nil {
		*a = x
	}
	return err
}

// ParseQD reads a number and rounds it once, to nearest. It accepts the texts of
// [halfulp.ParseScalar]: decimals with any number of digits, hexadecimal numbers such as 0x1.8p+3,
// inf, infinity and nan.
func ParseQD(s string) (QD, error) {
	x, err := halfulp.ParseScalar(halfulp.QD, s)
	if err != nil {
		return QD{}, err
	}
	return QDFromScalar(x), nil
}

// Text returns a in decimal: with digits = 0 the shortest text that ParseQD reads
// back to a, with digits > 0 that many significant digits, correctly rounded,
// and with digits = [halfulp.Hex] exact hexadecimal.
func (a QD) Text(digits int) string { return a.Scalar().Text(digits) }

// String returns Text(0).
func (a QD) String() string { return a.Text(0) }

// Format implements [fmt.Formatter]: %e, %f and %g with a precision as for a
// [big.Float], correctly rounded, and %v, %s and %g without one as Text(0).
func (a QD) Format(s fmt.State, verb rune) { format(s, verb, a[:], a.String) }

// MarshalText implements [encoding.TextMarshaler] with Text(0).
func (a QD) MarshalText() ([]byte, error) { return []byte(a.Text(0)), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] with ParseQD.
func (a *QD) UnmarshalText(text []byte) error {
	x, err := ParseQD(string(text))
	if err == nil {
		*a = x
	}
	return err
}

// format writes x, whose shortest text is text().
func format(s fmt.State, verb rune, x []float64, text func() string) {
	_, precise := s.Precision()
	switch {
	case x[0] != x[0] || math.IsInf(x[0], 0):
		if strings.ContainsRune("eEfFgGvs", verb) {
			verb = 'g'
		}
		fmt.Fprintf(s, fmt.FormatString(s, verb), x[0])
	case !precise && strings.ContainsRune("gGvs", verb):
		t := text()
		if verb == 'G' {
			t = strings.ToUpper(t)
		}
		pad(s, t)
	default:
		if verb == 'v' || verb == 's' {
			verb = 'g'
		}
		exactBig(x).Format(s, verb)
	}
}

// pad writes the number t with the sign and the width that s requests.
func pad(s fmt.State, t string) {
	sign := ""
	switch {
	case t[0] == '-':
		sign, t = "-", t[1:]
	case s.Flag('+'):
		sign = "+"
	case s.Flag(' '):
		sign = " "
	}
	blank := ""
	if width, ok := s.Width(); ok {
		blank = strings.Repeat(" ", max(0, width-len(sign)-len(t)))
	}
	switch {
	case s.Flag('-'):
		fmt.Fprint(s, sign, t, blank)
	case s.Flag('0'):
		fmt.Fprint(s, sign, strings.ReplaceAll(blank, " ", "0"), t)
	default:
		fmt.Fprint(s, blank, sign, t)
	}
}
