package lintest

import "github.com/halfulp/halfulp"

// Into returns a function that copies the result of a routine to x, unless there is an error.
func Into(x *halfulp.Matrix) func(z *halfulp.Matrix, err error) error {
	return func(z *halfulp.Matrix, err error) error {
		if err != nil {
			return err
		}
		defer z.Free()
		return x.CopyFrom(z)
	}
}

// ErrorOf returns the error of a routine, and frees its result.
func ErrorOf(z *halfulp.Matrix, err error) error {
	if err == nil {
		z.Free()
	}
	return err
}
