// Package cuda gives access to NVIDIA GPUs through the driver alone: devices, memory from a caching
// pool, streams and events, kernels from PTX. It needs only the NVIDIA driver, and only when a
// device is opened. The package builds on every system; where there is no device, the error of Open
// or Devices explains why.
//
// All calls of the driver for a device are made on one thread of the operating system. Device.Do
// runs a function on that thread, which makes its calls as methods of the Stream passed to it:
//
//	dev, err := cuda.Open(0)
//	...
//	err = dev.Do(ctx, func(s *cuda.Stream) error {
//		x, err := s.Alloc(8 * n)
//		if err != nil {
//			return err
//		}
//		defer x.Free()
//		if err := cuda.Upload(s, x.Pointer(), host); err != nil {
//			return err
//		}
//		if err := double.Launch(s, cuda.Dim{X: blocks}, cuda.Dim{X: 256}, 0, x, uint32(n)); err != nil {
//			return err
//		}
//		return cuda.Download(s, host, x.Pointer())
//	})
package cuda

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Info describes a device.
type Info struct {
	Index           int    // N in cuda:N
	Name            string // the maker's name for the device
	UUID            string // GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
	Memory          uint64 // bytes
	Major, Minor    int    // compute capability
	Multiprocessors int
	Threads         int // the most that a multiprocessor holds at a time
	Blocks          int // the most that a multiprocessor holds at a time
	SharedPerBlock  int // the most bytes of shared memory that a block may request
	L2              int // bytes
	Cooperative     int // 1 if blocks may wait for each other: see LaunchTogether
	Driver          Version
}

// String returns the device's name, memory and compute capability.
func (i Info) String() string {
	return fmt.Sprintf("%s, %s, compute capability %d.%d", i.Name, formatBytes(i.Memory), i.Major, i.Minor)
}

// Version is a version of CUDA.
type Version struct{ Major, Minor int }

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// less reports whether v comes before w.
func (v Version) less(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// Devices lists the machine's GPUs. If there are none, it returns an error that wraps ErrNoDevice
// and explains why.
func Devices() ([]Info, error) {
	drv, err := driver()
	if err != nil {
		return nil, err
	}
	return devices(drv)
}

func devices(drv cudadrv.Driver) ([]Info, error) {
	n, err := drv.DeviceGetCount()
	if err != nil {
		return nil, noDevice(err)
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: the NVIDIA driver sees no GPU", ErrNoDevice)
	}
	list := make([]Info, n)
	for i := range list {
		if list[i], err = describe(drv, i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func describe(drv cudadrv.Driver, index int) (Info, error) {
	info := Info{Index: index}
	dev, err := drv.DeviceGet(index)
	if err != nil {
		return info, err
	}
	version, err := drv.DriverGetVersion()
	if err != nil {
		return info, err
	}
	info.Driver = Version{version / 1000, version % 1000 / 10}
	if info.Name, err = drv.DeviceGetName(dev); err != nil {
		return info, err
	}
	if info.Memory, err = drv.DeviceTotalMem(dev); err != nil {
		return info, err
	}
	id, err := drv.DeviceGetUUID(dev)
	if err != nil {
		return info, err
	}
	info.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	for _, a := range []struct {
		to   *int
		name cudadrv.DeviceAttribute
	}{
		{&info.Major, cudadrv.ComputeCapabilityMajor},
		{&info.Minor, cudadrv.ComputeCapabilityMinor},
		{&info.Multiprocessors, cudadrv.MultiprocessorCount},
		{&info.Threads, cudadrv.MaxThreadsPerMultiprocessor},
		{&info.Blocks, cudadrv.MaxBlocksPerMultiprocessor},
		{&info.SharedPerBlock, cudadrv.MaxSharedMemoryPerBlockOptin},
		{&info.L2, cudadrv.L2CacheSize},
		{&info.Cooperative, cudadrv.CooperativeLaunch},
	} {
		if *a.to, err = drv.DeviceGetAttribute(a.name, dev); err != nil {
			return info, err
		}
	}
	return info, nil
}

// Device is a GPU. Its methods may be called from any goroutine.
type Device struct {
	drv  cudadrv.Driver
	info Info
	executor
	pool        *pool
	main        *Stream
	ofDrv       cudadrv.Context
	peers       peers
	sideStreams sideStreams
	staged      []staging
	turn        int // index in staged
	little      [littleStages]staging
	turns       int // index in little
	stage       int // bytes of a staging buffer
	fetches     []*fetched
	counts      counts
}

var opened struct {
	sync.Mutex
	devices map[int]*Device
}

// Open opens device cuda:i. A process opens a device once: later calls return the same Device. The
// error wraps ErrNoDevice if there is no such device.
func Open(i int) (*Device, error) {
	drv, err := driver()
	if err != nil {
		return nil, err
	}
	opened.Lock()
	defer opened.Unlock()
	if d := opened.devices[i]; d != nil {
		return d, nil
	}
	patience := time.Duration(0)
	if runtime.GOMAXPROCS(0) > 1 {
		patience = executorPatience
	}
	d, err := open(drv, i, patience, newPool())
	if err != nil {
		return nil, err
	}
	if opened.devices == nil {
		opened.devices = map[int]*Device{}
	}
	opened.devices[i] = d
	return d, nil
}

// OpenDriver opens device cuda:i of a driver other than the machine's, for tests without a GPU. The
// kernels of such a driver are Go functions, so no goroutine polls: it would take a processor from
// them.
func OpenDriver(drv cudadrv.Driver, i int) (*Device, error) { return open(drv, i, 0, newPool()) }

// open opens a device whose executor polls for jobs for the given time.
func open(drv cudadrv.Driver, i int, patience time.Duration, memory *pool) (*Device, error) {
	list, err := devices(drv)
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= len(list) {
		return nil, fmt.Errorf("%w cuda:%d: this machine has %d", ErrNoDevice, i, len(list))
	}
	d := &Device{drv: drv, info: list[i], pool: memory, staged: stagesOf(), stage: stagingBytes, executor: executor{patient: patience > 0, patience: patience}}
	if err := d.start(); err != nil {
		return nil, err
	}
	return d, nil
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// String returns cuda:N.
func (d *Device) String() string { return fmt.Sprintf("cuda:%d", d.info.Index) }

var driver = sync.OnceValues(func() (cudadrv.Driver, error) {
	drv, err := cudadrv.Open()
	if err != nil {
		return nil, noDevice(err)
	}
	return drv, nil
})
