// Types of the package "crashpane". What the fields of a report mean is written at each; addresses are text, "0x" and hexadecimal digits,
// since they do not fit into a number.

/** A file: its bytes, or what they can be read from. */
export type Data = ArrayBuffer | ArrayBufferView | Blob | Response | ReadableStream<Uint8Array>;

/** A file with its name. What it is, its content says; the name is shown. */
export interface NamedData {
  data: Data | Promise<Data>;
  name?: string;
}

/** How stacks are walked. */
export type Policy = "best" | "breakpad" | "rust-minidump" | "cfi" | "fp" | "scan";

/** The tabs of the lower part. */
export type Tab =
  | "modules" | "wanted" | "findings" | "compare" | "files" | "system" | "memory" | "streams" | "handles" | "annotations" | "log";

export interface AnalyzeOptions {
  /** The dump's name in the report; "crash.dmp", or that of a File. */
  name?: string;
  /** Breakpad symbol files, ELF files and their debug files, archives of them. */
  symbols?: Iterable<Data | NamedData> | AsyncIterable<Data | NamedData>;
  /** "best" unless said. */
  policy?: Policy;
}

/**
 * Walks a dump and answers the report, which is that of the command `crashpane walk --format json`. Runs in Node and in workers; on a
 * page it holds the page's thread while it works. Rejects if there is no dump in what is given.
 */
export function analyze(dump: Data | Promise<Data>, options?: AnalyzeOptions): Promise<Report>;

/** Where the package's programs are, if not beside its modules. Call it before the first element or analyze. */
export function configure(places: {
  viewer?: string | URL | BufferSource | WebAssembly.Module;
  full?: string | URL | BufferSource | WebAssembly.Module;
  worker?: string | URL | (() => Worker);
}): void;

/** A place in a dump. What is left out stays as it is. */
export interface Place {
  thread?: number;
  frame?: number;
  tab?: Tab;
}

/** A symbol file that a stack needs. */
export interface WantedSymbol {
  /** Name and id of the debug file, as the first line of a .sym file has them. */
  debugFile: string;
  debugId: string;
  /** DEBUG_FILE/ID/NAME.sym, as symbol stores are laid out. */
  storePath: string;
  codeFile: string;
  codeId: string;
  /** How many frames need it. */
  frames: number;
}

/** Answers a symbol file, or nothing if there is none. */
export type SymbolProvider = (symbol: WantedSymbol) => Data | null | undefined | Promise<Data | null | undefined>;

/** The events of <crash-pane> and of a frame, with their details. */
export interface CrashPaneEventMap {
  /** It can be used. */
  ready: CustomEvent<Record<string, never>>;
  /** A file is read: done of total files, percent of this one, or -1. */
  progress: CustomEvent<{ text: string; done: number; total: number; percent: number }>;
  /** Symbols are missing that were not asked for before. */
  "symbols-needed": CustomEvent<{ symbols: WantedSymbol[] }>;
  /** There is a report, or another one since symbols came: see getReport. */
  report: CustomEvent<Record<string, never>>;
  /** Another thread, frame or tab is shown. inline is the inlined call in the frame, -1 for the frame itself. */
  select: CustomEvent<{ dump: string; thread: number; frame: number; inline: number; tab: Tab }>;
  /** Something could not be done. The viewer shows it too. */
  error: CustomEvent<{ level: "error" | "warning"; message: string }>;
}

/** What a viewer can do, in the page or in a frame. */
export interface CrashPaneMethods {
  /** Shows a dump instead of what is shown. Resolves when its stacks are walked; rejects if it is none. */
  loadDump(data: Data | Promise<Data>, options?: { name?: string }): Promise<void>;
  /** Adds symbol files. Resolves when the stacks are walked with them. */
  addSymbols(data: Data | NamedData | (Data | NamedData)[], options?: { name?: string }): Promise<void>;
  /** The report of the dump that is shown. */
  getReport(): Promise<Report>;
  /** Goes back to the start and forgets all files. */
  clear(): Promise<void>;
}

/**
 * <crash-pane>. Attributes: theme (light, dark; else as the system), tab, thread, frame; readonly, drop, storage, network, redact (each
 * there or not).
 */
export class CrashPaneElement extends HTMLElement implements CrashPaneMethods {
  loadDump(data: Data | Promise<Data>, options?: { name?: string }): Promise<void>;
  addSymbols(data: Data | NamedData | (Data | NamedData)[], options?: { name?: string }): Promise<void>;
  getReport(): Promise<Report>;
  clear(): Promise<void>;
  /** Is asked for each missing symbol file, and again after null was set and another one came. */
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

/** What a frame may be told at once. */
export interface FrameOptions extends Place {
  theme?: "light" | "dark" | "";
  readonly?: boolean;
  drop?: boolean;
  /** Once on, it stays on. */
  redact?: boolean;
}

/** A viewer in a frame. Buffers and streams that are given to it are moved there. */
export interface FrameConnection extends CrashPaneMethods, EventTarget {
  select(place: Place): Promise<void>;
  setOptions(options: FrameOptions): Promise<void>;
  close(): void;
}

/** Connects to an iframe that shows embed.html. */
export function connectFrame(iframe: HTMLIFrameElement, options?: { token?: string; options?: FrameOptions; signal?: AbortSignal }): Promise<FrameConnection>;

/** The report: the schema of rust-minidump's minidump-stackwalk --json; what is ours stands under "crashpane". */
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
  /** What the program that wrote the dump complained of, as it wrote it. */
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
  /** Number in threads. */
  crashing_thread: number | null;
  instruction: string | null;
  instruction_pointer_update: InstructionPointerUpdate | null;
  memory_accesses: MemoryAccess[] | null;
  possible_bit_flips: BitFlip[] | null;
  /** The reason, in rust-minidump's words. */
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
  /** Of crashing_thread only: its number in threads. */
  threads_index?: number;
}

export interface ThreadAdditions {
  omitted: boolean;
  stop: Stop;
  times: ThreadTimes | null;
}

/** When a thread of Windows ran: points in time in seconds since 1970, lengths in seconds. */
export interface ThreadTimes {
  created: number | null;
  ended: number | null;
  exit_status: number;
  kernel: number;
  start: string;
  user: number;
}

/** Why a stack has no further frame. */
export interface Stop {
  attempts: Attempt[];
  detail: string;
  kind: string;
  suggestion: string | null;
}

/** A way to the caller that was tried and not taken. */
export interface Attempt {
  origin: string;
  reason: string;
  rule: string;
  source: string;
}

export interface Frame {
  crashpane: FrameAdditions;
  file: string | null;
  /** From 0, the innermost. */
  frame: number;
  function: string | null;
  function_offset: string | null;
  inlines: Inline[] | null;
  line: number | null;
  missing_symbols: boolean;
  module: string | null;
  module_offset: string | null;
  /** The address that was looked up: of a caller, inside of the call. */
  offset: string;
  /** Of the first frame of crashing_thread. */
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
  /** The function's readable name, where it differs. */
  demangled?: string;
  /** The numbers by which the frame was found: of the first frames of the thread that crashed. */
  explain?: Explanation;
  /** By symbols of another build, that somebody said to use. */
  forced?: boolean;
  inlines_demangled?: string[];
  /** Where several entries of the list are one module: the offset in that. module_offset counts from the entry. */
  module_rva?: string;
  multiple?: boolean;
  /** File and line of the rule. */
  origin?: string;
  /** The address as it was recovered: of a caller, the return address. */
  pc: string;
  /** The function is a PUBLIC record: where it ends is not known. */
  public?: boolean;
  rule?: string;
  symbols_from?: string;
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

/** The instruction that a frame is at, for a caller its call, where the dump or a binary has the code. function, module and offset are of what it calls. */
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
  /** What files are known of it. */
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
  /** Where several entries of the list are one module: its parts by address, this entry among them. */
  mappings?: ModuleMapping[];
  missing?: string[];
  parts?: ModulePart[];
  symbol_file?: string;
  symbols_exact: boolean;
}

export interface ModuleMapping {
  /** The part's entry, an index into modules. */
  module: number;
  /** Where the part's first byte is, relative to the module. */
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
  /** What the value points to. */
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
  findings: Finding[];
  forced_symbols: ForcedSymbol[];
  main_module: number | null;
  policy: Policy;
  process: string | null;
  process_id: number | null;
  product: Product;
  /** Of this key's form. */
  report_version: number;
  /** What the program itself said of its end, the most telling first. */
  said: Said[];
  system: string | null;
  /** Stacks that the program kept in annotations. */
  traces: Trace[];
  wanted_symbols: MissingSymbol[];
  warnings: SymbolWarning[];
}

export interface CrashAdditions {
  /** The instruction, what it accessed, what lies there. */
  analysis: unknown;
  guesses: string[];
  params: string[];
  /** The first call that is a user's; null without frames. */
  place: Place | null;
  reason_breakpad: string;
  /** The process did not crash: a dump was asked for. */
  requested: boolean;
  /** What the process did, as it follows its name: "tried to read 8 bytes at 0x10: null pointer plus 16, through rax". */
  sentence: string;
  /** Words by which equal crashes are grouped; null if nothing crashed. */
  signature: string | null;
  thread_id: number;
}

/** A call by its index into the crashed thread's frames and, or null, into the frame's inlined calls. */
export interface Place {
  frame: number;
  inline: number | null;
}

/** What annotations say of the program. */
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

/** What makes a stack shorter or less certain than it could be. */
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
  /** Number in modules. */
  module: number;
  /** Name and identifier of the program, if that is missing and has the module's unwind rules. */
  program: string | null;
  program_id: string | null;
  store_path: string;
}

export interface SymbolWarning {
  module: number;
  text: string;
}
