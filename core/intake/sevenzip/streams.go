package sevenzip

// Parts of the list of members.
const (
	idEnd               = 0
	idHeader            = 1
	idArchiveProperties = 2
	idAdditionalStreams = 3
	idMainStreams       = 4
	idFiles             = 5
	idPackInfo          = 6
	idUnpackInfo        = 7
	idSubStreams        = 8
	idSize              = 9
	idCRC               = 10
	idFolder            = 11
	idCodersSize        = 12
	idUnpackStreams     = 13
	idEmptyStream       = 14
	idEmptyFile         = 15
	idNames             = 17
	idModified          = 20
	idEncodedHeader     = 23
)

// streams are the compressed streams of an archive and what they unpack to.
type streams struct {
	folders []folder
	members []part
}

// part is a run of a folder's unpacked bytes.
type part struct {
	folder       int
	size, offset int64
	sum          uint32
	summed       bool
}

// folder is one stream of unpacked bytes, and the coders that make it of packed streams.
type folder struct {
	coders []coder
	// from has for each input of all coders, counted through, the output (a coder's number) that it
	// reads, or -1; packed has for each its packed stream, or -1.
	from, packed []int
	sizes        []int64 // of each coder's output
	main         int     // the coder whose output the folder is
	places       []place // of the packed streams
	sum          uint32
	summed       bool
}

// coder is a decompressor or a filter. Its inputs are the next in of the folder's.
type coder struct {
	method uint64
	in     int
	first  int // the number of its first input
	props  []byte
}

// place is where a packed stream is in the file.
type place struct{ offset, size int64 }

// size is the number of bytes that a folder unpacks to.
func (f *folder) size() int64 { return f.sizes[f.main] }

// streams reads packed streams, folders, and the members in them.
func (p *parser) streams() (s streams) {
	var places []place
	haveParts := false
	for p.err == nil {
		switch id := p.number(); id {
		case idPackInfo:
			places = p.packInfo()
		case idUnpackInfo:
			if s.folders != nil || haveParts {
				p.fail("two lists of folders")
				break
			}
			s.folders = p.unpackInfo()
			p.assign(s.folders, places)
		case idSubStreams:
			s.members, haveParts = p.subStreams(s.folders), true
		case idEnd:
			if !haveParts {
				s.members = p.whole(s.folders)
			}
			return s
		default:
			p.fail("a part %d of the streams", id)
		}
	}
	return s
}

// size reads a number of bytes.
func (p *parser) size() int64 {
	n := p.number()
	if n > 1<<60 {
		p.fail("a size of %d bytes", n)
		return 0
	}
	return int64(n)
}

// packInfo reads where the packed streams are: one after the other.
func (p *parser) packInfo() (out []place) {
	at, count := p.size()+startSize, p.count()
	for p.err == nil {
		switch id := p.number(); id {
		case idSize:
			for range count {
				n := p.size()
				if p.err != nil || at > 1<<61 {
					return nil
				}
				out = append(out, place{at, n})
				at += n
			}
		case idCRC:
			p.sums(count)
		case idEnd:
			return out
		default:
			p.fail("a part %d of the packed streams", id)
		}
	}
	return nil
}

// sums reads checksums, each with whether it is there.
func (p *parser) sums(n int) (sums []uint32, have []bool) {
	have = p.defined(n)
	sums = make([]uint32, len(have))
	for i, is := range have {
		if is {
			sums[i] = p.u32()
		}
	}
	return sums, have
}

// unpackInfo reads the folders.
func (p *parser) unpackInfo() (out []folder) {
	if p.number() != idFolder {
		p.fail("no folders")
	}
	count := p.count()
	if p.next() != 0 {
		p.fail("folders in another part of the archive")
	}
	for range count {
		if p.err != nil {
			return nil
		}
		out = append(out, p.folder())
	}
	for p.err == nil {
		switch id := p.number(); id {
		case idCodersSize:
			for i := range out {
				for k := range out[i].sizes {
					out[i].sizes[k] = p.size()
				}
			}
		case idCRC:
			sums, have := p.sums(count)
			for i := range have {
				out[i].sum, out[i].summed = sums[i], have[i]
			}
		case idEnd:
			return out
		default:
			p.fail("a part %d of the folders", id)
		}
	}
	return nil
}

// folder reads the coders of a folder and how they are connected.
func (p *parser) folder() (f folder) {
	count := p.number()
	if count == 0 || count > maxCoders {
		p.fail("a folder of %d coders", count)
		return f
	}
	inputs := 0
	for range count {
		flags := p.next()
		if flags&0xc0 != 0 || flags&15 > 8 {
			p.fail("a coder with flags 0x%x", flags)
		}
		c := coder{in: 1, first: inputs}
		for range flags & 15 {
			c.method = c.method<<8 | uint64(p.next())
		}
		if flags&0x10 != 0 {
			in, out := p.number(), p.number()
			if in == 0 || in > maxCoders || out != 1 {
				p.fail("a coder of %d inputs and %d outputs", in, out)
				return f
			}
			c.in = int(in)
		}
		if flags&0x20 != 0 {
			props := p.part(p.number())
			c.props = make([]byte, props.Len())
			props.Read(c.props)
		}
		if p.err != nil {
			return f
		}
		inputs += c.in
		f.coders = append(f.coders, c)
	}
	f.sizes = make([]int64, count)
	f.from, f.packed = make([]int, inputs), make([]int, inputs)
	for i := range inputs {
		f.from[i], f.packed[i] = -1, -1
	}
	bound := make([]bool, count)
	for range count - 1 {
		in, out := p.number(), p.number()
		if in >= uint64(inputs) || out >= count || f.from[in] >= 0 || bound[out] {
			p.fail("coders that are connected twice, or with others than there are")
			return f
		}
		f.from[in], bound[out] = int(out), true
	}
	for i := range bound {
		if !bound[i] {
			f.main = i
		}
	}
	p.connect(&f, inputs-int(count)+1)
	return f
}

// connect reads which inputs are packed streams.
func (p *parser) connect(f *folder, count int) {
	for n := range count {
		in := -1
		if count > 1 {
			in = int(min(p.number(), uint64(len(f.from))))
		} else {
			for i := range f.from {
				if f.from[i] < 0 {
					in = i
				}
			}
		}
		if in < 0 || in >= len(f.from) || f.from[in] >= 0 || f.packed[in] >= 0 {
			p.fail("a packed stream of an input that does not exist, or has another")
			return
		}
		f.packed[in] = n
	}
}

// assign gives the folders their packed streams, in order.
func (p *parser) assign(folders []folder, places []place) {
	for i := range folders {
		f := &folders[i]
		n := len(f.from) - len(f.coders) + 1
		if n > len(places) {
			p.fail("folders of more packed streams than there are")
			return
		}
		f.places, places = places[:n], places[n:]
	}
}

// whole returns the members of folders that have one each.
func (p *parser) whole(folders []folder) (out []part) {
	for i := range folders {
		f := &folders[i]
		out = append(out, part{folder: i, size: f.size(), sum: f.sum, summed: f.summed})
	}
	return out
}

// subStreams reads how folders are divided into members.
func (p *parser) subStreams(folders []folder) (out []part) {
	counts := make([]int, len(folders))
	for i := range counts {
		counts[i] = 1
	}
	id := p.number()
	if id == idUnpackStreams {
		for i := range counts {
			counts[i] = p.count()
		}
		id = p.number()
	}
	for i := range folders {
		f, at := &folders[i], int64(0)
		for k := range counts[i] {
			m := part{folder: i, offset: at, size: f.size() - at}
			if k+1 < counts[i] {
				if id != idSize {
					p.fail("members without sizes")
					return nil
				}
				m.size = p.size()
			} else if counts[i] == 1 {
				m.sum, m.summed = f.sum, f.summed
			}
			if at += m.size; m.size < 0 || at > f.size() || len(out) == maxItems || p.err != nil {
				p.fail("members that are larger than their folder, or more than %d", maxItems)
				return nil
			}
			out = append(out, m)
		}
	}
	if id == idSize {
		id = p.number()
	}
	for ; p.err == nil && id != idEnd; id = p.number() {
		if id != idCRC {
			p.fail("a part %d of the members", id)
			return nil
		}
		var without []int
		for i := range out {
			if !out[i].summed {
				without = append(without, i)
			}
		}
		sums, have := p.sums(len(without))
		for k := range have {
			out[without[k]].sum, out[without[k]].summed = sums[k], have[k]
		}
	}
	return out
}
