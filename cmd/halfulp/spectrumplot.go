package main

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/textio"
)

// linearAxis is an axis from the value at low to the one at high, between two places.
type linearAxis struct{ low, high, from, to float64 }

// newLinearAxis returns an axis that contains all values.
func newLinearAxis(low, high, from, to float64) linearAxis {
	margin := 0.05 * (high - low)
	if margin == 0 {
		margin = max(1, 0.05*math.Abs(low))
	}
	return linearAxis{low - margin, high + margin, from, to}
}

func (a linearAxis) at(v float64) float64 {
	return a.from + (a.to-a.from)*((v-a.low)/(a.high-a.low)) // may fuse: an estimate
}

// ticks returns multiples of 1, 2 or 5 times a power of ten within the axis, at most ten; whole
// numbers if they are wanted.
func (a linearAxis) ticks(whole bool) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((a.high-a.low)/10)))
	for _, k := range []float64{1, 2, 5, 10} {
		if (a.high-a.low)/(k*step) <= 10 {
			step *= k
			break
		}
	}
	if whole {
		step = max(1, math.Round(step))
	}
	var list []float64
	for k := math.Ceil(a.low / step); k <= a.high/step; k++ {
		// 0 is added because -0 would be shown.
		list = append(list, k*step+0) // may fuse: an estimate
	}
	return list
}

// log10 returns the decimal logarithm of the magnitude of a number, which may lie beyond the range
// of float64.
func log10(x halfulp.Scalar) float64 {
	b := x.Big()
	e := b.MantExp(b)
	m, _ := b.Float64()
	return math.Log10(math.Abs(m)) + float64(e)*math.Log10(2) // may fuse: an estimate
}

// leastSpread is the quotient of the largest and the smallest value other than 0, as a decimal
// logarithm, from which the axis of values of one sign is logarithmic.
const leastSpread = 2

// plotSpectrum draws finite values over their indices, the first of which is first, as SVG. of says
// what the values are, in the singular.
func plotSpectrum(w io.Writer, of string, first int, values []halfulp.Scalar) error {
	ys := make([]float64, len(values)) // NaN is not drawn
	sign, zeros, logarithmic := 0, 0, true
	low, high := math.Inf(1), math.Inf(-1)
	for i, v := range values {
		s := v.Sign()
		if s == 0 {
			ys[i] = math.NaN()
			zeros++
			continue
		}
		logarithmic = logarithmic && s*sign >= 0
		sign = s
		ys[i] = log10(v)
		low, high = min(low, ys[i]), max(high, ys[i])
	}
	if logarithmic = logarithmic && high-low >= leastSpread; !logarithmic {
		zeros = 0
		low, high = math.Inf(1), math.Inf(-1)
		for i, v := range values {
			ys[i] = v.Float64()
			low, high = min(low, ys[i]), max(high, ys[i])
			if math.IsInf(2*low, 0) || math.IsInf(2*high, 0) || math.IsInf(2*(high-low), 0) {
				return fmt.Errorf("--plot: %s %d is beyond the range of float64", of, first+i)
			}
		}
	}
	x := newLinearAxis(float64(first), float64(first+len(values)-1), plotLeft, plotWidth-plotBottom)
	y := newLinearAxis(low, high, plotHeight-plotBottom, plotTop)

	var b strings.Builder
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
	}
	line := func(x0, y0, x1, y1 float64) {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd" stroke-width="1.5"/>`+"\n", x0, y0, x1, y1)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="%d">`+"\n", plotWidth, plotHeight, plotFont)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	for _, v := range x.ticks(true) {
		line(x.at(v), y.from, x.at(v), y.to)
		text(x.at(v), y.from+plotFont+5, "middle", strconv.FormatFloat(v, 'g', -1, 64))
	}
	for _, v := range y.ticks(logarithmic) {
		label := strconv.FormatFloat(v, 'g', 6, 64)
		if logarithmic {
			label = fmt.Sprintf("1e%+.0f", v)
		}
		line(x.from, y.at(v), x.to, y.at(v))
		text(x.from-6, y.at(v)+plotFont/3., "end", label)
	}
	text((x.from+x.to)/2, y.from+3*plotFont, "middle", "index")
	name := of
	if logarithmic && sign < 0 {
		name = "magnitude of the " + of + ", which is negative"
	}
	if zeros > 0 {
		name += "; not drawn: " + textio.Count(zeros, "zero")
	}
	text(x.from, y.to-10, "start", name)
	for i, v := range ys {
		if math.IsNaN(v) {
			continue
		}
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%d" fill="%s"/>`+"\n", x.at(float64(first+i)), y.at(v), plotMark-1, plotColours[0])
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
