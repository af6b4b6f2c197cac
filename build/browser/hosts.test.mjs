// The configurations for web servers (dist/hosting, .htaccess) in those of nginx, Apache and Caddy
// that are installed: a browser must get the same as from the project's own server.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import zlib from "node:zlib";
import { inRepo, startChrome, startSite } from "./harness.mjs";

// Paths of programs. Servers are often in the folders of root's PATH.
const program = (...names) =>
  names.flatMap((name) => [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"].map((dir) => join(dir, name))).find((path) => existsSync(path));

async function freePort() {
  const server = net.createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

let dir;
let chrome;
let own;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "crashpane-hosts-"));
  execFileSync("chmod", ["755", dir]); // a server run by root reads files as somebody else
  await cp(inRepo("dist/site"), join(dir, "site"), { recursive: true });
  chrome = await startChrome();
  own = await startSite();
});
after(async () => {
  await chrome?.close();
  await own?.stop();
  if (dir) await rm(dir, { recursive: true, force: true });
});

// For each server: its program, and the arguments with which it serves the folder site in the
// foreground. It writes files to home.
const servers = {
  nginx: {
    path: program("nginx"),
    async start(home, port) {
      await writeFile(
        join(home, "nginx.conf"),
        `daemon off; pid ${home}/pid; error_log ${home}/log;
events {}
http {
  access_log off;
  client_body_temp_path ${home}/1; proxy_temp_path ${home}/2; fastcgi_temp_path ${home}/3; uwsgi_temp_path ${home}/4; scgi_temp_path ${home}/5;
  server {
    listen 127.0.0.1:${port};
    root ${dir}/site;
    include ${inRepo("dist/hosting/nginx.conf")};
  }
}
`,
      );
      return ["-e", `${home}/log`, "-c", join(home, "nginx.conf")];
    },
    packs: ["gzip"],
  },
  Apache: {
    path: program("apache2", "httpd"),
    modules: ["/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/usr/lib/httpd/modules"].find((path) => existsSync(path)),
    async start(home, port) {
      const wanted = ["mpm_event", "unixd", "authz_core", "mime", "dir", "headers", "rewrite", "deflate", "filter"];
      const loads = wanted.filter((name) => existsSync(join(this.modules, `mod_${name}.so`))).map((name) => `LoadModule ${name}_module ${this.modules}/mod_${name}.so`);
      // As in distributions: they compress some types, and map some file extensions to types.
      await writeFile(
        join(home, "apache.conf"),
        `${loads.join("\n")}
ServerName localhost
ServerRoot ${home}
PidFile ${home}/pid
ErrorLog ${home}/log
Listen 127.0.0.1:${port}
TypesConfig ${home}/mime.types
AddEncoding x-gzip .gz
AddLanguage br .br
AddOutputFilterByType DEFLATE text/html text/plain text/css text/javascript application/javascript application/json application/wasm image/svg+xml
DocumentRoot ${dir}/site
<Directory ${dir}/site>
  AllowOverride FileInfo
  Require all granted
</Directory>
`,
      );
      await writeFile(join(home, "mime.types"), "text/html html\ntext/css css\napplication/javascript js\napplication/json json\nimage/svg+xml svg\ntext/plain txt\nimage/png png\n");
      return ["-D", "FOREGROUND", "-f", join(home, "apache.conf")];
    },
    packs: ["br", "gzip"],
  },
  Caddy: {
    path: program("caddy"),
    async start(home, port) {
      const text = await readFile(inRepo("dist/hosting/Caddyfile"), "utf8");
      const put = text.replace(/^\S+ \{/m, `http://127.0.0.1:${port} {`).replace(/root \* .*/, `root * ${dir}/site`);
      await writeFile(join(home, "Caddyfile"), `{\n\tadmin off\n}\n${put}`);
      return ["run", "--adapter", "caddyfile", "--config", join(home, "Caddyfile")];
    },
    packs: ["br", "gzip"],
  },
};

// Runs a server until stop is called.
async function serve(name) {
  const server = servers[name];
  const home = join(dir, name);
  await mkdir(home);
  const port = await freePort();
  const process = spawn(server.path, await server.start(home, port), { stdio: ["ignore", "pipe", "pipe"], env: { ...globalThis.process.env, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home } });
  let said = "";
  for (const out of [process.stdout, process.stderr]) out.on("data", (piece) => (said += piece));
  let ended = false;
  const end = new Promise((done) => process.once("exit", done).once("error", done)).then(() => (ended = true));
  const origin = `http://127.0.0.1:${port}`;
  for (const until = Date.now() + 20_000; ; await new Promise((done) => setTimeout(done, 50))) {
    const there = await fetch(origin).then((r) => r.status, () => 0);
    if (there) break;
    if (ended || Date.now() > until) throw new Error(`${name} does not serve: ${said}\n${await readFile(join(home, "log"), "utf8").catch(() => "")}`);
  }
  return {
    origin,
    async stop() {
      process.kill("SIGTERM");
      await end;
    },
  };
}

// Makes a plain request, because fetch would undo the compression.
const ask = (origin, path, headers = {}, method = "GET") =>
  new Promise((done, fail) => {
    const request = http.request(origin + path, { method, headers }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => done({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }));
    });
    request.on("error", fail);
    request.end();
  });

const unpack = { br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync };
const same = ["content-security-policy", "x-content-type-options", "referrer-policy", "cross-origin-opener-policy", "cache-control"];
const type = (r) => (r.headers["content-type"] ?? "").replace(/;.*/, "");

for (const [name, server] of Object.entries(servers)) {
  const skip = server.path ? false : `*** SKIPPED: the configuration for ${name}, which is not installed here`;
  test(`${name} serves the page like the project’s own server`, { skip }, async (t) => {
    const host = await serve(name);
    t.after(() => host.stop());
    const html = (await ask(own.origin, "/")).body.toString();
    const named = [...html.matchAll(/(?:src|href|data-[a-z]+)="([^":]+\.[0-9a-f]{8}\.[a-z]+)"/g)].map((m) => m[1]);
    assert.ok(named.length > 5);
    for (const path of ["", "index.html", "embed.html", "sw.js", "manifest.webmanifest", "licenses.txt", "icon-192.png", "sample/files.json", "sample/tilecruncher.dmp", "sample/libc.so.6.sym.gz", ...named]) {
      const want = await ask(own.origin, `/${path}`);
      for (const accept of ["", "gzip", "gzip, deflate, br, zstd"]) {
        const what = `${name}: ${path || "/"}, ${accept || "nothing"} accepted`;
        const got = await ask(host.origin, `/${path}`, accept ? { "accept-encoding": accept } : {});
        assert.equal(got.status, 200, what);
        for (const header of same) assert.equal(got.headers[header], want.headers[header], `${what}: ${header}`);
        const packed = got.headers["content-encoding"];
        const content = packed ? unpack[packed]?.(got.body) : got.body;
        assert.ok(content?.equals(want.body), `${what}: the content, as ${packed ?? "it is"}`);
        assert.ok(!packed || accept.includes(packed), what);
        // Symbol files that are gzip files must arrive as they are.
        if (/\.(gz|png)$/.test(path)) assert.equal(packed, undefined, what);
        if (/\.(gz|png|dmp)$/.test(path)) continue;
        assert.equal(type(got), type(want), what);
        if (want.body.length < 1000) continue; // a host may find that it is not worth it
        const best = server.packs.find((way) => accept.includes(way));
        assert.equal(packed, best, what);
        assert.match(got.headers.vary ?? "", /accept-encoding/i, what);
      }
    }
    // A file that was fetched before and has not changed is not sent again.
    const first = await ask(host.origin, "/", { "accept-encoding": "gzip" });
    const again = await ask(host.origin, "/", { "accept-encoding": "gzip", ...(first.headers.etag ? { "if-none-match": first.headers.etag } : { "if-modified-since": first.headers["last-modified"] }) });
    assert.equal(again.status, 304);
    const none = await ask(host.origin, "/none.html");
    assert.equal(none.status, 404);
    for (const header of same.slice(0, 4)) assert.equal(none.headers[header], (await ask(own.origin, "/none.html")).headers[header], `${name}: ${header} of what is not there`);
    const posted = await ask(host.origin, "/", {}, "POST");
    assert.ok(posted.status === 403 || posted.status === 405, `${name} answers ${posted.status} to a POST`);

    const tab = await chrome.open(`${host.origin}/`);
    await tab.page.getByRole("button", { name: "Open the sample" }).click();
    await tab.sees("tile::blend_edges");
    await tab.kept();
    assert.deepEqual(tab.problems, []);
    assert.deepEqual(tab.foreign, []);
    await tab.close();
  });
}
