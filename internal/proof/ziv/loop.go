package ziv

import (
	"fmt"
	"math"

	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// Loop says which numbers of bits [Decide] tries.
type Loop struct {
	What  string // name of the numbers to be decided, for errors
	First int    // bits of the first attempt
	// Most bounds the bits of an attempt. Before an attempt with more bits Decide returns without
	// an error, and the caller decides the remaining numbers in another way. If Most is 0, an
	// attempt with more than bound.MaxBits bits is an error.
	Most int
	Theory
}

// Theory ends loops that contradict a theorem.
type Theory struct {
	// Need returns how many bits suffice. It is nil if no bound is known.
	Need func() Need
	// Regular returns an error if the matrix is proved to be one for which nothing can be decided,
	// for example singular. Decide calls it before it reports a contradiction. It may be nil.
	Regular func() error
}

// Enough is the theory of numbers that are enclosed and decided by so many bits.
func Enough(bits int) Theory {
	return Theory{Need: func() Need { return Need{bits, bits} }}
}

// TheoryBits delays the call of Need, which takes time: Decide calls Need once an attempt has had
// over TheoryBits more bits than the first.
const TheoryBits = 1 << 11

// Values that an attempt may return instead of the number of missing bits.
const (
	Double     = 0                 // some bits are missing: the next attempt has twice as many
	Done       = math.MinInt32     // all numbers are decided, or more bits would not decide more
	Unenclosed = math.MinInt32 + 1 // like Double, and nothing is enclosed with so few bits
)

// Decide calls attempt with more and more bits, until it returns Done. An attempt encloses numbers,
// rounds the numbers whose enclosures round to one number, decides ties by other proofs, and
// returns how many bits are missing for the others.
//
// Decide returns call.Contradiction if an attempt leaves a number undecided although it has the
// bits that suffice according to theory. The error wraps call.ErrMemory if an attempt would need
// more than bound.MaxBits bits and l.Most is 0. If the context is cancelled Decide returns its
// error.
func Decide(s *call.Run, l Loop, attempt func(bits int) (missing int, err error)) error {
	need := Need{BeyondMost, BeyondMost}
	asked := l.Need == nil
	for bits := l.First; l.Most == 0 || bits <= l.Most; {
		if l.Most == 0 && bits > bound.MaxBits {
			return fmt.Errorf("%s in %d bits: %w", l.What, bits, call.ErrMemory)
		}
		if err := s.Ctx.Err(); err != nil {
			return err
		}
		missing, err := attempt(bits)
		if missing == Done || err != nil {
			return err
		}
		if !asked && bits > l.First+TheoryBits {
			asked, need = true, l.Need()
		}
		if bits >= need.Decided || missing == Unenclosed && bits >= need.Enclosed {
			if l.Regular != nil {
				if err := l.Regular(); err != nil {
					return err
				}
			}
			return call.Contradiction(fmt.Sprintf("%d bits do not decide %s", bits, l.What))
		}
		if missing <= 0 {
			missing = bits
		}
		bits += missing
	}
	return nil
}
