// Compresses files by brotli and gzip: FILE to FILE.br and FILE.gz. The bundle starts it with
// `node -` and gives it the two qualities and the files as arguments. Node is here anyway for the
// tests, and Go's library cannot write brotli.
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

const [brotliQuality, gzipLevel, ...files] = process.argv.slice(2);
async function compress(file) {
  const content = await readFile(file);
  const params = {
    [zlib.constants.BROTLI_PARAM_QUALITY]: Number(brotliQuality),
    [zlib.constants.BROTLI_PARAM_LGWIN]: 24,
    [zlib.constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  await Promise.all([
    brotli(content, { params }).then((packed) => put(`${file}.br`, packed)),
    gzip(content, { level: Number(gzipLevel) }).then((packed) => put(`${file}.gz`, packed)),
  ]);
}
await Promise.all(files.map(compress));
