/**
 * Looks through what a server says of a tool for the known tricks, before the person agrees to it.
 * Pure. Promise: it only reports; a clean report is no proof that a tool means well.
 */
import { hiddenIn, plainText } from '../mcp/plain.ts';
import type { ToolDefinition } from '../store/records.ts';
import { plainName } from './names.ts';

export interface Finding {
  readonly kind: 'hidden' | 'instruction' | 'secret' | 'other-tool' | 'address' | 'long';
  /** A sentence for the person. */
  readonly text: string;
  /** The words that it is about, plain and short. */
  readonly quote?: string;
}

/** Words that speak to the model instead of describing the tool. */
const INSTRUCTIONS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|other|all|any|system)\b.{0,30}\b(?:instructions?|rules?|prompts?|tools?|messages?)?/i,
  /\b(?:do not|don't|never|without)\b.{0,25}\b(?:tell|mention|inform|show|reveal|notify|ask|asking|telling|informing|mentioning)\b.{0,25}(?:\b(?:user|person|human|them|anyone)\b)?/i,
  /<\/?(?:important|system|instructions?|secret|hidden|assistant|admin)\b[^>]*>/i,
  /\b(?:you (?:must|should|have to|need to|are required to)|always|make sure to|be sure to)\b.{0,40}\b(?:call|use|run|invoke|execute|send|include|pass|read|append|forward)\b/i,
  /\b(?:before|after|instead of|prior to)\s+(?:using|calling|running|invoking|you (?:use|call|run))\b/i,
  /\b(?:system prompt|as an ai|you are (?:now|an? )|new instructions?|from now on)\b/i,
];

const SECRETS =
  /(?:~\/\.|\.ssh\b|id_rsa|\.env\b|\/etc\/passwd|\b(?:api[ _-]?keys?|access[ _-]?tokens?|passwords?|passphrases?|private keys?|seed phrases?|credentials?|cookies?|(?:chat|conversation|message) history|whole conversation|full conversation|previous messages)\b)/i;

const ADDRESS = /\bhttps?:\/\/[^\s"'<>)\]]+/gi;
/** What turns an address into a way out for data. */
const CARRIES = /[?&][^=\s]{1,40}=(?:\{|%7B|<|\$|\[|$)|\{[^}]{1,60}\}|!\[[^\]]*\]\(\s*https?:/i;
const SENDING =
  /\b(?:send|post|upload|forward|report|submit|append|log|exfiltrate|transmit|email)\b/i;

/** A description longer than this hides words by its length alone, in characters. */
const LONG = 2_000;
const SHORT_NAME = 4;
const QUOTE = 160;

/** Every text that a definition holds: titles, descriptions, names, values. */
function textsOf(value: unknown, into: string[] = [], depth = 0): string[] {
  if (typeof value === 'string') into.push(value);
  else if (typeof value === 'object' && value !== null && depth < 32)
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) into.push(name);
      textsOf(inner, into, depth + 1);
    }
  return into;
}

function around(text: string, at: number, length: number): string {
  const from = Math.max(0, at - 20);
  const words = plainText(text.slice(from, Math.max(at + length, from + QUOTE))).replace(
    /\s+/g,
    ' ',
  );
  return words.trim();
}

/** `otherNames`: names of the tools of all servers but this one; its own may speak of each other. */
export function scan(definition: ToolDefinition, otherNames: readonly string[]): Finding[] {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  const texts = textsOf([name, title, description, inputSchema, outputSchema, annotations]);
  const findings: Finding[] = [];

  const hidden = texts.flatMap(hiddenIn);
  if (hidden.length > 0) {
    const signs = hidden.length === 1 ? 'a character' : `${hidden.length} characters`;
    findings.push({
      kind: 'hidden',
      text: `It holds ${signs} that you cannot see and a model could read. Deft leaves them out.`,
      ...quoteOf(spelled(hidden)),
    });
  }
  // What is spelled out in hidden characters is looked through as well.
  const all = [...texts.map(plainText), spelled(hidden)].filter((text) => text !== '');
  const first = (pattern: RegExp): string | null => {
    for (const text of all) {
      const match = pattern.exec(text);
      if (match) return around(text, match.index, match[0].length);
    }
    return null;
  };

  const instruction = INSTRUCTIONS.map(first).find((quote) => quote !== null);
  if (instruction)
    findings.push({
      kind: 'instruction',
      text: 'It gives orders to the model instead of only saying what it does.',
      quote: instruction,
    });
  const secret = first(SECRETS);
  if (secret)
    findings.push({
      kind: 'secret',
      text: 'It speaks of keys, passwords, private files or of the conversation itself.',
      quote: secret,
    });
  for (const other of new Set(otherNames)) {
    if (other === name || other.length < SHORT_NAME) continue;
    // A plain word is no name: only one that is written like a name counts.
    if (!/[_.\-\d]|[a-z][A-Z]/.test(other)) continue;
    const escaped = other.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const quote = first(new RegExp(`(?<![\\w.-])${escaped}(?![\\w-])`, 'i'));
    if (quote)
      findings.push({
        kind: 'other-tool',
        text: `It speaks of ${plainName(other)}, a tool of another server.`,
        quote,
      });
  }
  for (const text of all)
    for (const { 0: address, index } of text.matchAll(ADDRESS)) {
      const near = text.slice(Math.max(0, index - 80), index);
      const sends = CARRIES.test(address) || CARRIES.test(text.slice(index - 12, index + 12));
      if (!sends && !SENDING.test(near)) continue;
      findings.push({
        kind: 'address',
        text: `It names an address that data could be sent to: ${hostOf(address)}.`,
        quote: around(text, index, address.length),
      });
    }
  if ((description ?? '').length > LONG)
    findings.push({
      kind: 'long',
      text: `Its description is very long: ${(description ?? '').length} characters.`,
    });
  return unique(findings);
}

/** What tag characters and bytes in variation selectors spell, where they spell anything. */
function spelled(hidden: readonly string[]): string {
  const letters = hidden.map((it) => {
    const code = it.codePointAt(0) ?? 0;
    return code >= 0xe0020 && code <= 0xe007e ? String.fromCodePoint(code - 0xe0000) : '';
  });
  return letters.join('');
}

const quoteOf = (quote: string): { quote: string } | object =>
  quote === '' ? {} : { quote: quote.slice(0, QUOTE) };

const hostOf = (address: string): string =>
  plainName(URL.canParse(address) ? new URL(address).host : address);

function unique(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ text }) => !seen.has(text) && seen.add(text));
}
