package cuda

import (
	"reflect"
	"strings"
	"testing"

	"github.com/halfulp/halfulp/internal/kernels"
)

func TestParsePTX(t *testing.T) {
	h := parsePTX(kernels.PTX("selftest/selftest"))
	want := header{
		version: Version{8, 0},
		target:  "sm_80",
		parameters: map[string][]int{
			"scale_add": {8, 8, 8, 8, 4},
			"empty":     {},
			"answer":    {8, 4, 4}, "answer_words": {8, 4, 4, 4}, "arguments": {8, 4, 32, 8, 4, 8},
			"reverse": {8, 4},
			"wander":  {8},
		},
	}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("%+v, want %+v", h, want)
	}
	// A table in one long line, and a tensor map.
	long := ".version 8.7\n.target sm_90a\n.const .align 1 .b8 table[99999] = {" + strings.Repeat("0, ", 99999) + "0};\n" +
		".visible .entry copy(\n\t.param .align 64 .b8 copy_param_0[128],\n\t.param .f32 copy_param_1\n)\n.maxntid 128, 1, 1\n{\n\t.param .b32 retval0;\n}\n"
	h = parsePTX([]byte(long))
	want = header{Version{8, 7}, "sm_90a", map[string][]int{"copy": {128, 4}}}
	if !reflect.DeepEqual(h, want) {
		t.Errorf("%+v, want %+v", h, want)
	}
}

func TestNeed(t *testing.T) {
	for ptx, cuda := range map[Version]Version{{8, 0}: {12, 0}, {8, 5}: {12, 5}, {7, 4}: {11, 0}, {9, 1}: {13, 0}, {6, 0}: {}} {
		if got := need(ptx); got != cuda {
			t.Errorf("PTX %v needs %v, want %v", ptx, got, cuda)
		}
	}
}

// TestClassSize checks that sizes of the pool waste at most 1/8, and 512 bytes.
func TestClassSize(t *testing.T) {
	for size := uint64(0); size < 1<<20; size += 1 + size/100 {
		c := classSize(size)
		if c < size || c == 0 || c-size > max(512, size/8) || c%512 != 0 || classSize(c) != c {
			t.Errorf("class of %d is %d", size, c)
		}
	}
}
