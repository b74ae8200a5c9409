/** The tools of all servers, as the loop and the gate see them, made from what is stored. */
import type { ServerRecord, ToolDefinition, ToolListRecord } from '../store/records.ts';
import { heldNames } from './held.ts';
import { modelNames } from './names.ts';
import { plainSchema, plainText } from './plain.ts';
import type { Tool } from './types.ts';

/** A server in the page has no address but its own name; whatever else is written there is remote. */
const isInPage = ({ id, url }: ServerRecord) => url === `${id}:`;

/** Servers as they are shown and named: those in the page first, then by age. */
export function inOrder(
  records: readonly ServerRecord[],
  inPage: readonly { readonly id: string }[],
): ServerRecord[] {
  const places = new Map(inPage.map(({ id }, index) => [id, index]));
  const place = ({ id }: ServerRecord) => places.get(id) ?? inPage.length;
  return [...records].sort(
    (a, b) => place(a) - place(b) || a.addedAt - b.addedAt || (a.id < b.id ? -1 : 1),
  );
}

export interface FoundTool {
  readonly tool: Tool;
  readonly definition: ToolDefinition;
}

/**
 * Every tool that is on and not held back, of servers that are on. Names are given before the others are left out, so
 * that they stay.
 */
export function allTools(
  servers: readonly ServerRecord[],
  lists: ReadonlyMap<string, ToolListRecord>,
): FoundTool[] {
  const inPage = servers.filter(isInPage);
  const published = inOrder(servers, inPage).flatMap((server) => {
    const list = lists.get(server.id);
    const off = new Set(list?.off);
    const held = heldNames(list);
    return (list?.tools ?? []).map((definition) => ({
      server,
      definition,
      on: server.enabled && !off.has(definition.name) && !held.has(definition.name),
    }));
  });
  const names = modelNames(
    published.map(({ server, definition }) => ({
      serverName: server.name,
      tool: definition.name,
    })),
  );
  return published.flatMap(({ server, definition, on }, position) => {
    if (!on) return [];
    const { annotations = {} } = definition;
    const local = isInPage(server);
    const trusted = local || server.trustHints;
    const readOnly = trusted && annotations.readOnlyHint === true;
    const tool: Tool = {
      server: server.id,
      serverName: server.name,
      name: definition.name,
      modelName: names[position] ?? definition.name,
      title: plainText(definition.title ?? annotations.title ?? definition.name),
      description: plainText(definition.description ?? ''),
      inputSchema: plainSchema(definition.inputSchema),
      ...(definition.outputSchema ? { outputSchema: definition.outputSchema } : {}),
      ...(definition.execution ? { execution: definition.execution } : {}),
      annotations,
      pin: definition.pin,
      local,
      readOnly,
      idempotent: readOnly || (trusted && annotations.idempotentHint === true),
      private: server.private,
    };
    return [{ tool, definition }];
  });
}
