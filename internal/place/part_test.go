package place

import (
	"testing"

	"github.com/halfulp/halfulp/internal/num"
)

// bare implements no part.
type bare struct{ Place }

// keeper implements the part Preparer.
type keeper struct {
	Place
	kept *int
}

func (k keeper) Prepare(num.Mat) { *k.kept++ }

// wrapper passes on the parts of another place.
type wrapper struct{ Place }

func (w wrapper) Unwrap() Place { return w.Place }

// TestPart finds a part in a place and in its wrappers, the outermost first, and finds nothing if
// none implements the part.
func TestPart(t *testing.T) {
	var outer, inner int
	within := keeper{bare{}, &inner}
	for _, c := range []struct {
		name string
		p    Place
		kept *int
	}{
		{"the host", nil, nil},
		{"a place without parts", bare{}, nil},
		{"a wrapper without parts", wrapper{wrapper{bare{}}}, nil},
		{"a wrapper of the host", wrapper{}, nil},
		{"a place that hides its part", bare{within}, nil},
		{"a place", within, &inner},
		{"a wrapper", wrapper{wrapper{within}}, &inner},
		{"a place that wraps another", wrapper{keeper{wrapper{within}, &outer}}, &outer},
	} {
		part, ok := Part[Preparer](c.p)
		if ok != (c.kept != nil) {
			t.Errorf("%s: %v", c.name, ok)
			continue
		}
		if ok {
			was := *c.kept
			if part.Prepare(num.Mat{}); *c.kept != was+1 {
				t.Errorf("%s: another place's part", c.name)
			}
		}
		if _, ok := Part[Newton](c.p); ok || Oblique(c.p) {
			t.Errorf("%s: offers Newton", c.name)
		}
	}
}
