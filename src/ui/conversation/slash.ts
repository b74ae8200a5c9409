/** Prompts of servers as slash commands: which ones fit what is typed, and what one becomes. */
import type { PromptResult, ServerView } from '../../mcp/types.ts';
import type { AttachmentPart, ContentBlock, PromptDefinition } from '../../store/records.ts';
import { isRecord } from './values.ts';

export interface PromptChoice {
  /** Unique among all. */
  readonly key: string;
  readonly server: string;
  readonly serverName: string;
  readonly prompt: PromptDefinition;
}

/** More than a person reads through: more letters find the rest. */
const MOST = 50;

const titleOf = (prompt: PromptDefinition): string => prompt.title || prompt.name;

/** Prompts of the servers that are on whose name, title or server holds the query, best first. */
export function promptChoices(
  servers: readonly ServerView[],
  query: string,
): readonly PromptChoice[] {
  const wanted = query.toLowerCase();
  const ranked: { choice: PromptChoice; rank: number }[] = [];
  for (const { record, prompts } of servers) {
    if (!record.enabled) continue;
    for (const prompt of prompts) {
      const name = prompt.name.toLowerCase();
      const all = `${name} ${titleOf(prompt)} ${record.name}`.toLowerCase();
      if (!all.includes(wanted)) continue;
      const rank = name.startsWith(wanted) ? 0 : name.includes(wanted) ? 1 : 2;
      const choice = {
        key: `${record.id}/${prompt.name}`,
        server: record.id,
        serverName: record.name,
        prompt,
      };
      ranked.push({ choice, rank });
    }
  }
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST)
    .map(({ choice }) => choice);
}

/** What came back of a prompt: words for the box, and what hangs on them. */
export interface FilledPrompt {
  readonly words: string;
  /** Whose words they are: the name of the server. */
  readonly source: string;
  readonly attached: readonly AttachmentPart[];
}

/** The last part of an address, for a name. */
export function nameOfUri(uri: string): string {
  const parts = uri.split(/[/\\?#]+/).filter(Boolean);
  const last = parts.at(-1) ?? uri;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  image: 'Image',
  audio: 'Sound',
};

/** A prompt's messages as a draft: its texts are the words, everything else hangs on them. */
export function filled(
  result: PromptResult,
  from: { readonly id: string; readonly name: string; readonly private: boolean },
  at: number,
): FilledPrompt {
  const words: string[] = [];
  const attached: AttachmentPart[] = [];
  for (const { role, content } of result.messages) {
    if (content.type === 'text') {
      const text = typeof content.text === 'string' ? content.text : '';
      if (text) words.push(role === 'assistant' ? `Assistant: ${text}` : text);
      continue;
    }
    const resource = isRecord(content.resource) ? content.resource : content;
    const uri = typeof resource['uri'] === 'string' ? resource['uri'] : '';
    attached.push(
      attachment(
        from,
        {
          uri,
          name: uri ? nameOfUri(uri) : (NAMES[content.type] ?? content.type),
          content: [content],
        },
        at,
      ),
    );
  }
  return { words: words.join('\n\n'), source: from.name, attached };
}

/** Something of a server that is to hang on the person's words. */
export function attachment(
  from: { readonly id: string; readonly name: string; readonly private: boolean },
  what: {
    readonly uri: string;
    readonly name: string;
    readonly content: readonly ContentBlock[];
  },
  at: number,
): AttachmentPart {
  return {
    kind: 'attachment',
    step: 0,
    server: from.id,
    serverName: from.name,
    ...what,
    at,
    ...(from.private ? { private: true } : {}),
  };
}
