package distributed_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/distributed"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/internal/mpitest"
	"github.com/halfulp/halfulp/internal/testlength"
	"github.com/halfulp/halfulp/matfile"
)

// sharedFolder is the environment variable that tells processes where their files are.
const sharedFolder = "HALFULP_TEST_FOLDER"

// TestFiles writes and reads matrices on grids: bytes and bits are the same as with one process.
func TestFiles(t *testing.T) {
	shapes := [][2]int{{150, 70}, {30, 200}, {1, 3}, {0, 2}}
	formats := []halfulp.Format{halfulp.Float32, halfulp.Float64, halfulp.DD, halfulp.TD, halfulp.QD, halfulp.MP(200)}
	each := func(f func(h *halfulp.Matrix, name string)) {
		for i, format := range formats {
			for k, kind := range []string{".npy", ".npz", ".mtx"} {
				if shape := shapes[(i+k)%len(shapes)]; kind != ".npy" || !format.IsMP() {
					f(gallery.Random(format, shape[0], shape[1], 10, 1), strings.ReplaceAll(format.String(), ":", "")+kind)
				}
			}
		}
	}
	if !mpitest.InProcess() {
		dir := t.TempDir()
		t.Setenv(sharedFolder, dir)
		each(func(h *halfulp.Matrix, name string) {
			if err := matfile.Write(filepath.Join(dir, name), h, nil); err != nil {
				t.Fatal(err)
			}
		})
		for _, n := range testlength.Of([]int{6}, []int{1, 6}, []int{1, 2, 3, 4, 6}) {
			mpitest.Run(t, n)
		}
		return
	}
	comm, err := distributed.Init()
	if err != nil {
		t.Fatal(err)
	}
	dir, on := os.Getenv(sharedFolder), distributed.Device(0, 0)
	each(func(h *halfulp.Matrix, name string) {
		one, all := filepath.Join(dir, name), filepath.Join(dir, "all-"+name)
		m, err := distributed.Read(one, on, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Host(); err != nil || m.Device() != on || !got.Same(h) {
			t.Errorf("%s on %s: another matrix, %v", name, m.Device(), err)
		}
		if err := distributed.Write(all, m, nil); err != nil {
			t.Fatal(err)
		}
		a, _ := os.ReadFile(one)
		if b, err := os.ReadFile(all); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: another file, %v", name, err)
		}
	})
	name := filepath.Join(dir, "f64.npy")
	if last := comm.Size() - 1; last > 0 {
		if comm.Rank() == last {
			name = filepath.Join(dir, "nix.npy")
		}
		want := fmt.Sprintf("process %d: %s: no such file or directory", last, filepath.Join(dir, "nix.npy"))
		if _, err := distributed.Read(name, on, nil); !errors.Is(err, os.ErrNotExist) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := distributed.Read(name, halfulp.CPU, nil); !errors.Is(err, halfulp.ErrDevice) {
		t.Errorf("%v on the host", err)
	}
	if err := distributed.Write(name, halfulp.NewMatrix(halfulp.Float64, 1, 1), nil); !errors.Is(err, halfulp.ErrMixedDevices) {
		t.Errorf("%v from the host", err)
	}
}
