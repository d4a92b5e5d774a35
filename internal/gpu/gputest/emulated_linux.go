//go:build amd64

package gputest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/kernels"
)

// sources is where the kernels' sources are: in the module that a test's working directory is in,
// if it is in one.
var sources = sync.OnceValue(func() string {
	dir, _ := os.Getwd()
	for _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil && dir != filepath.Dir(dir); _, err = os.Stat(filepath.Join(dir, "go.mod")) {
		dir = filepath.Dir(dir)
	}
	return filepath.Join(dir, "internal", "kernels")
})

// notEmulated are kernels whose blocks wait for each other.
var notEmulated = map[string]bool{"pivotPanel": true}

// emulate replaces the Go references of the kernels in files, such as rows/triangular, by the
// kernels themselves, compiled for the host by a C++ compiler (see emulator/cuda.h). The references
// must exist. It skips the test if there is no compiler or no source. "all" means all sources
// except the ones for Hopper only.
func emulate(t testing.TB, drv *fake.Driver, files ...string) {
	t.Helper()
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("kernels are not emulated:", err)
	}
	if _, err := os.Stat(sources()); err != nil { // a test's binary on another machine
		if os.Getenv(Emulate) == "all" {
			t.Fatal(err)
		}
		t.Skip("kernels are not emulated:", err)
	}
	if len(files) == 1 && files[0] == "all" {
		files = slices.DeleteFunc(kernels.Files(), func(name string) bool {
			return !slices.Contains([]string{"exact", "rows", "newton", "seed"}, path.Dir(name)) || strings.HasSuffix(name, "_sm90a")
		})
	}
	for _, file := range files {
		for _, name := range entriesOf(file) {
			if !notEmulated[name] {
				drv.Emulate(name, emulated(t, compiler, file, name))
			}
		}
	}
}

var entry = regexp.MustCompile(`\.entry (\w+)\(`)

// entriesOf lists the kernels of a source.
func entriesOf(file string) (names []string) {
	for _, m := range entry.FindAllStringSubmatch(string(kernels.PTX(file)), -1) {
		names = append(names, m[1])
	}
	return names
}

// A library is a source that was compiled.
type library struct {
	once   sync.Once
	handle uintptr
	err    error
}

var libraries sync.Map // *library by file

// launch corresponds to launch of emulator/cuda.h.
type launch struct {
	grid, block [3]uint32
	shared      uint64
	order       uint64
	params      *unsafe.Pointer
}

// emulated returns a function that runs a kernel. Its source is compiled at the first launch.
func emulated(t testing.TB, compiler, file, kernel string) func(l *fake.Launch, params []unsafe.Pointer) bool {
	kept, _ := libraries.LoadOrStore(file, new(library))
	lib := kept.(*library)
	return func(l *fake.Launch, params []unsafe.Pointer) bool {
		lib.once.Do(func() { lib.handle, lib.err = compile(compiler, file) })
		if lib.err != nil {
			t.Error(lib.err)
			return false
		}
		f, err := purego.Dlsym(lib.handle, "emulate_"+kernel)
		if err != nil {
			t.Error(err)
			return false
		}
		c := &launch{
			grid: [3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, block: [3]uint32{l.Block.X, l.Block.Y, l.Block.Z},
			shared: uint64(l.Shared), order: l.Number, params: &params[0],
		}
		ok, _, _ := purego.SyscallN(f, uintptr(unsafe.Pointer(c)))
		runtime.KeepAlive(c)
		if ok == 0 {
			t.Errorf("threads of kernel %s wait at different barriers", kernel)
		}
		return ok != 0
	}
}

// compile returns the library with the kernels of a source.
func compile(compiler, file string) (handle uintptr, err error) {
	folder, err := os.MkdirTemp("", "halfulp-emulated-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	for _, part := range []string{"common", filepath.Dir(file)} {
		names, err := filepath.Glob(filepath.Join(sources(), part, "*.cu*"))
		if err != nil {
			return 0, err
		}
		if err := os.Mkdir(filepath.Join(folder, part), 0o700); err != nil {
			return 0, err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return 0, err
			}
			if err := os.WriteFile(filepath.Join(folder, part, filepath.Base(name)), []byte(forHost(string(text))), 0o600); err != nil {
				return 0, err
			}
		}
	}
	header := filepath.Join(sources(), "..", "gpu", "gputest", "emulator", "cuda.h")
	text := fmt.Sprintf("#include %q\nnamespace kernels {\n#include %q\n", header, file+".cu")
	for _, name := range entriesOf(file) {
		text += "EXPORT(" + name + ")\n"
	}
	if err := os.WriteFile(filepath.Join(folder, "all.cpp"), []byte(text+"}\n"), 0o600); err != nil {
		return 0, err
	}
	cmd := exec.Command(compiler, "-std=c++17", "-O1", "-U_FORTIFY_SOURCE", "-w", "-fPIC", "-shared", "-ffp-contract=off", "-fwrapv",
		"-fno-strict-aliasing", "-I.", "-o", "all.so", "all.cpp")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s.cu for the host: %w\n%s", file, err, out)
	}
	return purego.Dlopen(filepath.Join(folder, "all.so"), purego.RTLD_NOW|purego.RTLD_LOCAL)
}

var (
	dynamic = regexp.MustCompile(`extern __shared__ (?:__align__\(\d+\) )?(\w+) (\w+)\[\];`)
	inline  = regexp.MustCompile(`(?s)asm( volatile)?\s*\(.*?\);`)
)

// instructions are the host's replacements for PTX instructions. They are found by words of these,
// and name the places where the instructions stand.
var instructions = []struct{ ptx, host string }{
	{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "emulator::multiply<signed char, 32>(c, a.x, a.y, a.z, a.w, b0, b1, c);"},
	{"mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", "emulator::multiply<unsigned char, 32>(c, a.x, a.y, a.z, a.w, b0, b1, c);"},
	{"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", "emulator::multiply<signed char, 16>(d, a.x, a.y, 0, 0, b, 0, {c, c, c, c});"},
	{"mma.sync.aligned.m8n8k4.row.col.f64", "emulator::multiply64(c, a, b);"},
	{"cp.async.cg.shared.global.L2::128B", "memset(emulator::shared(to), 0, 16), memcpy(emulator::shared(to), from, bytes);"},
	{"cp.async.cg.shared.global", "memcpy(emulator::shared(to), from, 16);"},
	{"cp.async.ca.shared.global", "memcpy(emulator::shared(to), from, 8);"},
	{"cp.async.commit_group", ";"},
	{"prefetch.global.L2", ";"},
	{"cp.async.wait_group", ";"},
	{"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", "emulator::multiply<signed char, 32, unsigned char>(*(int (*)[4])c, a.x, a.y, a.z, a.w, b0, b1, *(int (*)[4])c);"},
	{"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", "emulator::multiply<unsigned char, 32, signed char>(c, a.x, a.y, a.z, a.w, b0, b1, c);"},
	{"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "if (wanted) r = emulator::transposed(at);"},
	{"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "r = emulator::matrices(at);"},
	{"rcp.approx.ftz.f64", "y = 1 / x;"},
	{"dp4a.u32.u32", "sum = emulator::dot(x, y, sum);"},
	{"mad.wide.s32", "sum[i + j + 1] += (i64)d[i] * v;"},
	{"add.cc.u32", "emulator::addDigits(w0, w1, w2, w3, 0x80808080u - flip);"},
	{`""`, ";"},
}

// forHost returns CUDA C++ without the syntax that no macro can replace.
func forHost(text string) string {
	text = dynamic.ReplaceAllString(text, "$1 *$2 = ($1 *)emulator::m().room;")
	return inline.ReplaceAllStringFunc(text, func(s string) string {
		for _, i := range instructions {
			if strings.Contains(s, i.ptx) {
				return i.host
			}
		}
		return s // which the host's assembler does not take
	})
}
