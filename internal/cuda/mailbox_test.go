package cuda_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/cudadrv"
	"github.com/halfulp/halfulp/internal/cudadrv/fake"
	"github.com/halfulp/halfulp/internal/kernels"
)

// answer lets a kernel answer with value, in a mailbox of its own.
func answer(s *cuda.Stream, value uint32) (uint32, error) {
	module, err := s.Load(kernels.PTX("selftest/selftest"))
	if err != nil {
		return 0, err
	}
	defer module.Unload()
	f, err := module.Function("answer")
	if err != nil {
		return 0, err
	}
	m, err := s.NewMailbox(100)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	for range 3 {
		value++
		if err := f.Launch(s, cuda.Dim{}, cuda.Dim{}, 0, m.At(0), value, m.Ticket()); err != nil {
			return 0, err
		}
		if err := m.Await(s); err != nil {
			return 0, errors.Join(err, s.Synchronize())
		}
		if got := binary.LittleEndian.Uint32(m.Bytes()[4:]); got != value {
			return 0, fmt.Errorf("answer %d, want %d", got, value)
		}
	}
	return value, s.Synchronize()
}

func checkMailbox(t *testing.T, dev *cuda.Device) {
	t.Helper()
	staging := dev.Counters().Staging
	do(t, dev, func(s *cuda.Stream) error {
		got, err := answer(s, 1000)
		if err == nil && got != 1003 {
			err = fmt.Errorf("answers up to %d", got)
		}
		return err
	})
	if c := dev.Counters(); c.Staging != staging {
		t.Errorf("%d bytes left", c.Staging-staging)
	}
}

func TestMailbox(t *testing.T) { checkMailbox(t, open(t, new(fake.Driver))) }

// checkWords has kernels answer in words, the last of them before the others.
func checkWords(t *testing.T, dev *cuda.Device) {
	t.Helper()
	do(t, dev, func(s *cuda.Stream) error {
		f, err := selftest(s, "answer_words")
		if err != nil {
			return err
		}
		const most = 50
		m, err := s.NewMailbox(8 * most)
		if err != nil {
			return err
		}
		defer m.Close()
		ask := func(value uint32, told, asked int) error {
			return errors.Join(f.Launch(s, cuda.Dim{}, cuda.Dim{}, 0, m.At(0), uint32(told), value, m.Ticket()), m.AwaitWords(s, asked))
		}
		for _, n := range []int{1, most, 2, most - 1} {
			value := uint32(1000 * n)
			if err := ask(value, n, n); err != nil {
				return err
			}
			for i := range n {
				if got := m.Word(i); got != value+uint32(i) {
					t.Errorf("word %d of %d is %d, want %d", i, n, got, value+uint32(i))
				}
			}
		}
		// Words of an earlier answer are none of this one, even if tickets begin anew.
		if err := ask(1, 2, 3); err == nil || errors.Is(err, cuda.ErrLost) {
			t.Errorf("two words of three: error %v", err)
		}
		cuda.SetTicket(m, 0)
		if err := ask(1, most, most); err != nil {
			return err
		}
		cuda.SetTicket(m, math.MaxUint32)
		if err := ask(1, 2, 3); err == nil || errors.Is(err, cuda.ErrLost) {
			t.Errorf("two words of three, and one with the same ticket: error %v", err)
		}
		return s.Synchronize()
	})
}

func TestMailboxWords(t *testing.T) { checkWords(t, open(t, new(fake.Driver))) }

// TestMailboxFailures checks that no answer, a failing call, a failing kernel and a cancelled
// context are errors.
func TestMailboxFailures(t *testing.T) {
	drv := new(fake.Driver)
	dev := open(t, drv)
	do(t, dev, func(s *cuda.Stream) error {
		m, err := s.NewMailbox(8)
		if err != nil {
			return err
		}
		m.Ticket()
		if err := m.Await(s); err == nil || errors.Is(err, cuda.ErrLost) {
			t.Errorf("no answer: error %v", err)
		}
		return m.Close()
	})
	calls := 1
	for after := -1; after < calls; after++ {
		drv.ForgetCalls()
		if after >= 0 {
			drv.Fail("", after, cudadrv.InvalidValue)
		}
		err := dev.Do(background, func(s *cuda.Stream) error {
			_, err := answer(s, 1)
			return err
		})
		if after < 0 {
			calls = len(drv.Calls())
		}
		if c := dev.Counters(); c.Staging != 0 {
			t.Errorf("call %d of %d fails: %d bytes left", after, calls, c.Staging)
		}
		// A failing end of a module or mailbox is not reported, nor needed.
		if late := after >= calls-2; (err == nil) != (after < 0 || late) {
			t.Errorf("call %d of %d fails: error %v", after, calls, err)
		}
	}
	ctx, cancel := context.WithCancel(background)
	err := dev.Do(ctx, func(s *cuda.Stream) error {
		m, err := s.NewMailbox(8)
		if err != nil {
			return err
		}
		defer m.Close()
		m.Ticket()
		cancel()
		return m.Await(s)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	err = dev.Do(background, func(s *cuda.Stream) error {
		m, err := s.NewMailbox(8)
		if err != nil {
			return err
		}
		defer m.Close()
		m.Ticket()
		f, err := selftest(s, "wander")
		if err != nil {
			return err
		}
		if err := f.Launch(s, cuda.Dim{}, cuda.Dim{}, 0, cuda.Pointer(64)); err != nil {
			return err
		}
		return m.Await(s)
	})
	if !errors.Is(err, cuda.ErrLost) {
		t.Errorf("failing kernel: error %v", err)
	}
}

// BenchmarkAnswer measures a launch and the wait for its answer.
func BenchmarkAnswer(b *testing.B) {
	bench(b, func(s *cuda.Stream) error {
		f, err := selftest(s, "answer")
		if err != nil {
			return err
		}
		m, err := s.NewMailbox(8)
		if err != nil {
			return err
		}
		defer m.Close()
		b.ResetTimer()
		for range b.N {
			if err := errors.Join(f.Launch(s, cuda.Dim{}, cuda.Dim{}, 0, m.At(0), uint32(1), m.Ticket()), m.Await(s)); err != nil {
				return err
			}
		}
		return nil
	})
}
