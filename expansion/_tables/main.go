// Command _tables writes tables.go.
package main

import (
	"log"
	"os"

	"github.com/halfulp/halfulp/internal/expansiontables"
)

func main() {
	log.SetFlags(0)
	text, err := expansiontables.Go()
	if err == nil {
		err = os.WriteFile("tables.go", text, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}
