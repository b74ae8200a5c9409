/**
 * Plays the person in one scenario of the official suite: adds the server, signs in where it wants
 * that, uses all that it offers, answers what it asks. Everything that speaks the protocol is
 * src/mcp, but for the tokens of six scenarios (machine.ts); the same file runs in Node and in a page.
 */
import { clientDocument } from '../../src/mcp/auth/client.ts';
import { createSignIn } from '../../src/mcp/auth/signin.ts';
import type { SignIn } from '../../src/mcp/auth/types.ts';
import { createHost } from '../../src/mcp/host.ts';
import type { Host, ServerAsks, ServerView, Tool, ToolCaller } from '../../src/mcp/types.ts';
import { openStore } from '../../src/store/open.ts';
import { machineFetch } from './machine.ts';
import { argumentsFor, contentFor } from './person.ts';

/** What the suite tells its client. */
export interface Job {
  readonly scenario: string;
  readonly url: string;
  /** Which revision the scenario's server speaks. */
  readonly version: string;
  readonly context: Readonly<Record<string, unknown>>;
}

/** What only a browser's window does, or its stand-in. */
export interface Outside {
  /** Follows an address; gives the one at which it came back to the app. */
  visit(url: string): Promise<string>;
}

type Log = (line: string) => void;
type Deft = Host & ToolCaller;

/** Where the suite expects its client to be served from. */
const ORIGIN = 'https://conformance-test.local';
/** How often the person signs in anew where that did not do, or more rights are wanted. */
const PATIENCE = 3;
/** Many scenarios are played at once, so that each has time. */
const LIMITS = { connect: 60_000, list: 60_000, call: 60_000 };

const never = new AbortController().signal;

/** Plays a scenario to its end; gives a line on each thing that was done. */
export async function play(job: Job, outside: Outside): Promise<string[]> {
  const lines: string[] = [];
  const log: Log = (line) => void lines.push(line);
  const name = `conformance-${crypto.randomUUID()}`;
  const store = await openStore({ name, channel: false });
  const { fetch, listening } = watched(
    machineFetch(job, outside) ?? serveDocument(globalThis.fetch),
    job,
  );
  const signIn = createSignIn({ store, origin: ORIGIN, fetch, windows: windowsOf(outside, later) });
  function later(query: URLSearchParams): Promise<unknown> {
    return signIn.receive(query);
  }
  const host = createHost({
    store,
    inPage: [],
    fetch,
    signIn,
    asks: asksOf(log),
    online: () => true,
    limits: LIMITS,
  });
  try {
    await use(host, signIn, job, listening, log);
  } catch (cause) {
    log(`It ended: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`);
  } finally {
    await host.close();
    store.close();
    indexedDB.deleteDatabase(name);
  }
  return lines;
}

async function use(
  host: Deft,
  signIn: SignIn,
  job: Job,
  listening: Promise<void>,
  log: Log,
): Promise<void> {
  const id = await join(host, signIn, job, log);
  if (id === null) return;
  await host.update(id, { trustHints: true, sampling: true });
  const view = await viewOf(host, id);
  // A person takes a while. A call that overtakes the stream beside it is answered on that one.
  if (view.era === 'legacy') await listening;
  log(`Tools: ${view.tools.map((tool) => tool.name).join(', ')}`);
  for (const call of callsOf(view, job)) await callAs(host, signIn, view, call, log);
  const resource = view.resources[0];
  if (resource) {
    const read = await host.readResource(id, resource.uri, never);
    log(`Read ${resource.uri}: ${JSON.stringify(read).slice(0, 200)}`);
  }
  await useSkills(host, id, job, log);
  const prompt = view.prompts[0];
  if (prompt) {
    const got = await host.getPrompt(id, prompt.name, {}, never);
    log(`Prompt ${prompt.name}: ${JSON.stringify(got).slice(0, 200)}`);
  }
}

/** Looks at what skills there are, and reads each file of them where the scenario is about that. */
async function useSkills(host: Host, id: string, { scenario }: Job, log: Log): Promise<void> {
  const skills = await host.listSkills(id, never);
  if (!skills.ok || scenario.endsWith('no-prefetch')) return;
  for (const skill of skills.value)
    for (const file of [undefined, ...skill.files]) {
      const read = await host.readSkill(id, skill.uri, file, never);
      log(`Read ${file ?? skill.uri}: ${JSON.stringify(read.ok || read.error)}`);
      if (!read.ok) break;
    }
}

/** Adds the server, signing in where it wants that; null where it could not be added. */
async function join(host: Deft, signIn: SignIn, job: Job, log: Log): Promise<string | null> {
  const { url, context } = job;
  const added = await host.add({ url });
  if (added.ok) return added.server.id;
  log(`Not added: ${JSON.stringify(added.error)}`);
  if (!added.error.signIn && added.error.code !== 'auth') return null;
  const stored = await host.add({ url, auth: 'oauth' });
  if (!stored.ok) return null;
  const { client_id: id, client_secret: secret } = context as Record<string, string | undefined>;
  if (id !== undefined)
    await signIn.setClient(stored.server, { id, ...(secret === undefined ? {} : { secret }) });
  for (let round = 1; round <= PATIENCE; round += 1) {
    const signed = await host.signIn(stored.server.id, never);
    log(`Sign in: ${JSON.stringify(signed)}`);
    if (signed.ok) return stored.server.id;
    if (!signed.error.signIn) break;
  }
  return null;
}

async function viewOf(host: Host, id: string): Promise<ServerView> {
  const view = (await host.list()).find(({ record }) => record.id === id);
  if (!view) throw new Error('The server is not there any more.');
  return view;
}

interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** The calls that the scenario asks for; otherwise each tool once. */
function callsOf(view: ServerView, { context }: Job): readonly Call[] {
  const wanted = context.toolCalls as readonly Call[] | undefined;
  if (wanted?.length) return wanted;
  const dialect = view.tools.find(({ name }) => name === 'json_schema_2020_12_tool');
  return view.tools
    .filter((tool) => tool !== dialect)
    .map(({ name, inputSchema }) => ({
      name,
      // It wants to be told the schema of the other tool as it arrived.
      arguments:
        name === 'json_schema_echo' ? { schema: dialect?.inputSchema } : argumentsFor(inputSchema),
    }));
}

/** Calls a tool; where it wants more rights than were given, the person gives them. */
async function callAs(host: Deft, signIn: SignIn, view: ServerView, call: Call, log: Log) {
  const tool = toolOf(view, call.name);
  for (let round = 0; ; round += 1) {
    const outcome = await host.callTool(tool, call.arguments, never);
    log(`Called ${call.name}: ${JSON.stringify(outcome).slice(0, 300)}`);
    if (outcome.kind !== 'unavailable' || round >= PATIENCE) return;
    if (outcome.code !== 'scope' && outcome.code !== 'auth') return;
    const { wanted, state } = await signIn.view(view.record);
    if (outcome.code === 'scope' && wanted.length === 0) return;
    log(`Again: ${state}, wanted ${wanted.join(' ')}`);
    const signed = await host.signIn(view.record.id, never);
    log(`Sign in: ${JSON.stringify(signed)}`);
    if (!signed.ok) return;
  }
}

function toolOf(view: ServerView, name: string): Tool {
  const found = view.tools.find((tool) => tool.name === name);
  return {
    server: view.record.id,
    serverName: view.record.name,
    name,
    modelName: name,
    title: found?.title ?? name,
    description: found?.description ?? '',
    inputSchema: found?.inputSchema ?? { type: 'object' },
    annotations: found?.annotations ?? {},
    pin: found?.pin ?? '',
    local: false,
    readOnly: found?.annotations?.readOnlyHint === true,
    idempotent: found?.annotations?.idempotentHint === true,
    private: false,
  };
}

/** Whatever is asked is accepted as it stands. */
function asksOf(log: Log): ServerAsks {
  return {
    async elicit(_server, request) {
      log(`Asked: ${request.message}`);
      return request.mode === 'url'
        ? { action: 'accept' }
        : { action: 'accept', content: contentFor(request.schema) };
    },
    async sample() {
      return { ok: true, text: 'Yes.', model: 'person', stopReason: 'endTurn' };
    },
  };
}

/** A window in which whatever page opens leads back at once. */
function windowsOf(outside: Outside, receive: (query: URLSearchParams) => Promise<unknown>) {
  return {
    popup: () => ({
      go(address: string) {
        outside.visit(address).then(
          (back) => receive(new URL(back).searchParams),
          () => undefined,
        );
      },
      close: () => undefined,
    }),
    leave: () => undefined,
    here: () => '/servers',
    onReturn: () => () => undefined,
  };
}

/** The app's own document, as its origin would serve it. */
function serveDocument(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (url.startsWith(ORIGIN)) return Response.json(clientDocument(ORIGIN));
    return fetch(input, init);
  };
}

/** The same fetch, and when the server has answered to the stream on which it speaks by itself. */
function watched(fetch: typeof globalThis.fetch, { url }: Job) {
  let heard = () => {};
  const answered = new Promise<void>((resolve) => (heard = resolve));
  const given = new Promise<void>((resolve) => setTimeout(resolve, PATIENCE * 1_000));
  const wrapped: typeof globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const address = input instanceof Request ? input.url : String(input);
    if (init?.method === 'GET' && address === url) heard();
    return response;
  };
  return { fetch: wrapped, listening: Promise.race([answered, given]) };
}
