// Package libraries lists what is measured.
package libraries

import (
	"github.com/halfulp/halfulp/bench/internal/libraries/arb"
	"github.com/halfulp/halfulp/bench/internal/libraries/bigfloat"
	"github.com/halfulp/halfulp/bench/internal/libraries/halfulp"
	"github.com/halfulp/halfulp/bench/internal/libraries/mpfr"
	"github.com/halfulp/halfulp/bench/internal/libraries/openblas"
	"github.com/halfulp/halfulp/bench/internal/libraries/qd"
	"github.com/halfulp/halfulp/bench/internal/peer"
)

// All returns the libraries in the order of the tables.
func All() []peer.Library {
	return []peer.Library{
		openblas.Library{},
		halfulp.Library{},
		arb.Library{},
		mpfr.Library{},
		qd.Library{},
		bigfloat.Library{},
	}
}
