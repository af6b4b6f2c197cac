package intake

import "fmt"

// Problems lists the members of an archive that could not be used. Its text is one line, however
// many there are.
type Problems struct {
	// First are the first keptProblems, and of later ones the first of a kind that a caller asks
	// for (Refused). Count is how many there are in all.
	First []error
	Count int
}

// keptProblems is how many problems of an archive are kept: a crafted one has thousands.
const keptProblems = 10

// add adds a problem.
func (p *Problems) add(err error) {
	p.Count++
	if len(p.First) < keptProblems || Refused(err) && !Refused(p) {
		p.First = append(p.First, err)
	}
}

// err returns p as an error, or nil if there are no problems.
func (p *Problems) err() error {
	if p.Count == 0 {
		return nil
	}
	return p
}

func (p *Problems) Error() string {
	text := ""
	for i, err := range p.First {
		if i > 0 {
			text += "; "
		}
		text += err.Error()
	}
	if more := p.Count - len(p.First); more > 0 {
		text += fmt.Sprintf("; and %d more like these", more)
	}
	return text
}

// Unwrap returns the problems in First.
func (p *Problems) Unwrap() []error { return p.First }
