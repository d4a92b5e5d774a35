package gputest

import (
	"math"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/num"
)

func refScanPanel(l *fake.Launch, q abi.Panels, x abi.Vectors, p int32) {
	found, leads := q.Record(int(p))
	var totals abi.Totals // not used
	refScanVectors(l, x, found, &totals)
	m := matOf(l, x)
	for k := range abi.MaxSamples {
		row := fake.Slice[abi.Lead](l, leads, abi.MaxSamples*int(q.Width))[k*int(q.Width):]
		for h := range m.Cols {
			row[h].X, row[h].Exp = m.Arr.Leading(m.At(sampledRow(k, m.Rows), h))
		}
	}
}

func refScanPanels(l *fake.Launch, q abi.Panels, sx abi.Scanned, y abi.Vectors, sy abi.Scanned, o abi.OldSample, at, to cuda.Pointer, ticket uint32) {
	n := int(q.N)
	exp, low := fake.Slice[int64](l, sx.Exp, n), fake.Slice[int64](l, sx.Low, n)
	norm, flags := fake.Slice[float64](l, sx.Norm, n), fake.Slice[uint8](l, sx.Flags, n)
	all := &fake.Slice[abi.Totals](l, sx.Total, 1)[0]
	for v := range n {
		exp[v], low[v], norm[v], flags[v] = -1<<61, 1<<61, 0, 0
		for p := range int(q.Count) {
			f, _ := q.Record(p)
			exp[v] = max(exp[v], fake.Slice[int64](l, f.Exp, n)[v])
			low[v] = min(low[v], fake.Slice[int64](l, f.Low, n)[v])
			flags[v] |= fake.Slice[uint8](l, f.Flags, n)[v]
		}
		if exp[v] != -1<<61 {
			for p := range int(q.Count) {
				f, _ := q.Record(p)
				if e := fake.Slice[int64](l, f.Exp, n)[v]; e != -1<<61 {
					norm[v] += math.Ldexp(fake.Slice[float64](l, f.Norm, n)[v], int(max(e-exp[v], -2000)))
				}
			}
			norm[v] *= 1 + 0x1p-40
			all.Width = max(all.Width, exp[v]-low[v])
		}
		all.Norm = max(all.Norm, norm[v])
		all.Flags |= uint32(flags[v])
	}
	refScan(l, y, sy)
	c := &fake.Slice[abi.Control](l, at, 1)[0]
	row := func(k, _ int) num.Vec { return leadsOf(l, q, k) }
	refSamples(l, num.Mat{Arr: num.New(num.Float64, 0), Rows: n, Cols: int(q.K)}, row, y, sx, sy, o, c.Samples[:])
	refTell(l, to, ticket, c.Report)
}

// leadsOf returns the sampled row k.
func leadsOf(l *fake.Launch, q abi.Panels, k int) num.Vec {
	a := num.New(MP(64), int(q.K))
	for p := range int(q.Count) {
		_, leads := q.Record(p)
		from := fake.Slice[abi.Lead](l, leads, abi.MaxSamples*int(q.Width))[k*int(q.Width):]
		for h := range int(q.Start[p+1] - q.Start[p]) {
			x := Scalar(from[h].X)
			x.Exp += from[h].Exp
			a.Set(int(q.Start[p])+h, x)
		}
	}
	return num.Vec{Arr: a, Inc: 1, N: int(q.K)}
}
