// Package fake is a CUDA driver without a GPU, for tests: its device memory is host memory, its
// kernels are Go functions. It is stricter than a GPU:
//
//   - Operations of a stream are delayed for as long as the driver's rules allow, so that code that
//     uses their results without waiting sees old data.
//   - An access outside of allocated memory is detected, and loses the device.
//   - Calls must come from a thread that made a context current.
//   - Any call can be made to fail.
//
// Several devices share one memory, and are lost together.
package fake

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/halfulp/halfulp/internal/cudadrv"
)

// Driver is a driver with fake devices. Its fields must be set before its first use.
type Driver struct {
	Devices     int    // number of devices; 0 stands for 1
	TotalMemory uint64 // bytes a device has; 0 stands for 1 GiB
	Version     int    // of the driver; 0 stands for 12000
	Major       int    // of the compute capability; 0 stands for 8
	Shared      int    // bytes of shared memory that a block may have; 0: 99 KiB
	// Initcheck loses the device, as an access outside of allocated memory does, when device memory
	// is copied to the host that has not been written since MemAlloc.
	Initcheck bool
	NoPeers   bool // devices cannot access each other's memory

	mu       sync.Mutex
	owners   map[int]cudadrv.Context // current contexts, by thread
	lost     cudadrv.Code
	calls    []string
	injected []injection
	kernels  map[string]any
	emulated map[string]func(*Launch, []unsafe.Pointer) bool
	launches uint64
	contexts int
	peers    map[[2]cudadrv.Context]bool // pairs of contexts with peer access
	next     uintptr                     // handle
	top      cudadrv.Pointer
	memory   map[cudadrv.Pointer][]byte
	starts   []cudadrv.Pointer // the keys of memory, in order
	used     uint64
	fetched  uint64
	host     map[unsafe.Pointer][]byte
	streams  map[cudadrv.Stream]*stream
	events   map[cudadrv.Event]*event
	modules  map[cudadrv.Module][]byte
	entries  map[cudadrv.Function]*function
}

var _ cudadrv.Driver = (*Driver)(nil)

// Live counts the objects that were created and not freed. The default stream, 0, always exists and
// is not counted.
type Live struct {
	Contexts, Memory, Host, Streams, Events, Modules int
	Bytes                                            uint64 // of device memory
}

// Live counts the objects that were created and not freed.
func (d *Driver) Live() Live {
	d.mu.Lock()
	defer d.mu.Unlock()
	return Live{d.contexts, len(d.memory), len(d.host), max(len(d.streams)-1, 0), len(d.events), len(d.modules), d.used}
}

// Calls lists the calls since the start or ForgetCalls, without the prefix cu.
func (d *Driver) Calls() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.calls...)
}

// Fetched returns the number of bytes copied to the host so far.
func (d *Driver) Fetched() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fetched
}

// ForgetCalls empties the list of calls.
func (d *Driver) ForgetCalls() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = nil
}

// injection makes a call fail.
type injection struct {
	call  string // empty for any call
	after int    // number of calls that still succeed
	code  cudadrv.Code
}

// Fail makes one call with the given name, or any call if it is empty, fail with code, after that
// many such calls have succeeded.
func (d *Driver) Fail(call string, after int, code cudadrv.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.injected = append(d.injected, injection{call, after, code})
}

// Forgive cancels failures that were requested and have not occurred.
func (d *Driver) Forgive() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.injected = nil
}

// enter begins a call and takes the lock, which the caller releases.
func (d *Driver) enter(call string) error {
	d.mu.Lock()
	if d.memory == nil {
		d.memory, d.host = map[cudadrv.Pointer][]byte{}, map[unsafe.Pointer][]byte{}
		d.streams, d.events = map[cudadrv.Stream]*stream{0: {}}, map[cudadrv.Event]*event{}
		d.modules, d.entries = map[cudadrv.Module][]byte{}, map[cudadrv.Function]*function{}
		d.owners = map[int]cudadrv.Context{}
		d.top = 0x7f0000000000
	}
	d.calls = append(d.calls, call)
	for i := range d.injected {
		f := &d.injected[i]
		if f.call != "" && f.call != call {
			continue
		}
		if f.after--; f.after < 0 {
			code := f.code
			d.injected = append(d.injected[:i], d.injected[i+1:]...)
			return d.fail(call, code)
		}
	}
	return nil
}

// inContext begins a call that acts on the current context.
func (d *Driver) inContext(call string) error {
	if err := d.enter(call); err != nil {
		return err
	}
	if d.lost != 0 {
		return d.fail(call, d.lost)
	}
	if d.owners[thread()] == 0 {
		return d.fail(call, cudadrv.InvalidContext)
	}
	return nil
}

// fail returns the error of a call. A sticky code loses the device.
func (d *Driver) fail(call string, code cudadrv.Code) error {
	if code.Sticky() {
		d.lost = code
	}
	return &cudadrv.Error{Call: "cu" + call, Code: code, Name: fmt.Sprintf("CUDA_ERROR_%d", code), Text: "fake error"}
}

func (d *Driver) handle() uintptr {
	d.next++
	return d.next
}

// Init does nothing.
func (d *Driver) Init() error {
	defer d.mu.Unlock()
	return d.enter("Init")
}

// DriverGetVersion returns Version.
func (d *Driver) DriverGetVersion() (int, error) {
	defer d.mu.Unlock()
	if err := d.enter("DriverGetVersion"); err != nil {
		return 0, err
	}
	if d.Version == 0 {
		return 12000, nil
	}
	return d.Version, nil
}

func (d *Driver) devices() int { return max(d.Devices, 1) }

// DeviceGetCount returns the number of devices.
func (d *Driver) DeviceGetCount() (int, error) {
	defer d.mu.Unlock()
	return d.devices(), d.enter("DeviceGetCount")
}

// DeviceGet returns device i.
func (d *Driver) DeviceGet(i int) (cudadrv.Device, error) {
	defer d.mu.Unlock()
	if err := d.enter("DeviceGet"); err != nil {
		return 0, err
	}
	if i < 0 || i >= d.devices() {
		return 0, d.fail("DeviceGet", cudadrv.InvalidDevice)
	}
	return cudadrv.Device(i), nil
}

// DeviceGetName returns a device's name.
func (d *Driver) DeviceGetName(cudadrv.Device) (string, error) {
	defer d.mu.Unlock()
	return "Fake GPU", d.enter("DeviceGetName")
}

func (d *Driver) total() uint64 {
	if d.TotalMemory == 0 {
		return 1 << 30
	}
	return d.TotalMemory
}

// DeviceTotalMem returns TotalMemory.
func (d *Driver) DeviceTotalMem(cudadrv.Device) (uint64, error) {
	defer d.mu.Unlock()
	return d.total(), d.enter("DeviceTotalMem")
}

// DeviceGetUUID returns 16 bytes; the last is the number of the device, the others are 0.
func (d *Driver) DeviceGetUUID(dev cudadrv.Device) ([16]byte, error) {
	defer d.mu.Unlock()
	return [16]byte{15: byte(dev)}, d.enter("DeviceGetUUID")
}

// DeviceGetAttribute returns plausible numbers.
func (d *Driver) DeviceGetAttribute(a cudadrv.DeviceAttribute, _ cudadrv.Device) (int, error) {
	defer d.mu.Unlock()
	if err := d.enter("DeviceGetAttribute"); err != nil {
		return 0, err
	}
	switch a {
	case cudadrv.ComputeCapabilityMajor:
		if d.Major != 0 {
			return d.Major, nil
		}
		return 8, nil
	case cudadrv.MultiprocessorCount:
		return 4, nil
	case cudadrv.MaxThreadsPerMultiprocessor:
		return 2048, nil
	case cudadrv.MaxBlocksPerMultiprocessor:
		return 32, nil
	case cudadrv.MaxSharedMemoryPerBlockOptin:
		return d.sharedPerBlock(), nil
	case cudadrv.L2CacheSize:
		return 4 << 20, nil
	case cudadrv.CooperativeLaunch:
		return 1, nil
	}
	return 0, nil
}

// DevicePrimaryCtxRetain returns the device's context.
func (d *Driver) DevicePrimaryCtxRetain(dev cudadrv.Device) (cudadrv.Context, error) {
	defer d.mu.Unlock()
	if err := d.enter("DevicePrimaryCtxRetain"); err != nil {
		return 0, err
	}
	d.contexts++
	return cudadrv.Context(dev) + 1, nil
}

// DevicePrimaryCtxRelease releases the device's context.
func (d *Driver) DevicePrimaryCtxRelease(cudadrv.Device) error {
	defer d.mu.Unlock()
	if err := d.enter("DevicePrimaryCtxRelease"); err != nil {
		return err
	}
	d.contexts--
	return nil
}

// DeviceCanAccessPeer reports whether the devices differ and NoPeers is false. It fails if one does
// not exist.
func (d *Driver) DeviceCanAccessPeer(dev, peer cudadrv.Device) (bool, error) {
	defer d.mu.Unlock()
	if err := d.enter("DeviceCanAccessPeer"); err != nil {
		return false, err
	}
	if n := cudadrv.Device(d.devices()); dev < 0 || dev >= n || peer < 0 || peer >= n {
		return false, d.fail("DeviceCanAccessPeer", cudadrv.InvalidDevice)
	}
	return !d.NoPeers && dev != peer, nil
}

// CtxEnablePeerAccess records the access; enabling it again fails.
func (d *Driver) CtxEnablePeerAccess(peer cudadrv.Context) error {
	defer d.mu.Unlock()
	if err := d.inContext("CtxEnablePeerAccess"); err != nil {
		return err
	}
	key := [2]cudadrv.Context{d.owners[thread()], peer}
	if d.NoPeers || peer < 1 || int(peer) > d.devices() || key[0] == peer {
		return d.fail("CtxEnablePeerAccess", cudadrv.InvalidValue)
	}
	if d.peers[key] {
		return d.fail("CtxEnablePeerAccess", cudadrv.PeerEnabled)
	}
	if d.peers == nil {
		d.peers = map[[2]cudadrv.Context]bool{}
	}
	d.peers[key] = true
	return nil
}

// CtxSetCurrent makes a context current on the calling thread.
func (d *Driver) CtxSetCurrent(c cudadrv.Context) error {
	defer d.mu.Unlock()
	if err := d.enter("CtxSetCurrent"); err != nil {
		return err
	}
	d.owners[thread()] = c
	return nil
}
