package several_test

import (
	"os"
	"testing"

	"github.com/halfulp/halfulp/internal/testlength"
)

// TestMain leaves to the race detector the tests in which goroutines share what others write.
func TestMain(m *testing.M) {
	os.Exit(testlength.RaceOnly(m,
		TestInverse,
		TestPlaces,
	))
}
