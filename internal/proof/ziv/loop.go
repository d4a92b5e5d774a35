package ziv

import (
	"fmt"
	"math"

	"github.com/halfulp/halfulp/internal/proof/bound"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// Loop describes the numbers of bits that [Decide] tries.
type Loop struct {
	What  string // what is to be decided, for errors
	First int    // bits of the first attempt
	// Most bounds the bits of an attempt. With more Decide returns without an error, and the caller
	// decides what is left in another way. If Most is 0, more than bound.MaxBits are an error.
	Most int
	Theory
}

// Theory ends attempts that contradict it.
type Theory struct {
	// Need returns how many bits decide everything; nil if no bound is known.
	Need func() Need
	// Regular returns an error if a matrix is proved to be one for which nothing can be decided. It
	// is asked before a contradiction is reported, and may be nil.
	Regular func() error
}

// Enough is the theory of numbers that so many bits enclose and decide.
func Enough(bits int) Theory {
	return Theory{Need: func() Need { return Need{bits, bits} }}
}

// TheoryBits is how many bits more than the first an attempt has before Need is asked, which takes
// time.
const TheoryBits = 1 << 11

// What an attempt returns in place of how many bits are missing.
const (
	Double     = 0                 // some bits are missing: the next attempt has twice as many
	Done       = math.MinInt32     // all is decided, or no number of bits would decide more
	Unenclosed = math.MinInt32 + 1 // Double, and nothing is enclosed with so few bits
)

// Decide calls attempt with more and more bits, until it returns Done. An attempt encloses numbers,
// rounds those whose enclosures round to one number, decides ties by other proofs, and returns how
// many bits are missing for the others.
//
// Decide returns call.Contradiction when an attempt leaves something undecided although it has the
// bits that theory needs.
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
