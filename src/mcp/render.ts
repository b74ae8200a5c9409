/**
 * A tool's outcome as text for a model. Promise: at most `maxChars` long, says what was cut, never
 * inlines binary data. Structured results stay bare JSON, which is what small models are trained on;
 * free text is marked with the server that wrote it, because it is untrusted.
 */
import type { ContentBlock, Outcome } from '../store/records.ts';
import { plainText } from './plain.ts';

/** The text of an outcome for the model. `maxChars` counts UTF-16 units. */
export function resultText(outcome: Outcome, serverName: string, maxChars: number): string {
  switch (outcome.kind) {
    case 'result': {
      const text = contentText(outcome.content, outcome.structured, serverName);
      // First, so that it is never what is cut off.
      const note = outcome.note === undefined ? '' : `[note: ${outcome.note}]\n`;
      return cut(plainText(note + text), maxChars);
    }
    case 'tool_error': {
      const text = plainText(outcome.content.map(blockText).join(' ')).trim();
      return errorText(text === '' ? 'the tool failed without a word' : text, maxChars);
    }
    default:
      return errorText(`${outcome.message} ${outcome.advice}`.trim(), maxChars);
  }
}

function contentText(
  content: readonly ContentBlock[],
  structured: unknown,
  serverName: string,
): string {
  const rest = content.filter((block) => block.type !== 'text').map(blockText);
  if (structured !== undefined) return [JSON.stringify(structured), ...rest].join('\n');
  const texts = content.filter((block) => block.type === 'text').map(blockText);
  const json = texts.length === 1 && rest.length === 0 ? compactJson(texts[0] ?? '') : null;
  if (json !== null) return json;
  const all = content.map(blockText).filter((text) => text !== '');
  if (all.length === 0) return '{"ok":true}';
  return `[from ${serverName}]\n${all.join('\n')}`;
}

/** JSON objects and lists that came as text, without their spaces. */
function compactJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return null;
  }
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return string(block.text);
    case 'image':
    case 'audio':
      return `[${block.type}: ${string(block.mimeType)}, ${size(block.data)}; shown to the user]`;
    case 'resource_link':
      return `[link: ${string(block.title ?? block.name)} ${string(block.uri)}]`;
    case 'resource': {
      const inner =
        typeof block.resource === 'object' && block.resource !== null ? block.resource : {};
      const { uri, text, blob } = inner as Record<string, unknown>;
      if (typeof text === 'string') return `[resource: ${string(uri)}]\n${text}`;
      return `[resource: ${string(uri)}, ${size(blob)}; shown to the user]`;
    }
    default:
      return `[${block.type}]`;
  }
}

function errorText(message: string, maxChars: number): string {
  const line = message.replace(/\s+/g, ' ');
  return JSON.stringify({ error: cut(line, Math.max(40, maxChars - 20)) });
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const note = (shown: number) =>
    `\n[cut: ${grouped(shown)} of ${grouped(text.length)} characters shown]`;
  let shown = Math.max(0, maxChars - note(maxChars).length);
  // Never half of a character that takes two units.
  if (/[\uD800-\uDBFF]/.test(text.charAt(shown - 1))) shown -= 1;
  return text.slice(0, shown) + note(shown);
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

function size(base64: unknown): string {
  const bytes = typeof base64 === 'string' ? Math.floor((base64.length * 3) / 4) : 0;
  return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
