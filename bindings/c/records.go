package main

// record is several results under names.
type record struct {
	memory *memory
}
