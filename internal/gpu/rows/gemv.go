package rows

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
	"github.com/halfulp/halfulp/internal/superacc"
)

// Gemv computes z_i = sum_j alpha m_ij x_j + beta y_i, rounded, for host operands, like
// direct.Gemv. If alpha is zero, m and x are not read; if beta is zero, y is not read.
func Gemv(dev *cuda.Device, cfg par.Run, alpha num.Real, m num.Mat, x num.Vec, beta num.Real, y num.Vec, z *num.Array, count func(num.Flags)) (Counts, error) {
	cfg = cfg.Filled()
	p := multiplying{cfg: cfg, alpha: alpha, beta: beta, count: count, out: z.Format, n: m.Rows,
		given: &operands{m, x, y, num.Vec{Arr: z, Inc: 1, N: m.Rows}}}
	if !p.applies(m.Cols) {
		return p.counts, p.onHost()
	}
	err := dev.Do(cfg.Ctx, func(s *cuda.Stream) (err error) {
		p.s = s
		if p.m, err = mem.UploadView(s, m); err != nil {
			return err
		}
		defer p.m.Arr.Free()
		if p.x, err = mem.UploadVector(s, x); err != nil {
			return err
		}
		defer p.x.Arr.Free()
		if beta.Class != num.Zero {
			if p.y, err = mem.UploadVector(s, y); err != nil {
				return err
			}
			defer p.y.Arr.Free()
		}
		a, err := mem.NewArray(s, z.Format, m.Rows)
		if err != nil {
			return err
		}
		defer a.Free()
		p.z = mem.Vector{Arr: a, Inc: 1, N: m.Rows}
		return p.run()
	})
	return p.counts, err
}

// GemvOnDevice is Gemv for operands in the memory of the device of s. z must not share storage with
// m or x, and with y only if it is the same view.
func GemvOnDevice(s *cuda.Stream, cfg par.Run, alpha num.Real, m mem.Matrix, x mem.Vector, beta num.Real, y, z mem.Vector, count func(num.Flags)) (Counts, error) {
	z.Col().Changed()
	p := multiplying{cfg: cfg.Filled(), s: s, alpha: alpha, beta: beta, m: m, x: x, y: y, z: z, old: y, count: count, out: z.Arr.Format, n: m.Rows}
	if !p.applies(m.Cols) {
		return p.counts, p.onHost()
	}
	if beta.Class != num.Zero && y.Arr == z.Arr { // a second pass reads y again
		a, err := mem.NewArray(s, y.Arr.Format, y.N)
		if err != nil {
			return p.counts, err
		}
		defer a.Free()
		p.y = mem.Vector{Arr: a, Inc: 1, N: y.N}
		if err := Copy(s, y.Col(), p.y.Col()); err != nil {
			return p.counts, err
		}
	}
	err := p.run()
	return p.counts, err
}

// A multiplying is a matrix-vector product with access to its operands.
type multiplying struct {
	cfg         par.Run
	s           *cuda.Stream
	alpha, beta num.Real
	m           mem.Matrix
	x           mem.Vector
	y           mem.Vector // if beta is not 0; it does not share storage with z
	z           mem.Vector
	old         mem.Vector // y, or the y that z replaces
	out         num.Format
	n           int
	given       *operands // host operands and result; nil if they live on the device
	copies      *mem.HostCopies
	count       func(num.Flags)
	row         mem.Matrix // x
	sums        rowSums
	counts      Counts
	met         [2]uint64 // overflows and underflows in the last pass on the device
}

// applies reports whether the device can compute the product.
func (p *multiplying) applies(k int) bool {
	const most = 1 << 10 // words of alpha
	return p.n > 0 && p.alpha.Class == num.Finite && p.beta.Class <= num.Finite && applies(k) && num.BitLen(p.alpha.Mag) <= 32*most
}

// settles reports whether the sums need more than a rounding.
func (p *multiplying) settles() bool {
	_, power := powerOfTwo(p.alpha)
	return !power || p.beta.Class != num.Zero || p.out.Terms() > 1
}

// operands are the operands and the result in host memory.
type operands struct {
	m    num.Mat
	x, y num.Vec
	z    num.Vec
}

// host returns the operands that the product reads, and the result.
func (p *multiplying) host() (h operands, err error) {
	if p.given != nil {
		h = *p.given
		if p.alpha.Class == num.Zero {
			h.m, h.x = num.Mat{}, num.Vec{}
		}
		if p.beta.Class == num.Zero {
			h.y = num.Vec{}
		}
		return h, nil
	}
	if p.copies == nil {
		p.copies = mem.NewHostCopies(p.s)
	}
	if h.z, err = p.copies.Vector(p.z); err != nil {
		return h, err
	}
	if p.alpha.Class != num.Zero {
		if h.m, err = p.copies.Get(p.m); err != nil {
			return h, err
		}
		if h.x, err = p.copies.Vector(p.x); err != nil {
			return h, err
		}
	}
	if p.beta.Class != num.Zero {
		h.y, err = p.copies.Vector(p.old)
	}
	return h, err
}

// put copies the host's z to the device, if that is the result.
func (p *multiplying) put() error {
	if p.given != nil {
		return nil
	}
	return p.copies.Put(p.z.Col())
}

// onHost computes the product on the host.
func (p *multiplying) onHost() error {
	p.counts.Host = int64(p.n)
	h, err := p.host()
	if err != nil {
		return err
	}
	if p.alpha.Class == num.Zero { // only the shape counts
		h.m = num.Mat{Arr: h.z.Arr, Rows: p.n}
		h.x = num.Vec{Arr: h.z.Arr}
	}
	z := num.New(p.out, p.n)
	w := direct.Work{Run: p.cfg}
	if _, err := direct.Gemv(w, p.alpha, h.m, h.x, p.beta, h.y, z, p.count); err != nil {
		return err
	}
	for i := range p.n {
		h.z.Arr.CopyFrom(h.z.At(i), z, i)
	}
	return p.put()
}

func (p *multiplying) run() error {
	p.row = p.x.Row()
	p.sums = rowSums{s: p.s, a: p.m, x: &p.row}
	q := &p.sums
	defer q.free()
	digits := q.digitsToRound(p.out)
	if digits == 0 {
		return p.onHost()
	}
	rest, err := p.roundOnDevice(q, digits)
	if err != nil {
		return err
	}
	for i, flag := range []num.Flags{num.Overflow, num.Underflow} {
		for range p.met[i] {
			p.count(flag)
		}
	}
	if p.given != nil {
		if err := p.z.Arr.Get(p.s, p.given.z.Arr); err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return nil
	}
	h, err := p.host()
	if err != nil {
		return err
	}
	if err := p.exactRows(h, rest); err != nil {
		return err
	}
	return p.put()
}

// roundOnDevice computes all rows, and computes them again with more digits if that decides the
// rounding of more rows. It returns the rows whose rounding it did not decide.
func (p *multiplying) roundOnDevice(q *rowSums, first int) ([]int, error) {
	for digits := first; ; {
		var n int
		var err error
		if p.settles() {
			n, err = p.settle(q, digits)
		} else {
			n, err = q.round(digits, p.alpha, abi.TargetOf(p.z.Col()))
		}
		if err != nil {
			return nil, err
		}
		p.counts.Digits = digits
		if n == 0 {
			return nil, nil
		}
		rest, h, err := q.left(n)
		if err != nil {
			return nil, err
		}
		again := int64(0)
		for _, i := range rest {
			if !h.special(i) && !h.exact(i) {
				if k := q.digitsAgain(first, h.spread(i)); k != 0 {
					again++
					digits = max(digits, k)
				}
			}
		}
		if again == 0 {
			return rest, nil
		}
		p.counts.Again = max(p.counts.Again, again)
	}
}

// exactRows computes rows on the host. If z is y, these rows of z still hold y.
func (p *multiplying) exactRows(h operands, rows []int) error {
	p.counts.Host = int64(len(rows))
	accs := make([]superacc.Acc, p.cfg.Threads)
	ones := make([]*num.Array, p.cfg.Threads)
	return par.For(p.cfg.Ctx, p.cfg.Threads, len(rows), func(worker, k int) {
		i := rows[k]
		if ones[worker] == nil {
			ones[worker] = num.New(p.out, 1)
		}
		var buf [num.MaxValueWords]uint64
		var c num.Real
		if p.beta.Class != num.Zero {
			c = h.y.Arr.Value(h.y.At(i), buf[:])
		}
		flags := ones[worker].Set(0, accs[worker].Entry(p.out, p.alpha, h.m.Row(i), h.x, p.beta, c))
		h.z.Arr.CopyFrom(h.z.At(i), ones[worker], 0)
		if flags != 0 {
			p.count(flags)
		}
	})
}
