/** What the MCP host gives the rest of the app: tools to offer, one way to call them, servers. */
import type { Transport } from '@modelcontextprotocol/client';
import type { JsonSchema } from '../brain/brain.ts';
import type {
  CallPart,
  ContentBlock,
  DayReading,
  ListKind,
  Outcome,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  Seen,
  ServerRecord,
  ToolAnnotations,
  ToolDefinition,
  ToolListRecord,
  ToolRule,
  UndoRule,
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
  readonly outputSchema?: JsonSchema;
  readonly execution?: NonNullable<ToolDefinition['execution']>;
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
  /**
   * How well the best of the offered tools fits, whatever other tools there are (match.ts); left out
   * where the request is too short to tell.
   */
  readonly match?: number;
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

/** What is told of a call while it runs. */
export interface CallWatch {
  readonly progress?: (progress: CallProgress) => void;
  /** The server made a task of it: under this id its result can be had after a restart. */
  readonly task?: (id: string) => void;
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
  call(call: BoundCall, signal: AbortSignal, watch?: CallWatch): Promise<Outcome>;
  /** Goes on waiting for a call that its server made a task of; nothing is sent a second time. */
  resume(call: BoundCall, task: string, signal: AbortSignal, watch?: CallWatch): Promise<Outcome>;
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
  /** The rights that the server wants for this (RFC 6750). Untrusted. */
  readonly scope?: string;
  /** How the last exchange went, for a report. */
  readonly seen?: Seen;
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

/** A skill that a server offers (SEP-2640): instructions in files. Untrusted. */
export interface SkillDefinition {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  /** Addresses of its files; empty where it makes them when asked. */
  readonly files: readonly string[];
}

/** A file of a skill, checked against what the list says of it. Untrusted all the same. */
export interface SkillFile {
  readonly uri: string;
  readonly mimeType?: string;
  readonly bytes: Uint8Array;
  /** Where the server sent text. */
  readonly text?: string;
}

/** What an argument belongs to that is being completed. */
export type CompletionRef =
  | { readonly type: 'prompt'; readonly name: string }
  | { readonly type: 'template'; readonly uriTemplate: string };

export interface Completion {
  readonly values: readonly string[];
  readonly hasMore: boolean;
}

/** The call that would undo another one: a tool that is on, and its arguments, which fit its schema. */
export interface UndoOffer {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface ServerTool extends ToolDefinition {
  readonly pin: string;
  readonly on: boolean;
  /** The definition that the person knows, where this one is another: until then it is held back. */
  readonly held?: ToolDefinition & { readonly pin: string };
}

/** How a person is known to a server. */
export type AuthState =
  | 'none'
  /** A key from the vault goes with every request. */
  | 'key'
  | 'signed-in'
  /** They were signed in, and have to do so again; the stored tools stay listed. */
  | 'expired'
  /** The server let nobody in without it. */
  | 'wanted';

export interface ServerView {
  readonly record: ServerRecord;
  /** True for the in-page server of the phone's tools. */
  readonly local: boolean;
  readonly status: 'idle' | 'connecting' | 'connected' | 'failed';
  readonly tools: readonly ServerTool[];
  readonly prompts: readonly PromptDefinition[];
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly ResourceTemplateDefinition[];
  /** Lists that had no end and were cut. */
  readonly cut: readonly ListKind[];
  /** Names of tools that are off because they are new and nobody has seen them. */
  readonly appeared: readonly string[];
  /** Tools that were on and that the server has no more. */
  readonly missing: NonNullable<ToolListRecord['missing']>;
  /** What the person said of all its tools at once; null: they choose tool by tool. */
  readonly rule: ToolRule | null;
  /** How the person wants calls of its tools undone; left out where they said nothing. */
  readonly undo?: ToolListRecord['undo'];
  /** The newest 200 lines that the server logged since the app was opened, oldest first. */
  readonly log: readonly ServerLogEntry[];
  readonly era: 'modern' | 'legacy' | null;
  readonly auth: AuthState;
  /** When the list was fetched; null: there is none yet. */
  readonly listedAt: number | null;
  readonly stale: boolean;
}

/** Where a server is, and what goes with every request to it. */
export interface ServerInput {
  readonly url: string;
  readonly key?: string;
  /** Name of the header that carries the key; `Authorization` where it is left out. */
  readonly keyHeader?: string;
  readonly name?: string;
  /** The person's own proxy, for servers that keep web apps out. */
  readonly proxy?: string;
}

/** A server as it was found, before anything of it is stored: what the consent sheet shows. */
export interface ServerPreview {
  readonly url: string;
  readonly host: string;
  /** The name that it would get. */
  readonly name: string;
  /** Id of the stored server of this address; null: it is new. */
  readonly stored: string | null;
  readonly era: 'modern' | 'legacy';
  /** What the server says about its use. Untrusted. */
  readonly instructions: string | null;
  readonly tools: readonly (ToolDefinition & { readonly pin: string })[];
  readonly prompts: readonly PromptDefinition[];
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly ResourceTemplateDefinition[];
  readonly cut: readonly ListKind[];
}

export type Failed = { readonly ok: false; readonly error: HostError };
export type Done = { readonly ok: true } | Failed;
export type Answered<T> = { readonly ok: true; readonly value: T } | Failed;

export interface Host {
  /** Every server, the phone's own first. */
  list(): Promise<readonly ServerView[]>;
  /** Connects and lists, and stores nothing. An abort ends as an error that nobody needs to see. */
  look(
    input: ServerInput,
    signal?: AbortSignal,
  ): Promise<{ readonly ok: true; readonly preview: ServerPreview } | Failed>;
  /**
   * Connects, lists the tools, stores the server; nothing is stored where it fails. Of a preview that
   * `look` gave it takes what was listed, and makes no request. With `auth`, it stores the server
   * without a request: `signIn` then signs in and lists. An abort takes back what was stored by then,
   * and ends as an error that nobody needs to see.
   */
  add(
    input: ServerInput & { readonly preview?: ServerPreview; readonly auth?: 'oauth' },
    signal?: AbortSignal,
  ): Promise<{ readonly ok: true; readonly server: ServerRecord } | Failed>;
  /** Renews the stored list; the stored one stays where it fails. */
  refresh(id: string): Promise<Done>;
  /** A change of where requests go or how long they may take holds from the next connection on. */
  update(
    id: string,
    change: Partial<
      Pick<
        ServerRecord,
        'name' | 'enabled' | 'trustHints' | 'private' | 'limits' | 'sampling' | 'proxy'
      >
    >,
  ): Promise<void>;
  /** Removes it with its key, its tokens and its lists. What it did stays in the conversations. */
  remove(id: string): Promise<void>;
  /** Turns a tool on or off; a missing one that is turned off is forgotten. */
  setTool(id: string, tool: string, on: boolean): Promise<void>;
  /** Turns all that is listed on or off and takes a rule away; tools to come stay off. */
  setAll(id: string, on: boolean): Promise<void>;
  /** Turns on what the rule covers, also of what appears later, and all else off. */
  setRule(id: string, rule: ToolRule | null): Promise<void>;
  /** The person has seen what appeared; it stays off. */
  markSeen(id: string): Promise<void>;
  /** The person has seen how a tool changed, and takes the definition of this pin. */
  acceptTool(id: string, tool: string, pin: string): Promise<void>;
  /** Sets how calls of a tool are undone, whatever the server says of it; null takes that back. */
  setUndo(id: string, tool: string, rule: UndoRule | null): Promise<void>;
  /** What would undo a call, where that is known and can be done now. It is only told, not done. */
  undoOf(call: CallPart): Promise<UndoOffer | null>;
  readResource(
    id: string,
    uri: string,
    signal: AbortSignal,
  ): Promise<Answered<readonly ResourceContent[]>>;
  /** Lists the skills of a server, and reads none of them. */
  listSkills(id: string, signal: AbortSignal): Promise<Answered<readonly SkillDefinition[]>>;
  /** A file of a skill, its own where `file` is left out; only what is as listed is given. */
  readSkill(
    id: string,
    uri: string,
    file: string | undefined,
    signal: AbortSignal,
  ): Promise<Answered<SkillFile>>;
  getPrompt(
    id: string,
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answered<PromptResult>>;
  complete(
    id: string,
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    known: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answered<Completion>>;
  /**
   * Calls `listener` when the resource changes, until what it resolves with is called. The watch is
   * taken up again with every new connection. Where the server offers none, nothing is heard.
   */
  watchResource(id: string, uri: string, listener: () => void): Promise<() => void>;
  /** The tools of a server that are on and that it says only read: what to check a doubtful call with. */
  readersOf(id: string): Promise<readonly Tool[]>;
  /** Signs in and renews the list. */
  signIn(id: string, signal: AbortSignal): Promise<Done>;
  /**
   * Gives the tokens back and forgets them; the tools stay listed. Not `revoked`: they are gone here,
   * and nobody at the sign-in service could be told, so that copies of them may go on being valid.
   */
  signOut(id: string): Promise<{ readonly revoked: boolean }>;
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

/** What is stored of all servers. */
export interface Stock {
  readonly servers: readonly ServerRecord[];
  /** By the server's id. */
  readonly lists: ReadonlyMap<string, ToolListRecord>;
}

/** What the toolbox needs of the host. */
export interface ToolCaller {
  /** Every server and its list as they are stored, those in the page included. */
  stock(): Promise<Stock>;
  /** Renews stale lists behind whatever is going on; never throws, never waited for. */
  renewStale(): void;
  /** Calls a tool; never throws. Only a read-only or idempotent call is tried again by itself. */
  callTool(
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    watch?: CallWatch,
  ): Promise<Outcome>;
  /** Waits for the result of a task that a call became; never throws. */
  resumeTask(tool: Tool, task: string, signal: AbortSignal, watch?: CallWatch): Promise<Outcome>;
}
