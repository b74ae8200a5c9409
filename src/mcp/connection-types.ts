/** What a connection to a server is, as types and nothing else: importing them loads no SDK. */
import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import type {
  ContentBlock,
  ListKind,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  Seen,
  ServerRecord,
  ToolDefinition,
} from '../store/records.ts';
import type { Peer } from './errors.ts';
import type {
  CallProgress,
  Completion,
  CompletionRef,
  ElicitAnswer,
  ElicitRequest,
  HostError,
  PromptResult,
  ResourceContent,
  SampleAnswer,
  SampleRequest,
  ServerLogEntry,
  SkillDefinition,
  SkillFile,
} from './types.ts';

export type Era = NonNullable<ServerRecord['era']>['kind'];
export type TransportKind = NonNullable<ServerRecord['transport']>;

/** What one server may ask for; what is absent is not announced to it. */
export interface BoundAsks {
  elicit(request: ElicitRequest, signal: AbortSignal): Promise<ElicitAnswer>;
  sample?(request: SampleRequest, signal: AbortSignal): Promise<SampleAnswer>;
}

/** Time limits in milliseconds. */
export interface Limits {
  readonly connect: number;
  readonly list: number;
  /** Of a call; each progress report starts it again, up to the ceiling. */
  readonly call: number;
  readonly ceiling: number;
}

/** How streams that broke are opened again; each pause doubles the one before. */
export interface Patience {
  readonly firstMs: number;
  readonly longestMs: number;
  readonly times: number;
}

export interface ConnectOptions {
  readonly peer: Peer;
  readonly headers: Readonly<Record<string, string>>;
  /** Struck out of every text. */
  readonly secrets: readonly string[];
  readonly era: ServerRecord['era'];
  /** What the server was last reached over. */
  readonly transport?: TransportKind;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly online: () => boolean;
  /** Called when the server says that one of its lists changed; `resources` stands for templates too. */
  readonly onChanged: (kind: ListKind) => void;
  readonly onLog?: (entry: ServerLogEntry) => void;
  readonly asks?: BoundAsks;
  /** Gives the token of a sign-in, and renews it where it is refused. */
  readonly authProvider?: AuthProvider | OAuthClientProvider;
  /** Notes that the server wants more rights than the sign-in gave. */
  readonly onScopeWanted?: (scope: string) => Promise<void>;
  /** Where the defaults do not fit. */
  readonly limits?: Partial<Limits>;
  readonly patience?: Partial<Patience>;
}

export interface Listed {
  readonly tools: readonly ToolDefinition[];
  readonly prompts: readonly PromptDefinition[];
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly ResourceTemplateDefinition[];
  /** Milliseconds for which the server says its lists hold; null: it does not say. */
  readonly ttlMs: number | null;
  /** Who may share the lists; null: the server does not say. */
  readonly cacheScope: 'public' | 'private' | null;
  /** Lists without an end, of which only the first part was taken. */
  readonly cut: readonly ListKind[];
}

/** `sessionGone`: a new connection may do better. `eraGone`: in the era that is found out then. */
export type Fault = {
  readonly ok: false;
  readonly error: HostError;
  readonly sessionGone: boolean;
  readonly eraGone?: boolean;
};
export type ListEnd = { readonly ok: true; readonly list: Listed } | Fault;
export type Asked<T> = { readonly ok: true; readonly value: T } | Fault;

/** What a call needs to know of its tool. */
export type CallTarget = Pick<
  ToolDefinition,
  'name' | 'inputSchema' | 'outputSchema' | 'execution'
>;

/** What is told of a call while it runs. */
export interface CallEars {
  readonly progress?: (progress: CallProgress) => void;
  /** The server made a task of it: under this id its result can be had over a later connection. */
  readonly task?: (id: string) => void;
}

export type CallEnd =
  | {
      readonly kind: 'answer';
      readonly isError: boolean;
      readonly content: readonly ContentBlock[];
      readonly structured?: unknown;
      /** What is wrong with the structured part, as a sentence for the person and the model. */
      readonly note?: string;
    }
  /** The server answered that it will not: a JSON-RPC error. */
  | {
      readonly kind: 'refused';
      readonly code: number;
      readonly message: string;
      readonly seen?: Seen;
    }
  /** The server does not know the session any more, so the call did not run. */
  | { readonly kind: 'session-gone' }
  /** The server speaks another era by now. `ran`: whether it refused for that alone, and so ran nothing. */
  | { readonly kind: 'era-gone'; readonly error: HostError; readonly ran: 'no' | 'maybe' }
  /** It certainly did not run. */
  | { readonly kind: 'not-run'; readonly error: HostError }
  /** It may have run; its answer is lost. `sessionGone`: its task goes on, and a new one may tell. */
  | { readonly kind: 'lost'; readonly error: HostError; readonly sessionGone?: true }
  /** Its time is over; the error says whether an answer had begun. */
  | { readonly kind: 'timeout'; readonly error: HostError }
  | { readonly kind: 'aborted' };

/** What a server says that it can do. */
export interface Can {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  readonly subscribe: boolean;
  readonly completions: boolean;
  readonly logging: boolean;
}

export interface Connection {
  readonly era: Era;
  readonly transport: TransportKind;
  /** The name that the server gives itself, if it does. */
  readonly title: string | null;
  /** What the server says about its use. Untrusted. */
  readonly instructions: string | null;
  readonly can: Can;
  /** Everything that the server publishes. A list without an end is cut, and named in `cut`. */
  list(): Promise<ListEnd>;
  /** `signal` tells the server to stop, in the way of its revision. */
  call(
    tool: CallTarget,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    ears?: CallEars,
  ): Promise<CallEnd>;
  /** Waits for the result of a task that an earlier call became; an abort cancels the task. */
  resumeTask(
    tool: Pick<CallTarget, 'outputSchema'>,
    taskId: string,
    signal: AbortSignal,
    ears?: CallEars,
  ): Promise<CallEnd>;
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Asked<PromptResult>>;
  readResource(uri: string, signal: AbortSignal): Promise<Asked<readonly ResourceContent[]>>;
  /** Lists the server's skills, and reads none of them. */
  skills(signal: AbortSignal): Promise<Asked<readonly SkillDefinition[]>>;
  /** A file of a skill, its own where `file` is left out; what is not as listed is an error. */
  readSkill(uri: string, file: string | undefined, signal: AbortSignal): Promise<Asked<SkillFile>>;
  /** `known`: arguments that are filled in already. */
  complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    known: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Asked<Completion>>;
  /** Calls `onUpdate` whenever the resource changes, until the function that it gives is called. */
  watch(uri: string, onUpdate: () => void): Promise<Asked<() => void>>;
  /** Whether the server still answers; asked before a write over a connection that was idle. */
  knock(): Promise<boolean>;
  /** Milliseconds since the epoch at which the server was last heard of. */
  heardAt(): number;
  close(): Promise<void>;
}

export type Opened =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly error: HostError };
