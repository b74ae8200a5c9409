/** What the MCP host gives the rest of the app: tools to offer, one way to call them, servers. */
import type { Transport } from '@modelcontextprotocol/client';
import type { JsonSchema } from '../brain/brain.ts';
import type {
  ContentBlock,
  DayReading,
  Outcome,
  ServerRecord,
  ToolAnnotations,
  ToolDefinition,
} from '../store/records.ts';

/** A tool of one server, as the loop and the gate see it. */
export interface Tool {
  readonly server: string;
  readonly serverName: string;
  readonly name: string;
  /** Unique over all servers, `[A-Za-z0-9_]`, at most 64 characters; only the toolbox turns it back. */
  readonly modelName: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** SHA-256 of the canonical definition, hex. */
  readonly pin: string;
  /** On the phone itself, not on a remote server. */
  readonly local: boolean;
  /** The read-only hint, believed: set only where the server is trusted or is the phone. */
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  /** Its results keep the conversation on the phone. */
  readonly private: boolean;
}

export interface Offer {
  /** Best first. */
  readonly tools: readonly Tool[];
  /** BM25 score of the best tool; 0 where nothing matched. */
  readonly best: number;
  /** Tools that are on but did not fit. */
  readonly omitted: number;
}

export interface OfferBudget {
  readonly maxTools: number;
  /** Tokens that the tools' descriptions may take together. */
  readonly maxTokens: number;
  /** Counts what one tool costs this model. */
  readonly cost: (tool: Tool) => number;
}

/** A call bound to a tool, its days resolved, its arguments valid. */
export interface BoundCall {
  readonly callId: string;
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly days: readonly DayReading[];
}

export type Binding =
  | { readonly ok: true; readonly call: BoundCall }
  /** `error` is a sentence that the model can act on. */
  | { readonly ok: false; readonly error: string };

export interface CallProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface Toolbox {
  /** Tools that fit a request, from the stored lists: no network. */
  offer(request: string, budget: OfferBudget): Promise<Offer>;
  /**
   * Turns what a model wrote into a call: the tool by its model name among `offered`, days in words
   * against the phone's clock, arguments against the schema.
   */
  bind(
    call: { id: string; name: string; args: Readonly<Record<string, unknown>> | null; raw: string },
    offered: readonly Tool[],
    now: Date,
  ): Binding;
  /** The tool of a stored call, if it still exists with that pin. */
  find(server: string, tool: string, pin: string): Promise<Tool | null>;
  /**
   * Calls it; never throws. `signal` aborts the call at the server as well (cancelled notification).
   * Only a read-only or idempotent call is tried again by itself.
   */
  call(
    call: BoundCall,
    signal: AbortSignal,
    onProgress?: (progress: CallProgress) => void,
  ): Promise<Outcome>;
}

/** Why a server could not be used; every kind has its own sentence. */
export interface HostError {
  readonly code:
    | 'bad-url'
    | 'offline'
    | 'unreachable'
    | 'cors'
    | 'auth'
    | 'forbidden'
    | 'not-mcp'
    | 'server'
    | 'rate'
    | 'protocol'
    | 'timeout'
    | 'internal'
    /** The name is unknown; only outside of browsers, which do not tell. */
    | 'dns'
    /** The certificate does not hold; only outside of browsers. */
    | 'tls'
    | 'local-network'
    | 'mixed-content'
    /** Signed in, but without a right that this needs. */
    | 'scope'
    | 'too-large'
    /** No revision of the protocol in common. */
    | 'era';
  readonly message: string;
  readonly advice: string;
  readonly detail?: string;
  /** Signing in may help: the server said where to. */
  readonly signIn?: boolean;
  /** How the last exchange went, for a report. */
  readonly seen?: Seen;
}

/** What was seen of an answer: what a report needs and nothing more. Secrets are struck. */
export interface Seen {
  /** The HTTP status; null where no answer came. */
  readonly status: number | null;
  /** Response headers that matter, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One line of a server's log, in memory only. Untrusted. */
export interface ServerLogEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** `debug` … `emergency`, as syslog has them. */
  readonly level: string;
  readonly logger?: string;
  /** At most 2,000 characters, with secrets struck out. */
  readonly text: string;
}

/** Which server asks. */
export interface AskingServer {
  readonly id: string;
  readonly name: string;
  /** Host and port; empty for a server in the page. */
  readonly host: string;
}

/** What a server wants of the person: values for a form, or a visit to a page. */
export type ElicitRequest =
  | { readonly mode: 'form'; readonly message: string; readonly schema: JsonSchema }
  | {
      readonly mode: 'url';
      readonly message: string;
      readonly url: string;
      readonly elicitationId: string;
    };

export type ElicitAnswer =
  | {
      readonly action: 'accept';
      readonly content?: Readonly<Record<string, string | number | boolean | string[]>>;
    }
  /** The person said no. */
  | { readonly action: 'decline' }
  /** The person closed the question without an answer. */
  | { readonly action: 'cancel' };

/** What a server wants of a model. */
export interface SampleRequest {
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: readonly ContentBlock[];
  }[];
  readonly systemPrompt?: string;
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
}

export type SampleAnswer =
  | {
      readonly ok: true;
      readonly text: string;
      readonly model: string;
      /** `endTurn`, `maxTokens` or `stopSequence`. */
      readonly stopReason: string;
    }
  /** `refused` is a sentence that the server may read. */
  | { readonly ok: false; readonly refused: string };

/** What a server may ask for while it works. Without it, none of it is announced to servers. */
export interface ServerAsks {
  elicit(server: AskingServer, request: ElicitRequest, signal: AbortSignal): Promise<ElicitAnswer>;
  sample(server: AskingServer, request: SampleRequest, signal: AbortSignal): Promise<SampleAnswer>;
}

export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: ContentBlock;
  }[];
}

/** One piece of a resource that was read. Untrusted. */
export interface ResourceContent {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  /** Base64. */
  readonly blob?: string;
}

/** What an argument belongs to that is being completed. */
export type CompletionRef =
  | { readonly type: 'prompt'; readonly name: string }
  | { readonly type: 'template'; readonly uriTemplate: string };

export interface Completion {
  readonly values: readonly string[];
  readonly hasMore: boolean;
}

export interface ServerTool extends ToolDefinition {
  readonly pin: string;
  readonly on: boolean;
}

export interface ServerView {
  readonly record: ServerRecord;
  /** True for the in-page server of the phone's tools. */
  readonly local: boolean;
  readonly status: 'idle' | 'connecting' | 'connected' | 'failed';
  readonly tools: readonly ServerTool[];
  /** When the list was fetched; null: there is none yet. */
  readonly listedAt: number | null;
  readonly stale: boolean;
}

export interface Host {
  /** Every server, the phone's own first. */
  list(): Promise<readonly ServerView[]>;
  /** Connects, lists the tools, stores the server. Nothing is stored where it fails. */
  add(input: {
    url: string;
    key?: string;
    keyHeader?: string;
    name?: string;
  }): Promise<
    | { readonly ok: true; readonly server: ServerRecord }
    | { readonly ok: false; readonly error: HostError }
  >;
  /** Renews the stored list; the stored one stays where it fails. */
  refresh(
    id: string,
  ): Promise<{ readonly ok: true } | { readonly ok: false; readonly error: HostError }>;
  update(
    id: string,
    change: Partial<Pick<ServerRecord, 'name' | 'enabled' | 'trustHints' | 'private'>>,
  ): Promise<void>;
  /** Removes it with its key and its list. */
  remove(id: string): Promise<void>;
  setTool(id: string, tool: string, on: boolean): Promise<void>;
  /** Called after every change of a server, its status or its list. */
  subscribe(listener: () => void): () => void;
  close(): Promise<void>;
}

/**
 * A server that lives in the page, such as the phone's own tools. Its definitions are data, so they
 * can be offered before anything of the protocol is loaded.
 */
export interface InPageServer {
  readonly id: string;
  readonly name: string;
  readonly tools: readonly ToolDefinition[];
  /** The client's end of a new connection to it. */
  open(): Transport;
}

/** What the toolbox needs of the host. */
export interface ToolCaller {
  /** Resolves when the lists of the servers in the page are stored. */
  ready(): Promise<void>;
  /** Renews stale lists behind whatever is going on; never throws, never waited for. */
  renewStale(): void;
  /** Calls a tool; never throws. Only a read-only or idempotent call is tried again by itself. */
  callTool(
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onProgress?: (progress: CallProgress) => void,
  ): Promise<Outcome>;
}
