module github.com/halfulp/halfulp

go 1.26.8

require (
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)
