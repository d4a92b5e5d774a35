package main

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/halfulp/halfulp"
	"github.com/halfulp/halfulp/linsolve"
	"github.com/halfulp/halfulp/ozaki"
)

// TestStatisticsInJSON encodes every type of statistics, with numbers for which JSON has no text
// and with the largest ones in all fields, and decodes the result where possible.
func TestStatisticsInJSON(t *testing.T) {
	types := []any{
		halfulp.Stats{}, halfulp.Condition{}, halfulp.Check{}, halfulp.InputStats{}, ozaki.Stats{}, halfulp.Stats{}, linsolve.Accuracy{},
		runStats{}, benchReport{}, benchCase{}, verifyResult{}, fitResult{}, boundsResult{}, logDetResult{}, scalarResult{}, matrixResult{},
	}
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, 5e-324, 0} {
		for _, of := range types {
			v := reflect.New(reflect.TypeOf(of))
			fillNumbers(v.Elem(), x)
			text, err := json.Marshal(v.Interface())
			if err != nil {
				t.Errorf("%T filled with %g: %v", of, x, err)
			} else if !json.Valid(text) {
				t.Errorf("%T filled with %g: %s", of, x, text)
			}
			if s := jsonText(v.Interface()); !json.Valid([]byte(s)) {
				t.Errorf("%T filled with %g: %s", of, x, s)
			}
		}
		var back, filled halfulp.Stats
		fillNumbers(reflect.ValueOf(&filled).Elem(), x)
		text, err := json.Marshal(filled)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, want := float64(back.Rho), float64(filled.Rho); math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
			t.Errorf("%g came back as %g", want, got)
		}
	}
}

// fillNumbers sets every floating-point number within v to x, and pointers and slices to one
// element.
func fillNumbers(v reflect.Value, x float64) {
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		v.SetFloat(x)
	case reflect.Int, reflect.Int64:
		v.SetInt(math.MaxInt32)
	case reflect.String:
		v.SetString("inf")
	case reflect.Pointer:
		if v.CanSet() {
			v.Set(reflect.New(v.Type().Elem()))
			fillNumbers(v.Elem(), x)
		}
	case reflect.Slice:
		if v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fillNumbers(v.Index(0), x)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fillNumbers(f, x)
			}
		}
	}
}
