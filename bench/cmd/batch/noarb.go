//go:build !cgo

package main

import "github.com/halfulp/halfulp/bench/internal/record"

// Programs without cgo measure halfulp alone.

func versions() []record.Library { return nil }

func (p *problem) arb() (methods []method, free func()) { return nil, func() {} }
