// How Node ends itself; with --abort-on-uncaught-exception --max-old-space-size=20.
switch (process.argv[2]) {
  case "abort":
    process.abort();
  case "oom":
    for (const all = []; ; ) all.push(new Array(1e4).fill({}));
  case "throw":
    throw new Error("boom");
  case "check":
    process.binding("fs").internalModuleReadJSON();
}
