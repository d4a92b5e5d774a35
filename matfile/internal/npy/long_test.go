package npy

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/testseed"
)

// x86 returns the long double of x86 nearest to x, with 6 bytes behind it.
func x86(x float64, divisor int64, padding string) []byte {
	z := new(big.Float).SetPrec(64).Quo(big.NewFloat(x).SetPrec(64), new(big.Float).SetInt64(divisor))
	m := new(big.Float)
	e := z.MantExp(m)
	u, _ := m.SetMantExp(m.Abs(m), 64).Uint64()
	s := uint16(e - 1 + 16383)
	if z.Sign() == 0 {
		s = 0
	}
	if z.Signbit() {
		s |= 1 << 15
	}
	b := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint64(nil, u), s)
	return append(b, padding...)
}

// quadOf returns the IEEE binary128 number with these bits after the sign.
func quadOf(neg bool, e uint64, hi, lo uint64) []byte {
	top := e<<48 | hi&(1<<48-1)
	if neg {
		top |= 1 << 63
	}
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, lo), top)
}

// quadRatio returns the binary128 number nearest to a / b > 0.
func quadRatio(a, b int64) []byte {
	z := new(big.Float).SetPrec(quadBits).Quo(new(big.Float).SetInt64(a), new(big.Float).SetInt64(b))
	m := new(big.Float)
	e := z.MantExp(m)
	n, _ := m.SetMantExp(m, quadBits).Int(nil)
	lo := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return quadOf(false, uint64(e-1+16383), n.Rsh(n, 64).Uint64(), lo)
}

// readLong reads numbers of 16 bytes in both orders of bytes, which must agree.
func readLong(t *testing.T, numbers [][]byte, in halfulp.InputFormat) (*halfulp.Matrix, error) {
	t.Helper()
	var little, big []byte
	for _, b := range numbers {
		little = append(little, b...)
		b = slices.Clone(b)
		slices.Reverse(b)
		big = append(big, b...)
	}
	shape := "(" + itoa(len(numbers)) + ",)"
	m, err := Parse(file(head("<f16", "False", shape), string(little)), "a", options(t, in, 1<<20, nil))
	n, err2 := Parse(file(head(">f16", "False", shape), string(big)), "a", options(t, in, 1<<20, nil))
	if (err == nil) != (err2 == nil) || err == nil && !m.Same(n) {
		t.Errorf("%x: %v, %v, in the other order %v, %v", numbers, m, err, n, err2)
	}
	return m, err
}

func itoa(n int) string { return new(big.Int).SetInt64(int64(n)).String() }

// TestLongPadding reads long doubles of x86 with arbitrary padding.
func TestLongPadding(t *testing.T) {
	zeros, pointer, text := strings.Repeat("\x00", 6), "\x10\x32\x54\x76\x00\x00", "of a t"
	double := string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(2.75))[2:])
	in64, in113 := halfulp.Exactly(halfulp.MP(64)), halfulp.Exactly(halfulp.MP(113))
	for _, c := range []struct {
		padding string
		n       int
		in      halfulp.InputFormat
		want    string // of the error
	}{
		{zeros, 1, halfulp.InputFormat{}, ""},
		{zeros, 1, halfulp.Exactly(halfulp.Float64), ""},
		{zeros, 1, in64, ""},
		{zeros, 3, in113, "has the 80-bit numbers of x86"},
		{pointer, 1, halfulp.InputFormat{}, ""},
		{pointer, 40, halfulp.InputFormat{}, ""},
		{pointer, 40, in113, "has the 80-bit numbers of x86"},
		{text, 3, halfulp.InputFormat{}, "does not tell"},
		{text, 3, halfulp.Exactly(halfulp.Float64), "does not tell"},
		{text, 3, in64, ""},
		{text, 40, halfulp.InputFormat{}, ""},
		{text, 40, in64, ""},
		{double, 3, halfulp.InputFormat{}, "does not tell"},
		{double, 3, in64, ""},
		{double, 40, halfulp.InputFormat{}, ""},
		{double, 40, halfulp.Exactly(halfulp.MP(300)), ""},
	} {
		var numbers [][]byte
		want := halfulp.NewMatrix(halfulp.MP(64), c.n, 1)
		for k := range c.n {
			x := float64(7*k + 5)
			if k%2 == 1 {
				x = -x
			}
			if k == 2 {
				x = 0
			}
			numbers = append(numbers, x86(x, 3, c.padding))
			want.Set(k, 0, halfulp.MP(64).Quo(halfulp.Float(x), halfulp.Float(3)))
		}
		if c.in.Exact() {
			want = want.Convert(c.in.Format())
		}
		m, err := readLong(t, numbers, c.in)
		if c.want == "" && (err != nil || !m.Same(want)) {
			t.Errorf("%d numbers, padding %q, in %v: %v, %v, want %v", c.n, c.padding, c.in.Format(), m, err, want)
		} else if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d numbers, padding %q, in %v: %v, %v, want %s", c.n, c.padding, c.in.Format(), m, err, c.want)
		}
	}
	// Long doubles of 32-bit x86 have 2 bytes behind them, and no other type their size.
	m, err := Parse(file(head("<f12", "False", "(1,)"), string(x86(2.5, 1, "ab"))), "a", options(t, halfulp.InputFormat{}, 1<<20, nil))
	if err != nil || m.At(0, 0).String() != "2.5" {
		t.Errorf("%v, %v", m, err)
	}
}

// TestQuad reads IEEE binary128 where the requested format determines it, and nowhere else.
func TestQuad(t *testing.T) {
	in64, in113 := halfulp.Exactly(halfulp.MP(64)), halfulp.Exactly(halfulp.MP(113))
	for _, c := range []struct {
		numbers [][]byte
		want    string // in hexadecimal
	}{
		{[][]byte{quadRatio(1, 1), quadRatio(3, 1), quadRatio(1, 4)}, "0x1p+0 0x1.8p+1 0x1p-2"},
		{[][]byte{quadRatio(1, 10)}, "0x1.999999999999999999999999999ap-4"},
		{[][]byte{quadRatio(1, 10), quadRatio(1, 1)}, "0x1.999999999999999999999999999ap-4 0x1p+0"},
		{[][]byte{quadOf(true, 0x7ffe, 1<<48-1, 1<<60)}, "-0x1.ffffffffffff1p+16383"},
		{[][]byte{quadOf(true, 0x3fff, 1, 1), quadOf(false, 0, 0, 1)}, "-0x1.0000000000010000000000000001p+0 0x1p-16494"},
		{[][]byte{quadRatio(5, 1), quadOf(true, 0, 0, 0), quadOf(false, 0x7fff, 0, 0), quadOf(true, 0x7fff, 0, 0), quadOf(false, 0x7fff, 1<<47, 0)},
			"0x1.4p+2 -0x0p+0 inf -inf nan"},
	} {
		m, err := readLong(t, c.numbers, in113)
		var got []string
		if err == nil {
			for i := range m.Rows() {
				got = append(got, m.At(i, 0).Hex())
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%x: %q, %v, want %s", c.numbers, got, err, c.want)
		}
		for _, in := range []halfulp.InputFormat{{}, halfulp.Exactly(halfulp.Float64), in64} {
			if m, err := readLong(t, c.numbers, in); err == nil {
				t.Errorf("%x in %v is read as %v", c.numbers, in.Format(), m)
			}
		}
	}
	r := testseed.Rand(t, 1, 2)
	for range 3000 {
		var numbers [][]byte
		e := uint64(16383 - 300 + r.IntN(600))
		hi, lo, step := r.Uint64(), r.Uint64(), r.Uint64()>>r.IntN(64)
		kind := r.IntN(3)
		for range 1 + r.IntN(20) {
			numbers = append(numbers, quadOf(r.IntN(2) == 0, e, hi, lo))
			switch kind {
			case 0: // all at random
				e, hi, lo = uint64(16383-300+r.IntN(600)), r.Uint64(), r.Uint64()
			case 1: // close together
				lo += step
			}
		}
		if m, err := readLong(t, numbers, halfulp.InputFormat{}); err == nil {
			t.Fatalf("%x is read as %v", numbers, m)
		}
	}
}
