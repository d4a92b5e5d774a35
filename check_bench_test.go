package halfulp

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// BenchmarkCheck measures products of 424 bits with and without Options.Check in turn. It reports
// the ratio of the median wall times and the ratio of the median processor times.
func BenchmarkCheck(b *testing.B) {
	f := MP(424)
	for _, n := range []int{1000, 4096} {
		var x, y, z *Matrix
		for _, threads := range []int{1, runtime.GOMAXPROCS(0)} {
			b.Run(fmt.Sprintf("n=%d/threads=%d", n, threads), func(b *testing.B) {
				if x == nil {
					x, y, z = NewMatrix(f, n, n), NewMatrix(f, n, n), NewMatrix(f, n, n)
					fillUniform(rand.New(rand.NewPCG(1, 1)), x.m.Arr)
					fillUniform(rand.New(rand.NewPCG(1, 2)), y.m.Arr)
				}
				var times [2][2][]float64
				for b.Loop() {
					first := len(times[0][0]) % 2
					for _, i := range []int{first, 1 - first} {
						check := i == 1
						start, cpu := time.Now(), cpuTime()
						var s Stats
						err := Gemm(NoTrans, NoTrans, Float(1), x, y, Float(0), z, &Options{Threads: threads, Device: CPU, Check: check, Stats: &s})
						if err != nil || check && s.Check.Compared != int64(n*n) {
							b.Fatal(err, s)
						}
						times[0][i] = append(times[0][i], time.Since(start).Seconds())
						times[1][i] = append(times[1][i], float64(cpuTime()-cpu)/1e9)
					}
				}
				for k, name := range []string{"", "cpu-"} {
					var medians [2]float64
					for i, t := range times[k] {
						slices.Sort(t)
						medians[i] = t[len(t)/2]
					}
					b.ReportMetric(medians[0]*1e3, name+"ms-plain")
					b.ReportMetric(medians[1]*1e3, name+"ms-checked")
					b.ReportMetric(medians[1]/medians[0], name+"ratio")
				}
			})
		}
	}
}
