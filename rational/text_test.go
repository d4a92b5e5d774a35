package rational_test

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/rational"
)

func TestParseRat(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"-12", "-12"}, {"+7/15", "7/15"}, {" 3 ", "3"}, {"-0", "0"}, {"0/5", "0"},
		{"-.5", "-1/2"}, {"5.", "5"}, {"2.5e-3", "1/400"}, {"1E+2", "100"}, {"1e0000000002", "100"},
		{"0x1.8p3", "12"}, {"-0X1P-3", "-1/8"}, {"0x.8", "1/2"}, {"0x1e5", "485"}, {"0x1e5p1", "970"},
		// Zeros before an integer are no mark of an octal number.
		{"010", "10"}, {"-08", "-8"}, {"00.50", "1/2"}, {"010e1", "100"},
		{"010/8", "5/4"}, {"1/010", "1/10"}, {"-09/012", "-3/4"},
	} {
		if x, err := rational.ParseRat(c.text); err != nil || x.RatString() != c.want {
			t.Errorf("%q: %v (%v), want %s", c.text, x, err, c.want)
		}
	}
	for _, text := range []string{
		"", " ", "+", "--1", "+-1", ".", "e5", "1e", "1e+-5", "1e0x5", "1p3", "0x", "0x1p", "1.2.3", "1 2",
		"1_0", "0b1", "-0B1", "0o7", "inf", "NaN", "1/0", "1/00", "/2", "1/", "1/2/3", "1 /2", "7/-15", "7/+15",
		"1.5/2", "1/2e3", "7/0x10", "1/0b11", "1/0o7", "0x10/7", "1e1000001", "1e-1000001", "1e9999999",
		"1e99999999999999999999", "0x1p1000001", "0x1p-9999999",
	} {
		if x, err := rational.ParseRat(text); !errors.Is(err, rational.ErrSyntax) {
			t.Errorf("%q: %v (%v), want ErrSyntax", text, x, err)
		}
	}
}

// decimal are the texts whose value FuzzParseRat knows otherwise.
var decimal = regexp.MustCompile(`^([+-]?)([0-9]+)(?:/([0-9]+)|\.([0-9]*))?$`)

// FuzzParseRat compares integers, fractions and decimals with their digits in base 10. Other texts
// are errors or numbers that are read again as themselves.
func FuzzParseRat(f *testing.F) {
	for _, s := range []string{"7/15", "-010/08", "1/0", "00.250", "0x1.8p3", "1e5", "1e+", "0b1", "1_0", "9."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := rational.ParseRat(s)
		if err != nil && !errors.Is(err, rational.ErrSyntax) {
			t.Fatalf("%q: %v", s, err)
		}
		if p := decimal.FindStringSubmatch(s); p != nil && len(s) < 1000 {
			n, _ := new(big.Int).SetString(p[1]+p[2]+p[4], 10)
			d := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(p[4]))), nil)
			if p[3] != "" {
				d.SetString(p[3], 10)
			}
			switch {
			case d.Sign() == 0:
				if err == nil {
					t.Fatalf("%q: %v", s, x)
				}
			case err != nil || x.Cmp(new(big.Rat).SetFrac(n, d)) != 0:
				t.Fatalf("%q: %v (%v), want %v/%v", s, x, err, n, d)
			}
		}
		if err == nil && x.Num().BitLen()+x.Denom().BitLen() < 4000 {
			if y, err := rational.ParseRat(x.String()); err != nil || y.Cmp(x) != 0 {
				t.Fatalf("%q: %v is read as %v (%v)", s, x, y, err)
			}
		}
	})
}

func TestParse(t *testing.T) {
	_, err := rational.Parse([][]string{{"1", "2"}, {"3", "x"}})
	if !errors.Is(err, rational.ErrSyntax) || !strings.Contains(err.Error(), "(1, 1)") {
		t.Fatal(err)
	}
}
