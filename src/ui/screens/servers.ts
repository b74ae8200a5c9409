/** The state of a server and where it stands, in the words of its screens. Pure. */
import type { Place } from '../../mcp/place.ts';
import type { ServerView } from '../../mcp/types.ts';
import type { ListKind } from '../../store/records.ts';
import { ago, count } from './words.ts';

export interface State {
  readonly text: string;
  readonly tone: 'quiet' | 'accent' | 'warn';
}

/** How a server is, in a word or two; null where there is nothing to say. */
export function stateOf(server: ServerView): State | null {
  const { record, status, auth } = server;
  if (!record.enabled) return { text: 'Paused', tone: 'quiet' };
  if (auth === 'expired') return { text: 'Sign-in expired', tone: 'warn' };
  if (auth === 'wanted') return { text: 'Wants you to sign in', tone: 'warn' };
  if (status === 'connecting') return { text: 'Connecting', tone: 'quiet' };
  if (status === 'failed' || record.lastError) return { text: 'No answer', tone: 'warn' };
  return status === 'connected' ? { text: 'Connected', tone: 'accent' } : null;
}

/** Whether only the person can make it work again, by signing in. */
export function wantsSignIn({ record, auth }: ServerView): boolean {
  return record.enabled && (auth === 'expired' || auth === 'wanted');
}

/** How old the list of a server's tools is, as a sentence without its full stop. */
export function ageOf({ listedAt, stale }: ServerView, now: number): string {
  if (listedAt === null) return 'not listed yet';
  return `listed ${ago(listedAt, now)}${stale ? ', due for renewal' : ''}`;
}

/** E.g. `12 tools, 3 off`. */
export function toolsOf({ tools }: ServerView): string {
  const off = tools.filter(({ on }) => !on).length;
  return count(tools.length, 'tool') + (off > 0 ? `, ${off.toLocaleString()} off` : '');
}

/** What changed at a server since the person looked; empty where nothing did. */
export function changesOf({ appeared, missing }: ServerView): string {
  return [
    ...(appeared.length > 0 ? [`${count(appeared.length, 'new tool')}, off`] : []),
    ...(missing.length > 0 ? [`${count(missing.length, 'tool')} missing`] : []),
  ].join(' · ');
}

type Lists = Record<ListKind, readonly unknown[]>;

const THINGS: readonly (readonly [kind: ListKind, one: string])[] = [
  ['tools', 'tool'],
  ['prompts', 'prompt'],
  ['resources', 'resource'],
  ['templates', 'resource template'],
];

/** E.g. `12 tools, 3 prompts and 1 resource`. */
export function offerOf(lists: Lists): string {
  const parts = THINGS.map(([kind, one]) => ({ kind, one }))
    .filter(({ kind }) => lists[kind].length > 0)
    .map(({ kind, one }) => count(lists[kind].length, one));
  if (parts.length === 0) return 'nothing';
  const last = parts.at(-1) ?? '';
  return parts.length === 1 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

/** That lists without an end were cut, as a sentence; empty where none was. */
export function cutOf(cut: readonly ListKind[]): string {
  if (cut.length === 0) return '';
  const names = THINGS.filter(([kind]) => cut.includes(kind)).map(([, one]) => `${one}s`);
  const which =
    names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return `Its list of ${which} had no end. Deft took the first part and cut the rest off.`;
}

/** What is to be known of an address before anything is sent there. */
export function placeLines({ secure, where }: Place): string[] {
  const stands = {
    internet: 'It is on the internet.',
    network: 'It is in your own network. Its name or address means something else elsewhere.',
    device: 'It runs on this device.',
  }[where];
  if (secure) return [stands, 'https: what is sent there is encrypted on its way.'];
  return where === 'device'
    ? [stands, 'http: nothing leaves this device on the way there.']
    : [stands, 'http: what is sent there can be read by others in the network.'];
}

/** What no server may do, whatever it says. */
export const NEVER: readonly string[] = [
  'Run one of its tools without your yes, unless you trust its hints or allow it for good.',
  'See your conversation: it gets the arguments of a call that you allowed, and nothing else.',
  'See your other servers, or what they answer.',
  'Read files, folders, contacts or the place of this phone.',
  'Ask the model for anything, unless you allow that on its page.',
  'Change its tools behind your back: new ones are off, and changed ones ask anew.',
];
