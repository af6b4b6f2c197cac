// Finds a Chrome or Chromium; on Debian, as root, it installs one if there is none. As a program it
// prints the browser's path, or one line that says what is missing.
import { execFileSync } from "node:child_process";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "google-chrome-beta", "chrome"];

// Paths outside of PATH that installers use.
const usualPlaces = [
  "/usr/lib/chromium/chromium",
  "/opt/google/chrome/chrome",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
];

function runnable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function search(env, places) {
  const onPath = (env.PATH ?? "").split(delimiter).flatMap((dir) => names.map((name) => join(dir, name)));
  return [...onPath, ...places].find(runnable);
}

function debianRoot() {
  try {
    return process.getuid?.() === 0 && statSync("/etc/debian_version").isFile();
  } catch {
    return false;
  }
}

// Ubuntu's package of that name only installs a snap.
function ubuntu() {
  try {
    return /^ID=ubuntu$/m.test(readFileSync("/etc/os-release", "utf8"));
  } catch {
    return false;
  }
}

function install(log) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  log("no Chrome or Chromium found: installing Debian's package chromium");
  const options = { env, stdio: ["ignore", "pipe", "pipe"] };
  execFileSync("apt-get", ["update"], options);
  execFileSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], options);
}

const advice =
  "found no Chrome or Chromium: install one (Debian: apt-get install chromium), or name it by CHROME=/path/to/chrome, or skip the browser tests by BROWSER=none";

// Returns the path of a browser, or throws an error with a message of one line.
export function findBrowser({
  env = process.env,
  places = usualPlaces,
  mayInstall = debianRoot() && !ubuntu(),
  installer = install,
  log = console.error,
} = {}) {
  for (const variable of ["CHROME", "CHROMIUM"]) {
    const named = env[variable];
    if (!named) continue;
    // If CHROME names a browser, use no other.
    if (!runnable(named)) throw new Error(`${variable}=${named} is not a program that can be run`);
    return named;
  }
  // BROWSER is often set for other programs, so use it only if it is a Chrome or Chromium.
  if (env.BROWSER && /chrom/i.test(env.BROWSER) && runnable(env.BROWSER)) return env.BROWSER;
  const found = search(env, places);
  if (found) return found;
  if (mayInstall) {
    try {
      installer(log);
    } catch (error) {
      throw new Error(`${advice} (installing Debian's package failed: ${String(error.message).split("\n")[0]})`);
    }
    const installed = search(env, places);
    if (installed) return installed;
  }
  throw new Error(advice);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(findBrowser());
  } catch (error) {
    console.error(`browser tests: ${error.message}`);
    process.exit(1);
  }
}
