package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/internal/cli"
	"github.com/halfulp/halfulp/rns"
)

// rnsTuning is the result of rns.TuneSum and rns.TuneGemv for a precision.
type rnsTuning struct {
	Bits          int `json:"bits"`
	Moduli        int `json:"moduli"`
	Blocks        int `json:"sum_blocks"`
	BlockSize     int `json:"sum_block_size"`
	GemvBlockSize int `json:"gemv_block_size"`
}

// The problems that tune --rns measures.
const (
	tunedSum  = 1000000
	tunedGemv = 1000
)

// tuneRNS finds the launch parameters of package rns on a GPU.
func tuneRNS(env *cli.Environment, device string) ([]rnsTuning, error) {
	var list []rnsTuning
	o := &rns.Options{Options: halfulp.Options{Device: halfulp.Device(device), Context: env.Ctx}}
	for _, p := range rns.GemvPrecisions {
		b, err := rns.GemvBase(p)
		if err != nil {
			return nil, err
		}
		sum, err := rns.TuneSum(b, tunedSum, o)
		if err != nil {
			return nil, err
		}
		gemv, err := rns.TuneGemv(b, tunedGemv, o)
		if err != nil {
			return nil, err
		}
		list = append(list, rnsTuning{p, b.Len(), sum.Blocks, sum.BlockSize, gemv.BlockSize})
	}
	return list, nil
}

func writeRNSTuning(out io.Writer, list []rnsTuning) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "bits\tmoduli\tsum: blocks x threads\tgemv: threads\t")
	for _, e := range list {
		fmt.Fprintf(w, "%d\t%d\t%d x %d\t%d\t\n", e.Bits, e.Moduli, e.Blocks, e.BlockSize, e.GemvBlockSize)
	}
	return w.Flush()
}
