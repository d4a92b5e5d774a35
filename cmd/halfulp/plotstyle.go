package main

// Measures of pictures, in their units.
const (
	plotWidth, plotHeight  = 800, 480
	plotLeft, plotRight    = 80, 220 // margins; the legend is on the right
	plotTop, plotBottom    = 30, 60
	plotMark               = 4 // radius
	plotFont               = 13
	plotLegend, plotSample = 18, 24 // distance of its lines, length of the samples
)

// plotColours are visible on white, and the colour-blind can tell them apart (Okabe and Ito,
// darkened); dashes distinguish lines of one colour.
var (
	plotColours = []string{"#0068a8", "#d55400", "#008662", "#b24f8c", "#000000", "#966200"}
	plotDashes  = []string{"none", "7 3", "2 3", "10 3 2 3"}
)
