module github.com/halfulp/halfulp/bindings/c

go 1.26.8

replace github.com/halfulp/halfulp => ../..

require github.com/halfulp/halfulp v0.0.0-00010101000000-000000000000

require (
	github.com/ebitengine/purego v0.11.3 // indirect
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)
