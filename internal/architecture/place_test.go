package architecture

import (
	"reflect"
	"testing"

	"github.com/halfulp/halfulp/internal/place"
)

// placeMethods is the number of methods of every place. The number may only become smaller: methods
// for a few routines belong to a part, which a place may offer.
const placeMethods = 16

// TestPlace counts the methods of place.Place.
func TestPlace(t *testing.T) {
	if n := reflect.TypeFor[place.Place]().NumMethod(); n != placeMethods {
		t.Errorf("place.Place has %d methods, not %d: a method that not every routine needs is one of a part, see place.Part; for fewer methods lower the number here", n, placeMethods)
	}
}
