package matfile_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/matfile"
)

// temporary returns the name of a file in a new folder, and a function that removes the folder.
func temporary(name string) (path string, remove func()) {
	dir, err := os.MkdirTemp("", "matfile")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, name), func() { os.RemoveAll(dir) }
}

// A matrix of 300 bits goes to a NumPy archive and comes back with the same bits.
func Example() {
	name, remove := temporary("h.npz")
	defer remove()
	h := gallery.Hilbert(halfulp.MP(300), 3)
	if err := matfile.Write(name, h, nil); err != nil {
		log.Fatal(err)
	}
	a, err := matfile.Read(name, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.NumberFormat(), a.Same(h))
	// Output:
	// mp:300 true
}

// A table with a header, whose numbers are rounded to float64, and what the reader found.
func ExampleRead() {
	name, remove := temporary("prices.csv")
	defer remove()
	if err := os.WriteFile(name, []byte("year,price\n2024,1.25\n2025,1.50\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	var info matfile.Info
	a, err := matfile.Read(name, &matfile.Options{In: halfulp.Exactly(halfulp.Float64), Info: &info})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Names)
	fmt.Println(a)
	prices, err := matfile.Read(name+":price", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prices)
	// Output:
	// [year price]
	// 2024 1.25
	// 2025  1.5
	// 1.25
	// 1.5
}

// A table with decimal commas, from a reader.
func ExampleReadFrom() {
	text := strings.NewReader("1,5;2\n3;4,25\n")
	a, err := matfile.ReadFrom(text, &matfile.Options{
		Kind: matfile.CSV, Dialect: matfile.Dialect{Delimiter: ';', DecimalComma: true},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a)
	// Output:
	// 1.5    2
	//   3 4.25
}

const coordinates = `%%MatrixMarket matrix coordinate real general
1000 1000 3
1 1 0.5
1000 2 -3
1 1 0.25
`

// The entries of a sparse matrix. Two of them name the same place and are added.
func ExampleReadSparse() {
	name, remove := temporary("a.mtx")
	defer remove()
	if err := os.WriteFile(name, []byte(coordinates), 0o600); err != nil {
		log.Fatal(err)
	}
	a, err := matfile.ReadSparse(name, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Rows, a.Cols)
	for k := range a.Row {
		fmt.Println(a.Row[k], a.Col[k], a.Values.At(k))
	}
	// Output:
	// 1000 1000
	// 0 0 0.75
	// 999 1 -3
}

// The number of entries of a sparse matrix from a reader.
func ExampleReadSparseFrom() {
	a, err := matfile.ReadSparseFrom(strings.NewReader(coordinates), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Values.Len())
	// Output:
	// 2
}

// Standard output receives a table in place of a file, with 20 digits.
func ExampleWrite() {
	third := gallery.Hilbert(halfulp.DD, 3).Slice(0, 1, 0, 3)
	if err := matfile.Write("-", third, &matfile.Options{Kind: matfile.CSV, Digits: 20}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// # halfulp format dd
	// 1.0000000000000000000,0.50000000000000000000,0.33333333333333333333
}

// A matrix for PARI/GP.
func ExampleWriteTo() {
	var b bytes.Buffer
	if err := matfile.WriteTo(&b, gallery.Hilbert(halfulp.Float64, 2), &matfile.Options{Kind: matfile.PARI}); err != nil {
		log.Fatal(err)
	}
	fmt.Print(b.String())
	// Output:
	// [1.0, 0.5; 0.5, 0.3333333333333333]
}

// Two files, which appear together or not at all.
func ExampleWriteAll() {
	a, remove := temporary("a.mtx")
	defer remove()
	b := filepath.Join(filepath.Dir(a), "b.unknown")
	i := halfulp.Identity(halfulp.Float64, 2)
	err := matfile.WriteAll([]matfile.Named{{Name: a, Matrix: i}, {Name: b, Matrix: i}}, nil)
	fmt.Println(err != nil)
	_, err = os.Stat(a)
	fmt.Println(os.IsNotExist(err))
	// Output:
	// true
	// true
}

// One archive with a matrix of 100 bits and a permutation.
func ExampleWriteArchive() {
	name, remove := temporary("lu.npz")
	defer remove()
	err := matfile.WriteArchive(name, []matfile.Named{
		{Name: "L", Matrix: gallery.Hilbert(halfulp.MP(100), 2)},
		{Name: "P", Integers: []int{1, 0}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	l, err := matfile.Read(name+":L", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.NumberFormat(), l.At(1, 1))
	// Output:
	// mp:100 0.3333333333333333333333333333335
}

// The kind of file that a name stands for.
func ExampleKindOf() {
	for _, name := range []string{"a.mtx", "a.CSV.gz", "a", "a.xlsx"} {
		fmt.Printf("%s: %q\n", name, matfile.KindOf(name))
	}
	// Output:
	// a.mtx: "mtx"
	// a.CSV.gz: "csv"
	// a: "mtx"
	// a.xlsx: ""
}

// The kind of a file by its content, whatever its name.
func ExampleDetect() {
	fmt.Println(matfile.Detect("a.txt", []byte("\x93NUMPY\x01\x00")))
	fmt.Println(matfile.Detect("a.txt", []byte("%%MatrixMarket matrix array real general\n")))
	fmt.Println(matfile.Detect("a.txt", []byte("1 2 3\n")))
	// Output:
	// npy
	// mtx
	// txt
}

// Whether a result can be written, before it is computed.
func ExampleCheckName() {
	fmt.Println(matfile.CheckName("y.npz", halfulp.MP(300)))
	fmt.Println(matfile.CheckName("y.npy", halfulp.MP(300)))
	// Output:
	// <nil>
	// y.npy: a .npy file does not hold numbers of format mp:300: write .npz, or a text
}

// A file and the part of it to read.
func ExampleSplitName() {
	name, remove := temporary("f.npz")
	defer remove()
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		log.Fatal(err)
	}
	file, part := matfile.SplitName(name + ":L")
	fmt.Println(file == name, part)
	// Output:
	// true L
}

// A list of columns; a name with a comma stands in quotes.
func ExampleSplitColumns() {
	columns, err := matfile.SplitColumns(`2-4,price,"Höhe, m"`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", columns)
	// Output:
	// ["2-4" "price" "Höhe, m"]
}

// The last number of a file of 10000 doubles, which is not read in full. Systems that cannot map
// files into memory, and small files, are left to Read.
func ExampleOpenDoubles() {
	name, remove := temporary("x.npy")
	defer remove()
	x := halfulp.NewMatrix(halfulp.Float64, 10000, 1)
	x.SetFloat64(9999, 0, 0.5)
	if err := matfile.Write(name, x, nil); err != nil {
		log.Fatal(err)
	}
	last := make([]float64, 1)
	if d, ok := matfile.OpenDoubles(context.Background(), name); ok {
		defer d.Close()
		if err := d.Read(last, d.Len()-1); err != nil {
			log.Fatal(err)
		}
		if err := d.Check(); err != nil {
			log.Fatal(err)
		}
	} else {
		a, err := matfile.Read(name, nil)
		if err != nil {
			log.Fatal(err)
		}
		last[0] = a.At(9999, 0).Float64()
	}
	fmt.Println(last)
	// Output:
	// [0.5]
}
