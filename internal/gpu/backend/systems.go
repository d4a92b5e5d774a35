package backend

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/systems"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

func (p *gpus) SolveBatch(c place.Config, a, b []num.Mat, f num.Format) ([]num.Mat, error) {
	x := make([]num.Mat, len(a))
	list, left, right := make([]int, 0, len(a)), make([]num.Mat, 0, len(a)), make([]num.Mat, 0, len(a))
	for i := range a {
		if systems.Applies(a[i], b[i], f) {
			list, left, right = append(list, i), append(left, a[i]), append(right, b[i])
		}
	}
	run := c.Run.Filled()
	if len(list) == 0 || c.Limit > 0 && systems.Bytes(p.first.Info().Multiprocessors, left, right, f) > c.Limit {
		return x, nil
	}
	err := p.do(c.Ctx, func(s *cuda.Stream) error {
		if left[0].OnHost() {
			solved, err := systems.Solve(run, s, left, right, f)
			for h, m := range solved {
				x[list[h]] = m
			}
			return err
		}
		there := [2][]mem.Matrix{}
		for h := range list {
			there[0], there[1] = append(there[0], Matrix(left[h])), append(there[1], Matrix(right[h]))
		}
		solved, err := systems.SolveOnDevice(run, s, there[0], there[1], f)
		if err != nil {
			return err
		}
		for h, m := range solved {
			if m.Arr != nil {
				x[list[h]] = num.Mat{Arr: &num.Array{Format: f, Away: &storage{m.Arr, p}}, RS: m.RS, CS: m.CS, Rows: m.Rows, Cols: m.Cols}
			}
		}
		return nil
	})
	return x, err
}
