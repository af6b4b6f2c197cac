// Crashpane: a crash viewer for web pages (<crash-pane>, frames), and its engine for programs
// (analyze).
export { analyze } from "./analyze.js";
export { configure } from "./assets.js";
export { CrashPaneElement } from "./element.js";
export { connectFrame } from "./frame.js";
