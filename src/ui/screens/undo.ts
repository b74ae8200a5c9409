/** How the person says that calls of a tool are undone: choices of a form, and the rule they make. Pure. */
import type { ToolDefinition, UndoRule } from '../../store/records.ts';
import { isRecord } from '../conversation/values.ts';
import { parametersOf } from './tools.ts';

/** Where the value of one argument comes from. */
export interface Choice {
  /** `args.<name>`, `result.<name>`, or one of the two below. */
  readonly from: string;
  /** Of `RESULT`: the field's path. Of `FIXED`: the text. */
  readonly text: string;
}

/** A field of the result that its schema does not name. */
export const RESULT = 'result';
export const FIXED = 'fixed';

/** What a value can be taken from, for a tool's call; the last two want a text. */
export function sourcesOf(tool: ToolDefinition): { value: string; title: string }[] {
  const given = parametersOf(tool.inputSchema).map(({ name }) => ({
    value: `args.${name}`,
    title: `${name}, as it was asked for`,
  }));
  const gave = fieldsOf(tool).map((name) => ({
    value: `result.${name}`,
    title: `${name} of the result`,
  }));
  const other = gave.length > 0 ? 'Another field of the result' : 'A field of the result';
  return [
    ...gave,
    ...given,
    { value: RESULT, title: other },
    { value: FIXED, title: 'A fixed text' },
  ];
}

const fieldsOf = ({ outputSchema }: ToolDefinition): string[] =>
  isRecord(outputSchema?.properties) ? Object.keys(outputSchema.properties) : [];

/** The likeliest choice for an argument: what has the same name. */
export function likelyChoice(name: string, tool: ToolDefinition): Choice {
  const values = sourcesOf(tool).map(({ value }) => value);
  const from = [`result.${name}`, `args.${name}`].find((value) => values.includes(value)) ?? '';
  return { from, text: '' };
}

/** How a stored rule was chosen; what is no text is shown as its JSON. */
export function choiceOf(value: unknown, tool: ToolDefinition): Choice {
  if (typeof value !== 'string') return { from: FIXED, text: JSON.stringify(value) };
  const place = value.startsWith('$') ? value.slice(1) : '';
  if (sourcesOf(tool).some((source) => source.value === place)) return { from: place, text: '' };
  if (place.startsWith('result.')) return { from: RESULT, text: place.slice('result.'.length) };
  return { from: FIXED, text: value };
}

/** What is wrong with a choice, as a sentence; undefined where nothing is. */
export function faultOf({ from, text }: Choice): string | undefined {
  if (from === '') return 'Choose where the value comes from.';
  if (from === RESULT && text.trim() === '') return 'Name the field, e.g. id or event.id.';
  if (from === FIXED && /^\$(args|result)\./.test(text))
    return 'This would be read as a field. Choose it in the list instead.';
  return undefined;
}

function valueOf({ from, text }: Choice): string {
  if (from === FIXED) return text;
  return from === RESULT ? `$result.${text.trim()}` : `$${from}`;
}

export function ruleOf(tool: string, choices: Readonly<Record<string, Choice>>): UndoRule {
  const values = Object.entries(choices).map(([name, choice]) => [name, valueOf(choice)] as const);
  return { tool, arguments: Object.fromEntries(values) };
}
