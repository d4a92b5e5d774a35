package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

const root = "../../.."

// TestMeasured compares the model with all measured cases.
func TestMeasured(t *testing.T) {
	m, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.checks() {
		if r := c.Ratio(); !(r < Factor && 1/r < Factor) {
			t.Errorf("%s: %.3g %s, the model has %.3g", c.What, c.Measured, c.Unit, c.Model)
		}
	}
}

// TestPipeline simulates transfers whose times are known: parts that are handed on, one link for
// two, and work that waits.
func TestPipeline(t *testing.T) {
	s := System{&Measured{}, 4, NodeGPUs, true}
	b := s.build(8)
	const bytes = 8 * PeerRate // 1 s a part
	var after []int32
	for range 4 {
		after = append(after, b.add(1))
	}
	b.broadcast(4, 1, func(i int) int { return i }, bytes, -1, nil, after)
	// Three hops of 8 s, each a part and a start after the one before; then 1 s of work.
	if got, want := b.run(), 8+2*1+3*PeerDelay+1; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("pipeline: %v s, want %v", got, want)
	}
	b = s.build(8)
	b.transfer(0, 1, bytes)
	b.transfer(0, 2, bytes)
	if got, want := b.run(), 16+2*PeerDelay; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("two transfers from one GPU: %v s, want %v", got, want)
	}
}

// TestBounds checks that no efficiency exceeds 1 by more than a fit's error, and that one
// link a node is not faster than eight.
func TestBounds(t *testing.T) {
	m, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range routines {
		one := r.run(System{m, 1, NodeGPUs, true}, 3e4, 424)
		for _, p := range []int{2, 8, 64} {
			eight := r.run(System{m, p, NodeGPUs, true}, 3e4, 424)
			shared := r.run(System{m, p, 1, true}, 3e4, 424)
			if e := one.Seconds / eight.Seconds / float64(p); !(e > 0 && e < 1.001) {
				t.Errorf("%s on %d GPUs: efficiency %v", r.Name, p, e)
			}
			if shared.Seconds < eight.Seconds*0.999 {
				t.Errorf("%s on %d GPUs: %v s by one link, %v s by eight", r.Name, p, shared.Seconds, eight.Seconds)
			}
		}
	}
}

// TestGenerated compares the page and the picture with what the command writes. Compilers for other
// processors fuse operations.
func TestGenerated(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("written on amd64")
	}
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what go run ./cmd/scale writes: %v", name, err)
		}
	}
}
