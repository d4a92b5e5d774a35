package expansion

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/bigfun"
)

const oraclePrec = 700

func bigOf(x []float64) *big.Float {
	s := new(big.Float).SetPrec(2200)
	for _, w := range x {
		s.Add(s, new(big.Float).SetFloat64(w))
	}
	return s
}

var oracles = map[Function]func(x, y *big.Float) *big.Float{
	Exp:   func(x, _ *big.Float) *big.Float { return bigfun.Exp(x, oraclePrec) },
	Expm1: func(x, _ *big.Float) *big.Float { return bigfun.Expm1(x, oraclePrec) },
	Exp2: func(x, _ *big.Float) *big.Float {
		return bigfun.Exp(new(big.Float).Mul(x, bigfun.Ln2(oraclePrec+80)), oraclePrec)
	},
	Log:   func(x, _ *big.Float) *big.Float { return bigfun.Log(x, oraclePrec) },
	Log1p: func(x, _ *big.Float) *big.Float { return bigfun.Log1p(x, oraclePrec) },
	Log2: func(x, _ *big.Float) *big.Float {
		l := bigfun.Log(x, oraclePrec)
		return l.Quo(l, bigfun.Ln2(oraclePrec))
	},
	Log10: func(x, _ *big.Float) *big.Float {
		l := bigfun.Log(x, oraclePrec)
		return l.Quo(l, bigfun.Log(big.NewFloat(10), oraclePrec))
	},
	Sin: func(x, _ *big.Float) *big.Float { s, _ := bigfun.SinCos(x, oraclePrec); return s },
	Cos: func(x, _ *big.Float) *big.Float { _, c := bigfun.SinCos(x, oraclePrec); return c },
	Tan: func(x, _ *big.Float) *big.Float {
		s, c := bigfun.SinCos(x, oraclePrec)
		return s.Quo(s, c)
	},
}

func randomQD(rng *rand.Rand, x0 float64, w int) (x QD) {
	x[0] = x0
	for k := 1; k < w; k++ {
		_, e := math.Frexp(x[k-1])
		x[k] = math.Ldexp(2*rng.Float64()-1, e-54-rng.IntN(2)*rng.IntN(20))
	}
	return x
}

func try(f Function, x, y QD, w int) []float64 {
	switch w {
	case 2:
		z := one(f, DD(x[:2]), DD(y[:2]))
		return z[:]
	case 3:
		z := one(f, TD(x[:3]), TD(y[:3]))
		return z[:]
	}
	z := one(f, x, y)
	return z[:]
}

func TestFunctions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range Functions() {
		for w := 2; w <= 4; w++ {
			worst, at := 0.0, ""
			for range 300 {
				var x0 float64
				switch rng.IntN(5) {
				case 0:
					x0 = rng.NormFloat64()
				case 1:
					x0 = math.Ldexp(rng.NormFloat64(), rng.IntN(40)-30)
				case 2:
					x0 = 1 + math.Ldexp(rng.NormFloat64(), -rng.IntN(50))
				case 3:
					x0 = math.Ldexp(rng.NormFloat64(), rng.IntN(1900)-950)
				case 4:
					x0 = float64(rng.IntN(1000)-500) * math.Pi / 2
				}
				if x0 == 0 || f <= Exp2 && math.Abs(x0) > 500 {
					continue
				}
				if (f == Log || f == Log2 || f == Log10) && x0 < 0 {
					x0 = -x0
				}
				if f == Log1p && x0 <= -1 {
					continue
				}
				x := randomQD(rng, x0, w)
				if !normalised(x[:w]) {
					continue
				}
				z := try(f, x, QD{}, w)
				if !normalised(z) {
					t.Errorf("%v(%x) = %x is not normalised", f, x[:w], z)
				}
				want := oracles[f](bigOf(x[:w]), nil)
				d := bigOf(z)
				d.Sub(d, want)
				d.Quo(d, want)
				r, _ := d.Float64()
				r = math.Abs(r) * math.Ldexp(1, 53*w)
				if !(r <= worst) {
					worst, at = r, fmt.Sprintf("%x %v", x[:w], z)
				}
			}
			if worst > 8 {
				t.Errorf("%v %d: %.3g u^w at %s", f, w, worst, at)
			}
			t.Logf("%v %d: %.3g u^w at %s", f, w, worst, at)
		}
	}
}
