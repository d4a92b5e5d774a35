module github.com/halfulp/halfulp/internal/_neon

go 1.26.8
