package place

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestExplain checks the errors about kinds of places for which a program has no backend.
func TestExplain(t *testing.T) {
	defer func() { registered.absent = nil }()
	if _, err := Find("abacus"); !errors.Is(err, ErrDevice) {
		t.Errorf("error %v", err)
	}
	for _, kind := range []string{"abacus", "slide rule"} {
		Explain(kind, fmt.Errorf("%w: no %s here", ErrDevice, kind))
	}
	for _, kind := range []string{"abacus", "slide rule"} {
		if _, err := Find(kind); !errors.Is(err, ErrDevice) || err.Error() != "no such device: no "+kind+" here" {
			t.Errorf("error %v", err)
		}
	}
}

// TestParseName reads names of devices.
func TestParseName(t *testing.T) {
	for text, want := range map[string]Name{
		"": {Kind: Auto}, "auto": {Kind: Auto}, "cpu": {Kind: Host}, "cuda:all": {Kind: CUDA}, "cuda:3": {Kind: CUDA, Numbers: []int{3}},
		"cuda:2,0": {Kind: CUDA, Numbers: []int{2, 0}}, "cuda:1-3": {Kind: CUDA, Numbers: []int{1, 2, 3}},
		"cuda:4,0-1": {Kind: CUDA, Numbers: []int{4, 0, 1}},
	} {
		got, err := ParseName(text)
		if err != nil || got.Kind != want.Kind || !slices.Equal(got.Numbers, want.Numbers) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
		if text != "" && got.String() != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	for _, text := range []string{"gpu", "cuda", "cuda:", "cuda:-1", "cuda:1-0", "cuda:0,0", "cuda:0-2,1", "cuda:x", "cuda:70000", "CPU", " cpu"} {
		if n, err := ParseName(text); !errors.Is(err, ErrDevice) {
			t.Errorf("%q: %+v, %v", text, n, err)
		}
	}
}
