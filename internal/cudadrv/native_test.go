//go:build linux && (amd64 || arm64)

package cudadrv

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// zeros is a driver each of whose calls is ffs of the C library, the place of the first
// bit that is set in its first argument: it succeeds if that is 0.
func zeros(t testing.TB) *native {
	t.Helper()
	libc, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		t.Skip(err)
	}
	ffs, err := purego.Dlsym(libc, "ffs")
	if err != nil {
		t.Skip(err)
	}
	d, err := newNative(func(string) (uintptr, error) { return ffs, nil })
	if err != nil {
		t.Fatal(err)
	}
	d.getErrorName, d.getErrorString = call{}, call{}
	return d
}

// TestCallError checks what becomes of a driver's code.
func TestCallError(t *testing.T) {
	d := zeros(t)
	if err := d.StreamSynchronize(0); err != nil {
		t.Error(err)
	}
	err := d.StreamSynchronize(2)
	if CodeOf(err) != OutOfMemory || err.Error() != "cuStreamSynchronize: error (unknown code, 2)" {
		t.Errorf("error %v", err)
	}
	if CodeOf(nil) != Success || CodeOf(errors.New("other")) != Success {
		t.Error("code of errors that are not the driver's")
	}
	d.tensorMapEncodeTiled.addr = 0
	if err := d.TensorMapEncodeTiled(new(TensorMap), new(TensorMapSpec)); CodeOf(err) != NotSupported {
		t.Errorf("missing call: %v", err)
	}
}

// TestMissingSymbol checks that a library without the driver's calls is refused.
func TestMissingSymbol(t *testing.T) {
	_, err := newNative(func(string) (uintptr, error) { return 0, errors.New("no such symbol") })
	if !errors.Is(err, ErrNoDriver) {
		t.Error(err)
	}
}

// TestRepeated checks when launches are repeated by graphs, and that a driver that refuses graphs
// starts kernels all the same.
func TestRepeated(t *testing.T) {
	var r repeated
	r.follow(1)
	r.belongs(7, 3)
	for i := range fewLaunches + 1 {
		if a := r.of(7, 1); (a != nil) != (i == fewLaunches) {
			t.Fatalf("launch %d: graph %v", i, a)
		} else if a != nil {
			a.exec = 5
		}
		if r.of(7, 2) != nil {
			t.Fatal("graph in another stream")
		}
	}
	if a := r.of(7, 1); a == nil || a.exec != 5 {
		t.Errorf("graph %v after it was made", a)
	}
	if list := r.ofModule(3); len(list) != 1 || list[0].exec != 5 || r.graphs != 0 {
		t.Errorf("graphs %v of the module, %d left", list, r.graphs)
	}
	if a := r.of(7, 1); a != nil {
		t.Errorf("graph %v of a module that is gone", a)
	}
	if list := r.ofStream(1); len(list) != 0 || r.of(7, 1) != nil {
		t.Errorf("graphs %v of the stream", list)
	}
	d := zeros(t)
	d.repeated.follow(1)
	for range 3 * fewLaunches {
		if err := d.LaunchKernel(0, Dim{1, 1, 1}, Dim{1, 1, 1}, 0, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !d.repeated.off {
		t.Error("graphs go on after a refusal")
	}
}

// BenchmarkCall measures a launch but for the driver's part.
func BenchmarkCall(b *testing.B) {
	d := zeros(b)
	x := new(uint64)
	params := []unsafe.Pointer{unsafe.Pointer(x)}
	for b.Loop() {
		if err := d.LaunchKernel(0, Dim{1, 1, 1}, Dim{1, 1, 1}, 0, 0, params); err != nil {
			b.Fatal(err)
		}
	}
}

func TestSticky(t *testing.T) {
	for code, want := range map[Code]bool{
		Success: false, InvalidValue: false, OutOfMemory: false, UnsupportedPTX: false, LaunchResources: false, NotFound: false,
		IllegalAddress: true, LaunchFailed: true, LaunchTimeout: true, ContextDestroyed: true, Unknown: true,
	} {
		if code.Sticky() != want {
			t.Errorf("code %d: %v", code, !want)
		}
	}
}
