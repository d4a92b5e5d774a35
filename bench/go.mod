module github.com/halfulp/halfulp/bench

go 1.26.8

replace github.com/halfulp/halfulp => ../

require github.com/alecthomas/kong v1.17.0
