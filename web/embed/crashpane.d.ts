// Types of the package "crashpane". In a report, addresses are strings, "0x" and hexadecimal digits, because they do not fit into a number.

/** A file: its bytes, or an object to read them from. */
export type Data = ArrayBuffer | ArrayBufferView | Blob | Response | ReadableStream<Uint8Array>;

/** A file with its name, which is only shown: Crashpane recognizes a file by its content. */
export interface NamedData {
  data: Data | Promise<Data>;
  name?: string;
}

/** The unwind policy. */
export type Policy = "best" | "breakpad" | "rust-minidump" | "cfi" | "fp" | "scan";

/** The parts of the lower panel's tabs: docs/EMBEDDING.md says which tab has which. */
export type Tab =
  | "threads" | "modules" | "wanted" | "findings" | "compare" | "dumps" | "files" | "outline" | "system" | "memory" | "words" | "bytes" | "text" | "find" | "streams" | "handles" | "annotations" | "log";

export interface AnalyzeOptions {
  /** The dump's name in the report. Default: the name of a File, or "crash.dmp". */
  name?: string;
  /** Breakpad symbol files, programs and their debug files, and archives of these. */
  symbols?: Iterable<Data | NamedData> | AsyncIterable<Data | NamedData>;
  /** Default: "best". */
  policy?: Policy;
}

/**
 * Walks a dump's stacks and returns the report of the command `crashpane walk --format json`. It is for Node and for workers; on a page it
 * blocks the page's thread. Rejects if the file contains no dump.
 */
export function analyze(dump: Data | Promise<Data>, options?: AnalyzeOptions): Promise<Report>;

/** Sets where the package's programs are, if they are not next to its modules. Call it before the first element or analyze. */
export function configure(places: {
  viewer?: string | URL | BufferSource | WebAssembly.Module;
  engine?: string | URL | BufferSource | WebAssembly.Module;
  /** @deprecated The older name of engine. */
  full?: string | URL | BufferSource | WebAssembly.Module;
  worker?: string | URL | (() => Worker);
}): void;

/** A selection in a dump. Missing members stay as they are. */
export interface Place {
  thread?: number;
  frame?: number;
  tab?: Tab;
  /** An address in the process, such as "0x7ffe1000": a text, because it may have 64 bits. Without a tab, Memory shows it. */
  address?: string;
}

/** A symbol file that a stack needs. */
export interface WantedSymbol {
  /** Name and id of the debug file, as the first line of a .sym file has them. */
  debugFile: string;
  debugId: string;
  /** The path in a symbol store: DEBUG_FILE/ID/NAME.sym. */
  storePath: string;
  codeFile: string;
  codeId: string;
  /** How many frames need it. */
  frames: number;
}

/** Returns a symbol file, or nothing. */
export type SymbolProvider = (symbol: WantedSymbol) => Data | null | undefined | Promise<Data | null | undefined>;

/** The events of <crash-pane> and of a frame, with their details. */
export interface CrashPaneEventMap {
  /** The viewer is ready. */
  ready: CustomEvent<Record<string, never>>;
  /** A file is being read: done of total files, and percent of this file, or -1. */
  progress: CustomEvent<{ text: string; done: number; total: number; percent: number }>;
  /** Symbols are missing that no earlier event has named. */
  "symbols-needed": CustomEvent<{ symbols: WantedSymbol[] }>;
  /** There is a report, or a new one because symbols were added: see getReport. */
  report: CustomEvent<Record<string, never>>;
  /** Another thread, frame, tab or address is selected. inline is the inlined call in the frame, -1 for the frame itself; address is null before one is selected. */
  select: CustomEvent<{ dump: string; thread: number; frame: number; inline: number; tab: Tab; address: string | null }>;
  /** An error, which the viewer also shows. */
  error: CustomEvent<{ level: "error" | "warning"; message: string }>;
}

/** The methods of a viewer, in the page or in a frame. */
export interface CrashPaneMethods {
  /** Shows a dump in place of all files so far. Resolves when its stacks are walked; rejects if the file contains no dump. */
  loadDump(data: Data | Promise<Data>, options?: { name?: string }): Promise<void>;
  /** Adds symbol files. Resolves when the stacks are walked with them. */
  addSymbols(data: Data | NamedData | (Data | NamedData)[], options?: { name?: string }): Promise<void>;
  /** Returns the report of the open dump. */
  getReport(): Promise<Report>;
  /** Removes all files, and goes back to the start screen. */
  clear(): Promise<void>;
}

/**
 * <crash-pane>. Attributes: theme (light, dark; default: the system's), tab, thread, frame; and the boolean attributes readonly, drop, storage,
 * network, redact.
 */
export class CrashPaneElement extends HTMLElement implements CrashPaneMethods {
  loadDump(data: Data | Promise<Data>, options?: { name?: string }): Promise<void>;
  addSymbols(data: Data | NamedData | (Data | NamedData)[], options?: { name?: string }): Promise<void>;
  getReport(): Promise<Report>;
  clear(): Promise<void>;
  /** Is called for each missing symbol file. Setting null and then another provider asks for all of them again. */
  setSymbolProvider(provider: SymbolProvider | null): void;
  select(place: Place): void;
  addEventListener<K extends keyof CrashPaneEventMap>(type: K, listener: (event: CrashPaneEventMap[K]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "crash-pane": CrashPaneElement;
  }
}

/** Options for a frame when it connects. */
export interface FrameOptions extends Place {
  theme?: "light" | "dark" | "";
  readonly?: boolean;
  drop?: boolean;
  /** Once true, it stays true. */
  redact?: boolean;
}

/** A viewer in a frame. Buffers and streams that are passed to it are transferred: this page cannot use them any more. */
export interface FrameConnection extends CrashPaneMethods, EventTarget {
  select(place: Place): Promise<void>;
  setOptions(options: FrameOptions): Promise<void>;
  close(): void;
}

/** Connects to an iframe that shows embed.html. */
export function connectFrame(iframe: HTMLIFrameElement, options?: { token?: string; options?: FrameOptions; signal?: AbortSignal }): Promise<FrameConnection>;

/** The report, in the schema of rust-minidump's minidump-stackwalk --json. Crashpane's additions are in members called "crashpane". */
export interface Report {
  crash_info: CrashInfo;
  /** The thread that crashed, with registers, if it has frames. */
  crashing_thread?: Thread;
  crashpane: ReportAdditions;
  handles: Handle[] | null;
  linux_memory_map_count: number | null;
  lsb_release: LsbRelease | null;
  mac_boot_args: string | null;
  mac_crash_info: MacCrashInfo | null;
  /** Always 0; crashpane.main_module has the number. */
  main_module: number;
  modules: Module[];
  modules_contains_cert_info: boolean;
  pid: number | null;
  proc_limits: ProcLimits | null;
  /** In seconds. */
  process_uptime: number | null;
  /** Problems that the program which wrote the dump has recorded in it, verbatim. */
  soft_errors: unknown;
  status: "OK";
  system_info: SystemInfo;
  thread_count: number;
  threads: Thread[];
  unloaded_modules: UnloadedModule[];
}

export interface CrashInfo {
  address: string | null;
  adjusted_address: AdjustedAddress | null;
  assertion: string | null;
  crash_inconsistencies: string[] | null;
  /** Index into threads. */
  crashing_thread: number | null;
  instruction: string | null;
  instruction_pointer_update: InstructionPointerUpdate | null;
  memory_accesses: MemoryAccess[] | null;
  possible_bit_flips: BitFlip[] | null;
  /** The crash reason, in rust-minidump's words. */
  type: string | null;
}

export interface AdjustedAddress {
  kind: string;
  address?: string;
  offset?: string;
}

export interface InstructionPointerUpdate {
  address: string;
}

export interface MemoryAccess {
  access_type?: string;
  address: string;
  is_likely_guard_page?: boolean;
  size: number | null;
}

export interface BitFlip {
  address: string;
  confidence: number;
  details: BitFlipDetails;
  source_register: string | null;
}

export interface BitFlipDetails {
  is_null: boolean;
  nearby_registers: number;
  poison_registers: boolean;
  was_low: boolean;
  was_non_canonical: boolean;
}

export interface Thread {
  crashpane: ThreadAdditions;
  frame_count: number;
  frames: Frame[];
  last_error_value: string | null;
  thread_id: number;
  thread_name: string | null;
  /** Only in crashing_thread: its index into threads; null if the exception's thread is not in the dump's list. */
  threads_index?: number | null;
}

export interface ThreadAdditions {
  omitted: boolean;
  stop: Stop;
  times: ThreadTimes | null;
  /** Of a 32-bit process that a 64-bit tool dumped: the thread's second stack, that of the 64-bit layer. */
  wow64: SecondStack | null;
}

export interface SecondStack {
  frames: Frame[];
  stop: Stop;
}

/** When a Windows thread ran: times in seconds since 1970, durations in seconds. */
export interface ThreadTimes {
  created: number | null;
  ended: number | null;
  exit_status: number;
  kernel: number;
  start: string;
  user: number;
}

/** Why a stack ends. */
export interface Stop {
  attempts: Attempt[];
  detail: string;
  kind: string;
  suggestion: string | null;
}

/** An attempt to find the caller that was rejected. */
export interface Attempt {
  origin: string;
  reason: string;
  rule: string;
  source: string;
}

export interface Frame {
  crashpane: FrameAdditions;
  file: string | null;
  /** From 0, the innermost. Frames of a recursion that are not listed count, too: see Repeat. */
  frame: number;
  function: string | null;
  function_offset: string | null;
  inlines: Inline[] | null;
  line: number | null;
  missing_symbols: boolean;
  module: string | null;
  module_offset: string | null;
  /** The address at which symbols are looked up: for a caller, within its call instruction. */
  offset: string;
  /** Only in the first frame of crashing_thread. */
  registers?: Record<string, string>;
  trust: "context" | "cfi" | "frame_pointer" | "scan" | "cfi_scan" | "prewalked" | "none";
  unloaded_modules: FrameUnloaded[] | null;
}

export interface Inline {
  file: string | null;
  function: string;
  line: number | null;
}

export interface FrameUnloaded {
  module: string;
  offsets: string[];
}

export interface FrameAdditions {
  attempts?: Attempt[];
  /** The function's readable name, if it differs. */
  demangled?: string;
  /** How the frame was found, with numbers: only in the first frames of the crashed thread. */
  explain?: Explanation;
  /** The user assigned the symbols that found or named the frame. They may be of another build. */
  forced?: boolean;
  inlines_demangled?: string[];
  /** If several entries of the list are one module: the offset in that module. module_offset is relative to the entry. */
  module_rva?: string;
  multiple?: boolean;
  /** The function is the nearest public name before the address. Its code may have ended before it. */
  nearest?: boolean;
  /** File and line of the unwind rule. */
  origin?: string;
  /** The recovered address: for a caller, the return address. */
  pc: string;
  /** The function's name is from a public symbol or an export. */
  public?: boolean;
  rule?: string;
  symbols_from?: string;
  /** The function that the frame called and that jumped on to the frame below: it has no frame itself. */
  tail_call?: string;
  trust?: string;
}

export interface Explanation {
  after: Record<string, string>;
  before?: Record<string, string>;
  cfa: string;
  checks: string[];
  end?: unknown;
  frame?: number;
  instruction: Instruction | null;
  notes: string[];
  origin?: string | null;
  pc?: string;
  record: RuleRecord[];
  rule?: string | null;
  scanned: Scan | null;
  source: string;
  steps: Step[];
  thread?: number;
  trust?: string;
  words: Word[];
}

/** The instruction of a frame, for a caller its call, if the dump or a binary has the code. function, module and offset are those of the callee. */
export interface Instruction {
  address: string;
  bytes: string | null;
  function: string | null;
  module: string | null;
  offset: string | null;
  target: string | null;
  text: string | null;
}

export interface RuleRecord {
  line: number | null;
  text: string;
}

export interface Step {
  computed: string;
  for: string;
  rule: string;
  value: string | null;
}

/** A word of the stack that was read. */
export interface Word {
  address: string;
  for: string;
  function: string | null;
  module: string | null;
  offset: string | null;
  size: number;
  value: string;
}

export interface Scan {
  from: string;
  more: number;
  rejected: RejectedWord[];
  words: number;
}

export interface RejectedWord {
  address: string;
  module?: string | null;
  reason: string;
  value: string;
}

export interface Module {
  base_addr: string;
  cert_subject: string | null;
  code_id: string;
  corrupt_symbols: boolean;
  /** What its files contain. */
  crashpane?: ModuleAdditions;
  debug_file: string;
  debug_id: string;
  end_addr: string;
  filename: string;
  loaded_symbols: boolean;
  missing_symbols: boolean;
  symbol_url: string | null;
  version: string | null;
}

export interface ModuleAdditions {
  binary?: string;
  binary_by_name?: boolean;
  cfi_ignored?: boolean;
  has?: string[];
  /** If several entries of the list are one module: its parts by address, including this entry. */
  mappings?: ModuleMapping[];
  missing?: string[];
  parts?: ModulePart[];
  symbol_file?: string;
  symbols_exact: boolean;
}

export interface ModuleMapping {
  /** The part's entry, an index into modules. */
  module: number;
  /** Offset of the part's first byte in the module. */
  rva: string;
  size: number;
  start: string;
}

export interface ModulePart {
  file: string;
  section: string;
  what: string;
}

export interface UnloadedModule {
  base_addr: string;
  cert_subject: string | null;
  code_id: string;
  end_addr: string;
  filename: string;
}

export interface SystemInfo {
  cpu_arch: string;
  cpu_count: number;
  cpu_info: string | null;
  cpu_microcode_version: string | null;
  os: string;
  os_ver: string | null;
}

export interface Handle {
  handle: number;
  object_name: string | null;
  type_name: string | null;
}

export interface LsbRelease {
  codename: string;
  description: string;
  id: string;
  release: string;
}

export interface MacCrashInfo {
  num_records: number;
  records: unknown[];
}

export interface ProcLimits {
  limits: ProcLimit[];
}

export interface ProcLimit {
  hard: number | string;
  name: string;
  soft: number | string;
  unit: string;
}

export interface Repeat {
  count: number;
  first: number;
  period: number;
  /** How many further frames are between them that are not listed: the walk did not keep them. */
  skipped: number;
  thread: number;
}

export interface Trace {
  frames: TraceFrame[];
  /** The annotation's name. */
  source: string;
}

export interface TraceFrame {
  file: string | null;
  function: string | null;
  inlines: string[];
  line: number | null;
  module: string | null;
  offset: string | null;
  pc: string;
}

export interface AuxEntry {
  name: string;
  /** The target of the value, if it is a pointer. */
  text: string | null;
  value: string;
}

export interface ReportAdditions {
  assertion: string | null;
  /** The auxiliary vector of Linux. */
  auxv: AuxEntry[];
  crash: CrashAdditions | null;
  diagnostics: Diagnostic[];
  dump: DumpFile;
  /** All of the dump's exceptions; crash_info is about the first. */
  exceptions: Exception[];
  findings: Finding[];
  forced_symbols: ForcedSymbol[];
  main_module: number | null;
  policy: Policy;
  process: string | null;
  process_id: number | null;
  product: Product;
  /** Version of the form of this member. */
  report_version: number;
  /** The program's own messages about the crash, the most informative first. */
  said: Said[];
  system: string | null;
  /** Stacks that the program has stored in annotations. */
  traces: Trace[];
  /** Recursions: from the frame first on, count times the functions of period frames. */
  repeats: Repeat[];
  /** What was sent together with the dump, if it was in a crash reporter's upload: the fields of a form, what an envelope says. */
  upload: Sent[];
  wanted_symbols: MissingSymbol[];
  warnings: SymbolWarning[];
  /** The processors of a 32-bit process that a 64-bit tool dumped, and of the 64-bit layer under it; null for other processes. */
  wow64: Wow64 | null;
}

export interface Sent {
  key: string;
  /** "upload" (a form) or "envelope" (Sentry). */
  origin: string;
  value: string;
}

export interface Exception {
  address: string;
  code: string;
  flags: string;
  /** The exceptions that were being handled when this one was raised. */
  nested: Exception[];
  params: string[];
  reason: string;
  reason_breakpad: string;
  sentence: string;
  /** Index into threads, or null. */
  thread: number | null;
  thread_id: number;
}

export interface Wow64 {
  host: string;
  /** null if the dump has the registers of the 64-bit layer alone. */
  program: string | null;
}

export interface CrashAdditions {
  /** The instruction, its memory accesses, and what is at these addresses. */
  analysis: unknown;
  guesses: string[];
  /** The exceptions that were being handled when this one was raised. */
  nested: Exception[];
  params: string[];
  /** The first call in the program's own code; null without frames, or if the program ended itself and only runtimes' functions are there. */
  place: Call | null;
  reason_breakpad: string;
  /** The process did not crash: the dump was requested. */
  requested: boolean;
  /** What the process did, to be read after its name: "tried to read 8 bytes at 0x10: null pointer plus 16, through rax". */
  sentence: string;
  /** The signature, which is the same for equal crashes; null if nothing crashed. */
  signature: string | null;
  thread_id: number;
}

/** A call: its index into the crashed thread's frames, and into that frame's inlined calls, or null. */
export interface Call {
  frame: number;
  inline: number | null;
}

/** What annotations say about the program. */
export interface Product {
  channel: string | null;
  name: string | null;
  process_type: string | null;
  version: string | null;
}

export interface Said {
  source: string;
  text: string;
}

export interface Diagnostic {
  severity: string;
  text: string;
}

export interface DumpFile {
  flags: string;
  name: string;
  size: number;
  /** In seconds since 1970. */
  time: number;
  word_size: number;
}

/** A reason why a stack is incomplete or unreliable. */
export interface Finding {
  kind: string;
  module: number | null;
  suggestion: string | null;
  text: string;
  thread: number | null;
}

export interface ForcedSymbol {
  debug_file: string;
  debug_id: string;
  module: number;
  symbol_file: string;
  symbol_id: string;
  symbol_name: string;
}

export interface MissingSymbol {
  debug_file: string;
  debug_id: string;
  frames: number;
  mismatch_file: string | null;
  mismatch_id: string | null;
  /** Index into modules. */
  module: number;
  /** Name and id of the program, if it is missing and would have the module's unwind rules. */
  program: string | null;
  program_id: string | null;
  /** The server that publishes it, if that is known. */
  server: string | null;
  store_path: string;
}

export interface SymbolWarning {
  module: number;
  text: string;
}
