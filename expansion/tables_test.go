package expansion

import (
	"bytes"
	"os"
	"testing"

	"github.com/halfulp/halfulp/internal/expansiontables"
)

// TestTables checks that tables.go is what the generator writes.
func TestTables(t *testing.T) {
	if testing.Short() {
		t.Skip("computes the tables")
	}
	want, err := expansiontables.Go()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("tables.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("tables.go is not what go generate writes: %v", err)
	}
}
