/**
 * A server's form as fields that can be drawn, and what was typed as the values that it gets. The
 * schema is the restricted one of MCP's elicitation (revision 2025-11-25): a flat object of texts,
 * numbers, yes or no, and choices. Untrusted: what is no such field is left out, and said.
 */
import type { ElicitAnswer } from '../../mcp/types.ts';
import { isRecord, readable } from './values.ts';

interface Option {
  readonly value: string;
  readonly title: string;
}

interface Base {
  readonly name: string;
  readonly label: string;
  readonly note: string;
  readonly required: boolean;
  /** It asks for something that no form of a server should ask for. */
  readonly secret: boolean;
}

interface TextKind extends Base {
  readonly kind: 'text';
  readonly format: 'text' | 'email' | 'uri' | 'date' | 'date-time';
  readonly least: number;
  readonly most: number;
  readonly pattern: RegExp | null;
  readonly start: string;
}
interface NumberKind extends Base {
  readonly kind: 'number';
  readonly whole: boolean;
  readonly least: number;
  readonly most: number;
  readonly start: string;
}
interface SwitchKind extends Base {
  readonly kind: 'switch';
  readonly start: boolean;
}
interface ChoiceKind extends Base {
  readonly kind: 'choice';
  readonly options: readonly Option[];
  readonly start: string;
}
interface ChoicesKind extends Base {
  readonly kind: 'choices';
  readonly options: readonly Option[];
  readonly least: number;
  readonly most: number;
  readonly start: readonly string[];
}
export type Field = TextKind | NumberKind | SwitchKind | ChoiceKind | ChoicesKind;

/** What is typed so far, by the name of the field. */
export type Typed = Record<string, string | boolean | readonly string[]>;

interface Form {
  readonly fields: readonly Field[];
  /** Names of what is asked for in a way that cannot be drawn. */
  readonly left: readonly string[];
}

/** More fields than a person would fill in: the rest is left out. */
const MOST_FIELDS = 60;
const MOST_OPTIONS = 500;
/** Longest text that a form takes, in characters. */
const LONGEST = 20_000;
const LONGEST_PATTERN = 300;

const FORMATS = new Set(['email', 'uri', 'date', 'date-time']);

/** Words that stand for a secret, in a name or a title. */
const SECRET =
  /\b(pass ?(word|code|phrase|key)s?|pwd|pins?|pin ?code|secrets?|tokens?|api ?keys?|private ?key|credentials?|card ?(no|num|number)|(credit|debit|bank) ?card|cvv|cvc|security code|otp|one ?time (code|password)|iban|ssn|social security|account number|recovery (code|phrase)|seed phrase|mother'?s maiden)\b/i;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const figure = (value: unknown, other: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : other;
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

/** The fields of a form, in the order in which the server names them. */
export function formOf(schema: Readonly<Record<string, unknown>>): Form {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = new Set(texts(schema['required']));
  const fields: Field[] = [];
  const left: string[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const field =
      fields.length < MOST_FIELDS && isRecord(property)
        ? fieldOf(name, property, required.has(name))
        : null;
    if (field) fields.push(field);
    else left.push(name);
  }
  return { fields, left };
}

function fieldOf(
  name: string,
  property: Readonly<Record<string, unknown>>,
  required: boolean,
): Field | null {
  const title = text(property['title']).trim();
  const label = title || readable(name);
  const base = {
    name,
    label,
    note: text(property['description']).trim(),
    required,
    secret: SECRET.test(`${readable(name)} · ${title}`),
  };
  const start = property['default'];
  switch (property['type']) {
    case 'string': {
      const options = optionsOf(property);
      if (options) {
        const known = options.some(({ value }) => value === start);
        return { ...base, kind: 'choice', options, start: known ? text(start) : '' };
      }
      const format = text(property['format']);
      const known = FORMATS.has(format) ? (format as TextKind['format']) : 'text';
      return {
        ...base,
        kind: 'text',
        format: known,
        least: Math.max(0, figure(property['minLength'], 0)),
        most: Math.min(LONGEST, figure(property['maxLength'], LONGEST)),
        pattern: patternOf(property['pattern']),
        start: known === 'date-time' ? localTime(text(start)) : text(start),
      };
    }
    case 'number':
    case 'integer':
      return {
        ...base,
        kind: 'number',
        whole: property['type'] === 'integer',
        least: figure(property['minimum'], -Infinity),
        most: figure(property['maximum'], Infinity),
        start: typeof start === 'number' ? String(start) : '',
      };
    case 'boolean':
      return { ...base, kind: 'switch', start: start === true };
    case 'array': {
      const options = isRecord(property['items']) ? optionsOf(property['items']) : null;
      if (!options) return null;
      return {
        ...base,
        kind: 'choices',
        options,
        least: figure(property['minItems'], required ? 1 : 0),
        most: figure(property['maxItems'], Infinity),
        start: texts(start).filter((one) => options.some(({ value }) => value === one)),
      };
    }
    default:
      return null;
  }
}

/** `enum` with `enumNames`, or `oneOf` / `anyOf` of constants with titles; null where it is neither. */
function optionsOf(schema: Readonly<Record<string, unknown>>): readonly Option[] | null {
  const titled = schema['oneOf'] ?? schema['anyOf'];
  if (Array.isArray(titled)) {
    const options = titled.flatMap((one) =>
      isRecord(one) && typeof one['const'] === 'string'
        ? [{ value: one['const'], title: text(one['title']) || one['const'] }]
        : [],
    );
    return options.length > 0 ? unique(options) : null;
  }
  if (!Array.isArray(schema['enum'])) return null;
  const names = texts(schema['enumNames']);
  const options = texts(schema['enum']).map((value, at) => ({ value, title: names[at] || value }));
  return options.length > 0 ? unique(options) : null;
}

function unique(options: readonly Option[]): readonly Option[] {
  const seen = new Set<string>();
  return options.filter(({ value }) => !seen.has(value) && seen.add(value)).slice(0, MOST_OPTIONS);
}

/**
 * A server's pattern. One that could take for ever on a wrong text (a repeated group that repeats
 * inside) is left to the server to check.
 */
function patternOf(pattern: unknown): RegExp | null {
  if (typeof pattern !== 'string' || pattern.length > LONGEST_PATTERN) return null;
  if (/\([^()]*[+*}|][^()]*\)\s*[+*{]|\)\)+[+*{]/.test(pattern)) return null;
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return null;
  }
}

/** RFC 3339 as `datetime-local` wants it, in the phone's own time; empty where it is no time. */
function localTime(time: string): string {
  const date = new Date(time);
  if (time === '' || Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What the fields show at first. */
export function startOf(fields: readonly Field[]): Typed {
  return Object.fromEntries(fields.map((field) => [field.name, field.start]));
}

/** What is wrong with what was typed, as a sentence that says what to do; null where nothing is. */
export function faultOf(field: Field, typed: Typed): string | null {
  const value = typed[field.name];
  switch (field.kind) {
    case 'switch':
      return null;
    case 'choice':
      return field.required && !value ? 'Choose one.' : null;
    case 'choices': {
      const { length } = Array.isArray(value) ? value : [];
      if (length === 0 && !field.required) return null;
      if (length < field.least)
        return field.least === 1 ? 'Choose at least one.' : `Choose at least ${field.least}.`;
      return length > field.most ? `Choose at most ${field.most}.` : null;
    }
    case 'number': {
      const typedText = text(value).trim();
      if (typedText === '') return field.required ? 'Write a number.' : null;
      if (THOUSANDS.test(typedText)) return 'Write it without a comma between the thousands.';
      return numberFault(field, numberOf(typedText));
    }
    case 'text': {
      const words = text(value);
      if (words.trim() === '') return field.required ? 'Fill this in.' : null;
      return textFault(field, words);
    }
  }
}

/** A comma is how half the world writes a decimal point. */
const numberOf = (typed: string): number => Number(typed.replace(',', '.'));

/** `1,000` could be one or a thousand. */
const THOUSANDS = /^-?[1-9]\d{0,2}(,\d{3})+$/;

function numberFault({ whole, least, most }: NumberKind, value: number): string | null {
  if (!Number.isFinite(value)) return 'Write a number, in digits.';
  if (whole && !Number.isSafeInteger(value)) return 'Write a whole number.';
  if (value >= least && value <= most) return null;
  if (least === -Infinity) return `Write a number up to ${most}.`;
  return most === Infinity
    ? `Write a number from ${least} up.`
    : `Write a number from ${least} to ${most}.`;
}

function textFault(field: TextKind, words: string): string | null {
  const { length } = [...words];
  if (length < field.least) return `Write at least ${field.least} characters; these are ${length}.`;
  if (length > field.most) return `Write at most ${field.most} characters; these are ${length}.`;
  switch (field.format) {
    case 'email':
      if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(words.trim()))
        return 'Write an email address, such as name@example.com.';
      break;
    case 'uri':
      if (!URL.canParse(words.trim())) return 'Write a whole address, such as https://example.com.';
      break;
    case 'date':
      if (!/^\d{4}-\d\d-\d\d$/.test(words)) return 'Choose a day.';
      break;
    case 'date-time':
      if (Number.isNaN(new Date(words).getTime())) return 'Choose a day and a time.';
  }
  if (field.pattern && !field.pattern.test(words))
    return field.note
      ? `The server wants this in another form: ${field.note}`
      : 'The server wants this in another form.';
  return null;
}

/** Words of the person that went nowhere. */
export interface Written {
  readonly label: string;
  readonly text: string;
}

/** What the person typed and nobody got. A secret is not shown once more. */
export function writtenIn(fields: readonly Field[], typed: Typed): readonly Written[] {
  return fields.flatMap((field) => {
    if ((field.kind !== 'text' && field.kind !== 'number') || field.secret) return [];
    const words = text(typed[field.name]);
    return words.trim() === '' || words === field.start
      ? []
      : [{ label: field.label, text: words }];
  });
}

type Content = NonNullable<Extract<ElicitAnswer, { action: 'accept' }>['content']>;

/** What the server gets. Empty fields that it does not require are left out. */
export function contentOf(fields: readonly Field[], typed: Typed): Content {
  const content: Record<string, string | number | boolean | string[]> = {};
  for (const field of fields) {
    const value = typed[field.name];
    if (field.kind === 'switch') content[field.name] = value === true;
    else if (field.kind === 'choices') {
      if (Array.isArray(value) && (value.length > 0 || field.required))
        content[field.name] = [...value];
    } else if (typeof value === 'string' && value.trim() !== '') {
      if (field.kind === 'number') content[field.name] = numberOf(value.trim());
      else if (field.kind === 'choice' || field.format === 'text') content[field.name] = value;
      else if (field.format === 'date-time') content[field.name] = new Date(value).toISOString();
      else content[field.name] = value.trim();
    }
  }
  return content;
}
