package main

import (
	"fmt"
	"math"
	"strings"
)

// curve is a line of a panel: efficiencies by the number of GPUs.
type curve struct {
	name   string
	points [][2]float64
}

// panel is one routine's.
type panel struct {
	title  string
	curves []curve
}

// draw draws panels side by side, over log2 of the GPUs.
func draw(title string, panels []panel) []byte {
	const width, height, left, top, gap = 240, 220, 50, 60, 40
	colours := []string{"#0068a8", "#d55400", "#008662"}
	var b strings.Builder
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, s)
	}
	line := func(x0, y0, x1, y1 float64, colour string) {
		fmt.Fprintf(&b, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\"/>\n", x0, y0, x1, y1, colour)
	}
	full := float64(left + len(panels)*(width+gap))
	text(full/2, 22, "middle", title)
	for i, p := range panels {
		x0 := float64(left + i*(width+gap))
		at := func(q [2]float64) (x, y float64) {
			return x0 + math.Log2(q[0])/10*width, top + (1-q[1])*height
		}
		text(x0+width/2, top-10, "middle", p.title)
		for k := range 6 {
			e := float64(k) / 5
			_, y := at([2]float64{1, e})
			line(x0, y, x0+width, y, "#d7d7d7")
			text(x0-6, y+4, "end", fmt.Sprintf("%.1f", e))
		}
		for k := 0; k <= 10; k += 2 {
			x, _ := at([2]float64{math.Exp2(float64(k)), 0})
			line(x, top, x, top+height, "#d7d7d7")
			text(x, top+height+16, "middle", fmt.Sprint(1<<k))
		}
		text(x0+width/2, top+height+34, "middle", "GPUs")
		for k, c := range p.curves {
			var path strings.Builder
			for j, q := range c.points {
				x, y := at(q)
				fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(j, 1)], x, y)
			}
			fmt.Fprintf(&b, "<path d=\"%s\" stroke=\"%s\" stroke-width=\"2\"/>\n", path.String(), colours[k])
			if i == 0 {
				x := float64(left + k*240)
				line(x, top+height+52, x+24, top+height+52, colours[k])
				text(x+30, top+height+56, "start", c.name)
			}
		}
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" font-family="Liberation Sans,Arial,Helvetica,sans-serif" font-size="13" fill="#222" role="img">
<title>%s</title>
<rect width="%.0f" height="%d" fill="#fff"/>
<g fill="none">
%s</g>
</svg>
`, full, top+height+76, full, top+height+76, title, full, top+height+76, strings.ReplaceAll(b.String(), "<text", `<text fill="#222"`))
}
