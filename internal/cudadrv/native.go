//go:build (linux || windows) && (amd64 || arm64)

package cudadrv

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// call is a function of the driver's library; addr is 0 if an older driver lacks it.
type call struct {
	name string
	addr uintptr
}

// native is the NVIDIA driver's library.
type native struct {
	init, driverGetVersion                                                                    call
	deviceGetCount, deviceGet, deviceGetName, deviceTotalMem                                  call
	deviceGetUUID, deviceGetAttribute                                                         call
	devicePrimaryCtxRetain, devicePrimaryCtxRelease                                           call
	ctxSetCurrent, ctxSynchronize                                                             call
	memAlloc, memFree, memGetInfo, memAllocHost, memFreeHost                                  call
	memcpyHtoDAsync, memcpyDtoHAsync, memcpyDtoDAsync, memsetD8Async                          call
	memcpyPeerAsync, memcpy2DAsync, deviceCanAccessPeer, ctxEnablePeerAccess                  call
	streamCreate, streamDestroy, streamSynchronize, streamWaitEvent                           call
	eventCreate, eventDestroy, eventRecord, eventSynchronize                                  call
	eventElapsedTime                                                                          call
	moduleLoadDataEx, moduleUnload, moduleGetFunction                                         call
	funcGetAttribute, funcSetAttribute, occupancyMaxActiveBlocks                              call
	launchKernel, launchCooperativeKernel, tensorMapEncodeTiled, getErrorName, getErrorString call
	graphCreate, graphAddKernelNode, graphInstantiate, graphExecSetParams, graphLaunch        call
	graphExecDestroy, graphDestroy                                                            call

	repeated repeated
}

// newNative looks up all functions. Functions marked optional are missing in the oldest drivers
// that run halfulp's PTX, or serve error texts only.
func newNative(lookup func(symbol string) (uintptr, error)) (*native, error) {
	d := new(native)
	for _, f := range []struct {
		to       *call
		symbol   string
		optional bool
	}{
		{&d.init, "cuInit", false},
		{&d.driverGetVersion, "cuDriverGetVersion", false},
		{&d.deviceGetCount, "cuDeviceGetCount", false},
		{&d.deviceGet, "cuDeviceGet", false},
		{&d.deviceGetName, "cuDeviceGetName", false},
		{&d.deviceTotalMem, "cuDeviceTotalMem_v2", false},
		{&d.deviceGetUUID, "cuDeviceGetUuid", false},
		{&d.deviceGetAttribute, "cuDeviceGetAttribute", false},
		{&d.devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", false},
		{&d.devicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", false},
		{&d.ctxSetCurrent, "cuCtxSetCurrent", false},
		{&d.ctxSynchronize, "cuCtxSynchronize", false},
		{&d.memAlloc, "cuMemAlloc_v2", false},
		{&d.memFree, "cuMemFree_v2", false},
		{&d.memGetInfo, "cuMemGetInfo_v2", false},
		{&d.memAllocHost, "cuMemAllocHost_v2", false},
		{&d.memFreeHost, "cuMemFreeHost", false},
		{&d.memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", false},
		{&d.memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", false},
		{&d.memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", false},
		{&d.memsetD8Async, "cuMemsetD8Async", false},
		{&d.memcpyPeerAsync, "cuMemcpyPeerAsync", false},
		{&d.memcpy2DAsync, "cuMemcpy2DAsync_v2", false},
		{&d.deviceCanAccessPeer, "cuDeviceCanAccessPeer", false},
		{&d.ctxEnablePeerAccess, "cuCtxEnablePeerAccess", false},
		{&d.streamCreate, "cuStreamCreateWithPriority", false},
		{&d.streamDestroy, "cuStreamDestroy_v2", false},
		{&d.streamSynchronize, "cuStreamSynchronize", false},
		{&d.streamWaitEvent, "cuStreamWaitEvent", false},
		{&d.eventCreate, "cuEventCreate", false},
		{&d.eventDestroy, "cuEventDestroy_v2", false},
		{&d.eventRecord, "cuEventRecord", false},
		{&d.eventSynchronize, "cuEventSynchronize", false},
		{&d.eventElapsedTime, "cuEventElapsedTime", false},
		{&d.moduleLoadDataEx, "cuModuleLoadDataEx", false},
		{&d.moduleUnload, "cuModuleUnload", false},
		{&d.moduleGetFunction, "cuModuleGetFunction", false},
		{&d.funcGetAttribute, "cuFuncGetAttribute", false},
		{&d.funcSetAttribute, "cuFuncSetAttribute", false},
		{&d.occupancyMaxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", false},
		{&d.launchKernel, "cuLaunchKernel", false},
		{&d.launchCooperativeKernel, "cuLaunchCooperativeKernel", false},
		{&d.tensorMapEncodeTiled, "cuTensorMapEncodeTiled", true},
		{&d.graphCreate, "cuGraphCreate", true},
		{&d.graphAddKernelNode, "cuGraphAddKernelNode_v2", true},
		{&d.graphInstantiate, "cuGraphInstantiateWithFlags", true},
		{&d.graphExecSetParams, "cuGraphExecKernelNodeSetParams_v2", true},
		{&d.graphExecDestroy, "cuGraphExecDestroy", true},
		{&d.graphDestroy, "cuGraphDestroy", true},
		{&d.graphLaunch, "cuGraphLaunch", true},
		{&d.getErrorName, "cuGetErrorName", true},
		{&d.getErrorString, "cuGetErrorString", true},
	} {
		addr, err := lookup(f.symbol)
		if (err != nil || addr == 0) && !f.optional {
			return nil, fmt.Errorf("%w that halfulp can use: the driver's library has no %s; a newer driver has", ErrNoDriver, f.symbol)
		}
		*f.to = call{f.symbol, addr}
	}
	return d, nil
}

// do makes a call. Pointers that its argument list converts to uintptr stay valid until it returns.
//
//go:uintptrescapes
func (d *native) do(c call, args ...uintptr) error {
	if c.addr == 0 {
		return &Error{Call: c.name, Code: NotSupported, Name: "CUDA_ERROR_NOT_SUPPORTED", Text: "this driver has no such call"}
	}
	r, _, _ := purego.SyscallN(c.addr, args...)
	if code := Code(int32(r)); code != Success {
		return d.failure(c.name, code)
	}
	return nil
}

// failure returns the error for a code, with the driver's name and description of it.
func (d *native) failure(name string, code Code) *Error {
	return &Error{
		Call: name,
		Code: code,
		Name: d.words(d.getErrorName, code, "unknown code"),
		Text: d.words(d.getErrorString, code, "error"),
	}
}

func (d *native) words(c call, code Code, otherwise string) string {
	var text *byte
	if c.addr == 0 {
		return otherwise
	}
	if r, _, _ := purego.SyscallN(c.addr, uintptr(code), uintptr(unsafe.Pointer(&text))); r != 0 || text == nil {
		return otherwise
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(text, n))
}

// addr returns the address of x, for the argument list of do.
func addr[T any](x *T) unsafe.Pointer { return unsafe.Pointer(x) }

func (d *native) Init() error { return d.do(d.init, 0) }

func (d *native) DriverGetVersion() (int, error) {
	var v int32
	err := d.do(d.driverGetVersion, uintptr(addr(&v)))
	return int(v), err
}

func (d *native) DeviceGetCount() (int, error) {
	var n int32
	err := d.do(d.deviceGetCount, uintptr(addr(&n)))
	return int(n), err
}

func (d *native) DeviceGet(ordinal int) (Device, error) {
	var dev Device
	err := d.do(d.deviceGet, uintptr(addr(&dev)), uintptr(ordinal))
	return dev, err
}

func (d *native) DeviceGetName(dev Device) (string, error) {
	var name [256]byte
	if err := d.do(d.deviceGetName, uintptr(addr(&name)), uintptr(len(name)), uintptr(dev)); err != nil {
		return "", err
	}
	text, _, _ := bytes.Cut(name[:], []byte{0})
	return string(text), nil
}

func (d *native) DeviceTotalMem(dev Device) (uint64, error) {
	var n uint64
	err := d.do(d.deviceTotalMem, uintptr(addr(&n)), uintptr(dev))
	return n, err
}

func (d *native) DeviceGetUUID(dev Device) ([16]byte, error) {
	var id [16]byte
	err := d.do(d.deviceGetUUID, uintptr(addr(&id)), uintptr(dev))
	return id, err
}

func (d *native) DeviceGetAttribute(a DeviceAttribute, dev Device) (int, error) {
	var v int32
	err := d.do(d.deviceGetAttribute, uintptr(addr(&v)), uintptr(a), uintptr(dev))
	return int(v), err
}

func (d *native) DevicePrimaryCtxRetain(dev Device) (Context, error) {
	var c Context
	err := d.do(d.devicePrimaryCtxRetain, uintptr(addr(&c)), uintptr(dev))
	return c, err
}

func (d *native) DevicePrimaryCtxRelease(dev Device) error {
	return d.do(d.devicePrimaryCtxRelease, uintptr(dev))
}

func (d *native) CtxSetCurrent(c Context) error { return d.do(d.ctxSetCurrent, uintptr(c)) }

func (d *native) CtxSynchronize() error { return d.do(d.ctxSynchronize) }

func (d *native) MemAlloc(n uint64) (Pointer, error) {
	var p Pointer
	err := d.do(d.memAlloc, uintptr(addr(&p)), uintptr(n))
	return p, err
}

func (d *native) MemFree(p Pointer) error { return d.do(d.memFree, uintptr(p)) }

func (d *native) MemGetInfo() (free, total uint64, err error) {
	err = d.do(d.memGetInfo, uintptr(addr(&free)), uintptr(addr(&total)))
	return free, total, err
}

func (d *native) MemAllocHost(n uint64) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	err := d.do(d.memAllocHost, uintptr(addr(&p)), uintptr(n))
	return p, err
}

func (d *native) MemFreeHost(p unsafe.Pointer) error { return d.do(d.memFreeHost, uintptr(p)) }

func (d *native) MemcpyHtoDAsync(dst Pointer, src unsafe.Pointer, n uint64, s Stream) error {
	return d.do(d.memcpyHtoDAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s))
}

func (d *native) MemcpyDtoHAsync(dst unsafe.Pointer, src Pointer, n uint64, s Stream) error {
	return d.do(d.memcpyDtoHAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s))
}

func (d *native) MemcpyDtoDAsync(dst, src Pointer, n uint64, s Stream) error {
	return d.do(d.memcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s))
}

func (d *native) MemcpyPeerAsync(dst Pointer, dstContext Context, src Pointer, srcContext Context, n uint64, s Stream) error {
	return d.do(d.memcpyPeerAsync, uintptr(dst), uintptr(dstContext), uintptr(src), uintptr(srcContext), uintptr(n), uintptr(s))
}

// memcpy2D is CUDA_MEMCPY2D.
type memcpy2D struct {
	from, to side2D
	width    uintptr // in bytes
	rows     uintptr
}

// side2D is one side of a memcpy2D.
type side2D struct {
	_, _   uintptr // x and y
	kind   int32   // CUmemorytype
	_      int32
	_      uintptr // of the host
	device Pointer
	_      uintptr // an array
	pitch  uintptr
}

func (d *native) Memcpy2DAsync(c Memcpy2D, s Stream) error {
	const unified = 4 // CU_MEMORYTYPE_UNIFIED
	z := &memcpy2D{
		from:  side2D{kind: unified, device: c.From, pitch: uintptr(c.FromPitch)},
		to:    side2D{kind: unified, device: c.To, pitch: uintptr(c.ToPitch)},
		width: uintptr(c.Width), rows: uintptr(c.Rows),
	}
	return d.do(d.memcpy2DAsync, uintptr(addr(z)), uintptr(s))
}

func (d *native) DeviceCanAccessPeer(dev, peer Device) (bool, error) {
	var can int32
	err := d.do(d.deviceCanAccessPeer, uintptr(addr(&can)), uintptr(dev), uintptr(peer))
	return can != 0, err
}

func (d *native) CtxEnablePeerAccess(peer Context) error {
	return d.do(d.ctxEnablePeerAccess, uintptr(peer), 0)
}

func (d *native) MemsetD8Async(dst Pointer, value byte, n uint64, s Stream) error {
	return d.do(d.memsetD8Async, uintptr(dst), uintptr(value), uintptr(n), uintptr(s))
}

func (d *native) StreamCreate(priority int) (Stream, error) {
	const nonBlocking = 1
	var s Stream
	err := d.do(d.streamCreate, uintptr(addr(&s)), nonBlocking, uintptr(priority))
	if err == nil && priority == 0 {
		d.repeated.follow(s)
	}
	return s, err
}

func (d *native) StreamDestroy(s Stream) error {
	return errors.Join(d.destroy(d.repeated.ofStream(s)), d.do(d.streamDestroy, uintptr(s)))
}

func (d *native) StreamSynchronize(s Stream) error { return d.do(d.streamSynchronize, uintptr(s)) }

func (d *native) StreamWaitEvent(s Stream, e Event) error {
	return d.do(d.streamWaitEvent, uintptr(s), uintptr(e), 0)
}

func (d *native) EventCreate() (Event, error) {
	var e Event
	err := d.do(d.eventCreate, uintptr(addr(&e)), 0)
	return e, err
}

func (d *native) EventDestroy(e Event) error { return d.do(d.eventDestroy, uintptr(e)) }

func (d *native) EventRecord(e Event, s Stream) error {
	return d.do(d.eventRecord, uintptr(e), uintptr(s))
}

func (d *native) EventSynchronize(e Event) error { return d.do(d.eventSynchronize, uintptr(e)) }

func (d *native) EventElapsedTime(start, end Event) (float32, error) {
	var ms float32
	err := d.do(d.eventElapsedTime, uintptr(addr(&ms)), uintptr(start), uintptr(end))
	return ms, err
}

func (d *native) ModuleLoadData(ptx []byte) (Module, error) {
	// CUjit_option: CU_JIT_ERROR_LOG_BUFFER and its size.
	const errorLog, errorLogBytes = 5, 6
	log := make([]byte, 16<<10)
	options := &[2]int32{errorLog, errorLogBytes}
	values := &[2]uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	var pin runtime.Pinner
	pin.Pin(&log[0])
	defer pin.Unpin()
	image := append(bytes.Clone(ptx), 0) // the end of the text is a zero byte
	var m Module
	err := d.do(d.moduleLoadDataEx, uintptr(addr(&m)), uintptr(addr(&image[0])), uintptr(len(options)),
		uintptr(addr(options)), uintptr(addr(values)))
	var e *Error
	if errors.As(err, &e) {
		text, _, _ := bytes.Cut(log, []byte{0})
		e.Log = string(text)
	}
	return m, err
}

func (d *native) ModuleUnload(m Module) error {
	return errors.Join(d.destroy(d.repeated.ofModule(m)), d.do(d.moduleUnload, uintptr(m)))
}

func (d *native) ModuleGetFunction(m Module, name string) (Function, error) {
	text := append([]byte(name), 0)
	var f Function
	err := d.do(d.moduleGetFunction, uintptr(addr(&f)), uintptr(m), uintptr(addr(&text[0])))
	if err == nil {
		d.repeated.belongs(f, m)
	}
	return f, err
}

func (d *native) FuncGetAttribute(a FunctionAttribute, f Function) (int, error) {
	var v int32
	err := d.do(d.funcGetAttribute, uintptr(addr(&v)), uintptr(a), uintptr(f))
	return int(v), err
}

func (d *native) FuncSetAttribute(f Function, a FunctionAttribute, value int) error {
	return d.do(d.funcSetAttribute, uintptr(f), uintptr(a), uintptr(value))
}

func (d *native) OccupancyMaxActiveBlocks(f Function, threads int, shared uint64) (int, error) {
	var n int32
	err := d.do(d.occupancyMaxActiveBlocks, uintptr(addr(&n)), uintptr(f), uintptr(threads), uintptr(shared))
	return int(n), err
}

func (d *native) LaunchKernel(f Function, grid, block Dim, shared uint32, s Stream, params []unsafe.Pointer) error {
	if started, err := d.launchAgain(f, grid, block, shared, s, params); started {
		return err
	}
	return d.do(d.launchKernel, uintptr(f), uintptr(grid.X), uintptr(grid.Y), uintptr(grid.Z),
		uintptr(block.X), uintptr(block.Y), uintptr(block.Z), uintptr(shared), uintptr(s),
		uintptr(unsafe.Pointer(unsafe.SliceData(params))), 0)
}

func (d *native) LaunchCooperativeKernel(f Function, grid, block Dim, shared uint32, s Stream, params []unsafe.Pointer) error {
	return d.do(d.launchCooperativeKernel, uintptr(f), uintptr(grid.X), uintptr(grid.Y), uintptr(grid.Z),
		uintptr(block.X), uintptr(block.Y), uintptr(block.Z), uintptr(shared), uintptr(s),
		uintptr(unsafe.Pointer(unsafe.SliceData(params))))
}

func (d *native) TensorMapEncodeTiled(m *TensorMap, spec *TensorMapSpec) error {
	// The driver requires the map at an address divisible by 64, which Go does not guarantee.
	aligned := new([2 * TensorMapBytes / 8]uint64)
	skip := (-uintptr(unsafe.Pointer(aligned)) & 63) / 8
	t := (*TensorMap)(aligned[skip:])
	err := d.do(d.tensorMapEncodeTiled, uintptr(addr(t)), uintptr(spec.DataType), uintptr(len(spec.Dims)), uintptr(spec.Base),
		uintptr(unsafe.Pointer(unsafe.SliceData(spec.Dims))), uintptr(unsafe.Pointer(unsafe.SliceData(spec.Strides))),
		uintptr(unsafe.Pointer(unsafe.SliceData(spec.Box))), uintptr(unsafe.Pointer(unsafe.SliceData(spec.ElementStrides))),
		uintptr(spec.Interleave), uintptr(spec.Swizzle), uintptr(spec.L2Promotion), uintptr(spec.OOBFill))
	*m = *t
	return err
}
