package product

import (
	"github.com/halfulp/halfulp/internal/cuda"
	"github.com/halfulp/halfulp/internal/residue"
)

type mark struct {
	name string
	e    *cuda.Event
}

// mark ends a stage.
func (m *multiplication) mark(name string) error {
	if !m.cfg.Timing {
		return nil
	}
	e, err := m.s.NewEvent()
	if err != nil {
		return err
	}
	m.marks = append(m.marks, mark{name, e})
	return m.s.Record(e)
}

// times adds up the times of the stages.
func (m *multiplication) times() error {
	if !m.cfg.Timing {
		return nil
	}
	if err := m.s.Synchronize(); err != nil {
		return err
	}
	at := map[string]int{}
	for i, k := range m.marks[1:] {
		d, err := k.e.Since(m.marks[i].e)
		if err != nil {
			return err
		}
		j, ok := at[k.name]
		if !ok {
			j = len(m.stats.Stages)
			at[k.name] = j
			m.stats.Stages = append(m.stats.Stages, residue.Stage{Name: k.name})
		}
		m.stats.Stages[j].Time += d
	}
	return nil
}
