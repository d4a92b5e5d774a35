package factors

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
	"github.com/halfulp/halfulp/internal/proof/scale"
	"github.com/halfulp/halfulp/internal/proof/seed"
)

// qrThere returns the factors of a matrix that does not live on the host, where it lives. It
// returns nil if only the host can decide: for entries that are or may be ties or zeros, columns
// that are linearly dependent or nearly so, entries too small for products of some bits, and with
// pivoting columns of about the same length.
func qrThere(s *call.Run, a num.Mat, f num.Format, pivoting bool) (*QRFactors, error) {
	if a.OnHost() || a.Cols < seed.Fewest {
		return nil, nil
	}
	if pivoting && !place.Oblique(place.Of(a.Arr)) { // a grid of processes
		return nil, nil
	}
	return factored(s, place.QRFactors, a, func(a num.Mat) (*QRFactors, error) { return QROnDevice(s, a, f, pivoting) })
}

// QROnDevice returns the factors Q and R at the run's place; nil if the place does not decide them.
func QROnDevice(s *call.Run, a num.Mat, f num.Format, pivoting bool) (*QRFactors, error) {
	m, n := a.Dims()
	terms := max(num.NewMat(f, 0, 0).Arr.Terms(), 1)
	bits := f.Bits() + 4*(terms-1) + call.DeviceGuard
	if err := s.NewTally(); err != nil {
		return nil, err
	}
	if pivoting {
		bits = max(bits, num.Float64.Bits()+call.DeviceGuard) // for longestThere
	}
	d, order, err := stackedThere(s, a, bits+normalBits, MostBits(f), pivoting)
	if err == nil && d != nil && pivoting {
		var ok bool
		if ok, err = d.PivotsKept(bits+normalBits-d.rounded, f.Bits()+64); !ok {
			d = nil
		}
	}
	s.Stage("approximate inverse")
	if err != nil || d == nil {
		return nil, err
	}
	e, err := d.Enclosure(bits)
	s.Stage("products")
	if err != nil || e == nil {
		return nil, err
	}
	defer s.Stage("rounding")
	if pivoting {
		if ok, err := d.longestThere(e); !ok || err != nil {
			return nil, err
		}
	}
	z := &QRFactors{P: order}
	if z.Q, err = place.NewMat(place.Of(a.Arr), f, m, n); err != nil {
		return nil, err
	}
	if z.R, err = place.NewMat(place.Of(a.Arr), f, n, n); err != nil {
		z.Q.Free()
		return nil, err
	}
	y := e.Root
	sum := func(first, end int, triangle byte, to num.Mat) error {
		_, err := s.SumThere(place.Sum{X: y.X.Slice(0, n, first, end), D: y.D.Slice(0, n, first, end), Bits: bits,
			Errors: y.Err[first:end], Rows: y.Left, Cols: y.Right[first:end], Triangle: triangle, Tally: s.Tally}, to)
		return err
	}
	left := 0
	if err = sum(0, n, 'U', z.R); err == nil {
		err = sum(n, n+m, 0, z.Q.T())
	}
	if err == nil {
		left, err = s.Tallied()
	}
	if left > 0 || err != nil {
		z.Q.Free()
		z.R.Free()
		return nil, err
	}
	return z, nil
}

// normalBits is the number of bits of A^T A beyond the bits of the result. S has a norm of at most
// 2^25 if float64 inverts A^T A; twice these bits, and the bits of the order, are lost.
const normalBits = 80

// stackedThere is NewCholeskyNewton for A^T A above A at the run's place, with A^T A rounded to
// some bits. It returns the order of the columns: with pivoting the longest ones first, as float64
// arithmetic finds them.
func stackedThere(s *call.Run, a num.Mat, bits, most int, pivoting bool) (*CholeskyNewton, []int, error) {
	m, n := a.Dims()
	normal, err := s.Room(num.Precision(uint(bits)), n, n)
	if err != nil {
		return nil, nil, err
	}
	if err := s.GemmTriangle('L', 1, a.T(), a, 0, num.Mat{}, normal, nil); err != nil {
		return nil, nil, err
	}
	if err := Mirror(s, normal); err != nil {
		return nil, nil, err
	}
	order := call.All(n)
	if pivoting {
		if order, err = longestFirst(s, normal); err != nil || order == nil {
			return nil, nil, err
		}
		for range 2 { // the rows of N, then of its transpose
			if normal, err = gathered(s, normal.T(), order); err != nil {
				return nil, nil, err
			}
		}
	}
	var f, leading num.Mat // F and its leading part
	direct := !pivoting && a.Arr.Terms() <= 1 && a.Format().Bits() <= most
	if direct {
		if f, err = s.Room(num.Precision(uint(max(bits, a.Format().Bits()))), n+m, n); err != nil {
			return nil, nil, err
		}
		leading = f.Slice(0, n, 0, n)
	}
	d, err := choleskyNewtonThere(s, normal, max(most, bits), leading, func(exps []int64) (num.Mat, error) {
		cols := make([]int64, n) // of A
		for j, p := range order {
			cols[p] = exps[j]
		}
		if direct {
			below := f.Slice(n, n+m, 0, n)
			odd, err := s.Shift(a, make([]int64, m), cols, below, s.Tally)
			if err != nil || odd > 0 {
				return num.Mat{}, err
			}
			return below, nil
		}
		below, err := s.Scaled(a, scale.Scaling{Rows: make([]int64, m), Cols: cols}, most)
		if err != nil || below.Arr == nil || !pivoting {
			return below, err
		}
		z, err := gathered(s, below.T(), order)
		s.Drop(below)
		return z.T(), err
	})
	if err != nil || d == nil {
		return nil, nil, err
	}
	s.Drop(normal)
	d.rounded = bits - d.top
	if !direct {
		below := d.below.rows
		if f, err = s.Room(num.Precision(uint(max(bits, below.Format().Bits()))), n+m, n); err != nil {
			return nil, nil, err
		}
		if err := s.CopyNumbers(f.Slice(0, n, 0, n), d.F); err != nil {
			return nil, nil, err
		}
		if err := s.CopyNumbers(f.Slice(n, n+m, 0, n), below); err != nil {
			return nil, nil, err
		}
		s.Drop(d.F, below)
	}
	d.F, d.below.rows = f, num.Mat{}
	d.by.Rows = append(append([]int64(nil), d.by.Rows...), make([]int64, m)...)
	return d, order, nil
}
