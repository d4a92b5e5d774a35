package rows

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/direct"
	"github.com/halfulp/halfulp/internal/gpu/abi"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/par"
)

// Gemv stores sum_j alpha m_ij x_j + beta y_i rounded in number i of z, for operands of the
// host, like direct.Gemv. alpha zero leaves m and x unread, beta zero y.
func Gemv(dev *cuda.Device, cfg Config, alpha num.Real, m num.Mat, x num.Vec, beta num.Real, y num.Vec, z *num.Array, count func(num.Flags)) (Counts, error) {
	cfg = cfg.defaults()
	p := multiplying{cfg: cfg, alpha: alpha, beta: beta, count: count, out: z.Format, n: m.Rows,
		hostM: func() (num.Mat, error) { return m, nil }, hostX: func() (num.Vec, error) { return x, nil },
		hostY: func() (num.Vec, error) { return y, nil }, hostZ: func() (num.Vec, error) { return num.Vec{Arr: z, Inc: 1, N: m.Rows}, nil },
		put: func() error { return nil }}
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
		if p.roundsOnDevice() {
			a, err := mem.NewArray(s, z.Format, m.Rows)
			if err != nil {
				return err
			}
			defer a.Free()
			p.z = &mem.Vector{Arr: a, Inc: 1, N: m.Rows}
			p.get = func() error { return a.Get(s, z) }
		}
		return p.run()
	})
	return p.counts, err
}

// GemvResident is Gemv for operands in the memory of the device of s. z shares no storage with
// m and x, and with y only if it is the same view.
func GemvResident(s *cuda.Stream, cfg Config, alpha num.Real, m mem.Matrix, x mem.Vector, beta num.Real, y, z mem.Vector, count func(num.Flags)) (Counts, error) {
	z.Col().Changed()
	copies := mem.NewHostCopies(s)
	p := multiplying{cfg: cfg.defaults(), s: s, alpha: alpha, beta: beta, m: m, x: x, z: &z, count: count, out: z.Arr.Format, n: m.Rows,
		hostM: func() (num.Mat, error) { return copies.Get(m) },
		hostX: func() (num.Vec, error) { return copies.Vector(x) },
		hostY: func() (num.Vec, error) { return copies.Vector(y) },
		hostZ: func() (num.Vec, error) { return copies.Vector(z) },
		get:   func() error { return nil },
		put:   func() error { return copies.Put(z.Col()) }}
	if !p.applies(m.Cols) {
		return p.counts, p.onHost()
	}
	err := p.run()
	return p.counts, err
}

// A multiplying is a product of a matrix and a vector with what connects it to its operands.
type multiplying struct {
	cfg          Config
	s            *cuda.Stream
	alpha, beta  num.Real
	m            mem.Matrix
	x            mem.Vector
	z            *mem.Vector // where the device rounds results to, if it does
	out          num.Format
	n            int
	hostM        func() (num.Mat, error)
	hostX, hostY func() (num.Vec, error)
	hostZ        func() (num.Vec, error)
	get          func() error // copies z to the host's z, where that is the result
	put          func() error // copies the host's z to the device, where that is the result
	count        func(num.Flags)
	counts       Counts
}

// applies reports whether there is a part for the device.
func (p *multiplying) applies(k int) bool {
	return p.n > 0 && p.alpha.Class == num.Finite && applies(k)
}

// roundsOnDevice reports whether the device rounds the results, not the host.
func (p *multiplying) roundsOnDevice() bool {
	_, power := powerOfTwo(p.alpha)
	return power && p.beta.Class == num.Zero && p.out.Terms() <= 1
}

// operands are the host's.
type operands struct {
	m    num.Mat
	x, y num.Vec
	z    num.Vec
}

func (p *multiplying) host() (h operands, err error) {
	if h.z, err = p.hostZ(); err != nil {
		return h, err
	}
	if p.alpha.Class != num.Zero {
		if h.m, err = p.hostM(); err != nil {
			return h, err
		}
		if h.x, err = p.hostX(); err != nil {
			return h, err
		}
	}
	if p.beta.Class != num.Zero {
		h.y, err = p.hostY()
	}
	return h, err
}

// onHost is the product on the host.
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
	w := p.cfg.work()
	if _, err := direct.Gemv(w, p.alpha, h.m, h.x, p.beta, h.y, z, p.count); err != nil {
		return err
	}
	for i := range p.n {
		h.z.Arr.CopyFrom(h.z.At(i), z, i)
	}
	return p.put()
}

func (p *multiplying) run() error {
	x := p.x.Row()
	q := &rowSums{s: p.s, a: p.m, x: &x}
	defer q.free()
	digits := q.digitsToRound(p.out)
	if digits == 0 {
		return p.onHost()
	}
	if !p.roundsOnDevice() {
		return p.roundOnHost(q, digits)
	}
	rest, err := p.roundOnDevice(q, digits)
	if err != nil {
		return err
	}
	if err := p.get(); err != nil || len(rest) == 0 {
		return err
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

// roundOnDevice computes all rows, and again with more digits if that decides more of them. It
// returns those that it did not decide.
func (p *multiplying) roundOnDevice(q *rowSums, first int) ([]int, error) {
	for digits := first; ; {
		n, err := q.round(digits, p.alpha, abi.TargetOf(p.z.Col()))
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

// rowsPerPart is how many rows a goroutine rounds at a time.
const rowsPerPart = 16

// roundOnHost computes all rows on the device and rounds them on the host.
func (p *multiplying) roundOnHost(q *rowSums, digits int) error {
	sums, err := q.sums(digits)
	if err != nil {
		return err
	}
	p.counts.Digits = digits
	z, err := p.hostZ()
	if err != nil {
		return err
	}
	var y num.Vec
	if p.beta.Class != num.Zero {
		if y, err = p.hostY(); err != nil {
			return err
		}
	}
	rest := make([]bool, p.n)
	rounders := make([]rowRounder, p.cfg.Threads)
	err = p.eachRow(func(worker, i int) {
		rest[i] = !rounders[worker].row(p, sums, y, z, i)
	})
	if err != nil {
		return err
	}
	var list []int
	for i, left := range rest {
		if left {
			list = append(list, i)
		}
	}
	if len(list) > 0 {
		h, err := p.host()
		if err != nil {
			return err
		}
		if err := p.exactRows(h, list); err != nil {
			return err
		}
	}
	return p.put()
}

// eachRow calls f for all rows, on the threads of the host.
func (p *multiplying) eachRow(f func(worker, i int)) error {
	return par.For(p.cfg.Ctx, p.cfg.Threads, (p.n+rowsPerPart-1)/rowsPerPart, func(worker, part int) {
		for i := part * rowsPerPart; i < min((part+1)*rowsPerPart, p.n); i++ {
			f(worker, i)
		}
	})
}

// rowRounder holds the memory of a worker that rounds rows.
type rowRounder struct {
	acc    direct.Acc
	one    *num.Array
	values [num.MaxValueWords]uint64
}

// row stores row i if its sum decides it.
func (r *rowRounder) row(p *multiplying, sums *hostSums, y, z num.Vec, i int) bool {
	a := &r.acc
	a.Reset()
	bound, ok := sums.add(a, i, p.alpha)
	if !ok {
		return false
	}
	if p.beta.Class != num.Zero {
		a.AddProduct(p.beta, y.Arr.Value(y.At(i), r.values[:]))
	}
	if r.one == nil {
		r.one = num.New(p.out, 1)
	}
	var flags num.Flags
	if bound.Class == num.Zero || !a.Finite() {
		flags = r.one.Set(0, a.Value(p.out))
	} else if flags, ok = a.RoundEnclosure(r.one, bound); !ok {
		return false
	}
	z.Arr.CopyFrom(z.At(i), r.one, 0)
	if flags != 0 {
		p.count(flags)
	}
	return true
}

// exactRows computes rows on the host. If z is y, their entries of it are still y's.
func (p *multiplying) exactRows(h operands, rows []int) error {
	p.counts.Host = int64(len(rows))
	accs := make([]direct.Acc, p.cfg.Threads)
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
