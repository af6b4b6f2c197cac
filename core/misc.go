package core

import "github.com/crashpane/crashpane/core/input"

// MiscInfo is stream 15, all known versions of it; Size says how much was there.
type MiscInfo struct {
	Size, Flags                                        uint32
	ProcessID                                          uint32
	CreateTime, UserTime, KernelTime                   uint32 // seconds; CreateTime since 1970
	MaxMHz, CurrentMHz, MHzLimit, MaxIdle, CurrentIdle uint32
	IntegrityLevel, ExecuteFlags, ProtectedProcess     uint32
	TimeZoneID                                         uint32
	// Biases are minutes; the last two are added to the first in winter and summer.
	TimeZoneBias, StandardBias, DaylightBias int32
	// The dates are when winter and summer time begin; month 0 means never.
	StandardDate, DaylightDate SystemTime

	StandardName, DaylightName                               string
	BuildString, DbgBldStr                                   string
	XStateFeatures                                           []XStateFeature
	XStateEnabled                                            uint64
	XStateSize                                               uint32
	ProcessCookie                                            uint32
	HasProcessID, HasTimes, HasPower, HasIntegrity, HasBuild bool
}

// SystemTime is a SYSTEMTIME. In a time zone with year 0, Day counts the weeks of the month (5 is
// the last one) and DayOfWeek says which day of it is meant, 0 being Sunday.
type SystemTime struct{ Year, Month, DayOfWeek, Day, Hour, Minute, Second, Milliseconds uint16 }

// systemTime reads a SYSTEMTIME of Windows: eight numbers of 16 bits.
func systemTime(c *input.Cursor) SystemTime {
	return SystemTime{c.U16(), c.U16(), c.U16(), c.U16(), c.U16(), c.U16(), c.U16(), c.U16()}
}

// XStateFeature is the range of one feature's bytes in an extended context: Offset counts from the
// start of the XSAVE area, whose first 512 bytes are the legacy area, in bytes.
type XStateFeature struct{ Index, Offset, Size uint32 }

// The flags that say which fields are valid (MINIDUMP_MISC*).
const (
	miscProcessID = 0x1
	miscTimes     = 0x2
	miscPower     = 0x4
	miscIntegrity = 0x10
	miscBuild     = 0x100
)

// The sizes of the versions of MINIDUMP_MISC_INFO, in bytes.
const (
	misc1Size = 24
	misc2Size = 44
	misc3Size = 232
	misc4Size = 832
	misc5Size = 1364
)

// decodeMiscInfo reads MINIDUMP_MISC_INFO to MINIDUMP_MISC_INFO_5; a version is there if its bytes
// are, and a field is valid if its flag is set too.
//
//	   0 SizeOfInfo u32 · 4 Flags1 u32 · 8 ProcessId u32 · 12 CreateTime · 16 UserTime · 20 KernelTime u32
//	  24 MaxMhz · 28 CurrentMhz · 32 MhzLimit · 36 MaxIdleState · 40 CurrentIdleState u32                        (2)
//	  44 IntegrityLevel · 48 ExecuteFlags · 52 ProtectedProcess · 56 TimeZoneId u32                              (3)
//	  60 TIME_ZONE_INFORMATION: Bias i32 · StandardName 32 × u16 · StandardDate 16 · StandardBias i32 ·
//	     DaylightName 32 × u16 · DaylightDate 16 · DaylightBias i32
//	 232 BuildString 260 × u16 · 752 DbgBldStr 40 × u16                                                          (4)
//	 832 XStateData: SizeOfInfo u32 · ContextSize u32 · EnabledFeatures u64 · 64 × {Offset u32, Size u32}        (5)
//	1360 ProcessCookie u32
func decodeMiscInfo(d *Dump, s *Stream, c *input.Cursor) {
	size := int64(s.Loc.Size)
	m := &MiscInfo{}
	m.Size, m.Flags = c.U32(), c.U32()
	m.ProcessID = c.U32()
	m.CreateTime, m.UserTime, m.KernelTime = c.U32(), c.U32(), c.U32()
	if c.Err() != nil {
		return
	}
	d.Misc = m
	m.HasProcessID = m.Flags&miscProcessID != 0
	m.HasTimes = m.Flags&miscTimes != 0
	if size < misc2Size {
		return
	}
	m.MaxMHz, m.CurrentMHz, m.MHzLimit, m.MaxIdle, m.CurrentIdle = c.U32(), c.U32(), c.U32(), c.U32(), c.U32()
	m.HasPower = c.Err() == nil && m.Flags&miscPower != 0
	if size < misc3Size {
		return
	}
	m.IntegrityLevel, m.ExecuteFlags, m.ProtectedProcess, m.TimeZoneID = c.U32(), c.U32(), c.U32(), c.U32()
	m.TimeZoneBias = c.I32()
	m.StandardName = utf16Field(c.Bytes(64), c.Order)
	m.StandardDate, m.StandardBias = systemTime(c), c.I32()
	m.DaylightName = utf16Field(c.Bytes(64), c.Order)
	m.DaylightDate, m.DaylightBias = systemTime(c), c.I32()
	m.HasIntegrity = c.Err() == nil && m.Flags&miscIntegrity != 0
	if size < misc4Size {
		return
	}
	m.BuildString = utf16Field(c.Bytes(260*2), c.Order)
	m.DbgBldStr = utf16Field(c.Bytes(40*2), c.Order)
	m.HasBuild = c.Err() == nil && m.Flags&miscBuild != 0
	if size < misc5Size {
		return
	}
	c.Skip(4) // SizeOfInfo of the XState part
	m.XStateSize = c.U32()
	m.XStateEnabled = c.U64()
	for i := range uint32(64) {
		off, n := c.U32(), c.U32()
		if m.XStateEnabled&(1<<i) != 0 && c.Err() == nil {
			m.XStateFeatures = append(m.XStateFeatures, XStateFeature{Index: i, Offset: off, Size: n})
		}
	}
	m.ProcessCookie = c.U32()
}
