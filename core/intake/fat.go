package intake

import (
	"encoding/binary"
	"fmt"
	"path"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// openFat adds the files of a fat Mach-O file, one for each processor, as members named after it: "app/arm64/app".
//
//	u32 0xcafebabe, u32 count, then for each: u32 cputype, u32 cpusubtype, u32 offset, u32 size, u32 alignment
//	u32 0xcafebabf, u32 count, then for each the same with u64 offset and size, and u32 reserved
//
// Source: Apple's mach-o/fat.h. All numbers are big-endian.
func (e *expander) openFat(src *input.Source, depth int) {
	c := input.NewCursor(src, "fat header", 0, src.Size, binary.BigEndian)
	wide, count := c.U32() == fat64, c.U32()
	names := map[string]bool{}
	for range count {
		kind, part := c.U32(), c.U32()
		off, size := uint64(0), uint64(0)
		if wide {
			off, size = c.U64(), c.U64()
		} else {
			off, size = uint64(c.U32()), uint64(c.U32())
		}
		c.U32()
		if wide {
			c.U32()
		}
		if c.Err() != nil || !e.another(src, string(Fat)) {
			break
		}
		name := cpuName(cpu.ByMachO(kind), otherMac, kind)
		if names[name] {
			name = fmt.Sprintf("%s-%d", name, part&0xffffff) // arm64 and arm64e, for example
		}
		names[name] = true
		if end := uint64(src.Size); off > end || size > end-off {
			e.problem(src.Name, fmt.Sprintf("member %q", name), -1, fmt.Sprintf("%d bytes at offset 0x%x, where the file has %d in all", size, off, end), nil)
			continue
		}
		// The file's own name is last, since that is the module's.
		inner := src.Sub(src.Name+"/"+name+"/"+path.Base(src.Name), int64(off), int64(size))
		inner.Modified = src.Modified
		e.expand(inner, Sniff(inner), depth+1, nil)
	}
	if err := c.Err(); err != nil {
		e.problem(src.Name, "", -1, "", err)
	}
}
