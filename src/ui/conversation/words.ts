/** Words and figures of a conversation: states, activities, counts, as the person reads them. */
import type { Activity, MessageView } from '../../app.ts';
import type {
  CallPart,
  ContextUse,
  NoticeAction,
  RoutePart,
  StepPart,
} from '../../store/records.ts';

export type CallTone = 'quiet' | 'busy' | 'ask' | 'good' | 'warn' | 'bad';

export interface CallStatus {
  readonly tone: CallTone;
  readonly label: string;
}

/** `live`: somebody is at work on the turn; else what is not finished was cut off. */
export function callStatus(call: CallPart, live: boolean): CallStatus {
  switch (call.state) {
    case 'proposed':
      return { tone: 'quiet', label: live ? 'Waiting' : 'Did not run' };
    case 'asked':
      return { tone: 'ask', label: 'Needs your answer' };
    case 'allowed':
      return { tone: 'quiet', label: live ? 'About to run' : 'Did not run' };
    case 'denied':
      return { tone: 'quiet', label: 'You said no' };
    case 'refused':
      return { tone: 'warn', label: 'Not allowed' };
    case 'running':
      return live
        ? { tone: 'busy', label: 'Running' }
        : { tone: 'warn', label: 'Cut off, outcome unknown' };
    case 'done':
      return outcomeStatus(call);
  }
}

function outcomeStatus(call: CallPart): CallStatus {
  switch (call.outcome?.kind) {
    case undefined:
    case 'result':
      return { tone: 'good', label: 'Done' };
    case 'tool_error':
      return { tone: 'bad', label: 'The tool reported an error' };
    case 'unavailable':
      return { tone: 'bad', label: 'Could not be reached' };
    case 'timeout':
      return { tone: 'bad', label: 'No answer in time' };
    case 'unknown':
      return { tone: 'warn', label: 'Outcome unknown' };
  }
}

/** The call of a message's turn with that id. */
function callTitle(callId: string, messages: readonly MessageView[]): string {
  for (const part of messages.at(-1)?.parts ?? [])
    if (part.kind === 'call' && part.callId === callId) return part.title;
  return 'a tool';
}

const PREPARING: Readonly<Record<Extract<Activity, { kind: 'preparing' }>['phase'], string>> = {
  wait: 'Another tab of Deft is using the model; this one comes next',
  load: 'Loading the model',
  prefill: 'Reading',
};

/** The status line; empty while there is nothing to say. */
export function activityWords(activity: Activity, messages: readonly MessageView[]): string {
  switch (activity.kind) {
    case 'idle':
      return '';
    case 'routing':
      return 'Choosing a brain';
    case 'preparing':
      return PREPARING[activity.phase];
    case 'thinking':
      return 'Thinking';
    case 'writing':
      return 'Writing';
    case 'asking':
      return 'Waiting for your answer';
    case 'calling':
      return `Calling ${callTitle(activity.callId, messages)}`;
    case 'summarising':
      return 'Summarising what was said before';
    case 'elsewhere':
      return 'Another tab is at work on this conversation';
  }
}

export function percent(fraction: number): string {
  return `${Math.floor(Math.min(1, Math.max(0, fraction)) * 100)} %`;
}

export const ACTION_LABELS: Readonly<Record<NoticeAction, string>> = {
  continue: 'Continue',
  retry: 'Try again',
  cloud: 'Use the cloud',
  models: 'Models',
  keys: 'Cloud keys',
  servers: 'Servers',
};

export const placeWords = (place: RoutePart['place']): string =>
  place === 'phone' ? 'On this phone' : 'In the cloud';

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const money = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 2,
});

/** Milliseconds as seconds. */
export const seconds = (ms: number): string => `${short.format(ms / 1000)} s`;

export const count = (figure: number): string => whole.format(figure);

/** Figures of one step, as pairs of a name and a value; what is not known is left out. */
export function usageRows(usage: StepPart['usage']): { name: string; value: string }[] {
  const rows: { name: string; value: string }[] = [];
  if (usage.promptTokens !== undefined) {
    const cached = usage.cachedTokens ? `, ${whole.format(usage.cachedTokens)} from before` : '';
    rows.push({ name: 'Read', value: `${whole.format(usage.promptTokens)} tokens${cached}` });
  }
  if (usage.outputTokens !== undefined)
    rows.push({ name: 'Written', value: `${whole.format(usage.outputTokens)} tokens` });
  if (usage.firstTokenMs !== undefined)
    rows.push({ name: 'First token', value: seconds(usage.firstTokenMs) });
  if (usage.tokensPerSecond !== undefined)
    rows.push({ name: 'Speed', value: `${short.format(usage.tokensPerSecond)} tokens a second` });
  if (usage.cost !== undefined) rows.push({ name: 'Cost', value: money.format(usage.cost) });
  return rows;
}

export interface ContextRow {
  readonly key:
    'system' | 'tools' | 'earlier' | 'words' | 'attached' | 'results' | 'answer' | 'free';
  readonly name: string;
  readonly tokens: number;
  /** Tokens before it. */
  readonly from: number;
}

const CONTEXT_NAMES: Readonly<Record<ContextRow['key'], string>> = {
  system: 'Instructions',
  tools: 'Tools',
  earlier: 'Earlier turns',
  words: 'This turn',
  attached: 'Attached',
  results: 'Results of tools',
  answer: 'Kept for the answer',
  free: 'Free',
};

const COUNTED: Partial<Record<ContextRow['key'], string>> = {
  system: 'instructions',
  tools: 'tools',
  earlier: 'earlier turns',
  words: 'this turn',
  attached: 'attached',
  results: 'results',
};

/** Shares of a model's window, in the order in which they fill it; what is free comes last. */
export function contextRows(use: ContextUse): ContextRow[] {
  const keys = ['system', 'tools', 'earlier', 'words', 'attached', 'results', 'answer'] as const;
  const shares = keys.flatMap((key) =>
    key === 'attached' && !use.attached ? [] : [[key, use[key] ?? 0] as const],
  );
  const taken = shares.reduce((sum, [, tokens]) => sum + tokens, 0);
  let from = 0;
  return [...shares, ['free', Math.max(0, use.window - taken)] as const].map(([key, tokens]) => {
    const row = { key, name: CONTEXT_NAMES[key], tokens, from };
    from += tokens;
    return row;
  });
}

/** The same in a sentence. */
export function contextWords(use: ContextUse): string {
  const rows = contextRows(use).filter(({ key, tokens }) => key in COUNTED && tokens > 0);
  const shares = rows.map(({ key, tokens }) => `${COUNTED[key]} ${whole.format(tokens)}`);
  return `Of ${whole.format(use.window)} tokens: ${shares.join(', ')}.`;
}

/** What the newest step's window held; undefined where no turn has run yet. */
export function newestContext(messages: readonly MessageView[]): ContextUse | undefined {
  for (const { parts } of messages.toReversed()) {
    const route = parts.findLast((part) => part.kind === 'route');
    if (route?.context) return route.context;
  }
  return undefined;
}

/** The words of a message, for copying and for reading out. */
export function messageText(view: MessageView): string {
  return view.parts
    .flatMap((part) => (part.kind === 'text' ? [part.text.trim()] : []))
    .filter(Boolean)
    .join('\n\n');
}

/** A notice's button works where the notice ended the turn: nothing but the step's end is behind it. */
export function isActionable(view: MessageView, index: number): boolean {
  const part = view.parts[index];
  return (
    view.message.state !== 'done' &&
    part?.kind === 'notice' &&
    part.action !== undefined &&
    index >= view.parts.length - 2
  );
}

/** Whether one of its notices offers how to go on. */
export function offersAction(view: MessageView): boolean {
  return view.parts.some((_, index) => isActionable(view, index));
}
