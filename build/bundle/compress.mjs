// Compresses files by brotli and gzip. The bundle starts it with `node -` and gives it, as
// arguments, the two qualities, and pairs of a file and the name, without its suffix, under which
// the results shall lie. Node is here anyway for the tests, and Go's library cannot write brotli.
import { readFile, rename, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import zlib from "node:zlib";

const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

// A result appears whole or not at all: it is kept by content and never looked at again.
async function put(name, content) {
  await writeFile(`${name}.part`, content);
  await rename(`${name}.part`, name);
}

const [brotliQuality, gzipLevel, ...args] = process.argv.slice(2);
const work = [];
for (let i = 0; i < args.length; i += 2) {
  const [from, to] = [args[i], args[i + 1]];
  work.push(
    readFile(from).then((content) =>
      Promise.all([
        brotli(content, {
          params: {
            [zlib.constants.BROTLI_PARAM_QUALITY]: Number(brotliQuality),
            [zlib.constants.BROTLI_PARAM_LGWIN]: 24,
            // Blocks of 64 KiB instead of the encoder's choice of 256 KiB make the page's program
            // 0.6 % smaller, and codes of distances for data that is mostly aligned to 8 bytes
            // (RFC 7932, section 4) 0.3 %.
            [zlib.constants.BROTLI_PARAM_LGBLOCK]: 16,
            [zlib.constants.BROTLI_PARAM_NPOSTFIX]: 3,
            [zlib.constants.BROTLI_PARAM_NDIRECT]: 64,
            [zlib.constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          },
        }).then((packed) => put(`${to}.br`, packed)),
        gzip(content, { level: Number(gzipLevel) }).then((packed) => put(`${to}.gz`, packed)),
      ]),
    ),
  );
}
await Promise.all(work);
