package textio

import (
	"context"
	"fmt"
	"math/big"

	"github.com/halfulp/halfulp/internal/decimal"
)

// Rationals collects the exact numbers of a text, and counts the memory that they take.
type Rationals struct {
	Context  context.Context
	Limit    int64              // memory in bytes
	Progress func(done float64) // nil for none
	Length   int                // of the text

	// Extent describes the decimals that were parsed.
	Extent decimal.Extent

	bytes, count int64
}

// ratOverhead is the memory in bytes of a big.Rat and a pointer to it, without its words.
const ratOverhead = 80

// Parse returns the number tok, which ends at byte end of the text.
func (r *Rationals) Parse(tok []byte, end int) (*big.Rat, error) {
	const steps = 1 << 12 // numbers from one call of Progress to the next one
	if r.count++; r.count%steps == 0 {
		if err := r.Context.Err(); err != nil {
			return nil, err
		}
		if r.Progress != nil {
			r.Progress(float64(end) / float64(max(r.Length, 1)))
		}
	}
	x, err := decimal.Rat(tok)
	if err != nil {
		return nil, err
	}
	_ = r.Extent.Add(tok, false) // an error means a fraction
	r.bytes += ratOverhead + int64(x.Num().BitLen()+x.Denom().BitLen())/8
	if r.bytes > r.Limit {
		return nil, fmt.Errorf("the exact numbers up to here take more than the memory limit of %s", Bytes(float64(r.Limit)))
	}
	return x, nil
}
