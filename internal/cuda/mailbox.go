package cuda

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/halfulp/halfulp/internal/par"
)

// A Mailbox is page-locked host memory that kernels write their answers to. With unified
// addressing, which all 64-bit systems have, its address is the same on the device. Its first
// uint32 is the number of the last answer, or each word of 64 bits contains that number
// (AwaitWords).
type Mailbox struct {
	dev    *Device
	p      unsafe.Pointer
	size   int
	ticket uint32
}

// NewMailbox returns a zeroed mailbox of size bytes; Close frees it.
func (s *Stream) NewMailbox(size int) (*Mailbox, error) {
	d := s.dev
	if err := d.check(); err != nil {
		return nil, err
	}
	p, err := d.drv.MemAllocHost(uint64(size))
	if err != nil {
		return nil, d.failed(fmt.Errorf("page-locked host memory: %w", err))
	}
	m := &Mailbox{dev: d, p: p, size: size}
	clear(m.Bytes())
	d.counts.staging.Add(int64(size))
	return m, nil
}

// Close frees the mailbox. No kernel may write to it any more.
func (m *Mailbox) Close() error {
	m.dev.counts.staging.Add(int64(-m.size))
	return m.dev.failed(m.dev.drv.MemFreeHost(m.p))
}

// Bytes returns the contents, which may change until Await has returned.
func (m *Mailbox) Bytes() []byte { return unsafe.Slice((*byte)(m.p), m.size) }

// At returns the address of the byte at offset.
func (m *Mailbox) At(offset int) Pointer { return Pointer(uintptr(m.p)) + Pointer(offset) }

// Ticket returns the number that the next kernel must write once the rest of its answer is written.
func (m *Mailbox) Ticket() uint32 {
	if m.ticket++; m.ticket == 0 { // a wrap: clear tickets of the last round
		clear(m.Bytes())
		m.ticket++
	}
	return m.ticket
}

// Word returns word i of an answer in words (AwaitWords).
func (m *Mailbox) Word(i int) uint32 { return uint32(atomic.LoadUint64(m.word(i)) >> 32) }

func (m *Mailbox) word(i int) *uint64 { return &unsafe.Slice((*uint64)(m.p), m.size/8)[i] }

// answerPatience is how long Await polls for the answer before it calls the driver. A launch and
// its wait take 8.6 µs on an H100 by polling (BenchmarkAnswer), 9.9 µs by the driver
// (BenchmarkLaunchWait).
const answerPatience = 200 * time.Microsecond

// Await waits until the kernel that received the last ticket has answered. This takes less time
// than Synchronize: other operations of s, and the rest of that kernel, may still be running. Await
// returns an error of the kernel.
func (m *Mailbox) Await(s *Stream) error {
	word := (*uint32)(m.p)
	return m.await(s, func() bool { return atomic.LoadUint32(word) == m.ticket })
}

// AwaitWords is Await for an answer of n words of 32 bits, which kernels write in any order, each
// together with the ticket (kernels/common/answer.cuh). Such kernels need not wait until earlier
// writes have reached the host.
func (m *Mailbox) AwaitWords(s *Stream, n int) error {
	have := 0
	return m.await(s, func() bool {
		for have < n && uint32(atomic.LoadUint64(m.word(have))) == m.ticket {
			have++
		}
		return have == n
	})
}

// await is Await for an answer whose arrival ready reports.
func (m *Mailbox) await(s *Stream, ready func() bool) error {
	d := m.dev
	if err := d.check(); err != nil {
		return err
	}
	if d.patient && par.LookOut(answerPatience, ready) {
		return nil
	}
	if err := d.drv.StreamSynchronize(s.h); err != nil {
		return d.failed(err)
	}
	if !ready() {
		return d.failed(errors.New("a kernel ended without its answer"))
	}
	return nil
}
