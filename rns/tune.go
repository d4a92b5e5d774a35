package rns

import (
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/halfulp/halfulp/cuda"
)

// TuneSum returns the Blocks and BlockSize with which DeviceReduce3 of n numbers of a base
// is fastest on the GPU "cuda:N". They are an order of additions: results have other bits
// than with other Options, the same on CPUs and GPUs. No routine calls TuneSum by itself.
//
// What is found, in about a second, is remembered by model of GPU, moduli and n up to the
// next power of two, in the file halfulp/rns.json of the user's cache directory
// (os.UserCacheDir), and not measured again. A file that cannot be read is replaced; where
// none can be written, nothing is remembered.
//
// Errors are those of Array.To and DeviceReduce3.
func TuneSum(device string, b *Base, n int) (Options, error) {
	var shapes []Options
	for _, k := range [][2]int{{64, 32}, {64, 256}, {64, 1024}, {128, 128}, {128, 512}, {256, 64}, {256, 256}} {
		shapes = append(shapes, Options{Blocks: k[0], BlockSize: k[1]})
	}
	return tune(device, "sum", b, n, shapes, func(n int) (run func(o *Options) error, free func(), err error) {
		n = min(n, maxTuneSum)
		d, err := tuneArray(b, n).To(device)
		if err != nil {
			return nil, nil, err
		}
		return func(o *Options) error {
			_, err := DeviceReduce3(d.Vector(0, n, 1), o)
			return err
		}, d.Free, nil
	})
}

// TuneGemv returns the BlockSize with which DeviceGemv of order n is fastest, as TuneSum
// does.
func TuneGemv(device string, b *Base, n int) (Options, error) {
	var shapes []Options
	for _, size := range []int{16, 32, 64, 128, 256} {
		shapes = append(shapes, Options{BlockSize: size})
	}
	return tune(device, "gemv", b, n, shapes, func(n int) (run func(o *Options) error, free func(), err error) {
		n = min(n, maxTuneGemv)
		d, err := tuneArray(b, n*n+2*n).To(device)
		if err != nil {
			return nil, nil, err
		}
		one, zero := b.NewNumber().SetInt64(1), b.NewNumber()
		a, x, y := d.Matrix(0, n, n, max(n, 1)), d.Vector(n*n, n, 1), d.Vector(n*n+n, n, 1)
		return func(o *Options) error {
			if err := DeviceGemv(NoTrans, one, a, x, zero, y, o); err != nil {
				return err
			}
			return d.dev.Do(context.Background(), func(s *cuda.Stream) error { return s.Synchronize() })
		}, d.Free, nil
	})
}

// The largest problems that are measured; they keep all of a GPU busy.
const (
	maxTuneSum  = 1 << 20
	maxTuneGemv = 1 << 10
)

// tuneArray returns n numbers with significands of all bits.
func tuneArray(b *Base, n int) *Array {
	a := b.NewArray(n)
	one, distinct := b.NewNumber().SetInt64(1), make([]*Number, 64)
	for i := range distinct {
		distinct[i] = b.NewNumber().Quo(one, b.NewNumber().SetInt64(int64(2*i+3)))
	}
	v := a.Vector(0, n, 1)
	for i := range n {
		v.Set(i, distinct[i%len(distinct)])
	}
	return a
}

// tune returns the fastest of shapes, measured by what load makes unless it is remembered.
func tune(device, routine string, b *Base, n int, shapes []Options, load func(n int) (run func(o *Options) error, free func(), err error)) (Options, error) {
	if n < 0 {
		panic(errShape)
	}
	index, err := parseDevice(device)
	if err != nil {
		return Options{}, err
	}
	dev, err := openDevice(index)
	if err != nil {
		return Options{}, err
	}
	size := tunedSize(n)
	key := tuneKey(dev, routine, b, size)
	tuneLock.Lock()
	defer tuneLock.Unlock()
	known := readTunings()
	if k, ok := known[key]; ok {
		if o := (Options{Blocks: k.Blocks, BlockSize: k.BlockSize}); slices.Contains(shapes, o) {
			return o, nil
		}
	}
	run, free, err := load(size)
	if err != nil {
		return Options{}, err
	}
	defer free()
	var best Options
	var least time.Duration
	for i, o := range shapes {
		d, err := tuneTime(run, o)
		if err != nil {
			return Options{}, err
		}
		if i == 0 || d < least {
			best, least = o, d
		}
	}
	known[key] = tuning{best.Blocks, best.BlockSize}
	writeTunings(known)
	return best, nil
}

// tunedSize is the size that stands for n.
func tunedSize(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// tuneKey is the key of what is found.
func tuneKey(dev *cuda.Device, routine string, b *Base, size int) string {
	return fmt.Sprintf("%s, %s, %d, moduli %v", dev.Info().Name, routine, size, b.m)
}

// tuneTime returns the least time of three runs after one that warms up.
func tuneTime(run func(o *Options) error, o Options) (time.Duration, error) {
	var least time.Duration
	for i := range 4 {
		start := time.Now()
		if err := run(&o); err != nil {
			return 0, err
		}
		if d := time.Since(start); i == 1 || i > 1 && d < least {
			least = d
		}
	}
	return least, nil
}

// tuneLock is held while the file is read, and until it is written.
var tuneLock sync.Mutex

// tuning is what the file says of a key.
type tuning struct {
	Blocks    int `json:"blocks,omitempty"`
	BlockSize int `json:"block_size"`
}

// tuneVersion changes with kernels that make what was found worthless.
const tuneVersion = 1

// tunings is the file.
type tunings struct {
	Version int               `json:"version"`
	Found   map[string]tuning `json:"found"`
}

// tuneFile returns the path of the file, "" if there can be none.
func tuneFile() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "halfulp", "rns.json")
}

// readTunings returns what the file has, nothing if it cannot be read or is of another
// version.
func readTunings() map[string]tuning {
	var t tunings
	data, err := os.ReadFile(tuneFile())
	if err != nil || json.Unmarshal(data, &t) != nil || t.Version != tuneVersion || t.Found == nil {
		return map[string]tuning{}
	}
	return t.Found
}

// writeTunings puts a new file in the place of the old one, whole or not at all.
func writeTunings(found map[string]tuning) {
	name := tuneFile()
	if name == "" || os.MkdirAll(filepath.Dir(name), 0o755) != nil {
		return
	}
	data, err := json.MarshalIndent(tunings{tuneVersion, found}, "", "  ")
	if err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), "rns*.tmp")
	if err != nil {
		return
	}
	_, err = f.Write(append(data, '\n'))
	if err2 := f.Close(); err != nil || err2 != nil || os.Rename(f.Name(), name) != nil {
		_ = os.Remove(f.Name())
	}
}
