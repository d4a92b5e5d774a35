package expansion

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/testseed"
)

// anyMatrix is a view of random entries: modest, or of any kind.
func anyMatrix(r *rand.Rand, f halfulp.Format, m, n int, special bool) *halfulp.Matrix {
	transposed := r.IntN(2) == 0
	if transposed {
		m, n = n, m
	}
	a := halfulp.NewMatrixLD(f, m, n, max(1, m+r.IntN(3)))
	for j := range n {
		v := anyArray(r, f, m)
		for i := range m {
			if s := v.Float64(i); !special && !(math.Abs(s) < 0x1p60 && math.Abs(s) > 0x1p-60) {
				v.SetFloat64(i, r.Float64())
			}
			a.Set(i, j, v.At(i))
		}
	}
	if transposed {
		a = a.T()
	}
	return a
}

// productEntry is the definition of an entry of Gemm.
func productEntry[E arithmetical[E]](mac func(s, a, b E) E, sum func(E) E, a, b, c num.Mat, alpha, beta E, i, j int) E {
	at := func(m num.Mat, i, j int) (x E) {
		q := wordsAt(m.Row(i), j)
		for k := range len(x) {
			x[k] = q[k]
		}
		return x
	}
	var s E
	for h := range a.Cols {
		s = mac(s, at(a, i, h), at(b, h, j))
	}
	s = sum(s)
	finite := true
	for k := range len(s) {
		finite = finite && s[k]-s[k] == 0
	}
	if !finite {
		var p E
		for h := range a.Cols {
			p[0] += float64(at(a, i, h)[0] * at(b, h, j)[0])
		}
		s = p
	}
	var one, zero E
	one[0] = 1
	if alpha != one {
		s = alpha.Mul(s)
	}
	if old := at(c, i, j); beta == one {
		s = s.Add(old)
	} else if beta != zero {
		s = s.Add(beta.Mul(old))
	}
	return s.Canonical()
}

func entryOfProduct(w int, a, b, c num.Mat, alpha, beta QD, i, j int) QD {
	switch w {
	case 2:
		return productEntry(macDD, sumDD, a, b, c, alpha.DD(), beta.DD(), i, j).QD()
	case 3:
		return productEntry(macTD, sumTD, a, b, c, alpha.TD(), beta.TD(), i, j).QD()
	}
	return productEntry(macQD, sumQD, a, b, c, alpha, beta, i, j)
}

// TestGemm compares products with their definition, entry by entry.
func TestGemm(t *testing.T) {
	forAllLevels(t, func(t *testing.T) {
		r := testseed.Rand(t, 70, 0)
		shapes := [][3]int{{0, 3, 2}, {3, 0, 2}, {1, 1, 1}, {5, 7, 0}, {8, 9, 4}, {13, 300, 5}, {131, 3, 130}, {17, 20, 9}, {1, 40, 33}, {37, 11, 1}, {3, 270, 520}}
		for _, s := range shapes {
			for w := 2; w <= 4; w++ {
				m, k, n := s[0], s[1], s[2]
				f := wordFormats[w]
				special := r.IntN(3) == 0
				pick := func() halfulp.Format {
					return []halfulp.Format{f, f, halfulp.Float32, halfulp.Float64, halfulp.DD}[r.IntN(5)]
				}
				a, b, c := anyMatrix(r, pick(), m, k, special), anyMatrix(r, pick(), k, n, special), anyMatrix(r, f, m, n, special)
				factors := []QD{{}, {1}, {-1}, {0.5, 0x1p-60}, {3}}
				alpha, beta := factors[r.IntN(len(factors))], factors[r.IntN(len(factors))]
				if r.IntN(2) == 0 {
					alpha, beta = QD{1}, QD{}
				}
				al, be := alpha.Scalar(), beta.Scalar()
				want := make([]QD, m*n)
				ra, rb := a.View(), b.View()
				if alpha == (QD{}) {
					ra.Cols, rb.Rows = 0, 0
				}
				for j := range n {
					for i := range m {
						want[i+j*m] = entryOfProduct(w, ra, rb, c.View(), alpha, beta, i, j)
					}
				}
				tA, tB := halfulp.NoTrans, halfulp.NoTrans
				if r.IntN(2) == 0 {
					a, tA = a.T(), halfulp.Trans
				}
				if r.IntN(2) == 0 {
					b, tB = b.T(), halfulp.ConjTrans
				}
				if err := Gemm(tA, tB, al, a, b, be, c, &halfulp.Options{Threads: 1 + r.IntN(3), Method: Method}); err != nil {
					t.Fatal(err)
				}
				for j := range n {
					for i := range m {
						if got := wordsAt(c.View().Row(i), j); !sameQD(got, want[i+j*m]) {
							t.Fatalf("%d words, %v, alpha %v, beta %v: entry %d, %d is %v, want %v", w, s, alpha, beta, i, j, got, want[i+j*m])
						}
					}
				}
			}
		}
	})
}

func sameQD(x, y QD) bool {
	for k := range x {
		if math.Float64bits(x[k]) != math.Float64bits(y[k]) {
			return false
		}
	}
	return true
}

// TestGemv compares with products of a matrix and a matrix of one column, and in place.
func TestGemv(t *testing.T) {
	forAllLevels(t, func(t *testing.T) {
		r := testseed.Rand(t, 71, 0)
		for _, f := range []halfulp.Format{halfulp.DD, halfulp.TD, halfulp.QD} {
			for _, n := range []int{1, 5, 33, 150} {
				a, x := anyMatrix(r, f, n, n, false), anyMatrix(r, f, n, 1, false)
				alpha, beta := halfulp.Float(2.5), halfulp.Float(-1)
				y := x.Clone()
				if err := Gemm(halfulp.Trans, halfulp.NoTrans, alpha, a, x, beta, y, nil); err != nil {
					t.Fatal(err)
				}
				v := x.Col(0)
				if err := Gemv(halfulp.Trans, alpha, a, v, beta, v, nil); err != nil {
					t.Fatal(err)
				}
				if !v.Same(y.Col(0)) {
					t.Fatalf("%v, n = %d: Gemv in place differs from Gemm", f, n)
				}
			}
		}
	})
}

// TestProductBounds checks the documented error of Gemm and Dot on sums that cancel.
func TestProductBounds(t *testing.T) {
	r := testseed.Rand(t, 72, 0)
	for w := 2; w <= 4; w++ {
		perStep := [5]float64{2: 16 * 0x1p-106, 3: 128 * 0x1p-159, 4: 1024 * 0x1p-212}[w]
		for _, k := range []int{1, 10, 100, 5000} {
			a, b := anyMatrix(r, wordFormats[w], 1, k, false), anyMatrix(r, wordFormats[w], k, 1, false)
			for h := 1; h < k; h += 2 { // pairs that cancel but for a little
				a.Set(0, h, a.At(0, h-1))
				x := b.Big(h-1, 0)
				x.SetPrec(2000).Mul(x, big.NewFloat(-1-0x1p-52))
				b.SetBig(h, 0, x)
			}
			exact, magnitude := new(big.Float).SetPrec(4000), new(big.Float).SetPrec(4000)
			for h := range k {
				p := new(big.Float).SetPrec(4000).Mul(a.Big(0, h), b.Big(h, 0))
				exact.Add(exact, p)
				magnitude.Add(magnitude, p.Abs(p))
			}
			c := halfulp.NewMatrix(wordFormats[w], 1, 1)
			if err := Gemm(halfulp.NoTrans, halfulp.NoTrans, halfulp.Float(1), a, b, halfulp.Float(0), c, nil); err != nil {
				t.Fatal(err)
			}
			d, err := Dot(a.Row(0), b.Col(0), wordFormats[w], nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []*big.Float{c.Big(0, 0), d.Big()} {
				e := new(big.Float).SetPrec(4000).Sub(got, exact)
				e.Quo(e.Abs(e), magnitude)
				if e, _ := e.Float64(); !(e <= float64(k)*perStep) {
					t.Errorf("%d words, k = %d: error %g of the sum of magnitudes, bound %g", w, k, e, float64(k)*perStep)
				}
			}
		}
	}
}

// TestDot compares levels, threads, strides and formats bit by bit with the portable level, and
// special values with float64's.
func TestDot(t *testing.T) {
	type key struct{ w, n int }
	want := map[key]halfulp.Scalar{}
	first := true
	for _, threads := range []int{1, 3} {
		forAllLevels(t, func(t *testing.T) {
			r := testseed.Rand(t, 73, 0)
			for w := 2; w <= 4; w++ {
				for _, n := range []int{0, 1, 63, 64, 4095, 4096, 9000} {
					x, y := anyMatrix(r, wordFormats[w], n, 1, false).Vec(), anyMatrix(r, wordFormats[w-r.IntN(2)], n, 1, false).Vec()
					z, err := Dot(x, y, wordFormats[w], &halfulp.Options{Threads: threads})
					if err != nil {
						t.Fatal(err)
					}
					if s, ok := want[key{w, n}]; ok {
						if !sameScalar(z, s) {
							t.Errorf("%d words, n = %d: %v, elsewhere %v", w, n, z, s)
						}
					} else if !first {
						t.Fatal("nothing to compare with")
					} else {
						want[key{w, n}] = z
					}
				}
			}
			first = false
		})
	}
	inf := halfulp.NewVectorFloat64(3, 1, []float64{math.Inf(1), 1, 2})
	for _, c := range []struct {
		y    []float64
		want float64
	}{{[]float64{1, 1, 1}, math.Inf(1)}, {[]float64{-1, 1, 1}, math.Inf(-1)}, {[]float64{0, 1, 1}, math.NaN()}} {
		z, err := Dot(inf, halfulp.NewVectorFloat64(3, 1, c.y), halfulp.QD, nil)
		if got := z.Float64(); err != nil || !sameNumber(got, c.want) {
			t.Errorf("(∞, 1, 2) · %v = %v, %v, want %v", c.y, got, err, c.want)
		}
	}
}

func sameScalar(x, y halfulp.Scalar) bool {
	a, b := halfulp.NewVector(x.NumberFormat(), 1), halfulp.NewVector(y.NumberFormat(), 1)
	a.Set(0, x)
	b.Set(0, y)
	return a.Same(b)
}

func TestProductErrors(t *testing.T) {
	one := halfulp.Float(1)
	dd, mp := halfulp.NewMatrix(halfulp.DD, 2, 2), halfulp.NewMatrix(halfulp.MP(99), 2, 2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	gemm := func(a, b, c *halfulp.Matrix, o *halfulp.Options) error {
		err := Gemm(halfulp.NoTrans, halfulp.NoTrans, one, a, b, one, c, o)
		return err
	}
	if err := gemm(mp, dd, dd, nil); !errors.Is(err, halfulp.ErrFormat) {
		t.Errorf("MP operand: %v", err)
	}
	if err := gemm(dd, dd, mp, nil); !errors.Is(err, halfulp.ErrFormat) {
		t.Errorf("MP result: %v", err)
	}
	if err := gemm(dd, dd, dd, &halfulp.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Dot(dd.Col(0), mp.Col(0), halfulp.DD, nil); !errors.Is(err, halfulp.ErrFormat) {
		t.Errorf("MP vector: %v", err)
	}
	for message, f := range map[string]func(){
		errShape: func() { _ = gemm(dd, halfulp.NewMatrix(halfulp.DD, 3, 2), dd, nil) },
		errTranspose: func() {
			_ = Gemm('X', halfulp.NoTrans, one, dd, dd, one, dd, nil)
		},
	} {
		func() {
			defer func() {
				if got := recover(); got != message {
					t.Errorf("got %v, want the panic %q", got, message)
				}
			}()
			f()
		}()
	}
}

// TestProductOverflow counts infinite results of finite operands, and no others.
func TestProductOverflow(t *testing.T) {
	big, inf := halfulp.Float(math.MaxFloat64), halfulp.Float(math.Inf(1))
	one, zero := halfulp.Float(1), halfulp.Float(0)
	for _, f := range deviceFormats {
		ones, old := halfulp.NewMatrix(f, 3, 3), halfulp.NewMatrix(f, 3, 3)
		for i := range 9 {
			ones.Set(i%3, i/3, one)
		}
		large, infinite := ones.Clone(), ones.Clone()
		large.Set(1, 0, big)
		large.Set(1, 1, big)
		infinite.Set(2, 0, inf)
		full := large.Clone()
		full.Set(0, 2, inf)
		for i, c := range []struct {
			alpha, beta halfulp.Scalar
			a, old      *halfulp.Matrix
			want        int64
		}{
			{one, zero, ones, old, 0},
			{one, zero, large, old, 3},                  // sums of row 1
			{one, zero, infinite, old, 0},               // infinite operands
			{halfulp.Float(2), zero, large.T(), old, 6}, // sums that are finite, doubled
			{inf, zero, ones, old, 0},                   // an infinite factor
			{one, halfulp.Float(2), ones, large, 2},     // twice the old entries
			{one, one, ones, infinite, 0},               // infinite old entries
			{halfulp.Float(-1), one, large, full, 3},    // one old entry is infinite
		} {
			z := c.old.Clone()
			var st halfulp.Stats
			err := Gemm(halfulp.NoTrans, halfulp.NoTrans, c.alpha, c.a, ones, c.beta, z, &halfulp.Options{Stats: &st})
			if err != nil || st.Overflow != c.want {
				t.Errorf("%v, case %d: %d overflows, want %d, %v", f, i, st.Overflow, c.want, err)
			}
		}
		for _, c := range []struct {
			x    *halfulp.Vector
			want int64
		}{{ones.Row(0), 0}, {large.Row(1), 1}, {infinite.Row(2), 0}} {
			var st halfulp.Stats
			if _, err := Dot(c.x, ones.Col(0), f, &halfulp.Options{Stats: &st}); err != nil || st.Overflow != c.want {
				t.Errorf("%v: %d overflows of a dot product, want %d, %v", f, st.Overflow, c.want, err)
			}
		}
	}
}
