package halfulp

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

var benchBits = []int{53, 106, 212, 424, 848, 1696}

// fillUniform fills a with numbers uniform in [-1, 1] that have full significands.
func fillUniform(r *rand.Rand, a *num.Array) {
	for i := range a.Len() {
		switch a.Kind {
		case num.MP:
			l := a.Limbs()
			for k := range l {
				a.Sig[i*l+k] = r.Uint64()
			}
			a.Sig[i*l+l-1] |= 1 << 63
			a.Sig[i*l] &^= 1<<(uint(64*l)-uint(a.Prec)) - 1
			a.Exp[i] = -int32(bits.LeadingZeros64(r.Uint64()))
			a.Cls[i] = num.MakeCls(sign(r), num.Finite)
		case num.F64:
			a.F64[0][i] = 2*r.Float64() - 1
		case num.F32:
			a.F32[i] = 2*r.Float32() - 1
		}
	}
}

func uniformVector(f Format, n int) *Vector {
	x := NewVector(f, n)
	fillUniform(rand.New(rand.NewPCG(1, uint64(n))), x.v.Arr)
	return x
}

func report(b *testing.B, n int, s Stats, cpu int64) {
	b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N*n), "cpu-ns/elem")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/elem")
	b.ReportMetric(float64(s.Exact), "exact")
}

var one1 = &Options{Threads: 1}

func BenchmarkGemv(b *testing.B) {
	const n = 1000
	formats := []Format{Float64}
	for _, p := range benchBits {
		formats = append(formats, MP(uint(p)))
	}
	for _, f := range formats {
		a := NewMatrix(f, n, n)
		fillUniform(rand.New(rand.NewPCG(1, 1)), a.m.Arr)
		x := uniformVector(f, n)
		y := NewVector(f, n)
		for _, t := range []Transpose{NoTrans, Trans} {
			b.Run(fmt.Sprintf("%v/%c", f, t), func(b *testing.B) {
				var s Stats
				cpu := cpuTime()
				for b.Loop() {
					_ = Gemv(t, Float(1), a, x, Float(0), y, one1.WithStats(&s))
				}
				report(b, n*n, s, cpu)
			})
		}
	}
}

func BenchmarkSum(b *testing.B) {
	const n = 1000000
	for _, f := range []Format{Float32, Float64, MP(53), MP(106), MP(212), MP(424), MP(848), MP(1696)} {
		x := uniformVector(f, n)
		b.Run(f.String(), func(b *testing.B) {
			var s Stats
			cpu := cpuTime()
			for b.Loop() {
				_, _ = Sum(x, f, one1.WithStats(&s))
			}
			report(b, n, s, cpu)
		})
	}
}

func BenchmarkDot(b *testing.B) {
	for _, f := range []Format{Float32, Float64, MP(106), MP(212), MP(424), MP(848), MP(1696)} {
		n := 100000
		if f == Float64 {
			n = 1000000
		}
		x, y := uniformVector(f, n), uniformVector(f, n)
		b.Run(f.String(), func(b *testing.B) {
			var s Stats
			cpu := cpuTime()
			for b.Loop() {
				_, _ = Dot(x, y, f, one1.WithStats(&s))
			}
			report(b, n, s, cpu)
		})
	}
}

// BenchmarkTrsm was used to choose the number of rows of a block that are solved entry by entry,
// among 16, 32 and 64.
func BenchmarkTrsm(b *testing.B) {
	for _, f := range []Format{Float64, DD, QD} {
		for _, cols := range []int{1, 300} {
			const n = 600
			t, x := randomMatrix(f, n, n, 3, 1), randomMatrix(f, n, cols, 3, 2)
			for i := range n {
				t.SetFloat64(i, i, 100+float64(i)/7)
			}
			for _, device := range []Device{"cpu", "cuda:0"} {
				b.Run(fmt.Sprintf("%v/%d/%s", f, cols, device), func(b *testing.B) {
					z := NewMatrix(f, n, cols)
					opt := &Options{Device: device}
					var s Stats
					cpu := cpuTime()
					for b.Loop() {
						var err error
						if err = TrsmTo(Left, Lower, NoTrans, NonUnit, Float(1), t, x, z, opt.WithStats(&s)); err != nil {
							b.Skip(err)
						}
					}
					report(b, n*cols, s, cpu)
				})
			}
		}
	}
}
