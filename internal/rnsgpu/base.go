// Package rnsgpu runs the arithmetic of package rns on NVIDIA GPUs: sums, products of matrices and
// vectors, and operations on single numbers, by the kernels of internal/kernels/rns. Its results
// have the same bits as the results of package rns.
package rnsgpu

import (
	"context"
	"fmt"
	"math/bits"
	"sync"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/gpu/backend"
	"github.com/halfulp/halfulp/internal/gpu/launch"
	"github.com/halfulp/halfulp/internal/place"
)

// maxModulus bounds the moduli: the Barrett reduction of kernels/rns/rns.cuh leaves a remainder
// below 2.5 m, which must fit in 32 bits.
const maxModulus = 1 << 30

// maxModuli is the most moduli that the widest groups have room for.
const maxModuli = 32 * perLane

// constants is struct base of kernels/rns/rns.cuh.
type constants struct {
	moduli, inverse, shift, mu, muLow   cuda.Pointer
	pow, inv, weight, low, negM         cuda.Pointer
	mLo, mUp, half, lim, target, sumLim place.RNSFloat
	slack, bits, word, _                int32
}

// Base is a base of moduli on a device: its tables and kernels.
type Base struct {
	at     place.Place
	n      int // number of moduli
	padded int // number of moduli padded to lanes() times perLane
	c      constants

	iLo, iUp       place.RNSFloat // 1/M
	maxSignificand uint64         // 0 if it has more than 53 bits

	sum, dot, tree, mapping, pairs *cuda.Function
	recursive, pairwise            [2]*cuda.Function // indexed by place.RNSTeam
}

// perLane is the number of residues of a lane in kernels that run many groups.
const perLane = 8

// lanes returns the number of lanes of a group in kernels that run many groups.
func (b *Base) lanes() int { return b.padded / perLane }

// threads returns the number of threads of a team of kind t.
func (b *Base) threads(t place.RNSTeam) int {
	if t == place.RNSOne {
		return 1
	}
	return min(b.padded, 32)
}

// bases holds the bases in use, for the life of the process: the tables of a base take a few MiB.
var bases struct {
	sync.Mutex
	of map[baseKey]*Base
}

type baseKey struct {
	dev    *cuda.Device
	moduli string
}

// part implements place.RNS.
type part struct{}

// Register registers the arithmetic on GPUs with package place.
func Register() { place.Provide[place.RNS](part{}) }

func (part) Base(ctx context.Context, p place.Place, moduli []uint32, constants func() place.RNSConstants) (base place.RNSBase, err error) {
	err = backend.Do(ctx, p, func(s *cuda.Stream) (err error) {
		base, err = baseOf(s, p, moduli, constants)
		return err
	})
	return base, err
}

// baseOf returns the base on the device of s, which is the place p. It returns place.ErrModuli for
// more than maxModuli moduli, or for moduli that are even or not below 2^30.
func baseOf(s *cuda.Stream, p place.Place, moduli []uint32, constants func() place.RNSConstants) (*Base, error) {
	bases.Lock()
	defer bases.Unlock()
	key := baseKey{s.Device(), fmt.Sprint(moduli)}
	if b := bases.of[key]; b != nil {
		return b, nil
	}
	if len(moduli) > maxModuli {
		return nil, fmt.Errorf("%w: %d of them, want up to %d", place.ErrModuli, len(moduli), maxModuli)
	}
	for _, m := range moduli {
		if m%2 == 0 || m >= maxModulus {
			return nil, fmt.Errorf("%w: %d is not odd and below 2^30", place.ErrModuli, m)
		}
	}
	b := &Base{at: p, n: len(moduli), padded: perLane}
	for b.padded < b.n {
		b.padded *= 2
	}
	if err := b.find(s); err != nil {
		return nil, err
	}
	if err := b.upload(s, constants()); err != nil {
		return nil, err
	}
	if bases.of == nil {
		bases.of = map[baseKey]*Base{}
	}
	bases.of[key] = b
	return b, nil
}

// find loads the kernels for the padded number of moduli.
func (b *Base) find(s *cuda.Stream) (err error) {
	kernels, file := launch.KernelsOf(s), fmt.Sprint("rns/rns", b.padded)
	for _, k := range []struct {
		to   **cuda.Function
		name string
	}{
		{&b.sum, "rnsSum"}, {&b.dot, "rnsDot"}, {&b.tree, "rnsTree"}, {&b.mapping, "rnsMap"},
		{&b.pairs, "rnsPairs"}, {&b.recursive[place.RNSOne], "rnsRecursiveS"}, {&b.recursive[place.RNSGroup], "rnsRecursiveP"},
		{&b.pairwise[place.RNSOne], "rnsPairwiseS"}, {&b.pairwise[place.RNSGroup], "rnsPairwiseP"},
	} {
		if *k.to, err = kernels.Function(s, file, k.name); err != nil {
			return err
		}
	}
	return nil
}

// upload uploads the tables, or none if an error occurs. They are never freed.
func (b *Base) upload(s *cuda.Stream, c place.RNSConstants) (err error) {
	n, rows := b.padded, len(c.NegM)
	powers := rows * c.WordBits
	b.iLo, b.iUp, b.maxSignificand = c.ILo, c.IUp, c.MaxSignificand
	b.c = constants{
		mLo: c.MLo, mUp: c.MUp, half: c.Half, lim: c.Lim, target: c.Target, sumLim: c.SumLim,
		slack: int32(c.Slack), bits: int32(c.Bits), word: int32(c.WordBits),
	}
	moduli, inverse, shift := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	mu, muLow := make([]uint64, n), make([]uint32, n)
	pow, inv, weight := make([]uint32, powers*n), make([]uint32, powers*n), make([]uint32, powers*n)
	low := make([]uint32, rows*n)
	for i := range n {
		if i >= b.n {
			moduli[i] = 1
			continue
		}
		m := uint64(c.Moduli[i])
		length := bits.Len64(m)
		q, r := bits.Div64(1, 0, m)
		moduli[i], inverse[i], shift[i] = c.Moduli[i], uint32((uint64(1)<<(length+31))/m), uint32(length-1)
		mu[i], muLow[i] = q, uint32(r<<32/m)
		p, h, w := uint64(1), uint64(1), uint64(c.Weights[i])
		for k := range powers {
			pow[k*n+i], inv[k*n+i], weight[k*n+i] = uint32(p), uint32(h), uint32(w)
			p, w = 2*p%m, 2*w%m
			h = (h + h%2*m) / 2
		}
		for a, words := range c.Low {
			low[a*n+i] = words[i]
		}
	}
	var made []*cuda.Memory
	defer func() {
		if err != nil {
			for _, m := range made {
				m.Free()
			}
		}
	}()
	keep := func(to *cuda.Pointer, m *cuda.Memory, err error) error {
		if err == nil {
			made = append(made, m)
			*to = m.Pointer()
		}
		return err
	}
	for _, t := range []struct {
		to   *cuda.Pointer
		data []uint32
	}{
		{&b.c.moduli, moduli}, {&b.c.inverse, inverse}, {&b.c.shift, shift}, {&b.c.muLow, muLow},
		{&b.c.pow, pow}, {&b.c.inv, inv}, {&b.c.weight, weight}, {&b.c.low, low}, {&b.c.negM, c.NegM},
	} {
		m, err := cuda.NewCopy(s, t.data)
		if err := keep(t.to, m, err); err != nil {
			return err
		}
	}
	m, err := cuda.NewCopy(s, mu)
	return keep(&b.c.mu, m, err)
}
