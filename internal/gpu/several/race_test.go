package several_test

import (
	"os"
	"testing"

	"github.com/halfulp/halfulp/internal/gpu/several"
	"github.com/halfulp/halfulp/internal/testlength"
)

// TestMain leaves to the race detector the tests in which goroutines share what others write.
// Small matrices are in parts, as large ones are.
func TestMain(m *testing.M) {
	several.AloneBelow = several.Orders{}
	os.Exit(testlength.RaceOnly(m,
		TestInverse,
		TestPlaces,
	))
}
