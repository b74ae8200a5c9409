/** What the phone's models show the rest of the app: catalogue rows, their state, the engines. */
import type { Brain } from '../brain.ts';
import type { DownloadFaultKind } from './download-faults.ts';

export type EngineName = 'webllm' | 'wllama';

/** Whose language a model speaks: which file of `dialect/` renders for it and reads it. */
export type Family = 'gemma3' | 'functiongemma' | 'gemma4' | 'qwen3' | 'llama3' | 'chatml';

/** One model on one engine; a row of the catalogue or of `models/index.json` beside the app. */
export interface CatalogueRow {
  /** Stable id, e.g. `gemma3-270m-tools.webllm`. */
  readonly id: string;
  readonly label: string;
  readonly engine: EngineName;
  readonly family: Family;
  /** One line: what it is good at, where it comes from. */
  readonly note: string;
  /** Files to fetch, relative to `base`; bytes and SHA-256 (hex) where known. */
  readonly files: readonly { path: string; bytes?: number; sha256?: string }[];
  /** Absolute URL of the folder that holds the files, with a trailing slash. */
  readonly base: string;
  readonly licence: { readonly name: string; readonly url: string };
  readonly contextTokens: number;
  readonly maxTools: number;
  /** Bytes of memory needed to run it, about. */
  readonly memory: number;
  /** How its weights are packed, e.g. `q4f16_1` or `Q8_0`. */
  readonly quantisation?: string;
  /** Smaller windows that it may be loaded with, in tokens, largest first. */
  readonly contexts?: readonly number[];
  /** Bytes that each token of the window takes in memory, beside the weights. */
  readonly kvBytesPerToken?: number;
  /** WebGPU features that it needs, e.g. `shader-f16`. */
  readonly features?: readonly string[];
  /** Bytes of its largest single GPU buffer. */
  readonly largestBuffer?: number;
  /** What its makers advise for sampling; default: greedy. */
  readonly sampling?: Sampling;
  /** The same for a step that offers tools; default: as `sampling`. */
  readonly toolSampling?: Sampling;
  /** It may think before it answers. */
  readonly thinking?: boolean;
  /** Of a Gemma 2 or 3 that was not trained for this app: it must be told how tools are called. */
  readonly untaught?: boolean;
  /** It garbles what it writes freely: arguments of a first call are copied from the conversation. */
  readonly copies?: boolean;
  /**
   * Measured: ln p(call) − ln p(no call) of its first token, plus the BM25 score of the best tool
   * (`BrainRequest.match`), above which it does right to call. Default: it decides by itself.
   */
  readonly callsFrom?: number;
  /** It knows a demo and nothing else: there to be tried, never advised. */
  readonly demo?: boolean;
  /** It can be shown images. */
  readonly images?: boolean;
  /** WebLLM: absolute address of its library, where that is not one of `files`. */
  readonly library?: string;
  /** WebLLM: entries of its configuration that are wrong as published, with what they should be. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** About how many bytes its files have, where `files` does not say. */
  readonly approxBytes?: number;
  /** The person added it: by its address, or from a file on this phone. */
  readonly own?: 'url' | 'file';
  /** Served from beside the app. */
  readonly beside: boolean;
}

export type ModelStatus =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'downloading';
      readonly received: number;
      readonly total: number;
      readonly bytesPerSecond: number;
      /** It goes on when the app is closed. */
      readonly background?: boolean;
    }
  | {
      /** A download that was begun and waits: for the person, or for the network. */
      readonly kind: 'paused';
      readonly received: number;
      readonly total: number;
      /** Why it waits and what makes it go on, as a sentence; none where the person paused it. */
      readonly reason?: string;
    }
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'loading';
      readonly fraction: number | null;
      /** Another tab's model is in memory and at work: this one waits for it. */
      readonly waiting?: boolean;
    }
  | { readonly kind: 'warm' }
  | { readonly kind: 'generating' }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly advice: string;
      /** What kind of fault, where it was one of downloading or storing. */
      readonly fault?: DownloadFaultKind;
    };

/** A choice that asks less of the phone than the one that failed. */
export type Rung =
  | {
      /** context: the same with a smaller window · cpu: the same weights on the processor. */
      readonly kind: 'context' | 'quantisation' | 'cpu' | 'smaller';
      readonly row: CatalogueRow;
      /** Window to load it with, in tokens. */
      readonly contextTokens: number;
    }
  | { readonly kind: 'cloud' };

/** A model failed on this phone in a way that would come again, and the person has not yet chosen. */
export interface Setback {
  /** What happened, as a sentence. */
  readonly message: string;
  readonly next: Rung;
}

/** How a model fits this phone: shown as "Runs well", "May be slow" or "Too big". */
export interface Fit {
  readonly verdict: 'well' | 'slow' | 'big';
  /** Why, as a sentence for the person. */
  readonly reason: string;
  /** It cannot work: on this phone at all, or until there is room. Else the person may override. */
  readonly blocked?: 'phone' | 'room';
  /** What may happen where the person overrides, as sentences. */
  readonly risk?: string;
  /** The window that there is memory for, in tokens, where that is less than the row's own. */
  readonly window?: number;
  /** What to ask before a download starts: a low battery, a connection that costs. */
  readonly asks: readonly string[];
}

export interface ModelView {
  readonly row: CatalogueRow;
  readonly fit: Fit;
  readonly status: ModelStatus;
  /** Bytes on this phone. */
  readonly stored: number;
  /** Set where this browser cannot run it: why, as a sentence. */
  readonly unfit?: string;
  /** Set where the person wants its words chosen otherwise than the row says. */
  readonly sampling?: Sampling;
  /** Set where it can think before it answers, and the person wants it not to. */
  readonly unthinking?: boolean;
  /** Set while `status` is a failure that has a safer choice. */
  readonly setback?: Setback;
  /** Every file of it and of its engine was just seen to be here: it needs no network. */
  readonly offline?: boolean;
}

/** How a model does on this phone: the middle of what was measured, over time. */
export interface FigureSummary {
  /** What the browser tells of the phone. */
  readonly device: string;
  /** Answers that this is made of, at most the latest fifty, and when the first of them was. */
  readonly answers: number;
  readonly since?: number;
  /** Tokens a second that it reads, and that it writes. */
  readonly prefillRate?: number;
  readonly decodeRate?: number;
  readonly firstTokenMs?: number;
  /** Most bytes of memory that its engine held in one of these answers. */
  readonly memory?: number;
  /** Of the last benchmark: tool tasks that it did right. */
  readonly benchmark?: { readonly at: number; readonly right: number; readonly of: number };
  /** Oldest first. */
  readonly history: readonly { readonly at: number; readonly decodeRate: number }[];
}

export interface BenchmarkProgress {
  /** The model at work. */
  readonly label: string;
  /** Steps done, of all models. */
  readonly done: number;
  readonly of: number;
}

export interface BenchmarkedModel {
  readonly id: string;
  readonly label: string;
  readonly engine: string;
  readonly quantisation?: string;
  /** Bytes, about; and bytes on this phone. */
  readonly memory: number;
  readonly storage: number;
  readonly prefillRate?: number;
  readonly decodeRate?: number;
  readonly firstTokenMs?: number;
  readonly right: number;
  readonly of: number;
  readonly tasks: readonly {
    readonly ask: string;
    readonly right: boolean;
    /** What the model wrote. */
    readonly said: string;
  }[];
  /** Why it was not measured, as a sentence. */
  readonly error?: string;
}

export interface BenchmarkReport {
  readonly name: 'benchmark';
  /** ISO 8601. */
  readonly date: string;
  readonly device: string;
  /** Best first. */
  readonly models: readonly BenchmarkedModel[];
}

/** Where a model that the person adds comes from. */
export type OwnSource =
  /** A file in GGUF format: for the processor. */
  | { readonly kind: 'gguf'; readonly url: string }
  | { readonly kind: 'file'; readonly file: File }
  /** A folder or repository as MLC packs models, and the library compiled for it: for WebGPU. */
  | { readonly kind: 'webllm'; readonly url: string; readonly library: string };

/** What was found out about a model before it is added. */
export type Inspection =
  | {
      readonly ok: true;
      readonly row: CatalogueRow;
      readonly fit: Fit;
      /** What it says of itself, for the person. */
      readonly facts: readonly { readonly name: string; readonly value: string }[];
      /** What is unusual about it, as sentences. */
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly message: string; readonly advice: string };

/** Owns downloads, storage and the one model in memory. */
export interface Models {
  /** Catalogue rows and those that `models/index.json` beside the app lists; best first. */
  list(): Promise<readonly ModelView[]>;
  /** Resolves when it is stored and verified, or failed, or cancelled; never rejects. */
  download(id: string): Promise<void>;
  /** Ends a download for now; what has arrived stays. */
  pause(id: string): Promise<void>;
  /** Goes on with a download; the same as `download`. */
  resume(id: string): Promise<void>;
  /** Ends a download for good: what has arrived of a model that was never whole is removed. */
  cancel(id: string): Promise<void>;
  /**
   * Reads and verifies every stored file; bad ones are removed and fetched again, the others stay.
   * Resolves with the paths that were bad, when that is known.
   */
  check(id: string): Promise<readonly string[]>;
  /** A stored model as one file, to be brought into another browser; null where it is not whole. */
  export(id: string): Promise<Blob | null>;
  /** Takes such a file in. Resolves with its id, or with what is wrong with it; never rejects. */
  import(
    file: Blob,
  ): Promise<
    | { readonly ok: true; readonly id: string }
    | { readonly ok: false; readonly message: string; readonly advice: string }
  >;
  remove(id: string): Promise<void>;
  /** Looks at a model that the person wants to add; fetches its first bytes only. Never rejects. */
  inspect(source: OwnSource, signal: AbortSignal): Promise<Inspection>;
  /**
   * Adds a model that was inspected to the list. With its file it is stored at once: resolves when it
   * is verified, or failed.
   */
  add(row: CatalogueRow, file?: File): Promise<void>;
  /** How it does on this phone; null where nothing was measured yet. */
  figures(id: string): Promise<FigureSummary | null>;
  /**
   * Measures every stored model and ranks them. After an abort the report holds those that were done.
   */
  benchmark(
    onProgress: (progress: BenchmarkProgress) => void,
    signal: AbortSignal,
  ): Promise<BenchmarkReport>;
  /** How it is to choose its words from the next answer on; null: as its row says. */
  setSampling(id: string, sampling: Sampling | null): Promise<void>;
  /** Whether one that can think before it answers may, from the next answer on. */
  setThinking(id: string, on: boolean): Promise<void>;
  /** Frees the memory; the files stay. */
  unload(): Promise<void>;
  /**
   * Loads a stored model ahead of its use, where it is likely to work and no other tab has one in
   * memory; never rejects.
   */
  warm(id: string): Promise<void>;
  /**
   * Takes the safer choice that the model's setback offers, and resolves with it; null where there is
   * none. A model that is not here yet is downloaded first, and is the one in use once it is.
   */
  stepDown(id: string): Promise<Rung | null>;
  /** The brain of a stored model; it loads on first use. Null where it is not stored. */
  brain(id: string): Promise<Brain | null>;
  subscribe(listener: () => void): () => void;
}

/** Token sampling; temperature 0 is greedy. */
export interface Sampling {
  readonly temperature: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
}

export interface GenerateRequest {
  /**
   * The whole conversation rendered by the dialect, cut where a reply of the model begins and ends:
   * even entries are prompt text, odd ones what the model said. The engine keeps what it has cached.
   */
  readonly prompt: readonly string[];
  /** Grammar in the engine's own notation (EBNF for WebLLM, GBNF for wllama), or null. */
  readonly grammar: string | null;
  readonly stop: readonly string[];
  /** Control tokens that are a part of the reply; the engine gives out their text. */
  readonly markers?: readonly string[];
  readonly maxTokens: number;
  readonly sampling: Sampling;
  /** Set where the odds of the first token decide between two grammars; then `grammar` is the one of both. */
  readonly fork?: Fork;
}

/** A choice of one of two grammars by the model's own odds, without reading the prompt twice. */
export interface Fork {
  /** Text that a reply of the first kind begins with, and no other. */
  readonly opening: string;
  /** The first kind where ln p(opening) − ln p(anything else) is above this, else the second. */
  readonly above: number;
  /** Grammars of either kind, in the engine's own notation. */
  readonly first: string;
  readonly second: string;
}

export type EngineEvent =
  | { readonly type: 'prefill'; readonly fraction: number | null }
  /** What the fork's odds were; before the first token. */
  | { readonly type: 'odds'; readonly odds: number }
  | { readonly type: 'token'; readonly text: string }
  | {
      readonly type: 'done';
      readonly reason: 'stop' | 'length' | 'aborted';
      readonly promptTokens: number;
      readonly cachedTokens: number;
      readonly outputTokens: number;
      /** Bytes of memory that the engine holds; left out where it was not told. */
      readonly memory?: number;
    };

/** Told how far a load is; `waiting`: it has not begun, for another tab's model is at work. */
export type OnLoad = (fraction: number | null, waiting?: boolean) => void;

/** An engine in its worker. Errors thrown here are typed by `local/errors.ts`. */
export interface LocalEngine {
  load(row: CatalogueRow, onProgress: OnLoad, signal: AbortSignal): Promise<void>;
  generate(request: GenerateRequest, signal: AbortSignal): AsyncIterable<EngineEvent>;
  unload(): Promise<void>;
}
