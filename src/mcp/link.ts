/** A connection that stands, as the host uses it. Promise: nothing here throws. */
import {
  ProtocolError,
  StreamableHTTPClientTransport,
  type Client,
  type Transport,
} from '@modelcontextprotocol/client';
import { redact } from '../store/redact.ts';
import { callTool, resumeTask, type Calling } from './calling.ts';
import type { Clock } from './clock.ts';
import type {
  Asked,
  Can,
  ConnectOptions,
  Connection,
  Fault,
  Limits,
  TransportKind,
} from './connection-types.ts';
import { converse, type Talk } from './converse.ts';
import { refusedBy, stoppedByPerson, timeout, unwatchable } from './errors.ts';
import { explain, isVersionRefused, late, LOST, seenBy, type Explained } from './explain.ts';
import type { Hearing } from './hearing.ts';
import { listAll } from './listing.ts';
import { asHttpError, PATIENCE } from './transports.ts';
import type { Skills } from './skills.ts';
import type { PromptResult, ResourceContent } from './types.ts';
import { within } from './within.ts';
import type { Seeing, Trace, Wire } from './wire.ts';

const CLOSE_MS = 1_000;

export interface Standing {
  readonly options: ConnectOptions;
  readonly limits: Limits;
  readonly client: Client;
  readonly talk: Talk;
  readonly hearing: Hearing;
  readonly transport: Transport;
  readonly kind: TransportKind;
  readonly wire: Wire;
}

export function link(standing: Standing): Connection {
  const { options, limits, client, talk, hearing, transport, kind, wire } = standing;
  const { peer, secrets } = options;
  const era = client.getProtocolEra() ?? 'legacy';
  const server = client.getServerVersion();
  const can = canOf(client);
  let isOpen = true;
  client.onclose = () => {
    isOpen = false;
    hearing.end();
  };
  hearing.begin();

  const hasSession = () =>
    kind === 'sse' || (era === 'legacy' && transport.sessionId !== undefined);
  const explained = (cause: unknown, ms: number, seeing: Seeing = wire) =>
    explain(kind === 'sse' ? asHttpError(cause, seeing) : cause, {
      ...options,
      wire: seeing,
      seconds: ms / 1000,
      connecting: false,
      session: hasSession(),
      speaks: era,
    });
  const closed = (): Fault => ({
    ok: false,
    error: timeout(peer, limits.connect / 1000),
    sessionGone: true,
  });

  async function fault(cause: unknown, ms: number, seeing?: Seeing): Promise<Fault> {
    if (isRefusal(cause) && !isVersionRefused(cause)) {
      const error = refusedBy(peer, redact(cause.message, secrets));
      return { ok: false, error, sessionGone: false };
    }
    return faultOf(await explained(cause, ms, seeing));
  }

  /** Asks for something that changes nothing, within the time limit of a call. */
  async function asked<T>(
    signal: AbortSignal,
    work: (clock: Clock, trace: Trace) => Promise<T>,
  ): Promise<Asked<T>> {
    if (!isOpen) return closed();
    const trace = wire.trace();
    const clock = talk.clocks.start(limits.call, limits.ceiling, signal);
    try {
      return { ok: true, value: await work(clock, trace) };
    } catch (cause) {
      if (signal.aborted) return { ok: false, error: stoppedByPerson(), sessionGone: false };
      if (!clock.late()) return await fault(cause, limits.call, trace);
      return { ok: false, error: timeout(peer, limits.call / 1000), sessionGone: false };
    } finally {
      trace.end();
      clock.end();
    }
  }

  let skills: Promise<Skills> | undefined;
  const skillsOf = () =>
    (skills ??= import('./skills.ts').then(({ createSkills }) => createSkills(client)));

  const calling: Calling = {
    talk,
    hearing,
    era,
    limits,
    patience: { ...PATIENCE, ...options.patience },
    secrets,
    takesTasks: era === 'legacy' && takesTasks(client),
    wantsLog: era === 'modern' && can.logging && options.onLog !== undefined,
    explain: explained,
    late: (ms, seeing) => ({
      ...late(peer, seeing.last(), Math.round(ms / 1000)),
      ...seenBy({ wire: seeing, secrets }),
    }),
  };

  return {
    era,
    transport: kind,
    title: server?.title ?? server?.name ?? null,
    instructions: client.getInstructions() ?? null,
    can,
    heardAt: wire.heardAt,

    async list() {
      if (!isOpen) return closed();
      try {
        return { ok: true, list: await listAll(client, can, era, limits.list) };
      } catch (cause) {
        return faultOf(await explained(cause, limits.list));
      }
    },

    async call(tool, args, signal, ears) {
      if (!isOpen) return { kind: 'session-gone' };
      return callTool(calling, tool, args, signal, ears);
    },

    async resumeTask(tool, taskId, signal, ears) {
      if (!isOpen) return { kind: 'session-gone' };
      return resumeTask(calling, tool, taskId, signal, ears);
    },

    getPrompt: (name, args, signal) =>
      asked(signal, async (clock, trace) => {
        const params = { name, arguments: { ...args } };
        const { description, messages } = await converse<PromptResult>(talk, {
          method: 'prompts/get',
          params,
          clock,
          trace,
        });
        return { ...(description === undefined ? {} : { description }), messages };
      }),

    readResource: (uri, signal) =>
      asked(signal, async (clock, trace) => {
        const { contents } = await converse<{ contents: readonly ResourceContent[] }>(talk, {
          method: 'resources/read',
          params: { uri },
          clock,
          trace,
        });
        return contents;
      }),

    skills: (signal) =>
      asked(signal, async (clock, { mark: headers }) => {
        const skills = await skillsOf();
        return skills.list({ signal: clock.signal, timeout: limits.call, headers });
      }),

    readSkill: (uri, file, signal) =>
      asked(signal, async (clock, { mark: headers }) => {
        const skills = await skillsOf();
        return skills.read(uri, file, { signal: clock.signal, timeout: limits.call, headers });
      }),

    complete: (ref, argument, known, signal) =>
      asked(signal, async (clock, trace) => {
        const { completion } = await client.complete(
          {
            ref:
              ref.type === 'prompt'
                ? { type: 'ref/prompt', name: ref.name }
                : { type: 'ref/resource', uri: ref.uriTemplate },
            argument,
            context: { arguments: { ...known } },
          },
          { signal: clock.signal, timeout: limits.call, headers: trace.mark },
        );
        return { values: completion.values, hasMore: completion.hasMore === true };
      }),

    async watch(uri, onUpdate) {
      if (!can.subscribe) return { ok: false, error: unwatchable(peer), sessionGone: false };
      if (!isOpen) return closed();
      try {
        return { ok: true, value: await hearing.watch(uri, onUpdate, limits.list) };
      } catch (cause) {
        return fault(cause, limits.list);
      }
    },

    async knock() {
      if (!isOpen) return false;
      const timeout = limits.connect;
      try {
        await (era === 'modern' ? client.discover({ timeout }) : client.ping({ timeout }));
        return true;
      } catch (cause) {
        // An error is an answer, too.
        return isRefusal(cause);
      }
    },

    async close() {
      hearing.end();
      if (isOpen && transport instanceof StreamableHTTPClientTransport && hasSession())
        await within(transport.terminateSession(), CLOSE_MS).catch(() => undefined);
      await client.close().catch(() => undefined);
    },
  };
}

function faultOf({ error, sessionGone = false, eraGone = false }: Explained): Fault {
  return { ok: false, error, sessionGone: sessionGone || eraGone, eraGone };
}

/** The server was reached, and said no. */
function isRefusal(cause: unknown): cause is ProtocolError {
  return ProtocolError.isInstance(cause) && cause.message !== LOST;
}

function canOf(client: Client): Can {
  const { tools, prompts, resources, completions, logging } = client.getServerCapabilities() ?? {};
  return {
    tools: tools !== undefined,
    prompts: prompts !== undefined,
    resources: resources !== undefined,
    subscribe: resources?.subscribe === true,
    completions: completions !== undefined,
    logging: logging !== undefined,
  };
}

/** Whether a call may ask to be made a task (2025-11-25). */
function takesTasks(client: Client): boolean {
  const { tasks } = (client.getServerCapabilities() ?? {}) as {
    tasks?: { requests?: { tools?: { call?: unknown } } };
  };
  return tasks?.requests?.tools?.call !== undefined;
}
