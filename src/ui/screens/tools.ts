/** What a tool's schema says about its arguments, in words. The schema is the server's: untrusted. */
import type { JsonSchema } from '../../brain/brain.ts';

export interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const MOST_CHOICES = 6;

function typeInWords(schema: Record<string, unknown>): string {
  if (Array.isArray(schema.enum)) {
    const values = schema.enum.map((value) => String(value));
    const shown = values.slice(0, MOST_CHOICES).join(', ');
    return `one of ${shown}${values.length > MOST_CHOICES ? ', …' : ''}`;
  }
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : schema.type;
  if (type === 'array') {
    const inside = isObject(schema.items) ? typeInWords(schema.items) : 'anything';
    return `list of ${inside}`;
  }
  const format = typeof schema.format === 'string' ? ` (${schema.format})` : '';
  return `${typeof type === 'string' ? type : 'anything'}${format}`;
}

export function parametersOf(schema: JsonSchema): Parameter[] {
  if (!isObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, value]) => {
    const property = isObject(value) ? value : {};
    return {
      name,
      type: typeInWords(property),
      description: typeof property.description === 'string' ? property.description : '',
      required: required.includes(name),
    };
  });
}
