// Package backend makes NVIDIA GPUs available as places where matrices are stored and computed
// with.
package backend

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/mem"
	"github.com/halfulp/halfulp/internal/gpu/product"
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
)

// backend provides the machine's GPUs.
type backend struct{}

// Register registers the machine's GPUs with package place.
func Register() { place.Register(place.CUDA, backend{}) }

func (backend) Devices() ([]place.Device, error) {
	n, err := mem.Count()
	if err != nil {
		return nil, absent(err)
	}
	list := make([]place.Device, n)
	for i := range list {
		list[i].Name = name(i)
	}
	if infos, err := cuda.Devices(); err == nil && len(infos) == n {
		for i, info := range infos {
			list[i] = place.Device{Name: name(i), Model: info.Name, Memory: info.Memory,
				Architecture: fmt.Sprintf("compute capability %d.%d", info.Major, info.Minor), Driver: "CUDA " + info.Driver.String()}
		}
	}
	return list, nil
}

func name(numbers ...int) string {
	var list []string
	for _, i := range numbers {
		list = append(list, strconv.Itoa(i))
	}
	return "cuda:" + strings.Join(list, ",")
}

// places holds the place of each single GPU.
var places struct {
	sync.Mutex
	of map[*cuda.Device]*gpus
}

// At returns the place of a single GPU.
func At(dev *cuda.Device) place.Place { return at(dev) }

func at(dev *cuda.Device) *gpus {
	places.Lock()
	defer places.Unlock()
	p := places.of[dev]
	if p == nil {
		p = &gpus{first: dev, name: dev.String()}
		if places.of == nil {
			places.of = map[*cuda.Device]*gpus{}
		}
		places.of[dev] = p
	}
	return p
}

// Open opens one GPU, or all of several GPUs.
func (backend) Open(numbers ...int) (place.Place, error) {
	if len(numbers) > 1 {
		count, err := mem.Count()
		if last := slices.Max(numbers); err == nil && last >= count {
			_, err := mem.Open(last) // its error lists the GPUs that exist
			return nil, absent(err)
		}
	}
	dev, err := mem.Open(numbers[0])
	if err != nil {
		return nil, absent(err)
	}
	if len(numbers) == 1 {
		return at(dev), nil
	}
	return severalOf(dev, numbers)
}

func (backend) IsOpen(number int) bool { return mem.IsOpen(number) }

// Fit rejects GPUs before Ampere, on which the kernels of products do not run.
func (backend) Fit(p place.Place) bool { return p.First().(*gpus).first.Info().Major >= 8 }

func (backend) Prepare(m num.Mat) place.Prepared { return product.NewCopies(m) }

func (backend) EstimateGemm(m, n, k int, a, b, c num.Format) (time.Duration, bool) {
	return product.Estimate(m, n, k, a, b, c)
}

func (backend) EstimateTransfer(bytes int64) time.Duration { return product.EstimateTransfer(bytes) }

// absent wraps errors about missing GPUs in place.ErrDevice.
func absent(err error) error {
	if errors.Is(err, cuda.ErrNoDevice) {
		return missing{err}
	}
	return err
}

// missing is an error of package cuda that errors.Is also reports as place.ErrDevice.
type missing struct{ error }

func (m missing) Unwrap() error        { return m.error }
func (m missing) Is(target error) bool { return target == place.ErrDevice }

// explained wraps errors about memory in place.ErrMemory.
func explained(err error) error {
	if errors.Is(err, cuda.ErrMemory) {
		return fmt.Errorf("%w: %w", place.ErrMemory, err)
	}
	return err
}
