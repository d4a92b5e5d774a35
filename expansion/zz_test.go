package expansion

import (
	"syscall"
	"testing"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(1, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkOverhead(b *testing.B) {
	nop := ops{
		add: func(z, x, y *block, n int) {}, sub: func(z, x, y *block, n int) {}, mul: func(z, x, y *block, n int) {}, div: func(z, x, y *block, n int) {},
		sqrt: func(z, x *block, n int) {}, addFloat: func(z, x *block, y *row, n int) {}, mulFloat: func(z, x *block, y *row, n int) {},
		horner: func(z, x *block, c []QD, n int) {},
	}
	empty := &arithmetic{nop, nop, nop, nop, nop}
	for _, a := range []struct {
		name string
		a    *arithmetic
	}{{"empty", empty}, {"portable", &portable}} {
		for _, f := range []Function{Exp, Log, Sin} {
			for w := 2; w <= 4; w++ {
				b.Run(a.name+"/"+f.String()+string(rune('0'+w)), func(b *testing.B) {
					e := new(evaluator)
					e.a, e.w, e.n = a.a, w, 64
					t := e.take(3)
					for i := range 64 {
						t[1][0][i] = 1.5 + float64(i)/7
					}
					t0 := cpu()
					for range b.N {
						e.apply(f, &t[0], &t[1], &t[2])
					}
					b.ReportMetric((cpu()-t0)/float64(b.N)/64, "ns/lane")
				})
			}
		}
	}
}
