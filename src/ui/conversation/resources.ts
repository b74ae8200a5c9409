/** Resources of all servers as a list to search in, and what is read of one as an attachment. */
import type { ResourceContent, ServerView } from '../../mcp/types.ts';
import type {
  ContentBlock,
  ResourceDefinition,
  ResourceTemplateDefinition,
} from '../../store/records.ts';

export interface ResourceRow {
  readonly key: string;
  readonly server: ServerView;
  readonly title: string;
  readonly note: string;
  readonly resource?: ResourceDefinition;
  readonly template?: ResourceTemplateDefinition;
}

/** Rows shown at once: more letters find the rest. */
export const MOST_ROWS = 60;
/** Largest attachment, in characters: more than any model here reads, and than a phone should keep. */
const LARGEST = 4_000_000;

function sizeWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

const noteOf = (resource: ResourceDefinition): string =>
  [
    resource.description,
    resource.mimeType,
    resource.size === undefined ? '' : sizeWords(resource.size),
  ]
    .filter(Boolean)
    .join(' · ');

/** Everything that can be attached and fits the words, templates first within a server. */
export function resourceRows(servers: readonly ServerView[], query: string): ResourceRow[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return servers
    .filter(({ record }) => record.enabled)
    .flatMap((server): ResourceRow[] => [
      ...server.templates.map((template) => ({
        key: `${server.record.id}#${template.uriTemplate}`,
        server,
        title: template.title || template.name,
        note: template.description || template.uriTemplate,
        template,
      })),
      ...server.resources.map((resource) => ({
        key: `${server.record.id}:${resource.uri}`,
        server,
        title: resource.title || resource.name,
        note: noteOf(resource) || resource.uri,
        resource,
      })),
    ])
    .filter(({ title, note, server, resource, template }) => {
      const all =
        `${title} ${note} ${server.record.name} ${resource?.uri ?? template?.uriTemplate}`.toLowerCase();
      return words.every((word) => all.includes(word));
    });
}

/** What was read, as blocks of a result; null where it is too large to keep. */
export function blocksOf(contents: readonly ResourceContent[]): readonly ContentBlock[] | null {
  const size = contents.reduce(
    (sum, { text = '', blob = '' }) => sum + text.length + blob.length,
    0,
  );
  if (size > LARGEST) return null;
  return contents.map((resource) => ({ type: 'resource', resource }));
}
