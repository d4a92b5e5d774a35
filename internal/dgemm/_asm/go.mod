module github.com/halfulp/halfulp/internal/dgemm/_asm

go 1.26.8

require github.com/mmcloughlin/avo v0.6.0

require (
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

require (
	github.com/halfulp/halfulp/internal/_compact v0.0.0
	github.com/halfulp/halfulp/internal/_neon v0.0.0
)

replace github.com/halfulp/halfulp/internal/_neon => ../../_neon

replace github.com/halfulp/halfulp/internal/_compact => ../../_compact
