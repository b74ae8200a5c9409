/** What a person without wishes of their own types: defaults, and otherwise whatever fits. */
import type { ElicitAnswer } from '../../src/mcp/types.ts';

interface Field {
  readonly type?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}

/** A value that fits a field. */
function valueFor(field: Field): unknown {
  if (field.default !== undefined) return field.default;
  if (field.enum) return field.enum[0];
  switch (field.type) {
    case 'number':
    case 'integer':
      return field.minimum ?? 5;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'x';
  }
}

/** Arguments with which a tool can be called: those that it requires. */
export function argumentsFor(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { properties = {}, required = [] } = schema as Field;
  return Object.fromEntries(required.map((name) => [name, valueFor(properties[name] ?? {})]));
}

/** What stands in a form that is sent off as it came. */
export function contentFor(
  schema: Readonly<Record<string, unknown>>,
): NonNullable<Extract<ElicitAnswer, { action: 'accept' }>['content']> {
  const { properties = {} } = schema as Field;
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, valueFor(field) as string]),
  );
}
