// Makes zip files for tests and benchmarks.
import { crc32, deflateRawSync } from "node:zlib";

// Makes a zip of deflated members, {name, data, sum} (APPNOTE.TXT 4.3.7, 4.3.12, 4.3.16).
export function zip(...members) {
  const files = [];
  const list = [];
  let at = 0;
  for (const { name, data, sum = crc32(data), packed = deflateRawSync(data, { level: 1 }) } of members) {
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(sum, 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    list.push(Buffer.from("PK\x01\x02\x14\x00"), common, tail, Buffer.from(name));
    files.push(Buffer.from("PK\x03\x04"), common, Buffer.from(name), packed);
    at += 30 + name.length + packed.length;
  }
  const size = list.reduce((sum, b) => sum + b.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(members.length, 4);
  end.writeUInt16LE(members.length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...files, ...list, Buffer.from("PK\x05\x06"), end]);
}
