package decimal

import (
	"sync"

	"github.com/halfulp/halfulp/internal/num"
)

// Codec reads and writes the numbers of one format.
type Codec struct {
	*Parser
	*Printer
	pool *sync.Pool
}

// codecs keeps a pool of codecs for each format: they hold powers of ten.
var codecs sync.Map // of num.Format to *sync.Pool

// Borrow returns a codec for format f that nobody else uses until Return is called.
func Borrow(f num.Format) *Codec {
	pool, ok := codecs.Load(f)
	if !ok {
		pool, _ = codecs.LoadOrStore(f, &sync.Pool{})
	}
	p := pool.(*sync.Pool)
	if c, ok := p.Get().(*Codec); ok {
		return c
	}
	return &Codec{NewParser(f), NewPrinter(f), p}
}

// Return ends the use of c.
func (c *Codec) Return() { c.pool.Put(c) }
