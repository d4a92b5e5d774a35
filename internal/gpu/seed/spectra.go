package seed

import (
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// Residuals implements place.Residuals, with 16 n² bytes of a GPU: see kernels/seed/spectra.cu.
type Residuals struct {
	queue
	g     abi.Spectra
	lists cuda.Pointer
}

// What lists holds, n numbers each.
const (
	ofLongS = iota
	ofLostS
	ofQuotients                   // 7 lists
	ofRadius    = ofQuotients + 7 // the tilt and the image
	ofResults   = ofRadius + 3    // 6 lists, and behind them whether an operation failed
	allLists    = ofResults + 6
)

// NewResiduals implements place.Spectra.
func NewResiduals(s *cuda.Stream, sm, r mem.Matrix, longS, lostS []float64) (z *Residuals, squares []float64, ok bool, err error) {
	n := sm.Rows
	z = &Residuals{queue: queue{s: s, kernels: launch.KernelsOf(s)}}
	defer func(z *Residuals) { // results are nil by then
		if err != nil {
			z.Free()
		}
	}(z)
	g := &z.g
	g.S, g.R, g.N = abi.RowsOf(sm), abi.RowsOf(r), int32(n)
	if err := z.allocAll([]room{{&g.FS, 8 * n * n}, {&g.FR, 8 * n * n}, {&z.lists, 8 * (n*allLists + 1)}}); err != nil {
		return nil, nil, false, err
	}
	g.LongS, g.LostS = z.list(ofLongS), z.list(ofLostS)
	for i, to := range []*cuda.Pointer{&g.Hi, &g.Lo, &g.Last, &g.Size, &g.Lost, &g.RowS, &g.RowR} {
		*to = z.list(ofQuotients + i)
	}
	g.Radius, g.Tilt, g.To, g.Failed = z.list(ofRadius), z.list(ofRadius+1), z.list(ofResults), z.list(allLists)
	if err := z.begin(g.LongS, longS, lostS); err != nil {
		return nil, nil, false, err
	}
	tiles := z.tiles()
	if err := z.spectra("spectraBounds", tiles, tiles, z.g); err != nil {
		return nil, nil, false, err
	}
	if err := z.spectra("spectraSums", n, 1, z.g); err != nil {
		return nil, nil, false, err
	}
	squares, ok, err = z.results(3)
	return z, squares, ok, err
}

// Free releases the memory.
func (z *Residuals) Free() { z.free() }

// list returns the address of list i.
func (z *Residuals) list(i int) cuda.Pointer { return z.lists + cuda.Pointer(8*i*int(z.g.N)) }

func (z *Residuals) tiles() int { return (int(z.g.N) + abi.SpectraSide - 1) / abi.SpectraSide }

// begin uploads lists that follow each other, and clears the report of failures.
func (z *Residuals) begin(to cuda.Pointer, lists ...[]float64) error {
	if err := z.s.Zero(z.g.Failed, 8); err != nil {
		return err
	}
	return cuda.Upload(z.s, to, slices.Concat(lists...))
}

// results returns the first lists of results, and whether nothing failed.
func (z *Residuals) results(lists int) (list []float64, ok bool, err error) {
	list = make([]float64, lists*int(z.g.N))
	var failed [1]uint32
	err = cuda.DownloadAll(z.s, cuda.To(list, z.g.To), cuda.To(failed[:], z.g.Failed))
	return list, failed[0] == 0, err
}

// Couplings implements place.Residuals.
func (z *Residuals) Couplings(s *cuda.Stream, q place.Quotients) (list [6][]float64, ok bool, err error) {
	z.s, z.g.Alpha = s, q.Alpha
	if err := z.begin(z.g.Hi, q.Hi, q.Lo, q.Last, q.Size, q.Lost, q.RowS, q.RowR); err != nil {
		return list, false, err
	}
	n := int(z.g.N)
	if err := z.spectra("spectraCouplings", n, 1, z.g); err != nil {
		return list, false, err
	}
	all, ok, err := z.results(len(list))
	for i := range list {
		list[i] = all[i*n : (i+1)*n]
	}
	return list, ok, err
}

// The least and the most bits of a correction.
const (
	leastCorrection = 24
	mostCorrection  = 90
)

// Correction implements place.Residuals.
func (z *Residuals) Correction(s *cuda.Stream, e mem.Matrix) (ok bool, err error) {
	if b := e.Arr.Bits(); e.Arr.Kind != num.MP || b < leastCorrection || b > mostCorrection {
		return false, nil
	}
	z.s = s
	e.Changed()
	if err := z.begin(z.g.To); err != nil {
		return false, err
	}
	tiles := z.tiles()
	if err := z.spectra("spectraCorrection", tiles, tiles, z.g, abi.TargetOf(e)); err != nil {
		return false, err
	}
	_, ok, err = z.results(0)
	return ok, err
}

// Distances implements place.Residuals.
func (z *Residuals) Distances(s *cuda.Stream, radius, tilt, image []float64, cut float64) (list [3][]float64, ok bool, err error) {
	z.s, z.g.Cut, z.g.Image = s, cut, 0
	if image != nil {
		z.g.Image = z.list(ofRadius + 2)
	}
	if err := z.begin(z.g.Radius, radius, tilt, image); err != nil {
		return list, false, err
	}
	n := int(z.g.N)
	if err := z.spectra("spectraDistances", n, 1, z.g); err != nil {
		return list, false, err
	}
	all, ok, err := z.results(len(list))
	for i := range list {
		list[i] = all[i*n : (i+1)*n]
	}
	return list, ok, err
}

// Signs implements place.Spectra.
func Signs(s *cuda.Stream, x, d mem.Matrix, errors []int64) (signs []int32, err error) {
	q := queue{s: s, kernels: launch.KernelsOf(s)}
	defer q.free()
	list, err := cuda.NewCopy(s, errors)
	if err != nil {
		return nil, err
	}
	defer list.Free()
	to, err := q.alloc(4 * x.Cols)
	if err != nil {
		return nil, err
	}
	if err := q.spectra("spectraSigns", x.Cols, 1, abi.SpectraSign{X: abi.RowsOf(x), D: abi.RowsOf(d), Errors: list.Pointer(), To: to}); err != nil {
		return nil, err
	}
	signs = make([]int32, x.Cols)
	return signs, cuda.Download(s, signs, to)
}

// Columns implements place.Spectra.
func Columns(s *cuda.Stream, x mem.Matrix, order, signs []int32, z mem.Matrix) error {
	z.Changed()
	q := queue{s: s, kernels: launch.KernelsOf(s)}
	list, err := cuda.NewCopy(s, slices.Concat(order, signs))
	if err != nil {
		return err
	}
	defer list.Free()
	return q.spectra("spectraColumns", (x.Rows+threads-1)/threads, len(order),
		abi.SpectraOrder{X: abi.RowsOf(x), Z: abi.TargetOf(z), Order: list.Pointer(), Signs: list.Pointer() + cuda.Pointer(4*len(order))})
}
