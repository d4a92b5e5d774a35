package direct

import (
	"math"
	"unsafe"

	"github.com/halfulp/halfulp/internal/lanes"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/superacc"
	"github.com/halfulp/halfulp/internal/tiles"
)

// dotBatch is the number of products whose digits are in memory at a time.
const dotBatch = 16

// digitDot sums products of MP numbers from their leading digits, like a row of a matrix-vector
// product (see gemv.go). It works chunk by chunk.
type digitDot struct {
	x, y     loaded
	groups   int
	vertical lanes.Plan // used if it has digits
	top      *topPlan   // used instead of digits unless nil
	rows     *topRows   // for top where there is no assembly
	tiles    *tiles.Dot // replaces lanes for chunks that are not short
	lanes    *lanes.Dot // for vertical
	failed   bool
	acc      superacc.Acc // sum of the chunks
	bound    superacc.Acc // bounds the distance between acc and the true sum

	splitX, splitY *splitter
	digitsX        []int64
	digitsY        []int64
	scale          []int64
	columns        []int64
	mag            []uint64
	words          []uint64 // for a sum by top
}

// A loaded vector holds MP numbers, or other numbers together with MP copies of the entries in use.
type loaded struct {
	num.Vec
	format num.Format
	copies *num.Array
}

// loadedFormat returns the format of MP copies of numbers of format f, when only the digits of that
// many words count.
func loadedFormat(f num.Format, words int) num.Format {
	switch {
	case f.Kind == num.MP:
		return f
	case superacc.IsFloat(f):
		words = 1
	default: // enough for nearly all expansions
		words = max(words, f.Terms())
	}
	return num.Format{Kind: num.MP, Prec: uint32(64 * words)}
}

// load returns the entries lo <= i < hi.
func (v *loaded) load(lo, hi int) num.Vec {
	x := v.Vec.Slice(lo, hi)
	if x.Arr.Kind == num.MP {
		return x
	}
	if v.copies == nil {
		v.copies = num.New(v.format, tiles.DotChunk)
	}
	var buf [num.MaxValueWords]uint64
	for i := range x.N {
		loadNumber(v.copies, i, x.Arr, x.At(i), buf[:])
	}
	return num.Vec{Arr: v.copies, Inc: 1, N: x.N}
}

func (d *digitDot) init(x, y loaded, groups int, vertical lanes.Plan, onTiles tiles.Plan) {
	k := 4 * groups
	d.x, d.y, d.groups = x, y, groups
	d.scale = make([]int64, tiles.DotChunk+sumLanes)
	if onTiles.Blocks != 0 {
		d.tiles = tiles.NewDot(onTiles)
	}
	if d.vertical = vertical; vertical.Digits != 0 {
		return
	}
	d.splitX = newSplitter(groups, x.format.Limbs(), dotBatch)
	d.splitY = newSplitter(groups, y.format.Limbs(), dotBatch)
	d.digitsX = make([]int64, dotBatch*k)
	d.digitsY = make([]int64, dotBatch*(k+4))
	d.columns = make([]int64, 2*k)
	d.mag = make([]uint64, (digitBits*(k+1)+63)/64+2)
}

// add adds the products lo <= i < hi. There are at most tiles.DotChunk of them.
func (d *digitDot) add(lo, hi int) {
	x, y := d.x.load(lo, hi), d.y.load(lo, hi)
	lo, hi = 0, hi-lo
	ref := d.reference(x, y)
	if d.failed {
		return
	}
	if ref == math.MinInt64 {
		return
	}
	if t := d.top; t != nil {
		if d.words == nil {
			d.words, d.rows = make([]uint64, t.sum), t.plainRows()
		}
		sum := d.words
		clear(sum)
		t.dot(d.rows, sum, ref, x.Arr, x.At(lo), x.At(hi), y.Arr, y.At(lo))
		if v := t.value(sum, ref); len(v.Mag) > 0 {
			d.acc.Add(v)
		}
		d.bound.AddMag(false, ref-t.unit, []uint64{uint64(hi-lo) * t.err})
		return
	}
	if t := d.tiles; t != nil && x.N >= t.Plan.Unit.FewProducts {
		if t.Add(&d.acc, &d.bound, x, y, ref, d.scale) {
			return
		}
		d.freeTiles() // other chunks are probably as wide
	}
	if d.vertical.Digits != 0 {
		if d.lanes == nil {
			d.lanes = lanes.NewDot(d.vertical, d.x.format, d.y.format)
		}
		v := d.lanes
		if m, neg := v.Sum(x, y, lo, hi, ref, d.scale); len(m) > 0 {
			d.acc.AddMag(neg, ref-int64(v.Plan.Unit.Bits*v.Plan.Digits), m)
		}
		d.bound.AddMag(false, ref-int64(v.Plan.Unit.Bits*v.Plan.Digits), []uint64{uint64(hi-lo) * v.Plan.ProductBound()})
		return
	}
	k := 4 * d.groups
	clear(d.columns)
	most := 127 / k // digits below 2^28 on both sides
	for b := lo; b < hi; b += dotBatch {
		n := min(dotBatch, hi-b)
		job := d.splitX.job()
		d.set(&job, d.splitX, x, b, n)
		job.dst, job.dstPitch = unsafe.Pointer(&d.digitsX[0]), 8*k
		job.ref, job.refPitch = unsafe.Pointer(&ref), 0
		job.scale, job.scalePitch = unsafe.Pointer(&d.scale[b-lo]), 8
		splitInto(&job)
		job = d.splitY.job()
		d.set(&job, d.splitY, y, b, n)
		job.dst, job.dstPitch = unsafe.Pointer(&d.digitsY[4]), 8*(k+4)
		job.ref, job.refPitch = unsafe.Pointer(&d.scale[b-lo]), 8
		job.scale, job.scalePitch = unsafe.Pointer(&zeroScale[0]), 0
		splitInto(&job)
		for h := 0; h < n; h += most {
			addConvolution(1, d.groups, unsafe.Pointer(&d.columns[0]), 0, unsafe.Pointer(&d.digitsX[k*h]), 0,
				unsafe.Pointer(&d.digitsY[(k+4)*h]), min(most, n-h))
		}
	}
	unit := ref - int64(digitBits*(k+1))
	if m, neg := columnSum(d.mag, d.columns); len(m) > 0 {
		d.acc.AddMag(neg, unit, m)
	}
	d.bound.AddMag(false, unit, []uint64{uint64(hi-lo) * uint64(k+3) << digitBits})
}

// freeTiles stops the use of tiles.
func (d *digitDot) freeTiles() {
	if d.tiles != nil {
		d.tiles.Free()
		d.tiles = nil
	}
}

// reference returns the largest exponent of the products x_i y_i, or MinInt64 if all products are
// 0. It stores the exponents of y, with superacc.NoScale where the product is 0. It fails for
// infinities and NaN.
func (d *digitDot) reference(x, y num.Vec) int64 {
	ref := int64(math.MinInt64)
	i, j, n := x.Off, y.Off, x.N
	if x.Inc == 1 && y.Inc == 1 {
		find := productSpan
		if superacc.Assembly() {
			find = productSpanFast
		}
		var finite bool
		ref, finite = find(d.scale[:n], x.Arr.Exp[i:i+n], y.Arr.Exp[j:j+n], classBytes(x.Arr.Cls[i:i+n]), classBytes(y.Arr.Cls[j:j+n]))
		if finite {
			return ref
		}
		ref = math.MinInt64
	}
	for h := range n {
		cx, cy := x.Arr.Cls[i].Class(), y.Arr.Cls[j].Class()
		d.failed = d.failed || cx > num.Finite || cy > num.Finite
		d.scale[h] = int64(y.Arr.Exp[j])
		if cx == num.Finite && cy == num.Finite {
			ref = max(ref, int64(x.Arr.Exp[i])+d.scale[h])
		} else {
			d.scale[h] = superacc.NoScale
		}
		i += x.Inc
		j += y.Inc
	}
	return ref
}

// set makes job read the numbers first <= i < first+n of v.
func (d *digitDot) set(job *digitJob, s *splitter, v num.Vec, first, n int) {
	at := v.At(first)
	s.significands(job, v.Arr.Sig, at, v.Inc)
	job.exp, job.expPitch = unsafe.Pointer(&v.Arr.Exp[at]), 4*v.Inc
	job.cls, job.clsPitch = unsafe.Pointer(&v.Arr.Cls[at]), v.Inc
	job.n = n
	if first+2*n <= v.N {
		job.ahead = n * job.sigPitch
	}
}

// digits computes the sum of products of vectors from leading digits. It returns a sum known up to
// bound > 0, or ok = false. Numbers that are not MP are copied, cut to the words that the digits
// need.
func (r Reduction) digits(w Work, x, y num.Vec, groups, p int) (a *superacc.Acc, bound num.Real, ok bool, err error) {
	var top *topPlan
	inLine := func(v num.Vec) bool { return v.Inc == 1 || v.Arr.Kind != num.MP }
	var vertical lanes.Plan
	var onTiles tiles.Plan
	if inLine(x) && inLine(y) {
		// Two words are faster than their digits as binary64 numbers.
		v, ok := lanes.PlanSum(p, x.N)
		t, fits := planTop(x.Arr.Format, p, x.N)
		if !fits {
			t, fits = planOne(x.Arr.Format, p, x.N)
		}
		if fits && y.Arr.Kind == num.MP && y.Arr.Limbs() == t.words && (!ok || v.Unit.Floats && t.words == 2) {
			top = &t
		} else {
			vertical = v
			if t, ok := tiles.PlanDot(x.Arr.Format, y.Arr.Format, p, x.N); ok {
				onTiles = t
			}
		}
	}
	words := (4*digitBits*groups + 63) / 64
	if vertical.Digits != 0 {
		words = vertical.Words
	}
	fx, fy := loadedFormat(x.Arr.Format, words), loadedFormat(y.Arr.Format, words)
	parts := (x.N + tiles.DotChunk - 1) / tiles.DotChunk
	dots := make([]digitDot, max(1, min(w.Threads, parts)))
	err = w.loop(parts, func(worker, i int) {
		d := &dots[worker]
		if d.groups == 0 {
			d.init(loaded{Vec: x, format: fx}, loaded{Vec: y, format: fy}, groups, vertical, onTiles)
			d.top = top
		}
		if !d.failed {
			d.add(i*tiles.DotChunk, min((i+1)*tiles.DotChunk, x.N))
		}
	})
	for i := range dots {
		dots[i].freeTiles()
	}
	if err != nil {
		return nil, bound, false, err
	}
	a = &dots[0].acc
	for i := range dots[1:] {
		a.Merge(&dots[1+i].acc)
		dots[0].bound.Merge(&dots[1+i].bound)
		dots[0].failed = dots[0].failed || dots[1+i].failed
	}
	bound = dots[0].bound.Leading(64)
	if dots[0].failed || bound.Class != num.Finite {
		return nil, bound, false, nil
	}
	m := append([]uint64(nil), bound.Mag...)
	m = append(m, 0)
	num.AddShifted(m, one[:]) // the weight of a sticky bit
	bound.Mag, bound.Sticky = m, false
	return a, bound, true, nil
}
