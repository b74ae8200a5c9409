/**
 * What changed between two definitions of a tool, so that a person can judge it: words added and
 * removed, fields added, removed, loosened or tightened. Pure. Promise: two definitions with different
 * pins never read as the same.
 */
import { canonicalJson } from '../store/canonical.ts';
import type { ToolDefinition, UndoRule } from '../store/records.ts';

export interface Piece {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

export interface FieldChange {
  /** Place of the field, e.g. `to` or `items/price`. */
  readonly field: string;
  readonly kind: 'added' | 'removed' | 'loosened' | 'tightened' | 'changed';
  /** A sentence for the person. */
  readonly text: string;
}

export interface Difference {
  /** The title with what was added and removed; null where it is the same. */
  readonly title: readonly Piece[] | null;
  readonly description: readonly Piece[] | null;
  readonly fields: readonly FieldChange[];
  /** Sentences on what the server says of the tool's effects. */
  readonly hints: readonly string[];
}

type Schema = Readonly<Record<string, unknown>>;

export function differenceOf(before: ToolDefinition, after: ToolDefinition): Difference {
  const difference = {
    title: textChange(before.title ?? before.name, after.title ?? after.name),
    description: textChange(before.description ?? '', after.description ?? ''),
    fields: [
      ...schemaChanges(before.inputSchema, after.inputSchema, '', 'argument'),
      ...schemaChanges(before.outputSchema ?? {}, after.outputSchema ?? {}, '', 'result field'),
    ],
    hints: hintChanges(before, after),
  };
  const nothing =
    !difference.title &&
    !difference.description &&
    difference.fields.length === 0 &&
    difference.hints.length === 0;
  // E.g. a title that now says what was shown in its place before.
  return nothing
    ? { ...difference, hints: ['Something that is not shown has changed.'] }
    : difference;
}

const textChange = (before: string, after: string): Piece[] | null =>
  before === after ? null : wordChanges(before, after);

/** More words than this are not aligned one by one: the middle that differs is shown as a whole. */
const MOST_WORDS = 1_500;

/** Words of both texts in order, by a longest common subsequence of words. */
export function wordChanges(before: string, after: string): Piece[] {
  const [a, b] = [before.match(/\s+|\S+/g) ?? [], after.match(/\s+|\S+/g) ?? []];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  )
    end += 1;
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return merged([
    ...a.slice(0, start).map((text): Piece => ({ kind: 'same', text })),
    ...middle,
    ...a.slice(a.length - end).map((text): Piece => ({ kind: 'same', text })),
  ]);
}

function between(a: readonly string[], b: readonly string[]): Piece[] {
  const removed = (): Piece[] => a.map((text) => ({ kind: 'removed', text }));
  const added = (): Piece[] => b.map((text) => ({ kind: 'added', text }));
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return [...removed(), ...added()];
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      longest[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      pieces.push({ kind: 'same', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      pieces.push({ kind: 'removed', text: a[i] ?? '' });
      i += 1;
    } else {
      pieces.push({ kind: 'added', text: b[j] ?? '' });
      j += 1;
    }
  }
  return pieces;
}

function merged(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (last?.kind === piece.kind) all[all.length - 1] = { ...last, text: last.text + piece.text };
    else all.push(piece);
  }
  return all;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const schemasIn = (schema: Schema): Readonly<Record<string, Schema>> => {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const items = isSchema(schema.items) ? { '(each)': schema.items } : {};
  return Object.fromEntries(
    Object.entries({ ...properties, ...items }).filter(([, inner]) => isSchema(inner)),
  ) as Record<string, Schema>;
};

const requiredOf = (schema: Schema): Set<unknown> =>
  new Set(Array.isArray(schema.required) ? schema.required : []);

type What = 'argument' | 'result field';

function schemaChanges(before: Schema, after: Schema, path: string, what: What): FieldChange[] {
  const [old, fresh] = [schemasIn(before), schemasIn(after)];
  const [needed, needs] = [requiredOf(before), requiredOf(after)];
  const changes: FieldChange[] = [];
  const note = (field: string, kind: FieldChange['kind'], text: string): void => {
    changes.push({ field, kind, text });
  };
  for (const [name, schema] of Object.entries(fresh)) {
    const field = path === '' ? name : `${path}/${name}`;
    const was = old[name];
    if (!was) {
      const must = what === 'argument' && needs.has(name) ? ', which it must be given' : '';
      const says = typeof schema.description === 'string' ? `: “${schema.description}”` : '';
      note(field, 'added', `New ${what} “${field}”${must}${says}.`);
      continue;
    }
    if (needed.has(name) !== needs.has(name))
      if (needs.has(name)) note(field, 'tightened', `“${field}” must be given now.`);
      else note(field, 'loosened', `“${field}” may be left out now.`);
    changes.push(...schemaChanges(was, schema, field, what));
  }
  for (const name of Object.keys(old))
    if (!fresh[name]) {
      const field = path === '' ? name : `${path}/${name}`;
      note(field, 'removed', `The ${what} “${field}” is gone.`);
    }
  return [...changes, ...ruleChanges(before, after, path, what)];
}

/** Rules where a smaller number, or a shorter list, is the stricter one. */
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const STRUCTURE = new Set(['properties', 'items', 'required']);

function ruleChanges(before: Schema, after: Schema, path: string, what: What): FieldChange[] {
  const field = path === '' ? 'the whole' : path;
  const shown = path === '' ? (what === 'argument' ? 'The arguments' : 'The result') : `“${path}”`;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): FieldChange[] => {
    const [was, is] = [before[name], after[name]];
    if (STRUCTURE.has(name) && (isSchema(was) || isSchema(is) || name === 'required')) return [];
    if (canonicalJson(was ?? null) === canonicalJson(is ?? null)) return [];
    const kind = strictness(name, was, is);
    const said = `${name} was ${short(was)}, and is ${short(is)}`;
    const verb = { loosened: 'takes more than before', tightened: 'takes less than before' };
    const text =
      kind === 'changed' ? `${shown} changed: ${said}.` : `${shown} ${verb[kind]}: ${said}.`;
    return [{ field, kind, text }];
  });
}

function strictness(name: string, was: unknown, is: unknown): 'loosened' | 'tightened' | 'changed' {
  if (name === 'description' || name === 'title' || name === 'default') return 'changed';
  if (name === 'additionalProperties') {
    if (was === false) return 'loosened';
    return is === false ? 'tightened' : 'changed';
  }
  if (is === undefined) return 'loosened';
  if (was === undefined) return 'tightened';
  if (name === 'enum' || name === 'type') {
    const [old, fresh] = [[was].flat().map(canonicalJson), [is].flat().map(canonicalJson)];
    if (old.every((value) => fresh.includes(value))) return 'loosened';
    return fresh.every((value) => old.includes(value)) ? 'tightened' : 'changed';
  }
  if (typeof was === 'number' && typeof is === 'number') {
    if (UPPER.includes(name)) return is > was ? 'loosened' : 'tightened';
    if (LOWER.includes(name)) return is < was ? 'loosened' : 'tightened';
  }
  return 'changed';
}

function short(value: unknown): string {
  if (value === undefined) return 'not there';
  const text = typeof value === 'string' ? `“${value}”` : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

const HINTS = {
  readOnlyHint: ['that it only reads', 'that it may change something'],
  destructiveHint: ['that it may delete or overwrite', 'that it deletes nothing'],
  idempotentHint: ['that doing it twice does no more than once', 'that doing it twice may do more'],
  openWorldHint: ['that it reaches other people or services', 'that it reaches nobody else'],
} as const;

function hintChanges(before: ToolDefinition, after: ToolDefinition): string[] {
  const [old, fresh] = [before.annotations ?? {}, after.annotations ?? {}];
  const lines = Object.entries(HINTS).flatMap(([name, [yes, no]]) => {
    const [was, is] = [old[name as keyof typeof HINTS], fresh[name as keyof typeof HINTS]];
    if (was === is) return [];
    if (is === undefined) return [`Its server no longer says ${was ? yes : no}.`];
    return [`Its server now says ${is ? yes : no}.`];
  });
  if (old.title !== fresh.title) lines.push(`It is called “${fresh.title ?? after.name}” now.`);
  return [...lines, ...undoChanges(before.undo, after.undo)];
}

function undoChanges(was: ToolDefinition['undo'], is: ToolDefinition['undo']): string[] {
  if (canonicalJson(was ?? null) === canonicalJson(is ?? null)) return [];
  const said = (rule: UndoRule): string => `“${rule.tool}” with ${short(rule.arguments)}`;
  if (!is) return ['Its server no longer says how it is undone.'];
  const before = was ? ` Before, it was ${said(was)}.` : '';
  return [`Its server now says that it is undone by ${said(is)}.${before}`];
}
