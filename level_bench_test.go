package halfulp

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halfulp/halfulp/internal/impl"
)

// BenchmarkGemmLevels measures whole products under the two best levels of the machine, by one
// thread and by all, with their stages. One of n = 4000 takes some gigabytes, and on one thread
// minutes: -bench selects.
func BenchmarkGemmLevels(b *testing.B) {
	levels := impl.Levels()
	for _, n := range []int{32, 100, 300, 1000, 4000} {
		for _, p := range benchBits {
			f := MP(uint(p))
			if p == 53 {
				f = Float64
			}
			var x, y, z *Matrix
			for _, threads := range []int{1, runtime.GOMAXPROCS(0)} {
				for _, level := range levels[:min(2, len(levels))] {
					b.Run(fmt.Sprintf("n=%d/bits=%d/threads=%d/%v", n, p, threads, level), func(b *testing.B) {
						defer impl.Force(level)()
						if x == nil {
							x, y, z = NewMatrix(f, n, n), NewMatrix(f, n, n), NewMatrix(f, n, n)
							fillUniform(rand.New(rand.NewPCG(1, 1)), x.m.Arr)
							fillUniform(rand.New(rand.NewPCG(1, 2)), y.m.Arr)
						}
						opt := &Options{Threads: threads, Device: "cpu", Method: "residue"}
						var stages = map[string]time.Duration{}
						var s Stats
						for b.Loop() {
							var err error
							s, err = Gemm(NoTrans, NoTrans, Float(1), x, y, Float(0), z, opt)
							if err != nil {
								b.Fatal(err)
							}
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
