package direct

import "unsafe"

// splitter holds the memory and the geometry for splitDigits. It is made for numbers of limbs
// words, of which a limited number is split at a time.
type splitter struct {
	groups, limbs int
	words         int // number of words of a significand, the highest, that digits can reach
	below, pitch  int // bytes of zeros before a staged number, bytes for a staged number
	stage         []byte
}

func newSplitter(groups, limbs, numbers int) *splitter {
	s := &splitter{groups: groups, limbs: limbs}
	size := digitBytes * groups
	s.words = min(limbs, (size+7)/8)
	s.below = max(0, size-8*s.words)
	s.pitch = (s.below + 8*s.words + size + 16 + 31) &^ 31
	s.stage = make([]byte, numbers*s.pitch+32)
	return s
}

// job returns a job with the fields that depend only on the geometry.
func (s *splitter) job() digitJob {
	return digitJob{
		stage:      unsafe.Pointer(&s.stage[s.below]),
		stagePitch: s.pitch,
		stageTop:   unsafe.Pointer(&s.stage[s.below+8*s.words-min(digitBytes, s.below+8*s.words)]),
		bytes:      8 * s.words,
		groups:     s.groups,
		limit:      4 * digitBits * s.groups,
	}
}

// significands makes j read numbers first, first + step, ... of sig.
func (s *splitter) significands(j *digitJob, sig []uint64, first, step int) {
	j.sig = unsafe.Pointer(&sig[first*s.limbs+s.limbs-s.words])
	j.sigPitch = 8 * step * s.limbs
}
