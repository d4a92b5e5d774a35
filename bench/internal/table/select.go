package table

import (
	"slices"

	"github.com/halfulp/halfulp/bench/internal/peer"
	"github.com/halfulp/halfulp/bench/internal/record"
)

// distinct returns the values of key, each once, in order of appearance.
func distinct[K comparable](figures []record.Figure, key func(record.Figure) K) []K {
	var keys []K
	for _, f := range figures {
		if k := key(f); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

func first(figures []record.Figure, wanted func(record.Figure) bool) *record.Figure {
	if i := slices.IndexFunc(figures, wanted); i >= 0 {
		return &figures[i]
	}
	return nil
}

func find(figures []record.Figure, method string, bits uint) *record.Figure {
	return first(figures, func(f record.Figure) bool { return f.Method == method && f.Bits == bits })
}

// unit returns the reference's figure at a precision.
func unit(figures []record.Figure, bits uint) *record.Figure {
	return best(figures, bits, peer.Reference)
}

// best returns the fastest method of a role at a precision.
func best(figures []record.Figure, bits uint, role peer.Role) *record.Figure {
	var fastest *record.Figure
	for i, f := range figures {
		if f.Bits == bits && f.Role == string(role) && f.Skipped == "" && (fastest == nil || f.Median < fastest.Median) {
			fastest = &figures[i]
		}
	}
	return fastest
}

// uniform returns the figure of f's method on the same problem without spread exponents, or nil if
// f has none.
func uniform(all []record.Figure, f *record.Figure) *record.Figure {
	if f == nil || f.Spread == 0 {
		return nil
	}
	return first(all, func(g record.Figure) bool {
		return g.Method == f.Method && g.Kind == f.Kind && g.N == f.N && g.Bits == f.Bits && g.Spread == 0 && g.Skipped == ""
	})
}
