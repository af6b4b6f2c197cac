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
            [zlib.constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          },
        }).then((packed) => put(`${to}.br`, packed)),
        gzip(content, { level: Number(gzipLevel) }).then((packed) => put(`${to}.gz`, packed)),
      ]),
    ),
  );
}
await Promise.all(work);
