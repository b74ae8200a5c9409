/**
 * What is kept in IndexedDB, as types and nothing else. A turn is its parts: every event is a part
 * of a message, stored in order, and the screen and the model's history are both drawn from them.
 */

export type Mode = 'phone' | 'auto' | 'cloud';

export interface Conversation {
  readonly id: string;
  readonly title: string;
  /** Milliseconds since the epoch, like every time here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly mode: Mode;
  /** What is typed and not sent. */
  readonly draft: string;
  /** What hangs on the draft. */
  readonly attached?: readonly AttachmentPart[];
  /** What others wrote of the draft; kept until it is sent, whatever becomes of the words. */
  readonly foreign?: readonly ForeignText[];
  /** Messages typed while a turn ran, in order. */
  readonly queue: readonly Queued[];
  /** True once it holds a result of a private server: Auto keeps it on the phone. */
  readonly private: boolean;
  readonly pinned: boolean;
  /** What stands for its oldest turns in the model's view. */
  readonly summary?: Summary;
  /** Where it came from, if it was not begun here, e.g. `an imported file`. */
  readonly source?: string;
}

/** A message that waits: its words, or its words with what hangs on them and whose they are. */
export type Queued =
  | string
  | {
      readonly text: string;
      readonly attached: readonly AttachmentPart[];
      readonly foreign?: readonly ForeignPiece[];
    };

/** Text of somebody else that was put where the person writes: a shared page, a server's prompt. */
export interface ForeignText {
  /** Who, for a sentence, e.g. `a shared page` or the name of a server. */
  readonly source: string;
  readonly text: string;
}

/** A piece of a text of the person's that is somebody else's, from `start` up to `end` (UTF-16 units). */
export interface ForeignPiece {
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

/** The person still sees what it stands for. */
export interface Summary {
  /** Turns that it stands for, from the first on. */
  readonly turns: number;
  readonly text: string;
  /** Label of the model that wrote it. */
  readonly by: string;
  readonly at: number;
  /** The exact text that left the phone for it, and the host it went to; only of a cloud's. */
  readonly sent?: Sent;
}

/** Text that left the phone, and the host it went to. */
export interface Sent {
  readonly to: string;
  readonly text: string;
}

export type TurnState =
  /** A tab is, or was, at work on it. Without a live owner: interrupted. */
  | 'running'
  /** Ended with an answer. */
  | 'done'
  /** The person stopped it. */
  | 'stopped'
  /** A limit or an error ended it; its last notice says which. */
  | 'paused';

export interface Message {
  readonly id: string;
  readonly conversation: string;
  /** Place in the conversation, from 0, without gaps. */
  readonly seq: number;
  readonly role: 'user' | 'assistant';
  readonly createdAt: number;
  /** Of an assistant message; a user's message is always `done`. */
  readonly state: TurnState;
  /** Where it came from, if it was not written here: then none of it is the person's own. */
  readonly source?: string;
}

export interface TextPart {
  readonly kind: 'text';
  readonly step: number;
  readonly text: string;
  /** Of the person's words: what of them others wrote, in order. */
  readonly foreign?: readonly ForeignPiece[];
}
export interface ThinkingPart {
  readonly kind: 'thinking';
  readonly step: number;
  readonly text: string;
}

/** Opens a step: which brain takes it, and which rule decided. */
export interface RoutePart {
  readonly kind: 'route';
  readonly step: number;
  readonly place: 'phone' | 'cloud';
  readonly brain: string;
  readonly label: string;
  /** Short name of the deciding rule, e.g. `mode`, `offline`, `window`, `bad-call`. */
  readonly rule: string;
  /** The reason, as a sentence for the person. */
  readonly reason: string;
  /** Model names of the tools that this step was offered. */
  readonly offered: readonly string[];
  readonly context?: ContextUse;
  /** Who gave the pictures that the model was shown, e.g. servers; the person's own are not counted. */
  readonly pictures?: readonly string[];
}

/** What a step's prompt was made of, in tokens as its brain counts them. */
export interface ContextUse {
  readonly window: number;
  /** Kept free for the answer. */
  readonly answer: number;
  readonly system: number;
  readonly tools: number;
  /** Earlier turns, and the summary of those before them. */
  readonly earlier: number;
  /** This turn, without the tools' results. */
  readonly words: number;
  /** Results of tools in this turn. */
  readonly results: number;
  /** What hangs on the person's words of this turn. */
  readonly attached?: number;
  /** The oldest turns, as many as the model was not shown themselves; a summary may stand for some. */
  readonly dropped: number;
}

/** Closes a step: how it ended and what it cost. A step without one was cut off. */
export interface StepPart {
  readonly kind: 'step';
  readonly step: number;
  readonly end: 'stop' | 'calls' | 'length' | 'aborted' | 'error';
  readonly usage: {
    readonly promptTokens?: number;
    readonly cachedTokens?: number;
    readonly outputTokens?: number;
    readonly firstTokenMs?: number;
    readonly tokensPerSecond?: number;
    readonly cost?: number;
  };
  /** Why the model called a tool, or did not, as a sentence; where that was measured. */
  readonly decision?: string;
  /** The exact text that left the phone, and the host it went to; only of a cloud's step. */
  readonly sent?: Sent;
  /** Of a step that failed: what the notice said, for the report. */
  readonly error?: string;
}

/** What a day in words was taken for. */
export interface DayReading {
  /** Name of the argument. */
  readonly argument: string;
  /** As the model passed it, e.g. "next Friday". */
  readonly said: string;
  /** As the tool gets it, e.g. "2026-12-04". */
  readonly value: string;
  /** For the person, e.g. "Friday, 4 December". */
  readonly shown: string;
}

export type CallState =
  | 'proposed'
  | 'asked'
  | 'allowed'
  /** The person said no. */
  | 'denied'
  /** A rule said no. */
  | 'refused'
  /** It has been sent; without an outcome nobody knows whether it took effect. */
  | 'running'
  | 'done';

export interface CallPart {
  readonly kind: 'call';
  readonly step: number;
  readonly callId: string;
  readonly server: string;
  readonly serverName: string;
  readonly tool: string;
  readonly title: string;
  readonly modelName: string;
  /** Fingerprint of the definition under which it was proposed. */
  readonly pin: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly days: readonly DayReading[];
  /** What was put right in how the model wrote it, e.g. `a trailing comma`. */
  readonly mended?: string;
  /** True where a trusted hint says that the call changes nothing. */
  readonly readOnly: boolean;
  readonly state: CallState;
  /** Why it was asked or refused, as a sentence. */
  readonly why?: string;
  /** Where words of its arguments were found when it was judged. */
  readonly origins?: readonly ArgumentOrigin[];
  /** It pays, deletes, sends or the like: never allowed always without its arguments. */
  readonly consequential?: boolean;
  /** Id of the earlier call that the person wanted undone by this one. */
  readonly undoes?: string;
  /** The person's reason for a no. */
  readonly reason?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** While it runs: the task that its server made of it, under which its result can be had. */
  readonly task?: string;
  readonly outcome?: Outcome;
  /** What the server asked while it ran, in order. */
  readonly asked?: readonly Asked[];
}

/** A question of a server, and what became of it; never what the person typed. */
export interface Asked {
  /** form: values · url: a visit to a page · model: an answer of a model. */
  readonly kind: 'form' | 'url' | 'model';
  /** The server's words, cut short. */
  readonly message: string;
  /** ended: the call ended, or its time was up, before there was an answer. */
  readonly answer: 'sent' | 'declined' | 'cancelled' | 'ended';
  readonly at: number;
  /** How long it waited, in milliseconds. */
  readonly ms: number;
  /** Of the model that answered. */
  readonly label?: string;
  readonly place?: 'phone' | 'cloud';
  readonly promptTokens?: number;
  readonly outputTokens?: number;
  readonly cost?: number;
  readonly sent?: Sent;
}

/** Words of one argument, and whose they are. */
export interface ArgumentOrigin {
  /** The argument; behind it, for values inside of it, their names: `to`, `to/0/address`. */
  readonly path: string;
  /** The words, from `start` up to `end` (UTF-16 units) of the value's text. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** `person`: said by the person · `untrusted`: found only in what somebody else wrote. */
  readonly from: 'person' | 'untrusted';
  /** Of untrusted words: who wrote them, e.g. the name of a server. */
  readonly source?: string;
}

/** A call that could not be bound to an offered tool or failed its schema; it never ran. */
export interface BadCallPart {
  readonly kind: 'badcall';
  readonly step: number;
  readonly callId: string;
  readonly name: string;
  readonly raw: string;
  /** What is wrong, as a sentence that the model can act on. */
  readonly error: string;
}

export type NoticeAction = 'continue' | 'retry' | 'cloud' | 'models' | 'keys' | 'servers';

/** A sentence to the person: a limit, an error, a hand-over. */
export interface NoticePart {
  readonly kind: 'notice';
  readonly step: number;
  /** E.g. `limit-steps`, `handover`, `brain-auth`. */
  readonly code: string;
  readonly text: string;
  readonly advice?: string;
  readonly action?: NoticeAction;
  readonly detail?: string;
}

/** Stands for a server's id where the person attached a picture of their own from this phone. */
export type PictureOwner = 'you';

/** What hangs on the person's words: something that a server gave, whole, as it was then. Untrusted. */
export interface AttachmentPart {
  readonly kind: 'attachment';
  readonly step: number;
  /** Its id, or a `PictureOwner`. */
  readonly server: string;
  readonly serverName: string;
  /** Its address at the server; empty for what came with a prompt and has none. */
  readonly uri: string;
  readonly name: string;
  readonly content: readonly ContentBlock[];
  /** When it was read. */
  readonly at: number;
  /** Results of its server keep the conversation on the phone. */
  readonly private?: boolean;
}

export type Part =
  | TextPart
  | ThinkingPart
  | RoutePart
  | StepPart
  | CallPart
  | BadCallPart
  | NoticePart
  | AttachmentPart;

/** One piece of a tool's result, as MCP's ContentBlock. Untrusted. */
export type ContentBlock = Readonly<Record<string, unknown>> & { readonly type: string };

/** What was seen of an answer: what a report needs and nothing more. Secrets are struck. */
export interface Seen {
  /** The HTTP status; null where no answer came. */
  readonly status: number | null;
  /** Response headers that matter, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of the error of JSON-RPC in the answer. */
  readonly code?: number;
}

/** For the report of a call that failed: what its own exchange looked like, and what was thrown. */
export interface OutcomeDetail {
  readonly seen?: Seen;
  /** Cut short, secrets struck. */
  readonly text?: string;
}

/** How a call ended. Exactly one of these; `unknown` means that it may have taken effect. */
export type Outcome =
  | {
      readonly kind: 'result';
      readonly content: readonly ContentBlock[];
      readonly structured?: unknown;
      /** What is wrong with it, e.g. that it is not of the shape that its tool promised. */
      readonly note?: string;
    }
  | {
      readonly kind: 'tool_error';
      readonly content: readonly ContentBlock[];
      readonly detail?: OutcomeDetail;
    }
  | {
      readonly kind: 'unavailable';
      readonly code: string;
      readonly message: string;
      readonly advice: string;
      readonly detail?: OutcomeDetail;
    }
  | {
      readonly kind: 'timeout';
      readonly message: string;
      readonly advice: string;
      readonly detail?: OutcomeDetail;
    }
  | {
      readonly kind: 'unknown';
      readonly message: string;
      readonly advice: string;
      readonly detail?: OutcomeDetail;
    };

/** MCP tool annotations: hints from the server, not trusted until the person trusts the server. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** How a call of a tool is undone: by a call of a tool of the same server. */
export interface UndoRule {
  readonly tool: string;
  /**
   * Texts `$args.<path>` and `$result.<path>` stand for what the first call was given and what it gave;
   * everything else is meant as it is.
   */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A tool exactly as its server published it. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
  /** Whether a call may, or must, be made as a task (2025-11-25). No part of the pin. */
  readonly execution?: { readonly taskSupport?: 'forbidden' | 'optional' | 'required' };
  /** What its server says in `_meta` under `deft/undo`. */
  readonly undo?: UndoRule;
}

/** A prompt as its server published it: a message with gaps that the person fills in. */
export interface PromptDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly {
    readonly name: string;
    readonly title?: string;
    readonly description?: string;
    readonly required?: boolean;
  }[];
}

/** Something that a server lets one read, as it published it. */
export interface ResourceDefinition {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
}

/** Resources whose addresses have gaps (RFC 6570), as their server published them. */
export interface ResourceTemplateDefinition {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** What a server publishes as lists. */
export type ListKind = 'tools' | 'prompts' | 'resources' | 'templates';

/** Which tools of a server are on, said once for all of them, later ones as well. */
export interface ToolRule {
  /** Those that the server marks as read-only. */
  readonly readOnly?: boolean;
  /** Those whose name fits, with `*` for anything. */
  readonly pattern?: string;
}

export interface ServerRecord {
  readonly id: string;
  /** Shown to the person; the server's own title until renamed. */
  readonly name: string;
  /** It has not told its title yet, and its host stands for that. */
  readonly unnamed?: boolean;
  /** The endpoint, or `phone:` for the in-page server. */
  readonly url: string;
  readonly addedAt: number;
  /** Off: its tools are not offered and no connection is made. */
  readonly enabled: boolean;
  /** The server's read-only and idempotent hints are believed. */
  readonly trustHints: boolean;
  /** Results keep the conversation on the phone. */
  readonly private: boolean;
  /** Name of the header that carries the key in the vault, e.g. `Authorization`. */
  readonly keyHeader?: string;
  /** Which protocol era answered, and when that was found out. */
  readonly era?: { readonly kind: 'modern' | 'legacy'; readonly at: number };
  readonly lastError?: {
    readonly at: number;
    readonly code: string;
    readonly message: string;
    readonly advice: string;
  };
  /** Time limits in milliseconds, where the person set others. */
  readonly limits?: { readonly connectMs?: number; readonly callMs?: number };
  /** What it was last reached over; `sse` is HTTP+SSE of 2024-11-05. */
  readonly transport?: 'http' | 'sse';
  /** It may ask the model. */
  readonly sampling?: boolean;
  /** The person's own proxy, which requests to it go through. */
  readonly proxy?: string;
  /** The person signs in to it, instead of giving a key. */
  readonly auth?: 'oauth';
}

export interface ToolListRecord {
  readonly server: string;
  readonly fetchedAt: number;
  /** Time to live in milliseconds. */
  readonly ttlMs: number;
  readonly tools: readonly (ToolDefinition & { readonly pin: string })[];
  /** Names that the person turned off. */
  readonly off: readonly string[];
  /**
   * Definitions that the person knows, of tools that have changed or gone since: what is listed now
   * under these names is neither offered nor called until the person has seen the difference.
   */
  readonly held?: readonly (ToolDefinition & { readonly pin: string })[];
  readonly prompts?: readonly PromptDefinition[];
  readonly resources?: readonly ResourceDefinition[];
  readonly templates?: readonly ResourceTemplateDefinition[];
  /** Who may share what was listed; absent: the server does not say. */
  readonly cacheScope?: 'public' | 'private';
  /** Lists without an end, of which only the first part was taken. */
  readonly cut?: readonly ListKind[];
  /** Names of the tools that the person has seen; later ones are off until turned on. */
  readonly known?: readonly string[];
  readonly rule?: ToolRule;
  /** How the person wants calls of a tool undone, whatever the server says. */
  readonly undo?: readonly (UndoRule & { readonly of: string })[];
  /** Tools that were on and that the server has no more. */
  readonly missing?: readonly {
    readonly name: string;
    readonly title?: string;
    readonly at: number;
  }[];
}

export interface Grant {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  /** It holds for one definition. */
  readonly pin: string;
  /** Absent: always, in every conversation. */
  readonly conversation?: string;
  readonly verdict: 'allow' | 'deny';
  readonly createdAt: number;
  /** It holds only for calls with these arguments. */
  readonly args?: PinnedArguments;
  /** A consequential tool that may run with any arguments: the person was warned and wants it so. */
  readonly warned?: boolean;
}

export interface PinnedArguments {
  /** Every argument that the call may have, with its value. */
  readonly fixed: Readonly<Record<string, unknown>>;
  /** Names of arguments that may have any value, or be absent. */
  readonly free: readonly string[];
}

/** A person's answer to one question; written once, by call id. */
export interface Decision {
  readonly callId: string;
  readonly conversation: string;
  readonly allow: boolean;
  readonly scope: 'once' | 'conversation' | 'always';
  readonly reason?: string;
  readonly at: number;
}

/** One line of the action log: what became of a call. A call has one when it is sent, and one when it ended. */
export interface ActionEntry {
  /** Place in the log, from 0, without gaps. */
  readonly seq: number;
  readonly at: number;
  readonly event: 'sent' | 'ended';
  readonly callId: string;
  readonly conversation: string;
  readonly server: string;
  readonly serverName: string;
  readonly tool: string;
  readonly title: string;
  /** Long texts are cut, and what looks like a secret is struck. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Who let it run or kept it from running, and why. */
  readonly decision: {
    readonly by: 'person' | 'rule';
    readonly allowed: boolean;
    /** Of a person's: how far it reaches. */
    readonly scope?: string;
    /** The rule's sentence, or the person's reason for a no. */
    readonly why?: string;
  };
  /** Label of the model that asked for it; empty where that is not known. */
  readonly brain: string;
  /** How it ended: `denied`, `refused`, or the kind of its outcome. */
  readonly outcome?: string;
  /** First words of the outcome. */
  readonly words?: string;
  /** Milliseconds between sent and ended. */
  readonly ms?: number;
  /** Hash of the line before; empty in the first one. */
  readonly prev: string;
  /** SHA-256 of this line without its hash, as canonical JSON (RFC 8785), hex. */
  readonly hash: string;
}

export interface Reminder {
  readonly id: string;
  readonly text: string;
  /** When it is due. */
  readonly at: number;
  readonly createdAt: number;
  readonly state: 'waiting' | 'shown' | 'dismissed';
}

export type CloudKind = 'openai' | 'anthropic' | 'gemini';

/** A way to a cloud model. The key is in the vault under `cloud:<id>`. */
export interface CloudAccount {
  readonly id: string;
  readonly kind: CloudKind;
  /** Which preset made it, e.g. `openrouter`. */
  readonly preset: string;
  readonly label: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly contextTokens: number;
  /** Whether its model can see pictures, where the person said so. */
  readonly images?: boolean;
  /** What its model costs, where the person said so; providers that tell it themselves are believed. */
  readonly price?: TokenPrice;
}

/** US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
}

/** A model on this phone: what is known of it beyond the catalogue. */
export interface ModelRecord {
  readonly id: string;
  readonly state: 'downloading' | 'paused' | 'ready' | 'failed';
  readonly bytes: number;
  readonly updatedAt: number;
  /** What went wrong, or why it is paused, in a sentence for the person. */
  readonly error?: string;
  /** What to do about it. */
  readonly advice?: string;
  /** What kind of fault it was. */
  readonly fault?: string;
}

/** One answer of a model on this phone, as it was measured. */
export interface Measurement {
  readonly at: number;
  /** Tokens of the prompt that were computed, not taken from the cache. */
  readonly promptTokens?: number;
  /** Of those, how many a second. */
  readonly prefillRate?: number;
  readonly firstTokenMs?: number;
  readonly outputTokens?: number;
  /** Tokens a second while it wrote. */
  readonly decodeRate?: number;
  /** Bytes of memory that the engine held at its end, where it told. */
  readonly memory?: number;
}

/** How a model does on this phone, kept over time. */
export interface FigureRecord {
  /** Made of both that follow. */
  readonly id: string;
  readonly model: string;
  /** What the browser tells of the phone, e.g. "qualcomm adreno-7xx, 8 cores, 8 GB". */
  readonly device: string;
  /** The latest ones, oldest first. */
  readonly measurements: readonly Measurement[];
  /** Of the last benchmark: how many of its tool tasks it did right. */
  readonly benchmark?: { readonly at: number; readonly right: number; readonly of: number };
}

/** How a model chooses its words, where the person wants it otherwise than its row says. */
export interface SamplingSetting {
  /** 0: always the likeliest word. */
  readonly temperature: number;
  readonly topP?: number;
  readonly topK?: number;
}

export interface Settings {
  readonly theme: 'system' | 'light' | 'dark';
  /** The mode of a new conversation. */
  readonly mode: Mode;
  /** The model that Phone uses, by catalogue id. */
  readonly phoneModel: string | null;
  /** The account that Cloud uses. */
  readonly cloudAccount: string | null;
  readonly firstRunDone: boolean;
  /** Whether storage was made persistent; null: not asked yet. */
  readonly persisted: boolean | null;
  /** The person closed the install prompt. */
  readonly installDismissed: boolean;
  readonly limits: TurnLimits;
  /** What cloud models have cost on one day (of the phone's calendar, as YYYY-MM-DD), in US dollars. */
  readonly spent?: { readonly day: string; readonly cost: number };
  /** Models that the person added by their address, as rows of the catalogue. */
  readonly ownModels?: readonly Readonly<Record<string, unknown>>[];
  /** Sampling by model id. */
  readonly sampling?: Readonly<Record<string, SamplingSetting>>;
  /** Ids of the models that can think before they answer, and are not to. */
  readonly unthinking?: readonly string[];
  /** What became of loading models on this phone; the newest of each model, device and window. */
  readonly trials?: readonly ModelTrial[];
  /** What a model on this phone is at, where a crash would be its doing. */
  readonly underWay?: ModelAttempt | null;
  /** Milliseconds without use after which the model in memory is let go; default: five minutes. */
  readonly idleMs?: number;
  /**
   * Milliseconds out of sight after which the app lock closes, where there is one; default: five
   * minutes; null: only when the app is closed.
   */
  readonly lockAfterMs?: number | null;
}

/** A model that is being loaded, or answers for the first time since. */
export interface ModelAttempt {
  readonly model: string;
  readonly version: string;
  readonly device: string;
  readonly contextTokens: number;
  /** It is loaded, and answers. */
  readonly answering: boolean;
  /** Tells this attempt from every other. */
  readonly mark: string;
}

/** What became of a model on one device: of a failure it is known what safer choice comes next. */
export interface ModelTrial {
  /** Catalogue id. */
  readonly model: string;
  /** Fingerprint of its files: another version is another try. */
  readonly version: string;
  /** What the browser tells of the graphics chip, or `cpu`. */
  readonly device: string;
  /** Window that it was loaded with. */
  readonly contextTokens: number;
  readonly at: number;
  /**
   * crashed: the page died of it · gpu: the chip calculated nonsense or was lost · memory: none
   * left · stalled: no progress in time. Absent: it worked.
   */
  readonly failed?: 'crashed' | 'gpu' | 'memory' | 'stalled';
  /** A crash came while it answered for the first time, not while it was loaded. */
  readonly answering?: boolean;
  /** The person has not yet chosen what to do about the failure. */
  readonly open?: boolean;
  /** When it last lost its device in the midst of an answer. */
  readonly lostAt?: number;
}

export interface TurnLimits {
  readonly steps: number;
  readonly calls: number;
  /** Equal calls (same tool, same arguments) in one turn. */
  readonly equalCalls: number;
  /** Without the time that a person is asked. */
  readonly ms: number;
  readonly tokens: number;
  /** Calls of one and the same tool in one turn. */
  readonly toolCalls?: number;
  /** What cloud models may cost in one day, in US dollars, as far as they say. */
  readonly dayCost?: number;
}
