/** The words that a tool is found by. */
import type { ToolDefinition } from '../store/records.ts';

/** What a tool is found by: its name twice, its words, what it takes and what it gives. */
export function searchText({
  name,
  title = '',
  description = '',
  ...schemas
}: Pick<
  ToolDefinition,
  'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema'
>): string {
  const taken = wordsOf(schemas.inputSchema, 2);
  const given = wordsOf(schemas.outputSchema, 4);
  return [name, name, title, description, taken, given].join(' ');
}

/** Names, descriptions and allowed values of a schema's properties, some levels deep. */
function wordsOf(schema: unknown, levels: number): string {
  if (levels === 0 || typeof schema !== 'object' || schema === null) return '';
  const { properties, items, description, enum: values } = schema as Record<string, unknown>;
  const inner = Object.entries(properties ?? {}).map(
    ([name, property]) => `${name} ${wordsOf(property, levels - 1)}`,
  );
  return [
    typeof description === 'string' ? description : '',
    Array.isArray(values) ? values.join(' ') : '',
    wordsOf(items, levels - 1),
    ...inner,
  ].join(' ');
}
