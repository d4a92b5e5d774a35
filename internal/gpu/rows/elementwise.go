package rows

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Entrywise operations; kernels/rows/elementwise.cu implements the arithmetic.

// Scal computes z_i = alpha x_i, rounded, for a host vector, like direct.Scale.
func Scal(dev *cuda.Device, cfg par.Run, alpha num.Real, x num.Vec, z *num.Array, count func(num.Flags)) (Counts, error) {
	u := newUpdating(cfg, alpha, x.N, 1, count)
	u.host = func() (hostUpdate, error) { return hostUpdate{x: x, z: columns(z, x.N, 1)}, nil }
	if !u.applies(dev, x.Arr.Format, num.Format{}, z.Format) {
		return u.counts, u.onHost()
	}
	err := dev.Do(u.cfg.Ctx, func(s *cuda.Stream) error {
		a, err := mem.Upload(s, mem.Packed(x.Mat()))
		if err != nil {
			return err
		}
		defer a.Free()
		u.get = func() error { return a.Get(s, z) }
		v := mem.Vector{Arr: a, Inc: 1, N: x.N}
		return u.run(s, v, mem.Vector{N: 1}, v.Col())
	})
	return u.counts, err
}

// ScalOnDevice replaces the entries of x, which is in the memory of the device of s, by alpha x_i,
// rounded, or by +0 if alpha = 0. If it returns an error, x is unspecified.
func ScalOnDevice(s *cuda.Stream, cfg par.Run, alpha num.Real, x mem.Vector, count func(num.Flags)) (Counts, error) {
	x.Col().Changed()
	u := newUpdating(cfg, alpha, x.N, 1, count)
	u.onDevice(s, x, mem.Vector{}, x.Col())
	if !u.applies(s.Device(), x.Arr.Format, num.Format{}, x.Arr.Format) {
		return u.counts, u.onHost()
	}
	err := u.run(s, x, mem.Vector{N: 1}, x.Col())
	return u.counts, err
}

// Axpy computes z_i = alpha x_i + y_i, rounded, for host vectors. alpha must not be 0.
func Axpy(dev *cuda.Device, cfg par.Run, alpha num.Real, x, y num.Vec, z *num.Array, count func(num.Flags)) (Counts, error) {
	return Ger(dev, cfg, alpha, x, ones, y.Mat(), z, count)
}

// AxpyOnDevice replaces the entries of y by alpha x_i + y_i, rounded, for vectors in the memory of
// the device of s, which may overlap. alpha must not be 0. If it returns an error, y is
// unspecified.
func AxpyOnDevice(s *cuda.Stream, cfg par.Run, alpha num.Real, x, y mem.Vector, count func(num.Flags)) (Counts, error) {
	return GerOnDevice(s, cfg, alpha, x, mem.Vector{N: 1}, y.Col(), count)
}

// ones is the vector (1), which Ger uses for y if it has no y. On the device a vector without an
// array stands for it.
var ones = func() num.Vec {
	a := num.New(num.Float64, 1)
	a.F64[0][0] = 1
	return num.Vec{Arr: a, Inc: 1, N: 1}
}()

// Ger computes alpha x_i y_j + c_ij, rounded, into number i + j m of z, where m is the length of x,
// for host operands, like direct.Update. alpha must not be 0.
func Ger(dev *cuda.Device, cfg par.Run, alpha num.Real, x, y num.Vec, c num.Mat, z *num.Array, count func(num.Flags)) (Counts, error) {
	u := newUpdating(cfg, alpha, x.N, y.N, count)
	u.add = true
	u.host = func() (hostUpdate, error) { return hostUpdate{x, y, c, columns(z, x.N, y.N)}, nil }
	var formatY num.Format
	if y.Arr != ones.Arr {
		formatY = y.Arr.Format
	}
	if !u.applies(dev, x.Arr.Format, formatY, z.Format) {
		return u.counts, u.onHost()
	}
	err := dev.Do(u.cfg.Ctx, func(s *cuda.Stream) error {
		v, err := mem.UploadVector(s, x)
		if err != nil {
			return err
		}
		defer v.Arr.Free()
		w := mem.Vector{N: 1}
		if y.Arr != ones.Arr {
			if w, err = mem.UploadVector(s, y); err != nil {
				return err
			}
			defer w.Arr.Free()
		}
		a, err := mem.Upload(s, mem.Packed(c))
		if err != nil {
			return err
		}
		defer a.Free()
		u.get = func() error { return a.Get(s, z) }
		return u.run(s, v, w, mem.Matrix{Arr: a, RS: 1, CS: x.N, Rows: x.N, Cols: y.N})
	})
	return u.counts, err
}

// GerOnDevice replaces the entries of c by alpha x_i y_j + c_ij, rounded, for operands in the
// memory of the device of s, which may overlap. alpha must not be 0. If it returns an error, c is
// unspecified.
func GerOnDevice(s *cuda.Stream, cfg par.Run, alpha num.Real, x, y mem.Vector, c mem.Matrix, count func(num.Flags)) (Counts, error) {
	c.Changed()
	if y.Arr != nil && abs(c.RS) > abs(c.CS) { // neighbouring threads access neighbouring numbers
		x, y, c = y, x, c.T()
	}
	u := newUpdating(cfg, alpha, x.N, y.N, count)
	u.add = true
	for _, v := range []*mem.Vector{&x, &y} {
		if v.Arr != nil && v.Col().Overlaps(c) && (v == &y || c.Cols > 1 || v.Off != c.Off || v.Inc != c.RS) {
			a, err := v.Arr.Clone(s)
			if err != nil {
				return u.counts, err
			}
			defer a.Free()
			v.Arr = a
		}
	}
	u.onDevice(s, x, y, c)
	if !u.applies(s.Device(), x.Arr.Format, formatOf(y), c.Arr.Format) {
		return u.counts, u.onHost()
	}
	err := u.run(s, x, y, c)
	return u.counts, err
}

// formatOf returns the format of y, num.Format{} for ones.
func formatOf(y mem.Vector) num.Format {
	if y.Arr == nil {
		return num.Format{}
	}
	return y.Arr.Format
}

// columns returns the numbers of z as an m x n matrix, column by column.
func columns(z *num.Array, m, n int) num.Mat {
	return num.Mat{Arr: z, RS: 1, CS: m, Rows: m, Cols: n}
}

// hostUpdate holds the host operands and the host result of an update. z may be c.
type hostUpdate struct {
	x, y num.Vec
	c, z num.Mat
}

// updating is z_ij <- RN(alpha x_i y_j + c_ij), or z_i <- RN(alpha x_i), with access to its
// operands.
type updating struct {
	cfg        par.Run
	alpha      num.Real
	add        bool
	rows, cols int
	host       func() (hostUpdate, error) // operands, for entries left to the host
	// copies the device's results to the host's z, if that is the result
	get func() error
	// copies the host's z to the device, if that is the result
	put     func() error
	count   func(num.Flags)
	counts  Counts
	kernel  abi.Update // as far as formats and alpha determine it
	threads int        // of a block
	shared  int        // bytes of its shared memory
}

func newUpdating(cfg par.Run, alpha num.Real, rows, cols int, count func(num.Flags)) *updating {
	nothing := func() error { return nil }
	return &updating{cfg: cfg.Filled(), alpha: alpha, rows: rows, cols: cols, count: count, get: nothing, put: nothing}
}

// onDevice sets host and put for operands on the device; c is updated in place.
func (u *updating) onDevice(s *cuda.Stream, x, y mem.Vector, c mem.Matrix) {
	var z num.Mat
	u.host = func() (h hostUpdate, err error) {
		h.y = ones
		for _, v := range []struct {
			on mem.Vector
			to *num.Vec
		}{{x, &h.x}, {y, &h.y}} {
			if v.on.Arr != nil {
				m, err := v.on.Col().Get(s)
				if err != nil {
					return h, err
				}
				*v.to = m.Col(0)
			}
		}
		z, err = c.Get(s)
		h.c, h.z = z, z
		return h, err
	}
	u.put = func() error { return c.Set(s, z) }
}

// onHost computes all entries on the host.
func (u *updating) onHost() error {
	u.counts.Host = int64(u.rows) * int64(u.cols)
	h, err := u.host()
	if err != nil {
		return err
	}
	z := num.New(h.z.Arr.Format, u.rows*u.cols)
	w := direct.Work{Run: u.cfg}
	if u.add {
		err = direct.Update(w, u.alpha, h.x, h.y, h.c, z, u.count)
	} else {
		err = direct.Scale(w, u.alpha, h.x, z, u.count)
	}
	if err != nil {
		return err
	}
	for j := range u.cols {
		for i := range u.rows {
			h.z.Arr.CopyFrom(h.z.At(i, j), z, i+j*u.rows)
		}
	}
	return u.put()
}

// entries computes the listed entries, each column << 32 | row, on the host.
func (u *updating) entries(list []uint64) error {
	u.counts.Host = int64(len(list))
	h, err := u.host()
	if err != nil {
		return err
	}
	f := h.z.Arr.Format
	accs := make([]superacc.Acc, u.cfg.Threads)
	ones := make([]*num.Array, u.cfg.Threads)
	const part = 64
	err = par.For(u.cfg.Ctx, u.cfg.Threads, (len(list)+part-1)/part, func(worker, p int) {
		if ones[worker] == nil {
			ones[worker] = num.New(f, 1)
		}
		for _, e := range list[p*part : min((p+1)*part, len(list))] {
			i, j := int(uint32(e)), int(e>>32)
			var v num.Real
			if u.add {
				v = accs[worker].Updated(f, u.alpha, h.x, h.y, h.c, i, j)
			} else {
				v = accs[worker].Scaled(u.alpha, h.x, i)
			}
			flags := ones[worker].Set(0, v)
			h.z.Arr.CopyFrom(h.z.At(i, j), ones[worker], 0)
			if flags != 0 {
				u.count(flags)
			}
		}
	})
	if err != nil {
		return err
	}
	return u.put()
}

const (
	updateThreads = 256 // the most threads of a block
	updateBlocks  = 32  // the most blocks on a multiprocessor
	updateFloats  = 4   // binary32 or binary64 entries of a thread
)

// applies reports whether the device computes the entries, and prepares the kernel's argument for
// alpha and the formats. y is num.Format{} if there is no y.
func (u *updating) applies(dev *cuda.Device, x, y, z num.Format) bool {
	if u.rows == 0 || u.cols == 0 || u.alpha.Class == num.Zero || int64(u.rows) > maxRows || int64(u.cols) > maxRows {
		return false
	}
	k := &u.kernel
	k.Cls = int32(num.MakeCls(u.alpha.Neg, u.alpha.Class))
	k.Add = abi.Flag(u.add)
	if u.alpha.Class == num.Finite && !setAlpha(k, u.alpha, x, y, z) {
		return false
	}
	k.Words = int32((u.windowBits(x, y, z) + 63) / 64)
	each := int(k.Words) + x.Limbs()
	scaled := (int(k.Bits)+63)/64 + max(1, y.Limbs())
	limit := dev.Info().SharedPerBlock - declaredShared
	// A block of many threads, if three such blocks fit on a multiprocessor.
	for _, share := range []int{3, 1} {
		for u.threads = updateThreads; u.threads >= 32; u.threads /= 2 {
			u.shared = 8 * (each*(u.threads+1) + scaled*max(1, y.Terms()))
			if u.shared <= limit/share {
				return true
			}
		}
	}
	return false
}

// setAlpha sets the parameters of a finite alpha. It returns false if alpha has too many words.
func setAlpha(k *abi.Update, alpha num.Real, x, y, z num.Format) bool {
	tz := num.TrailingZeros(alpha.Mag)
	n := num.BitLen(alpha.Mag) - tz
	if n > 64*abi.AlphaWords {
		return false
	}
	for i := range (n + 63) / 64 {
		k.Alpha[i] = num.WordAt(alpha.Mag, int64(tz+64*i))
	}
	k.Bits, k.Exp = int32(n), alpha.Exp+int64(tz)
	top := k.Exp + int64(n)
	if n <= 53 && top > -1022 && top <= 1024 {
		k.Value, _ = num.RoundFloat64(alpha)
		k.Floats = abi.Flag(y.Kind <= num.F64 && z.Kind <= num.F64 && x.Kind <= z.Kind)
	}
	return true
}

// windowBits returns the number of bits of the windows of entries. For numbers that are not sums of
// terms they suffice always: either both addends fit, or one lies so far below the other that a
// unit replaces it. Sums of terms fit if they are not spread much.
func (u *updating) windowBits(x, y, z num.Format) int {
	const room = 10
	product := int(u.kernel.Bits) + spanOf(x)
	if y != (num.Format{}) {
		product += spanOf(y)
	}
	if !u.add {
		return max(product, int(z.Prec)) + room
	}
	c, p := spanOf(z), int(z.Prec)+8
	return max(max(product+2, p)+c, max(c+2, p)+product) + room
}

// spanOf returns the number of bits that numbers of format f span in the kernel.
func spanOf(f num.Format) int {
	switch n := f.Terms(); {
	case f.Kind == num.MP:
		return 64 * f.Limbs()
	case n > 1:
		return 64*n + 64
	}
	return 53 // binary32 is read as binary64
}

// maxRows bounds the rows and columns that the kernels support.
const maxRows = 1<<31 - 1<<10

// run computes all entries of c on the device, except for those left to the host.
func (u *updating) run(s *cuda.Stream, x, y mem.Vector, c mem.Matrix) error {
	f, err := launch.KernelsOf(s).Function(s, "rows/elementwise", "update")
	if err != nil {
		return err
	}
	k := &u.kernel
	k.X, k.C = abi.RowsOf(x.Col()), abi.TargetOf(c)
	k.Y = abi.Vectors{N: 1, A: abi.Numbers{Kind: abi.KindOnes}}
	if y.Arr != nil {
		k.Y = abi.RowsOf(y.Col())
	}
	// Only sums of terms may leave entries to the host.
	capacity := int64(0)
	if max(x.Arr.Terms(), c.Arr.Terms(), formatOf(y).Terms()) > 1 {
		capacity = int64(u.rows) * int64(u.cols)
	}
	const counters = 24 // bytes: overflows, underflows, entries left to the host
	m, err := s.Alloc(counters + 8*capacity)
	if err != nil {
		return err
	}
	defer m.Free()
	if err := s.Zero(m.Pointer(), counters); err != nil {
		return err
	}
	k.Counts, k.Rest = m.Pointer(), abi.Leftovers{Count: m.At(16), List: m.At(counters), Capacity: capacity}
	rows := u.threads // of a block
	if k.Floats != 0 {
		rows *= updateFloats
	}
	grid := cuda.Dim{X: (u.rows + rows - 1) / rows}
	blocks := updateBlocks * s.Device().Info().Multiprocessors
	grid.X = min(grid.X, blocks)
	grid.Y = min(u.cols, (blocks+grid.X-1)/grid.X, 1<<16-1)
	if err := f.Launch(s, grid, cuda.Dim{X: u.threads}, u.shared, *k); err != nil {
		return err
	}
	var n [counters / 8]int64
	if err := cuda.Download(s, n[:], m.Pointer()); err != nil {
		return err
	}
	for i, flag := range []num.Flags{num.Overflow, num.Underflow} {
		for range n[i] {
			u.count(flag)
		}
	}
	list := make([]uint64, n[2])
	if err := cuda.Download(s, list, m.At(counters)); err != nil {
		return err
	}
	if err := u.get(); err != nil || len(list) == 0 {
		return err
	}
	return u.entries(list)
}
