package product

import (
	"cmp"
	"slices"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
)

// Panels are the left factor of a product on one of several devices, each of which stores a panel
// of its columns and needs other panels. Each panel is scanned where it is stored, unless enough is
// known of the matrix; together the scans find what a scan of the whole matrix would find. Panels
// are then copied into the whole matrix, while the device already converts other panels to
// residues.
type Panels struct {
	args    abi.Panels
	dev     *cuda.Device
	own     int           // index of this device's panel
	view    mem.Matrix    // this device's panel
	whole   mem.Matrix    // destination of the other panels
	records *cuda.Memory  // of all panels; nil if panels are not scanned
	looked  *cuda.Event   // recorded after the computation of the own panel and of its record
	arrived []*cuda.Event // recorded after the arrival of each panel, and of all records
}

// LookAt computes the record of a panel, unless known tells that enough is known of the matrix. The
// panel is columns start[own] <= h < start[own+1] of a matrix; the starts are multiples of tiles of
// products.
func LookAt(s *cuda.Stream, panel mem.Matrix, start []int, own int, known bool) (_ *Panels, err error) {
	p := &Panels{dev: s.Device(), own: own, view: panel, arrived: make([]*cuda.Event, len(start)-1)}
	defer func() {
		if err != nil {
			_ = p.Free() // the first error is err
		}
	}()
	width := 0
	for i, at := range start[1:] {
		width = max(width, at-start[i])
		p.args.Start[i+1] = int32(at)
	}
	count := len(p.arrived)
	p.args.Count, p.args.Width, p.args.N, p.args.K = int32(count), int32(width), int32(panel.Rows), int32(start[count])
	if p.looked, err = s.NewEvent(); err != nil {
		return nil, err
	}
	for i := range p.arrived {
		if p.arrived[i], err = s.NewEvent(); err != nil {
			return nil, err
		}
	}
	if known {
		return p, s.Record(p.looked)
	}
	p.args.Size = abi.RecordBytes(panel.Rows, width)
	if p.records, err = s.Alloc(p.args.Size * int64(count)); err != nil {
		return nil, err
	}
	p.args.At = p.records.Pointer()
	f, err := engineOf(s).kernels.Function(s, "exact/scan", "scanPanel")
	if err != nil {
		return nil, err
	}
	grid := cuda.Dim{X: max((panel.Rows+7)/8, abi.MaxSamples), Y: 2}
	if err := f.Launch(s, grid, cuda.Dim{X: 256}, 0, p.args, abi.RowsOf(panel), int32(own)); err != nil {
		return nil, err
	}
	return p, s.Record(p.looked)
}

// Gather copies the records of all panels to this device, and into the matrix to the other panels
// that have some of its columns from <= h < until. It begins with the panels of the next devices,
// so that not all devices read from one at the same time. It does not wait.
func (p *Panels) Gather(s *cuda.Stream, all []*Panels, to mem.Matrix, from, until int) error {
	p.whole = to
	aside, err := engineOf(s).sideStream(s)
	if err != nil {
		return err
	}
	// After the previous uses of the matrix's memory.
	if err := aside.Wait(p.looked); err != nil {
		return err
	}
	others := append(slices.Clone(all[p.own+1:]), all[:p.own]...)
	if p.records != nil {
		for _, q := range others {
			if err := s.Wait(q.looked); err != nil {
				return err
			}
			at := p.args.Size * int64(q.own)
			if err := s.CopyPeer(p.records.At(at), q.dev, q.records.At(at), p.args.Size); err != nil {
				return err
			}
		}
		// The product waits for the records, which panels on the link would delay.
		e := p.arrived[p.own]
		if err := s.Record(e); err != nil {
			return err
		}
		if err := aside.Wait(e); err != nil {
			return err
		}
	}
	for _, q := range others {
		if int(p.args.Start[q.own]) >= until || int(p.args.Start[q.own+1]) <= from {
			continue
		}
		if err := aside.Wait(q.looked); err != nil {
			return err
		}
		z := p.place(q)
		if err := to.Arr.CopyPeer(aside, z.Off, q.dev, q.view.Arr, q.view.Off, z.Rows*z.Cols); err != nil {
			return err
		}
		if err := aside.Record(p.arrived[q.own]); err != nil {
			return err
		}
	}
	return nil
}

// place returns the destination of the panel of q.
func (p *Panels) place(q *Panels) mem.Matrix {
	z := p.whole
	z.Off += int(q.args.Start[q.own]) * z.CS
	z.Cols = q.view.Cols
	return z
}

// complete makes later operations of s wait for the whole matrix. The own panel, whose residues are
// computed where it is stored, is copied last, and only if the matrix itself is needed: a copy
// concurrent with the computation of residues, which is limited by memory too, would cost 0.17 of
// 10.7 ms for a float64 product of order 8192 on two H100.
func (p *Panels) complete(s *cuda.Stream) error {
	if p == nil {
		return nil
	}
	for i, e := range p.arrived {
		if i == p.own {
			continue
		}
		if err := s.Wait(e); err != nil {
			return err
		}
	}
	z, n := p.place(p), p.view.Rows*p.view.Cols
	_, err := line(z.Arr, z.Off, n).Copy(s, line(p.view.Arr, p.view.Off, n))
	return err
}

// line returns n numbers of an array, from number at on, as a column.
func line(a *mem.Array, at, n int) mem.Matrix {
	return mem.Matrix{Arr: a, Off: at, RS: 1, CS: n, Rows: n, Cols: 1}
}

// origin returns the row and the column of the matrix at which a view of it begins.
func (p *Panels) origin(a mem.Matrix) (row, col int) {
	at := a.Off - p.whole.Off
	return at % p.whole.CS, at / p.whole.CS
}

// vectors returns n rows of the own panel from row first on, addressed as rows of the matrix from
// column col on.
func (p *Panels) vectors(first, n, col int) abi.Vectors {
	x := abi.RowsOf(p.view)
	x.Off += int64(first)*x.RS + int64(col-int(p.args.Start[p.own]))*x.CS
	x.N = int32(n)
	return x
}

// Leave makes later operations of s wait for the copies to this device, and for the copies of its
// panel to other devices.
func (p *Panels) Leave(s *cuda.Stream, all []*Panels) error {
	for i, q := range all {
		if q == nil || q == p {
			continue
		}
		for _, e := range []*cuda.Event{p.arrived[i], q.arrived[p.own]} {
			if err := s.Wait(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// Free frees the memory. All devices must have left: the copies of p's record to other devices are
// then done, or ordered before the later operations of s.
func (p *Panels) Free() (err error) {
	for _, e := range append(p.arrived, p.looked) {
		if e != nil {
			err = cmp.Or(err, e.Close())
		}
	}
	p.records.Free()
	return err
}
