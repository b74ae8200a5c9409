/**
 * What a server publishes: tools, prompts, resources and templates of resources, page after page.
 * Promise: a list without an end is cut where it is too long, and named as cut; nothing is taken that
 * could harm whoever walks it.
 */
import { ProtocolError, type Client } from '@modelcontextprotocol/client';
import type {
  ListKind,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from '../store/records.ts';
import type { Can, Era, Listed } from './connection-types.ts';
import { LOST } from './explain.ts';
import { hasFaultyHeaders } from './param-headers.ts';
import { isDeeper, MAX_DEPTH } from './depth.ts';
import { isObject } from './schema.ts';
import { undoRuleIn } from './undo.ts';

/** Entries and pages that are taken of one list. */
const MAX_ENTRIES = 2_000;
const MAX_PAGES = 50;
/** What one list may weigh in all, in characters of JSON: a page alone may have 10 MB. */
const MAX_WEIGHT = 10_000_000;
/** All lists together may take as long as so many pages. */
const LONGEST_IN_PAGES = 4;

const METHODS = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  templates: 'resources/templates/list',
} as const;

/** What is kept of each entry. */
const FIELDS: Readonly<Record<ListKind, readonly string[]>> = {
  // The parts that a pin covers, and how a call has to be made.
  tools: [
    'name',
    'title',
    'description',
    'inputSchema',
    'outputSchema',
    'annotations',
    'execution',
  ],
  prompts: ['name', 'title', 'description', 'arguments'],
  resources: ['uri', 'name', 'title', 'description', 'mimeType', 'size'],
  templates: ['uriTemplate', 'name', 'title', 'description', 'mimeType'],
};

const KEYS = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  templates: 'uriTemplate',
} as const;

type Entry = Readonly<Record<string, unknown>>;

interface Page {
  readonly entries: readonly Entry[];
  readonly nextCursor?: string;
  readonly ttlMs?: unknown;
  readonly cacheScope?: unknown;
}

/** `ms`: time limit of one page. Throws where a page or all of them together take too long. */
export async function listAll(client: Client, can: Can, era: Era, ms: number): Promise<Listed> {
  const cut: ListKind[] = [];
  const ttls: number[] = [];
  const scopes = new Set<unknown>();
  const until = performance.now() + LONGEST_IN_PAGES * ms;

  async function list(kind: ListKind): Promise<Entry[]> {
    const entries = new Map<unknown, Entry>();
    const cursors = new Set<string>();
    let cursor: string | undefined;
    let weight = 0;
    for (;;) {
      const left = Math.max(1, until - performance.now());
      const page = await pageOf(client, kind, cursor, Math.min(ms, left));
      for (const entry of page.entries) {
        const id = entry[KEYS[kind]];
        if (entries.has(id) || !isFit(kind, entry, era)) continue;
        const definition = kept(kind, entry);
        weight += definition.length;
        if (weight > MAX_WEIGHT) break;
        entries.set(id, JSON.parse(definition) as Entry);
      }
      // 0 is what the SDK's servers send when nobody told them anything.
      if (typeof page.ttlMs === 'number' && page.ttlMs > 0) ttls.push(page.ttlMs);
      scopes.add(page.cacheScope);
      cursor = page.nextCursor;
      if (weight > MAX_WEIGHT) cut.push(kind);
      if (cursor === undefined || weight > MAX_WEIGHT) break;
      if (cursors.has(cursor) || cursors.size >= MAX_PAGES || entries.size > MAX_ENTRIES) {
        cut.push(kind);
        break;
      }
      cursors.add(cursor);
    }
    if (entries.size > MAX_ENTRIES && !cut.includes(kind)) cut.push(kind);
    return [...entries.values()].slice(0, MAX_ENTRIES);
  }

  /** Of a server that offers the kind and then refuses it: nothing, and the tools all the same. */
  async function listGently(kind: ListKind): Promise<Entry[]> {
    try {
      return await list(kind);
    } catch (cause) {
      if (ProtocolError.isInstance(cause) && cause.message !== LOST) return [];
      throw cause;
    }
  }

  const tools = can.tools ? await list('tools') : [];
  const prompts = can.prompts ? await listGently('prompts') : [];
  const resources = can.resources ? await listGently('resources') : [];
  const templates = can.resources ? await listGently('templates') : [];
  return {
    tools: tools as unknown as ToolDefinition[],
    prompts: prompts as unknown as PromptDefinition[],
    resources: resources as unknown as ResourceDefinition[],
    templates: templates as unknown as ResourceTemplateDefinition[],
    ttlMs: ttls.length > 0 ? Math.min(...ttls) : null,
    cacheScope: scopes.has('private') ? 'private' : scopes.has('public') ? 'public' : null,
    cut,
  };
}

async function pageOf(
  client: Client,
  kind: ListKind,
  cursor: string | undefined,
  ms: number,
): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor };
  const result: Record<string, unknown> = await client.request(
    { method: METHODS[kind], params },
    { timeout: ms },
  );
  const entries = result[kind === 'templates' ? 'resourceTemplates' : kind];
  return { ...result, entries: Array.isArray(entries) ? entries.filter(isObject) : [] };
}

function isFit(kind: ListKind, entry: Entry, era: Era): boolean {
  if (isDeeper(entry, MAX_DEPTH)) return false;
  return kind !== 'tools' || era === 'legacy' || !hasFaultyHeaders(entry.inputSchema);
}

/** What is kept of an entry, as JSON. */
function kept(kind: ListKind, entry: Entry): string {
  const fields = Object.entries(entry).filter(
    ([name, value]) => FIELDS[kind].includes(name) && value !== undefined,
  );
  const undo = kind === 'tools' ? undoRuleIn(entry._meta) : null;
  return JSON.stringify({ ...Object.fromEntries(fields), ...(undo ? { undo } : {}) });
}
