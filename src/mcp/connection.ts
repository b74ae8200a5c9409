/**
 * One connection to one server, on the MCP SDK. This file and what it imports are loaded with the
 * first connection, because the SDK is large.
 *
 * Promise: nothing here throws; every end of a call says whether the call may have run.
 */
import './no-eval.ts';
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  isJSONRPCRequest,
  type ListToolsResult,
  type Transport,
} from '@modelcontextprotocol/client';
import type { ContentBlock, ServerRecord, ToolDefinition } from '../store/records.ts';
import { redact } from '../store/redact.ts';
import { internal, type Peer } from './errors.ts';
import { explain, late, LOST, MAX_MEGABYTES } from './explain.ts';
import { paramHeaders } from './param-headers.ts';
import type { CallProgress, HostError } from './types.ts';
import { createWire, type Wire } from './wire.ts';

const CLIENT = { name: 'deft', title: 'Deft', version: '0.1.0' };

export const CONNECT_MS = 10_000;
export const LIST_MS = 15_000;
/** A call's time limit; each progress report starts it again, up to the ceiling. */
export const CALL_MS = 60_000;
export const CALL_CEILING_MS = 600_000;
/** Tools and pages that are taken of one server; a list without end is a fault. */
const MAX_TOOLS = 2_000;
const MAX_PAGES = 50;
/** A definition that nests deeper is no definition, and would overflow whoever walks it. */
const MAX_DEPTH = 100;
/** How long a found protocol era is believed without asking again. */
const ERA_DAYS = 7;

export type Era = NonNullable<ServerRecord['era']>['kind'];

export interface ConnectOptions {
  readonly peer: Peer;
  readonly headers: Readonly<Record<string, string>>;
  /** Struck out of every text. */
  readonly secrets: readonly string[];
  readonly era: ServerRecord['era'];
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  readonly online: () => boolean;
  /** Called when the server says that its tools changed. */
  readonly onToolsChanged: () => void;
  /** Time limits in milliseconds, where the defaults do not fit. */
  readonly limits?: Partial<Limits>;
}

export interface Limits {
  readonly connect: number;
  readonly list: number;
  readonly call: number;
  readonly ceiling: number;
}

export interface Listed {
  readonly tools: readonly ToolDefinition[];
  /** Milliseconds for which the server says the list holds; null: it does not say. */
  readonly ttlMs: number | null;
}

export type ListEnd =
  | { readonly ok: true; readonly list: Listed }
  /** `sessionGone`: a new connection may do better. */
  | { readonly ok: false; readonly error: HostError; readonly sessionGone: boolean };

export type CallEnd =
  | {
      readonly kind: 'answer';
      readonly isError: boolean;
      readonly content: readonly ContentBlock[];
      readonly structured?: unknown;
    }
  /** The server answered that it will not: a JSON-RPC error. */
  | { readonly kind: 'refused'; readonly code: number; readonly message: string }
  /** The server does not know the session any more, so the call did not run. */
  | { readonly kind: 'session-gone' }
  /** It certainly did not run. */
  | { readonly kind: 'not-run'; readonly error: HostError }
  /** It may have run; its answer is lost. */
  | { readonly kind: 'lost'; readonly error: HostError }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'aborted' };

export interface Connection {
  readonly era: Era;
  /** The name that the server gives itself, if it does. */
  readonly title: string | null;
  list(): Promise<ListEnd>;
  call(
    tool: { readonly name: string; readonly inputSchema: Readonly<Record<string, unknown>> },
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onProgress?: (progress: CallProgress) => void,
  ): Promise<CallEnd>;
  /** Whether the server still answers; asked before a write over a connection that was idle. */
  knock(): Promise<boolean>;
  /** Milliseconds since the epoch at which the server was last heard of. */
  heardAt(): number;
  close(): Promise<void>;
}

export type Opened =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly error: HostError };

/** Connects to a server over Streamable HTTP, in whichever era of the protocol it speaks. */
export async function openHttp(options: ConnectOptions): Promise<Opened> {
  const { peer, era, now, limits } = options;
  const limit = limits?.connect ?? CONNECT_MS;
  const deadline = Date.now() + limit;
  const remembered = era?.kind === 'legacy' && now() - era.at < ERA_DAYS * 86_400_000;
  const plans = remembered ? (['legacy', 'auto'] as const) : (['auto', 'legacy'] as const);
  let error: HostError = internal('No attempt was made.');
  for (const plan of plans) {
    const wire = createWire(options.fetch, MAX_MEGABYTES * 1_000_000, now);
    const attempt = await tryHttp(options, plan, wire, deadline - Date.now());
    if (attempt.ok) return attempt;
    const seconds = limit / 1000;
    if (attempt.cause === 'deadline') return { ok: false, error: late(peer, wire.last(), seconds) };
    const found = await explain(attempt.cause, { ...options, wire, seconds, connecting: true });
    // The first attempt says more: the second only fails in an era that the server may not speak.
    if (plan === plans[0]) error = found.error;
    const status = wire.last()?.status ?? null;
    const settled = status === null || [401, 403, 429].includes(status);
    if (settled || (plan === 'auto' && !isUndecided(attempt.cause))) break;
  }
  return { ok: false, error };
}

/** True where the probe for the new era failed without saying which era the server speaks. */
function isUndecided(cause: unknown): boolean {
  return SdkError.isInstance(cause) && cause.code === SdkErrorCode.EraNegotiationFailed;
}

async function tryHttp(
  options: ConnectOptions,
  plan: 'auto' | 'legacy',
  wire: Wire,
  ms: number,
): Promise<{ ok: true; connection: Connection } | { ok: false; cause: unknown }> {
  const { peer, headers } = options;
  const transport = new WatchfulTransport(peer.url, {
    fetch: wire.fetch,
    requestInit: { headers: { ...headers }, credentials: 'omit' },
    // A key must not follow a redirect to another host.
    redirectPolicy: peer.keyHeader ? 'same-origin' : 'follow',
  });
  const client = newClient(options.onToolsChanged);
  try {
    await within(
      client.connect(transport, {
        timeout: Math.max(1, ms),
        ...(plan === 'legacy' ? { prior: { kind: 'legacy' } } : {}),
      }),
      ms,
    );
  } catch (cause) {
    await transport.close().catch(() => undefined);
    return { ok: false, cause };
  }
  return { ok: true, connection: wrap(client, { ...options, wire, transport }) };
}

/** Connects to a server in the page. */
export async function openInPage(
  transport: Transport,
  options: Pick<ConnectOptions, 'peer' | 'now' | 'online' | 'onToolsChanged' | 'limits'>,
): Promise<Opened> {
  const full = { ...options, headers: {}, secrets: [], era: undefined, fetch: globalThis.fetch };
  const wire = createWire(full.fetch, MAX_MEGABYTES * 1_000_000, options.now);
  const client = newClient(options.onToolsChanged);
  try {
    await within(client.connect(transport, { prior: { kind: 'legacy' } }), CONNECT_MS);
  } catch (cause) {
    return { ok: false, error: internal(cause instanceof Error ? cause.message : String(cause)) };
  }
  return { ok: true, connection: wrap(client, { ...full, wire, transport }) };
}

function newClient(onToolsChanged: () => void): Client {
  return new Client(CLIENT, {
    versionNegotiation: { mode: 'auto' },
    listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
  });
}

type Context = ConnectOptions & { readonly wire: Wire; readonly transport: Transport };

function wrap(client: Client, context: Context): Connection {
  const { wire, transport, limits } = context;
  const era = client.getProtocolEra() ?? 'legacy';
  const server = client.getServerVersion();
  const session = () => era === 'legacy' && transport.sessionId !== undefined;
  const explained = (cause: unknown, ms: number) =>
    explain(cause, { ...context, seconds: ms / 1000, connecting: false, session: session() });
  return {
    era,
    title: server?.title ?? server?.name ?? null,
    heardAt: wire.heardAt,

    async list() {
      const ms = limits?.list ?? LIST_MS;
      try {
        return { ok: true, list: await listAll(client, ms) };
      } catch (cause) {
        const { error, sessionGone = false } = await explained(cause, ms);
        return { ok: false, error, sessionGone };
      }
    },

    async call(tool, args, signal, onProgress) {
      if (signal.aborted) return { kind: 'aborted' };
      const ms = limits?.call ?? CALL_MS;
      try {
        const result = await client.request(
          { method: 'tools/call', params: { name: tool.name, arguments: { ...args } } },
          {
            signal,
            timeout: ms,
            resetTimeoutOnProgress: true,
            maxTotalTimeout: limits?.ceiling ?? CALL_CEILING_MS,
            ...(era === 'modern' ? { headers: paramHeaders(tool.inputSchema, args) } : {}),
            ...(onProgress ? { onprogress: onProgress } : {}),
          },
        );
        const { content, structuredContent, isError } = result;
        return {
          kind: 'answer',
          isError: isError === true,
          content: content as readonly ContentBlock[],
          ...(structuredContent === undefined ? {} : { structured: structuredContent }),
        };
      } catch (cause) {
        if (signal.aborted) return { kind: 'aborted' };
        if (SdkError.isInstance(cause) && cause.code === SdkErrorCode.RequestTimeout)
          return { kind: 'timeout', seconds: Math.round(ms / 1000) };
        if (ProtocolError.isInstance(cause) && cause.message !== LOST)
          return {
            kind: 'refused',
            code: cause.code,
            message: redact(cause.message, context.secrets),
          };
        const found = await explained(cause, ms);
        if (found.sessionGone) return { kind: 'session-gone' };
        return { kind: found.ran === 'no' ? 'not-run' : 'lost', error: found.error };
      }
    },

    async knock() {
      try {
        const asked =
          era === 'modern'
            ? client.discover({ timeout: limits?.connect ?? CONNECT_MS })
            : client.ping({ timeout: limits?.connect ?? CONNECT_MS });
        await asked;
        return true;
      } catch (cause) {
        // An error is an answer, too.
        return ProtocolError.isInstance(cause) && cause.message !== LOST;
      }
    },

    async close() {
      if (transport instanceof StreamableHTTPClientTransport && session())
        await within(transport.terminateSession(), 1_000).catch(() => undefined);
      await client.close().catch(() => undefined);
    },
  };
}

async function listAll(client: Client, ms: number): Promise<Listed> {
  if (!client.getServerCapabilities()?.tools) return { tools: [], ttlMs: null };
  const tools = new Map<string, ToolDefinition>();
  const cursors = new Set<string>();
  let ttlMs: number | null = null;
  let cursor: string | undefined;
  do {
    const page: ListToolsResult & { ttlMs?: unknown } = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      { timeout: ms },
    );
    for (const tool of page.tools)
      if (!tools.has(tool.name) && !isDeeper(tool, MAX_DEPTH)) tools.set(tool.name, define(tool));
    // 0 is what the SDK's servers send when nobody told them anything.
    if (typeof page.ttlMs === 'number' && page.ttlMs > 0)
      ttlMs = Math.min(page.ttlMs, ttlMs ?? Infinity);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
    if (cursors.has(cursor) || cursors.size >= MAX_PAGES || tools.size > MAX_TOOLS)
      throw new SdkError(SdkErrorCode.ListPaginationExceeded, 'The list of tools has no end.');
    cursors.add(cursor);
  } while (tools.size <= MAX_TOOLS);
  return { tools: [...tools.values()].slice(0, MAX_TOOLS), ttlMs };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** What is kept of a published tool: the parts that a pin covers. */
function define(tool: ListToolsResult['tools'][number]): ToolDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return JSON.parse(
    JSON.stringify({ name, title, description, inputSchema, outputSchema, annotations }),
  ) as ToolDefinition;
}

/**
 * The SDK does not notice when the stream that should carry an answer ends without it, and would
 * wait until the time limit. This transport answers in the server's place that the answer is lost.
 */
class WatchfulTransport extends StreamableHTTPClientTransport {
  override send(
    message: Parameters<StreamableHTTPClientTransport['send']>[0],
    options?: Parameters<StreamableHTTPClientTransport['send']>[1],
  ): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message) || options?.onRequestStreamEnd)
      return super.send(message, options);
    const { id } = message;
    const onRequestStreamEnd = () => {
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32_000, message: LOST } });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

/** Rejects with 'deadline' when the promise takes longer than `ms`. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject('deadline'), Math.max(0, ms));
  });
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
