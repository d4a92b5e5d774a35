package halfulp

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/isa"
	"github.com/halfulp/halfulp/internal/modgemm"
)

// BenchmarkGemmLevels measures whole products and their stages, with one thread and with all, at
// the two best instruction levels of the machine; on a machine with tiles also products of bytes. A
// product with n = 4000 takes some gigabytes, and minutes on one thread: select sizes with -bench.
func BenchmarkGemmLevels(b *testing.B) {
	type mode struct {
		name  string
		begin func() func()
	}
	var modes []mode
	levels := isa.Levels()
	for _, level := range levels[:min(2, len(levels))] {
		modes = append(modes, mode{level.String(), func() func() { return isa.Force(level) }})
	}
	if modgemm.BestBytes() != nil {
		modes = append(modes, mode{"bytes", modgemm.ForceBytes})
	}
	for _, n := range []int{32, 100, 300, 1000, 4000} {
		for _, p := range benchBits {
			f := MP(uint(p))
			if p == 53 {
				f = Float64
			}
			var x, y, z *Matrix
			for _, threads := range []int{1, runtime.GOMAXPROCS(0)} {
				for _, mode := range modes {
					b.Run(fmt.Sprintf("n=%d/bits=%d/threads=%d/%s", n, p, threads, mode.name), func(b *testing.B) {
						defer mode.begin()()
						if x == nil {
							x, y, z = NewMatrix(f, n, n), NewMatrix(f, n, n), NewMatrix(f, n, n)
							fillUniform(rand.New(rand.NewPCG(1, 1)), x.m.Arr)
							fillUniform(rand.New(rand.NewPCG(1, 2)), y.m.Arr)
						}
						opt := &Options{Threads: threads, Device: "cpu", Method: "residue"}
						var stages = map[string]time.Duration{}
						product := func() Stats {
							var s Stats
							err := Gemm(NoTrans, NoTrans, Float(1), x, y, Float(0), z, opt.WithStats(&s))
							if err != nil {
								b.Fatal(err)
							}
							return s
						}
						product() // buffers are kept for the next products
						var s Stats
						for b.Loop() {
							s = product()
							for _, g := range s.Stages {
								stages[g.Name] += g.Time
							}
						}
						for name, t := range stages {
							b.ReportMetric(t.Seconds()*1e3/float64(b.N), "ms-"+strings.ReplaceAll(name, " ", "-"))
						}
						b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(n)/float64(n)/float64(n), "ns/MAC")
						b.ReportMetric(float64(s.Products), "products")
						b.ReportMetric(float64(s.Moduli), "moduli")
						b.ReportMetric(float64(s.Exact), "exact")
					})
				}
			}
		}
	}
}
