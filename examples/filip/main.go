// Filip fits the polynomial of NIST's problem Filip in float64, in three ways, and by package
// linsolve, and counts the certified digits that each of them gets.
package main

import (
	_ "embed"
	"fmt"
	"log"
	"math"
	"math/big"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/gallery"
	"github.com/halfulp/halfulp/linsolve"
)

const (
	degree = 10
	places = 9 // behind the point of the data
	digits = 15
)

// The data, and the certified coefficients.
var (
	//go:embed x.txt
	nodes string
	//go:embed y.txt
	values    string
	certified = strings.Fields(`-1467.48961422980 -2772.17959193342 -2316.37108160893 -1127.97394098372
		-354.478233703349 -75.1242017393757 -10.8753180355343 -1.06221498588947 -0.0670191154593408
		-0.00246781078275479 -0.0000402962525080404`)
)

func main() {
	x, y := floats(nodes), floats(values)
	powers := make([][]float64, len(x))
	for i := range x {
		powers[i] = powersOf(x[i])
	}
	fmt.Printf("condition number of XᵀX: %.1e\n\n", condition())
	fmt.Println("method                                    certified digits that come out right")
	report("float64, normal equations", normalEquations(powers, y))
	report("float64, QR decomposition", qr(powers, y))
	report("float64, QR decomposition, x in [-1, 1]", scaled(x, y))
	report("linsolve, data rounded to float64", polyFit(halfulp.NewVectorFloat64(len(x), 1, x), halfulp.NewVectorFloat64(len(y), 1, y), nil))
	unit := big.NewRat(1, 1e9) // 10^-places: the data are integers times that
	report("linsolve, data as they are", polyFit(integers(nodes), integers(values), unit))
}

// report prints the least number of right digits among the coefficients: -log10 of the relative
// error, at most as many as are certified.
func report(method string, c []*big.Float) {
	least := float64(digits)
	for i, text := range certified {
		want, _ := new(big.Float).SetPrec(200).SetString(text)
		if halfulp.NewScalar(halfulp.MP(200), c[i]).Text(digits) == text {
			continue // all of them
		}
		d := new(big.Float).Sub(c[i], want)
		relative, _ := d.Quo(d, want).Float64()
		least = min(least, max(0, -math.Log10(math.Abs(relative))))
	}
	fmt.Printf("%-40s  %4.1f\n", method, least)
}

// polyFit fits by package linsolve; the numbers of x and y stand for so many units.
func polyFit(x, y *halfulp.Vector, unit *big.Rat) []*big.Float {
	opt := &linsolve.RegressionOptions{Unit: unit}
	if unit != nil {
		opt.ColumnUnits = []*big.Rat{unit}
	}
	fit, err := linsolve.PolyFit(x, y, degree, halfulp.MP(100), opt)
	if err != nil {
		log.Fatal(err)
	}
	c := make([]*big.Float, degree+1)
	for i := range c {
		c[i] = fit.X.Big(i, 0)
	}
	return c
}

// condition returns the condition number of XᵀX, X the matrix of the powers of x, in the 1-norm.
func condition() float64 {
	x := gallery.Vandermonde(halfulp.MP(512), integers(nodes), degree+1) // exact
	for j := range degree + 1 {                                          // 10^-9 j, rounded
		unit := new(big.Float).SetPrec(512).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places*j)), nil))
		for i := range x.Rows() {
			x.SetBig(i, j, new(big.Float).Quo(x.Big(i, j), unit))
		}
	}
	a := halfulp.NewMatrix(halfulp.MP(512), degree+1, degree+1)
	if err := halfulp.Gemm(halfulp.Trans, halfulp.NoTrans, halfulp.Float(1), x, x, halfulp.Float(0), a, nil); err != nil {
		log.Fatal(err)
	}
	k, err := linsolve.Cond(halfulp.OneNorm, a, halfulp.Float64, nil)
	if err != nil {
		log.Fatal(err)
	}
	return k.Float64()
}

// integers returns decimals times 10^places.
func integers(text string) *halfulp.Vector {
	var z []*big.Float
	for _, s := range strings.Fields(text) {
		v, ok := new(big.Rat).SetString(s + fmt.Sprintf("e%d", places))
		if !ok || !v.IsInt() {
			log.Fatalf("%s is no number of %d digits behind the point", s, places)
		}
		z = append(z, new(big.Float).SetInt(v.Num()))
	}
	return halfulp.NewVectorBig(halfulp.MP(64), z)
}

// floats returns the doubles nearest to decimals.
func floats(text string) []float64 {
	var z []float64
	for _, s := range strings.Fields(text) {
		v, ok := new(big.Rat).SetString(s)
		if !ok {
			log.Fatalf("%s is no number", s)
		}
		f, _ := v.Float64()
		z = append(z, f)
	}
	return z
}
