package rns

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/calibration"
)

// TuneSum returns the options opt with the Blocks and BlockSize with which Reduce3 of n numbers of
// a base is fastest on the GPU opt.Device, "cuda:N". They set the order of additions: results have
// other bits than with other Options, but the same bits on CPUs and GPUs. No routine calls TuneSum
// by itself.
//
// Candidates are timed in turn with DefaultBlocks and DefaultBlockSize, for numbers with a quarter
// of the precision, whose sums and products are rarely rounded, and for full significands. The
// defaults are kept unless a candidate saves at least 3 % of the time for both kinds of numbers, in
// the median of the rounds.
//
// The search takes some seconds. Its result is remembered by model of GPU, moduli and n up to the
// next power of two, in the file halfulp/rns.json of the user's cache directory (os.UserCacheDir),
// and not measured again. A file that cannot be read is replaced; where no file can be written,
// nothing is remembered.
//
// TuneSum returns the errors of [Base.NewArrayOn] and Reduce3.
func TuneSum(b *Base, n int, opt *Options) (Options, error) {
	shapes := []tuning{{DefaultBlocks, DefaultBlockSize}}
	for _, k := range [][2]int{{64, 256}, {64, 1024}, {128, 128}, {128, 512}, {256, 64}, {256, 256}} {
		shapes = append(shapes, tuning{Blocks: k[0], BlockSize: k[1]})
	}
	return tune("sum", b, n, opt, shapes, func(n, bits int, d halfulp.Device) (run func(opt *Options) error, free func(), err error) {
		n = min(n, maxTuneSum)
		x, err := tuneArray(b, n, bits).On(d)
		if err != nil {
			return nil, nil, err
		}
		return func(opt *Options) error {
			_, err := Reduce3(x.Vector(0, n, 1), opt)
			return err
		}, x.Free, nil
	})
}

// TuneGemv returns the options opt with the BlockSize with which Gemv of order n is fastest, in the
// same way as TuneSum.
func TuneGemv(b *Base, n int, opt *Options) (Options, error) {
	shapes := []tuning{{BlockSize: DefaultBlockSize}}
	for _, size := range []int{16, 64, 128, 256} {
		shapes = append(shapes, tuning{BlockSize: size})
	}
	return tune("gemv", b, n, opt, shapes, func(n, bits int, d halfulp.Device) (run func(opt *Options) error, free func(), err error) {
		n = min(n, maxTuneGemv)
		all, err := tuneArray(b, n*n+2*n, bits).On(d)
		if err != nil {
			return nil, nil, err
		}
		one, zero := b.NewNumber().SetInt64(1), b.NewNumber()
		a, x, y := all.Matrix(0, n, n, max(n, 1)), all.Vector(n*n, n, 1), all.Vector(n*n+n, n, 1)
		return func(opt *Options) error {
			err := Gemv(halfulp.NoTrans, one, a, x, zero, y, opt)
			return err
		}, all.Free, nil
	})
}

// The largest problems that are measured; they keep all of a GPU busy.
const (
	maxTuneSum  = 1 << 20
	maxTuneGemv = 1 << 10
)

// tuneArray returns n numbers in [-1, 1] with significands of so many bits.
func tuneArray(b *Base, n, bits int) *Array {
	a := b.NewArray(n)
	one, distinct := big.NewFloat(1), make([]*Number, 64)
	for i := range distinct {
		x := new(big.Float).SetPrec(uint(bits)).Quo(one, big.NewFloat(float64(2*i+3)))
		if i%3 == 1 {
			x.Neg(x)
		}
		distinct[i] = b.NewNumber().SetBig(x)
	}
	v := a.Vector(0, n, 1)
	for i := range n {
		v.Set(i, distinct[i%len(distinct)])
	}
	return a
}

// tune returns opt with the fastest of shapes, the first of which is the default. It returns a
// remembered shape if there is one. Else it measures the function that load returns for n numbers
// with significands of so many bits.
func tune(routine string, b *Base, n int, opt *Options, shapes []tuning, load func(n, bits int, d halfulp.Device) (run func(opt *Options) error, free func(), err error)) (Options, error) {
	if n < 0 {
		panic(errShape)
	}
	var p Options
	if opt != nil {
		p = *opt
	}
	if err := p.Validate(); err != nil {
		return Options{}, err
	}
	ctx := p.Context
	if ctx == nil {
		ctx = context.Background()
	}
	c, err := b.onDevice(ctx, p.Device)
	if err != nil {
		return Options{}, err
	}
	size := tunedSize(n)
	key := tuneKey(c.Model(), routine, b, size)
	tuneLock.Lock()
	defer tuneLock.Unlock()
	known := readTunings()
	if k, ok := known[key]; ok && slices.Contains(shapes, k) {
		return k.in(p), nil
	}
	worst := make([]float64, len(shapes))
	data := []int{max(b.prec/4, 1), b.maxSigBits - 1}
	for i, bits := range data {
		run, free, err := load(size, bits, p.Device)
		if err != nil {
			return Options{}, err
		}
		ratios, err := tuneRatios(len(shapes), func(k int) error {
			q := shapes[k].in(p)
			q.Progress, q.Bound = nil, nil
			return run(&q)
		})
		free()
		if err != nil {
			return Options{}, err
		}
		for k, r := range ratios {
			worst[k] = max(worst[k], r)
		}
		if p.Progress != nil {
			p.Progress(float64(i+1) / float64(len(data)))
		}
	}
	best := shapes[fastest(worst)]
	known[key] = best
	writeTunings(known)
	return best.in(p), nil
}

// in returns opt with the blocks of k.
func (k tuning) in(opt Options) Options {
	opt.Blocks, opt.BlockSize = k.Blocks, k.BlockSize
	return opt
}

// tunedSize returns the size that is measured in place of n.
func tunedSize(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// tuneKey returns the key of a remembered result.
func tuneKey(model, routine string, b *Base, size int) string {
	return fmt.Sprintf("%s, %s, %d, moduli %v", model, routine, size, b.m)
}

// tuneRounds is the number of times that each candidate is timed, after a run that warms up;
// tuneMargin is the share of the default's time that a candidate has to save.
const (
	tuneRounds = 5
	tuneMargin = 0.03
)

// tuneClock returns the time.
var tuneClock = time.Now

// tuneRatios returns the times of n candidates relative to the time of candidate 0. A round runs
// each candidate once, in an order that rotates from round to round, so that no candidate gains
// when a machine slows down for a while or a device speeds up. The median over the rounds counts.
func tuneRatios(n int, run func(k int) error) ([]float64, error) {
	rounds := make([][]float64, n)
	for round := range 1 + tuneRounds {
		times := make([]float64, n)
		for i := range n {
			k := (i + round) % n
			start := tuneClock()
			if err := run(k); err != nil {
				return nil, err
			}
			times[k] = float64(max(tuneClock().Sub(start), 1))
		}
		for k, t := range times {
			if round > 0 {
				rounds[k] = append(rounds[k], t/times[0])
			}
		}
	}
	ratios := make([]float64, n)
	for k, r := range rounds {
		slices.Sort(r)
		ratios[k] = r[len(r)/2]
	}
	return ratios, nil
}

// fastest returns the candidate with the least ratio, or 0 unless that candidate saves tuneMargin.
func fastest(ratios []float64) int {
	best := 0
	for k, r := range ratios {
		if r < ratios[best] {
			best = k
		}
	}
	if ratios[best] > 1-tuneMargin {
		return 0
	}
	return best
}

// tuneLock is held while the file is read, and until it is written.
var tuneLock sync.Mutex

// tuning is the entry of the file for a key.
type tuning struct {
	Blocks    int `json:"blocks,omitempty"`
	BlockSize int `json:"block_size"`
}

// tuneVersion changes when new kernels or ways to measure make earlier results worthless.
const tuneVersion = 2

// tuneFile is the name of the file.
const tuneFile = "rns.json"

// readTunings returns the entries of the file.
func readTunings() map[string]tuning {
	if found := calibration.Read[map[string]tuning](tuneFile, tuneVersion); found != nil {
		return found
	}
	return map[string]tuning{}
}

// writeTunings writes all results to the file, if it can.
func writeTunings(found map[string]tuning) { _ = calibration.Write(tuneFile, tuneVersion, found) }
