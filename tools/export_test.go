package tools

// Tools gives the tools of a set one by one, for the contract suite.
func (s *Set) Tools() []Tool { return s.tools }
