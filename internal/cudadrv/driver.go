// Package cudadrv is the part of the CUDA driver API that halfulp uses: an interface, and its
// implementation by the NVIDIA driver's library. The library is loaded when the program runs, so
// nothing is linked and no C compiler is needed.
//
// Calls that concern a context act on the current context of the calling thread of the operating
// system; package cuda makes it current.
package cudadrv

import "unsafe"

// Device is the handle of a device (CUdevice).
type Device int32

// Context is the handle of a context (CUcontext).
type Context uintptr

// Stream is the handle of a stream (CUstream); 0 is the default stream.
type Stream uintptr

// Event is the handle of an event (CUevent).
type Event uintptr

// Module is the handle of a loaded module (CUmodule).
type Module uintptr

// Function is the handle of a kernel (CUfunction).
type Function uintptr

// Pointer is an address in device memory (CUdeviceptr).
type Pointer uint64

// Dim is the size of a grid in blocks or of a block in threads.
type Dim struct{ X, Y, Z uint32 }

// DeviceAttribute names a property of a device (CUdevice_attribute).
type DeviceAttribute int32

// The attributes in use, with the numbers of cuda.h.
const (
	MaxSharedMemoryPerBlock      DeviceAttribute = 8
	ClockRate                    DeviceAttribute = 13 // kHz
	MultiprocessorCount          DeviceAttribute = 16
	MemoryClockRate              DeviceAttribute = 36 // kHz
	MemoryBusWidth               DeviceAttribute = 37 // bits
	L2CacheSize                  DeviceAttribute = 38 // bytes
	MaxThreadsPerMultiprocessor  DeviceAttribute = 39
	ComputeCapabilityMajor       DeviceAttribute = 75
	ComputeCapabilityMinor       DeviceAttribute = 76
	MaxSharedMemoryPerMulti      DeviceAttribute = 81
	CooperativeLaunch            DeviceAttribute = 95
	MaxSharedMemoryPerBlockOptin DeviceAttribute = 97
	MaxBlocksPerMultiprocessor   DeviceAttribute = 106
)

// FunctionAttribute names a property of a kernel (CUfunction_attribute).
type FunctionAttribute int32

// The attributes in use, with the numbers of cuda.h.
const (
	FuncMaxThreadsPerBlock FunctionAttribute = 0
	FuncSharedBytes        FunctionAttribute = 1
	FuncLocalBytes         FunctionAttribute = 3
	FuncRegisters          FunctionAttribute = 4
	FuncMaxDynamicShared   FunctionAttribute = 8
)

// TensorMapBytes is the size in bytes of a CUtensorMap, whose address must be divisible by 64.
const TensorMapBytes = 128

// TensorMap describes a tile of a tensor in device memory to the bulk tensor copy
// engine (CUtensorMap). It is passed to kernels by value.
type TensorMap [TensorMapBytes / 8]uint64

// TensorMapSpec holds the arguments of cuTensorMapEncodeTiled, with the numbers of cuda.h.
type TensorMapSpec struct {
	DataType       int32 // CUtensorMapDataType: 0 uint8, 1 uint16, 2 uint32, 3 int32, ...
	Base           Pointer
	Dims           []uint64 // extents, fastest first; 1 to 5 of them
	Strides        []uint64 // bytes between elements of dimensions 1, 2, ...: one fewer than Dims
	Box            []uint32 // extents of a tile
	ElementStrides []uint32
	Interleave     int32 // CUtensorMapInterleave
	Swizzle        int32 // CUtensorMapSwizzle: 0 none, 1 32 B, 2 64 B, 3 128 B
	L2Promotion    int32 // CUtensorMapL2promotion
	OOBFill        int32 // CUtensorMapFloatOOBfill
}

// Memcpy2D is a copy of Rows rows of Width bytes. They begin at From, FromPitch bytes apart, and
// are copied to To, ToPitch bytes apart (part of CUDA_MEMCPY2D).
type Memcpy2D struct {
	From, To           Pointer
	FromPitch, ToPitch uint64
	Width, Rows        uint64
}

// Driver is the CUDA driver API, one method a call, named as the call without the prefix cu. Errors
// of the driver are of type *Error.
type Driver interface {
	Init() error
	DriverGetVersion() (int, error) // 1000 major + 10 minor
	DeviceGetCount() (int, error)
	DeviceGet(ordinal int) (Device, error)
	DeviceGetName(Device) (string, error)
	DeviceTotalMem(Device) (uint64, error)
	DeviceGetUUID(Device) ([16]byte, error)
	DeviceGetAttribute(DeviceAttribute, Device) (int, error)

	DevicePrimaryCtxRetain(Device) (Context, error)
	DevicePrimaryCtxRelease(Device) error
	CtxSetCurrent(Context) error
	CtxSynchronize() error
	// DeviceCanAccessPeer reports whether dev can access the memory of peer.
	DeviceCanAccessPeer(dev, peer Device) (bool, error)
	// CtxEnablePeerAccess enables the current context to access memory of another device's context.
	CtxEnablePeerAccess(peer Context) error

	MemAlloc(bytes uint64) (Pointer, error)
	MemFree(Pointer) error
	MemGetInfo() (free, total uint64, err error)
	// MemAllocHost returns page-locked host memory, which Go's collector ignores. Kernels access it
	// at the same address.
	MemAllocHost(bytes uint64) (unsafe.Pointer, error)
	MemFreeHost(unsafe.Pointer) error
	// The host memory of an asynchronous copy must be page-locked, and stay so until the copy is
	// done.
	MemcpyHtoDAsync(dst Pointer, src unsafe.Pointer, bytes uint64, s Stream) error
	MemcpyDtoHAsync(dst unsafe.Pointer, src Pointer, bytes uint64, s Stream) error
	MemcpyDtoDAsync(dst, src Pointer, bytes uint64, s Stream) error
	// MemcpyPeerAsync copies from the memory of one context's device to the memory of another's:
	// over the links between them if they have peer access, else through the host.
	MemcpyPeerAsync(dst Pointer, dstContext Context, src Pointer, srcContext Context, bytes uint64, s Stream) error
	// Memcpy2DAsync copies rows of bytes between addresses of device memory, also between devices
	// that have peer access.
	Memcpy2DAsync(c Memcpy2D, s Stream) error
	MemsetD8Async(dst Pointer, value byte, bytes uint64, s Stream) error

	// StreamCreate returns a stream that does not wait for the default stream. Among blocks that
	// wait for a multiprocessor, blocks of the stream with the lowest priority number go first. 0
	// is the default priority. Numbers outside of the device's range are replaced by the nearest
	// end of the range.
	StreamCreate(priority int) (Stream, error)
	StreamDestroy(Stream) error
	StreamSynchronize(Stream) error
	StreamWaitEvent(Stream, Event) error

	EventCreate() (Event, error)
	EventDestroy(Event) error
	EventRecord(Event, Stream) error
	EventSynchronize(Event) error
	// EventElapsedTime returns the time from start to end in milliseconds.
	EventElapsedTime(start, end Event) (float32, error)

	// ModuleLoadData compiles PTX. On failure the error contains the compiler's log.
	ModuleLoadData(ptx []byte) (Module, error)
	ModuleUnload(Module) error
	ModuleGetFunction(m Module, name string) (Function, error)
	FuncGetAttribute(FunctionAttribute, Function) (int, error)
	FuncSetAttribute(f Function, a FunctionAttribute, value int) error
	OccupancyMaxActiveBlocks(f Function, threads int, shared uint64) (int, error)
	// LaunchKernel starts f; params[i] points to the value of parameter i. The array and the values
	// are on the heap and are copied before LaunchKernel returns.
	LaunchKernel(f Function, grid, block Dim, shared uint32, s Stream, params []unsafe.Pointer) error
	// LaunchCooperativeKernel is LaunchKernel for blocks that wait for each other: either all of
	// them run at the same time, or the call fails.
	LaunchCooperativeKernel(f Function, grid, block Dim, shared uint32, s Stream, params []unsafe.Pointer) error

	TensorMapEncodeTiled(m *TensorMap, spec *TensorMapSpec) error
}
