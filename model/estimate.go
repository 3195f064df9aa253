package model

// Estimate is about what a reply took, for where nobody counted: a provider that reports no usage, a stream that broke
// off before its end. Four bytes are taken for a token, which errs on the high side for most texts.
func Estimate(req Request, r Reply) Usage {
	in := len(req.System)
	for _, t := range req.Turns {
		in += len(t.Text)
		for _, c := range t.Calls {
			in += len(c.Name) + len(c.Arguments)
		}
		for _, res := range t.Results {
			in += len(res.Text)
		}
	}
	for _, t := range req.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	out := len(r.Text)
	for _, c := range r.Calls {
		out += len(c.Name) + len(c.Arguments)
	}
	return Usage{InputTokens: tokens(in), OutputTokens: tokens(out)}
}

func tokens(bytes int) int { return (bytes + 3) / 4 }

// Add is what two replies took together.
func (u Usage) Add(v Usage) Usage {
	return Usage{InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens}
}
