package factors

import (
	"github.com/halfulp/halfulp/internal/num"
	"github.com/halfulp/halfulp/internal/place"
	"github.com/halfulp/halfulp/internal/proof/call"
)

// factored returns factors that run computes where A lives; nil where the place does not decide
// them.
func factored[T comparable](s *call.Run, a num.Mat, run func() (T, error)) (T, error) {
	var none T
	s.At = place.Of(a.Arr)
	z, err := run()
	if err = call.Resignable(err); z == none && err == nil {
		s.Resign()
		return none, nil
	}
	s.Release()
	s.At = nil
	return z, err
}
