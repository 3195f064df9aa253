package discord

import "sync"

// A memory keeps the newest values by key, so many and no more. What it has forgotten costs a question to Discord or a
// nicety, never an answer.
type memory[V any] struct {
	mu     sync.Mutex
	limit  int
	values map[string]V
	order  []string // keys, oldest first
}

func newMemory[V any](limit int) *memory[V] {
	return &memory[V]{limit: limit, values: map[string]V{}}
}

func (m *memory[V]) put(key string, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.values[key]; !known {
		m.order = append(m.order, key)
		if len(m.order) > m.limit {
			delete(m.values, m.order[0])
			m.order = m.order[1:]
		}
	}
	m.values[key] = v
}

func (m *memory[V]) get(key string) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.values[key]
	return v, ok
}

// all is a copy of what is kept.
func (m *memory[V]) all() map[string]V {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[string]V, len(m.values))
	for k, v := range m.values {
		out[k] = v
	}
	return out
}
