package reproduce

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/cuda"
	"github.com/halfulp/halfulp/internal/gpu"
	"github.com/halfulp/halfulp/rns"
)

// gpuDevice is the GPU whose rows stand beside the CPU's.
type gpuDevice struct {
	dev   *cuda.Device
	title string // in records
}

// openGPU returns the GPU that o.Device names, nil for the CPU alone. Errors wrap
// halfulp.ErrDevice if there is no such GPU.
func (o *Options) openGPU() (*gpuDevice, error) {
	if o.Device == "" || o.Device == cpuDevice {
		return nil, nil
	}
	digits, ok := strings.CutPrefix(o.Device, "cuda:")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil {
		return nil, fmt.Errorf("device %q: %w (want cpu or cuda:N)", o.Device, halfulp.ErrDevice)
	}
	dev, err := gpu.Open(int(n))
	if err != nil {
		return nil, fmt.Errorf("device %q: %w", o.Device, err)
	}
	return &gpuDevice{dev, o.Device + ", " + dev.Info().Name}, nil
}

// CheckDevice returns an error that wraps halfulp.ErrDevice unless Options.Device can be
// that device.
func CheckDevice(name string) error {
	_, err := (&Options{Device: name}).openGPU()
	return err
}

// gpuTitle is the GPU in records, "" if there is none.
func (e *experiment) gpuTitle() string {
	if e.gpu == nil {
		return ""
	}
	return e.gpu.title
}

// andGPU continues a title about the CPU.
func andGPU(gpu string) string {
	if gpu == "" {
		return ""
	}
	return " and " + gpu
}

// wait returns when the GPU has done all it was given.
func (e *experiment) wait() error {
	return e.gpu.dev.Do(e.Context, func(s *cuda.Stream) error { return s.Synchronize() })
}

// errBits is the error of a result of a GPU that is not the CPU's.
var errBits = errors.New("the GPU's result has other bits than the CPU's")

// fewNumbers bounds the numbers of sums whose additions wait for each other on a GPU: a
// million would take minutes.
const fewNumbers = 20000

// gpuSum is a summation on a GPU.
type gpuSum struct {
	title string
	style int // of its curve
	most  int // numbers that it is run with; 0: any
	// blocks are those of Reduce3.
	blocks rns.Options
	sum    func(x *rns.DeviceVector) (*rns.Number, error)
	// same makes the same additions on the CPU.
	same func(x *rns.Vector) *rns.Number
}

// gpuSums returns the summations of 003 on GPUs, and the one parallel over numbers and
// moduli. Reduce3 is there with the default blocks and with those that are fastest.
func gpuSums(fastest rns.Options) []gpuSum {
	return []gpuSum{
		{"Reduce1S recursive", 0, fewNumbers, rns.Options{}, reduce1(rns.OneThread), rns.Reduce1},
		{"Reduce1P recursive", 1, fewNumbers, rns.Options{}, reduce1(rns.OverModuli), rns.Reduce1},
		{"Reduce2S pairwise", 2, fewNumbers, rns.Options{}, reduce2(rns.OneThread), rns.Reduce2},
		{"Reduce2P pairwise", 3, fewNumbers, rns.Options{}, reduce2(rns.OverModuli), rns.Reduce2},
		{"Reduce2 pairwise, over all", 5, 0, rns.Options{}, reduce2(rns.OverAll), rns.Reduce2},
		blockSum("Reduce3 hybrid", 6, rns.Options{Blocks: rns.DefaultBlocks, BlockSize: rns.DefaultBlockSize}),
		blockSum("Reduce3 hybrid"+tuned, 7, fastest),
	}
}

// tuned ends the names of methods with the blocks that are fastest on a GPU.
const tuned = ", tuned"

func reduce1(v rns.SumVariant) func(*rns.DeviceVector) (*rns.Number, error) {
	return func(x *rns.DeviceVector) (*rns.Number, error) { return rns.DeviceReduce1(x, v) }
}

func reduce2(v rns.SumVariant) func(*rns.DeviceVector) (*rns.Number, error) {
	return func(x *rns.DeviceVector) (*rns.Number, error) { return rns.DeviceReduce2(x, v) }
}

// blockSum is Reduce3 with those blocks.
func blockSum(title string, style int, o rns.Options) gpuSum {
	return gpuSum{
		title, style, 0, o,
		func(x *rns.DeviceVector) (*rns.Number, error) { return rns.DeviceReduce3(x, &o) },
		func(x *rns.Vector) *rns.Number { return rns.Reduce3(x, &o) },
	}
}

// titleFor is what tables call the summation where others have n numbers.
func (m *gpuSum) titleFor(n int) string { return fewTitle(m.title, m.most, n) }

func fewTitle(title string, most, n int) string {
	if most == 0 || n <= most {
		return title
	}
	return fmt.Sprintf("%s, of %d numbers", title, most)
}

// gpuSumTimes measures the sums on the GPU of doubles that are there.
func (e *experiment) gpuSumTimes(r *Report, p int, x *halfulp.Vector) error {
	b, err := loops()[0].base(rns.SummationBase, p)
	if err != nil {
		return err
	}
	fastest, err := rns.TuneSum(e.Device, b, x.Len())
	if err != nil {
		return err
	}
	all := b.VectorOf(x)
	for _, m := range gpuSums(fastest) {
		if err := e.next(); err != nil {
			return err
		}
		v := all
		if m.most > 0 && v.Len() > m.most {
			a, offset, inc := v.Array()
			v = a.Vector(offset, m.most, inc)
		}
		ms, runs, err := e.gpuSumTime(m, b, v)
		if err != nil {
			return fmt.Errorf("%s, %d bits: %w", m.title, p, err)
		}
		r.add(Record{
			Table: tableTimes, Method: m.titleFor(e.N), Device: e.gpu.title, Bits: p, Moduli: b.Len(),
			Quantity: timeOfRun, Unit: "ms", Here: &ms, Runs: runs, Blocks: m.blocks.Blocks, BlockSize: m.blocks.BlockSize,
		})
	}
	return e.kernels(r, b, p, "sum", "tree", "pairs", "recursive, one thread", "recursive, a group", "pairwise, one thread", "pairwise, a group")
}

// gpuSumTime measures a sum and compares it with the CPU's.
func (e *experiment) gpuSumTime(m gpuSum, b *rns.Base, x *rns.Vector) (ms float64, runs int, err error) {
	d, err := x.To(e.Device)
	if err != nil {
		return 0, 0, err
	}
	stored, _, _ := d.Array()
	defer stored.Free()
	got, want := b.NewVector(1), b.NewVector(1)
	ms, runs, err = e.measure(nil, func() error {
		z, err := m.sum(d)
		if err == nil {
			got.Set(0, z)
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if want.Set(0, m.same(x)); !got.Same(want) {
		return 0, 0, errBits
	}
	return ms, runs, nil
}

// gpuGemvs returns the products on GPUs, with the default blocks and with those that are
// fastest.
func gpuGemvs(fastest rns.Options) []gpuGemv {
	with := func(name string, trans bool, o rns.Options) gpuGemv {
		f := func(trans rns.Transpose, alpha *rns.Number, a *rns.DeviceMatrix, x *rns.DeviceVector, beta *rns.Number, y *rns.DeviceVector) error {
			return rns.DeviceGemv(trans, alpha, a, x, beta, y, &o)
		}
		return gpuGemv{gemvMethod{name, trans, gemvOnGPU(f)}, o}
	}
	standard := rns.Options{BlockSize: rns.DefaultBlockSize}
	return []gpuGemv{
		with(algorithm1, false, standard),
		with(algorithm1+transposed, true, standard),
		with(algorithm1+tuned, false, fastest),
		with(algorithm1+transposed+tuned, true, fastest),
		{gemvMethod{basic, false, gemvOnGPU(rns.DeviceGemvBasic)}, rns.Options{}},
		{gemvMethod{basic + transposed, true, gemvOnGPU(rns.DeviceGemvBasic)}, rns.Options{}},
	}
}

// gpuGemv is a product on a GPU.
type gpuGemv struct {
	gemvMethod
	blocks rns.Options // of algorithm 1
}

// onCPU returns the product with the same additions on the CPU, given those with the default
// blocks by name.
func (m *gpuGemv) onCPU(e *experiment, d *gemvData, known map[string]*rns.Vector) *rns.Vector {
	standard, isTuned := strings.CutSuffix(m.name, tuned)
	if !isTuned || m.blocks.BlockSize == rns.DefaultBlockSize {
		return known[standard]
	}
	z := d.yr.Clone()
	rns.Gemv(rns.Transpose(m.trans), d.al, d.ar, d.xr, d.be, z, &rns.Options{Threads: e.Threads, BlockSize: m.blocks.BlockSize})
	return z
}

// gemvOnGPU makes load of a function.
func gemvOnGPU(f func(rns.Transpose, *rns.Number, *rns.DeviceMatrix, *rns.DeviceVector, *rns.Number, *rns.DeviceVector) error) func(*experiment, *gemvData, bool) (*gemvRun, error) {
	return func(e *experiment, d *gemvData, trans bool) (*gemvRun, error) {
		var stored []*rns.DeviceArray
		free := func() {
			for _, s := range stored {
				s.Free()
			}
		}
		vector := func(v *rns.Vector) (*rns.DeviceVector, error) {
			z, err := v.To(e.Device)
			if err == nil {
				s, _, _ := z.Array()
				stored = append(stored, s)
			}
			return z, err
		}
		a, err := d.ar.To(e.Device)
		if err != nil {
			return nil, err
		}
		s, _, _ := a.Array()
		stored = append(stored, s)
		x, err := vector(d.xr)
		if err != nil {
			free()
			return nil, err
		}
		y, err := vector(d.yr)
		if err != nil {
			free()
			return nil, err
		}
		old, _, _ := d.yr.Clone().Array()
		to, _, _ := y.Array()
		var failed error
		return &gemvRun{
			reset: func() {
				if failed = to.Set(old); failed == nil {
					failed = e.wait()
				}
			},
			run: func() error {
				if failed != nil {
					return failed
				}
				if err := f(rns.Transpose(trans), d.al, a, x, d.be, y); err != nil {
					return err
				}
				return e.wait()
			},
			result: y.Vector,
			free:   free,
		}, nil
	}
}

// gpuGemvTimes measures the products on the GPU of operands that are there, and compares
// them with the CPU's, of which those with the default blocks are known by name.
func (e *experiment) gpuGemvTimes(r *Report, d *gemvData, cpu map[string]*rns.Vector) error {
	fastest, err := rns.TuneGemv(e.Device, d.b, e.N)
	if err != nil {
		return err
	}
	for _, m := range gpuGemvs(fastest) {
		if err := e.next(); err != nil {
			return err
		}
		z, ms, runs, err := e.gemvTime(m.gemvMethod, d)
		if err == nil && !z.Same(m.onCPU(e, d, cpu)) {
			err = errBits
		}
		if err != nil {
			return fmt.Errorf("%s, %s, %d bits: %w", m.name, d.inputs, d.bits, err)
		}
		k := d.record(tableGemv, m.name, timeOfRun, ms)
		k.Device, k.Moduli, k.Unit, k.Runs, k.BlockSize = e.gpu.title, d.b.Len(), "ms", runs, m.blocks.BlockSize
		r.add(k)
	}
	if d.inputs == quarter {
		return nil // the kernels are the same
	}
	return e.kernels(r, d.b, d.bits, "dot", "tree", "map")
}
