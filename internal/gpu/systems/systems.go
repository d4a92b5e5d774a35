// Package systems solves many small systems of linear equations at a time on NVIDIA GPUs.
// kernels/newton/small.cu describes the method, and internal/proof/residual its proof.
package systems

import (
	"context"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

const (
	maxOrder   = 64
	maxBits    = 1024 // precision of operands and results
	maxColumns = 64
	// chunkBytes bounds the operands of a launch that are copied to the device.
	chunkBytes = 256 << 20
	// sharedDigits are the bytes of A's integers up to which they are in shared memory.
	sharedDigits = 32 << 10
)

// Applies reports whether the kernel may solve A X = B for X in format f.
func Applies(a, b num.Mat, f num.Format) bool {
	return a.Rows > 0 && a.Rows <= maxOrder && b.Cols > 0 && b.Cols <= maxColumns && single(a.Arr.Format) && single(b.Arr.Format) && single(f)
}

// single reports whether the numbers of format f are significands with one exponent, of at most
// maxBits bits.
func single(f num.Format) bool {
	return (f.Kind == num.MP || f.Kind == num.F64 || f.Kind == num.F32) && f.Bits() <= maxBits
}

// A kind is what the systems of a launch have in common.
type kind struct {
	a, b  num.Format
	order int // a power of two from n on
}

// kinds returns the indices of the systems of each kind, in the order of their first systems.
func kinds(n int, of func(i int) kind) (order []kind, list map[kind][]int) {
	list = map[kind][]int{}
	for i := 0; i < n; {
		k := of(i)
		same := list[k]
		if same == nil {
			order = append(order, k)
			same = make([]int, 0, n-i)
		}
		for ; i < n && of(i) == k; i++ {
			same = append(same, i)
		}
		list[k] = same
	}
	return order, list
}

// orderOf returns the order of a launch for systems of order n.
func orderOf(n int) int { return max(4, 1<<bits.Len(uint(n-1))) }

// A plan is the launch for systems of a kind.
type plan struct {
	kind
	x       num.Format
	words   int // even
	places  int
	threads int
	shared  int // bytes
	scratch int // bytes for each block
}

func planOf(k kind, x num.Format) plan {
	p := plan{kind: k, x: x}
	// Most matrices need some bits more than the precision. 64 more cost only memory.
	p.words = 2 * ((max(k.a.Bits(), k.b.Bits())+12+63)/64 + 1)
	p.places = (x.Bits() + 183 + 31) / 32
	p.threads = max(32, 4*k.order)
	n, ld := k.order, k.order|1
	p.shared = 48 + 8*(n*ld+2*n) + 4*(max(2*n*ld, n*(3*p.words+2+p.places))+3*n)
	if digits := 4 * n * n * p.words; digits <= sharedDigits {
		p.shared += digits
	} else {
		p.scratch = digits
	}
	return p
}

func formatOf(f num.Format) abi.SmallFormat {
	z := abi.SmallFormat{Kind: int32(f.Kind), Limbs: 1, Prec: int32(f.Bits())}
	if f.Kind == num.MP {
		z.Limbs = int32(f.Limbs())
	}
	return z
}

// launch solves count systems at list, and stores at done whether they are solved.
func (p plan) launch(s *cuda.Stream, list, done cuda.Pointer, count int) error {
	kernels := launch.KernelsOf(s)
	f, err := kernels.Function(s, "newton/small", "solveSmall")
	if err != nil {
		return err
	}
	blocks, err := kernels.Blocks(f, p.threads, p.shared)
	if err != nil {
		return err
	}
	blocks = min(count, blocks*s.Device().Info().Multiprocessors)
	k := abi.SmallBatch{Systems: list, Done: done, Stride: int64(p.scratch / 4), A: formatOf(p.a), B: formatOf(p.b), X: formatOf(p.x),
		Count: int32(count), Order: int32(p.order), Words: int32(p.words), Places: int32(p.places)}
	if p.scratch > 0 {
		room, err := s.Alloc(int64(p.scratch) * int64(blocks))
		if err != nil {
			return err
		}
		defer room.Free()
		k.Scratch = room.Pointer()
	}
	return f.Launch(s, cuda.Dim{X: blocks}, cuda.Dim{X: p.threads}, p.shared, k)
}

// fits reports whether the kernel runs on the device of s.
func (p plan) fits(s *cuda.Stream) bool {
	info := s.Device().Info()
	return info.Major >= 8 && p.shared <= info.SharedPerBlock
}

// Bytes bounds the device memory for the systems A_i X_i = B_i of the host, on a device with the
// given number of multiprocessors.
func Bytes(multiprocessors int, a, b []num.Mat, f num.Format) int64 {
	const blocks = 32 // of a multiprocessor, at most
	total, scratch := int64(0), 0
	for i := range a {
		p := planOf(kind{a[i].Arr.Format, b[i].Arr.Format, orderOf(a[i].Rows)}, f)
		scratch = max(scratch, p.scratch)
		n, k := int64(a[i].Rows), int64(b[i].Cols)
		total += n*n*num.SizeOf(p.a) + n*k*(num.SizeOf(p.b)+num.SizeOf(f)) + 128
	}
	return total + int64(scratch)*int64(min(blocks*multiprocessors, len(a)))
}

// memoryOf returns the memory of x.
func memoryOf[T any](x []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))
}

// uploadParts copies the parts to the device, one behind the other.
func uploadParts(s *cuda.Stream, dst cuda.Pointer, parts [][]byte) error {
	ends, size := make([]int, len(parts)), 0
	for i, p := range parts {
		size += len(p)
		ends[i] = size
	}
	return s.UploadBy(dst, size, 1, func(to []byte, at int) {
		i, _ := slices.BinarySearch(ends, at+1) // the part that byte at belongs to
		for len(to) > 0 {
			n := copy(to, parts[i][len(parts[i])-(ends[i]-at):])
			to, at = to[n:], at+n
			i++
		}
	})
}

// bytesOf returns plane t of numbers of the host.
func bytesOf(a *num.Array, t int) []byte {
	switch {
	case a.Kind == num.F32:
		return memoryOf(a.F32)
	case a.Kind == num.F64:
		return memoryOf(a.F64[0])
	case t == 0:
		return memoryOf(a.Sig)
	case t == 1:
		return memoryOf(a.Exp)
	}
	return memoryOf(a.Cls)
}

// A view is a matrix of the host whose array has exactly its entries.
type view struct {
	arr    *num.Array
	lo, hi int // numbers of arr
	off    int // entry (0, 0), from lo on
	rs, cs int
}

// viewOf returns m, or a copy if m's entries are not contiguous.
func viewOf(m num.Mat) view {
	down, across := (m.Rows-1)*m.RS, (m.Cols-1)*m.CS
	lo := m.Off + min(down, 0) + min(across, 0)
	hi := m.Off + max(down, 0) + max(across, 0) + 1
	if hi-lo == m.Rows*m.Cols {
		return view{m.Arr, lo, hi, m.Off - lo, m.RS, m.CS}
	}
	return view{mem.Pack(m), 0, m.Rows * m.Cols, 0, 1, m.Rows}
}

// A region is a part of device memory: numbers of a format, each plane by itself.
type region struct {
	f     num.Format
	sizes []int64 // bytes of a number in each plane
	plane [3]int  // offsets
}

// regionOf places planes of n numbers of format f behind the bytes at end, which grows.
func regionOf(f num.Format, n int, end *int) region {
	r := region{f: f, sizes: mem.PlaneBytes(f)}
	for t, size := range r.sizes {
		*end = (*end + 7) &^ 7
		r.plane[t] = *end
		*end += n * int(size)
	}
	return r
}

// at returns the addresses of number i of a region of memory from base on.
func (r *region) at(base cuda.Pointer, i int) (p [3]cuda.Pointer) {
	for t, size := range r.sizes {
		p[t] = base + cuda.Pointer(int64(r.plane[t])+int64(i)*size)
	}
	return p
}

// A chunk is a launch for systems of the host that has been queued.
type chunk struct {
	list  []int
	out   *cuda.Memory // the solutions, and at done an int32 for each system
	x     region
	first []int // number of X of a system
	done  int
}

// Solve solves the systems A_i X_i = B_i of the host, to each of which the kernel must apply. X_i
// in format f has no array if the device has not solved system i. Solutions share arrays.
func Solve(cfg par.Run, s *cuda.Stream, a, b []num.Mat, f num.Format) (x []num.Mat, err error) {
	x = make([]num.Mat, len(a))
	order, list := kinds(len(a), func(i int) kind { return kind{a[i].Arr.Format, b[i].Arr.Format, orderOf(a[i].Rows)} })
	var queued []*chunk
	defer func() {
		for _, c := range queued {
			c.out.Free()
		}
	}()
	for _, k := range order {
		p := planOf(k, f)
		if !p.fits(s) {
			continue
		}
		for rest := list[k]; len(rest) > 0; {
			if err := cfg.Ctx.Err(); err != nil {
				return nil, err
			}
			n, size := 0, 0
			for n < len(rest) && size < chunkBytes {
				i := rest[n]
				size += a[i].Rows * (a[i].Rows*int(num.SizeOf(k.a)) + b[i].Cols*int(num.SizeOf(k.b)))
				n++
			}
			c, err := p.queue(s, cfg.Threads, a, b, rest[:n])
			if err != nil {
				return nil, err
			}
			queued = append(queued, c)
			rest = rest[n:]
		}
	}
	for _, c := range queued {
		if err := cfg.Ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.collect(s, cfg.Threads, a, b, x); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// part is the number of systems that a thread prepares at a time.
const part = 256

// each calls f for the systems 0 <= h < n, on several threads.
func each(threads, n int, f func(h int)) {
	// never cancelled
	_ = par.For(context.Background(), threads, (n+part-1)/part, func(_, t int) {
		for h := t * part; h < min((t+1)*part, n); h++ {
			f(h)
		}
	})
}

// queue copies the listed systems to the device and launches the kernel.
func (p plan) queue(s *cuda.Stream, threads int, a, b []num.Mat, list []int) (*chunk, error) {
	c := &chunk{list: list, first: make([]int, len(list)+1)}
	left := make([]int, len(list)+1) // numbers of A before a system's; first is that of B and X
	for h, i := range list {
		n := a[i].Rows
		left[h+1], c.first[h+1] = left[h]+n*n, c.first[h]+n*b[i].Cols
	}
	count := [2]int{left[len(list)], c.first[len(list)]}
	systems := make([]abi.SmallSystem, len(list))
	end := len(list) * int(unsafe.Sizeof(systems[0]))
	regions := [2]region{regionOf(p.a, count[0], &end), regionOf(p.b, count[1], &end)}
	in, err := s.Alloc(int64(end))
	if err != nil {
		return nil, err
	}
	defer in.Free()
	out := 0
	c.x = regionOf(p.x, count[1], &out)
	c.done = (out + 3) &^ 3
	if c.out, err = s.Alloc(int64(c.done + 4*len(list))); err != nil {
		return nil, err
	}
	// The parts of one copy: the systems, and plane after plane of A and B, behind padding.
	var at [2][3]int // the parts of the first system
	parts := make([][]byte, 1, 1+6*(len(list)+1))
	parts[0] = memoryOf(systems)
	filled := len(parts[0])
	var padding [8]byte
	for side, r := range regions {
		for t, size := range r.sizes {
			parts = append(parts, padding[:r.plane[t]-filled])
			filled = r.plane[t] + count[side]*int(size)
			at[side][t] = len(parts)
			parts = parts[:len(parts)+len(list)]
		}
	}
	each(threads, len(list), func(h int) {
		i := list[h]
		z := &systems[h]
		z.N, z.K = int32(a[i].Rows), int32(b[i].Cols)
		z.X = c.x.at(c.out.Pointer(), c.first[h])
		for side, m := range [2]num.Mat{a[i], b[i]} {
			r, v := &regions[side], viewOf(m)
			for t, size := range r.sizes {
				parts[at[side][t]+h] = bytesOf(v.arr, t)[v.lo*int(size) : v.hi*int(size)]
			}
			z.RS[side], z.CS[side] = int64(v.rs), int64(v.cs)
			if side == 0 {
				z.A = r.at(in.Pointer(), left[h]+v.off)
			} else {
				z.B = r.at(in.Pointer(), c.first[h]+v.off)
			}
		}
	})
	if err = uploadParts(s, in.Pointer(), parts); err == nil {
		err = p.launch(s, in.Pointer(), c.out.At(int64(c.done)), len(list))
	}
	if err != nil {
		c.out.Free()
		return nil, err
	}
	return c, nil
}

// collect copies the solutions to the host.
func (c *chunk) collect(s *cuda.Stream, threads int, a, b []num.Mat, x []num.Mat) error {
	f := c.x.f
	all := num.New(f, c.first[len(c.list)])
	done := make([]int32, len(c.list))
	pieces := []cuda.Piece{cuda.To(done, c.out.At(int64(c.done)))}
	for t := range c.x.sizes {
		pieces = append(pieces, cuda.To(bytesOf(all, t), c.out.At(int64(c.x.plane[t]))))
	}
	if err := cuda.DownloadAll(s, pieces...); err != nil {
		return err
	}
	each(threads, len(c.list), func(h int) {
		if done[h] != 0 {
			n, k := a[c.list[h]].Rows, b[c.list[h]].Cols
			x[c.list[h]] = num.Mat{Arr: all.Slice(c.first[h], c.first[h+1]), RS: 1, CS: n, Rows: n, Cols: k}
		}
	})
	return nil
}

// SolveOnDevice is Solve for systems in the memory of the device of s. Each solution has its own
// array there.
func SolveOnDevice(cfg par.Run, s *cuda.Stream, a, b []mem.Matrix, f num.Format) (x []mem.Matrix, err error) {
	x = make([]mem.Matrix, len(a))
	defer func() {
		if err != nil {
			for i := range x {
				x[i].Arr.Free()
			}
		}
	}()
	order, list := kinds(len(a), func(i int) kind { return kind{a[i].Arr.Format, b[i].Arr.Format, orderOf(a[i].Rows)} })
	for _, k := range order {
		p := planOf(k, f)
		if !p.fits(s) {
			continue
		}
		if err := cfg.Ctx.Err(); err != nil {
			return x, err
		}
		if err := p.there(s, a, b, x, list[k]); err != nil {
			return x, err
		}
	}
	return x, nil
}

// there solves the listed systems in the memory of the device.
func (p plan) there(s *cuda.Stream, a, b, x []mem.Matrix, list []int) error {
	systems := make([]abi.SmallSystem, len(list))
	planes := func(m mem.Matrix) (z [3]cuda.Pointer) {
		for t, size := range mem.PlaneBytes(m.Arr.Format) {
			z[t] = m.Arr.Plane(t) + cuda.Pointer(int64(m.Off)*size)
		}
		return z
	}
	for h, i := range list {
		l, r := a[i], b[i]
		z, err := mem.Room(s, p.x, r.Rows*r.Cols)
		if err != nil {
			return err
		}
		x[i] = mem.Matrix{Arr: z, RS: 1, CS: r.Rows, Rows: r.Rows, Cols: r.Cols}
		systems[h] = abi.SmallSystem{A: planes(l), B: planes(r), X: planes(x[i]),
			RS: [2]int64{int64(l.RS), int64(r.RS)}, CS: [2]int64{int64(l.CS), int64(r.CS)}, N: int32(l.Rows), K: int32(r.Cols)}
	}
	size := len(systems) * int(unsafe.Sizeof(systems[0]))
	room, err := s.Alloc(int64(size + 4*len(list)))
	if err != nil {
		return err
	}
	defer room.Free()
	if err := cuda.Upload(s, room.Pointer(), memoryOf(systems)); err != nil {
		return err
	}
	if err := p.launch(s, room.Pointer(), room.At(int64(size)), len(list)); err != nil {
		return err
	}
	done := make([]int32, len(list))
	if err := cuda.Download(s, done, room.At(int64(size))); err != nil {
		return err
	}
	for h, i := range list {
		if done[h] == 0 {
			x[i].Arr.Free()
			x[i] = mem.Matrix{}
		}
	}
	return nil
}
