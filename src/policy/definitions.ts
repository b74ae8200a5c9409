/**
 * What a tool's definition says, as text of its server: a model reads it, so it can wish for calls like
 * any other text of others. Pure.
 */
import type { Tool } from '../mcp/types.ts';
import type { UntrustedText } from './types.ts';

/** Words of the language of schemas (JSON Schema 2020-12 and draft 7): nobody's. */
const KEYWORDS = new Set(
  (
    '$schema $id $ref $defs $anchor $comment $dynamicRef $dynamicAnchor $vocabulary definitions ' +
    'type properties required items prefixItems additionalItems additionalProperties ' +
    'patternProperties propertyNames unevaluatedProperties unevaluatedItems dependentRequired ' +
    'dependentSchemas dependencies contains minContains maxContains allOf anyOf oneOf not if then ' +
    'else enum const default examples title description format pattern minimum maximum ' +
    'exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems ' +
    'minProperties maxProperties readOnly writeOnly deprecated contentEncoding contentMediaType ' +
    'contentSchema'
  ).split(' '),
);
/** Names of types and formats, and the address of the language itself. */
const TERMS = new Set(
  (
    'string number integer boolean object array null date-time date time duration email idn-email ' +
    'hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference uuid uri-template ' +
    'json-pointer relative-json-pointer regex'
  ).split(' '),
);
const LANGUAGE = /^https?:\/\/json-schema\.org\/draft(?:-0\d|\/20\d\d-\d\d)\/schema#?$/;
const TERMED = new Set(['type', 'format', '$schema']);

/** Every text and number that a schema holds beside the words of its language. */
function schemaTexts(value: unknown, into: string[], key = '', depth = 0): string[] {
  if (typeof value === 'number') into.push(String(value));
  else if (typeof value === 'string') {
    if (!TERMED.has(key) || !(TERMS.has(value) || LANGUAGE.test(value))) into.push(value);
  } else if (typeof value === 'object' && value !== null) {
    // What nests deeper is read as one text.
    if (depth > 32) into.push(JSON.stringify(value));
    else if (Array.isArray(value))
      for (const item of value) schemaTexts(item, into, key, depth + 1);
    else
      for (const [name, inner] of Object.entries(value)) {
        if (key === 'properties' || !KEYWORDS.has(name)) into.push(name);
        schemaTexts(inner, into, key === 'properties' ? '' : name, depth + 1);
      }
  }
  return into;
}

/** A definition stays what it is, and is asked about with every call. */
const texts = new WeakMap<Tool, UntrustedText>();
/** The same of tools in so far as they bear the name of the one that is called. */
const namesakes = new WeakMap<Tool, UntrustedText>();

function textOf(tool: Tool, isNamesake: boolean): UntrustedText {
  const cache = isNamesake ? namesakes : texts;
  const known = cache.get(tool);
  if (known) return known;
  const { serverName, name, modelName, title, description, inputSchema } = tool;
  // The name that a model reads may hold the one that the server gives itself.
  const names = isNamesake ? [serverName] : [...new Set([name, modelName, title])];
  const text = [...names, description, ...schemaTexts(inputSchema, [])].join('\n');
  // Names are found as they are written, and as the words that they are made of.
  const spaced = text.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2');
  const made = { source: serverName, text: spaced === text ? text : `${text}\n${spaced}` };
  cache.set(tool, made);
  return made;
}

/**
 * What other servers say of their tools; the phone's own tools say nothing that is not Deft's. That a
 * tool is called like the one that is judged is no word about that one.
 */
export function definitionsOfOthers(tool: Tool, offered: readonly Tool[]): UntrustedText[] {
  return offered
    .filter(({ server, local }) => server !== tool.server && !local)
    .map((other) => textOf(other, other.name === tool.name));
}
