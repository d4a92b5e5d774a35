module github.com/halfulp/halfulp

go 1.26.8
