/** What the action log is told of a call, read off the call's own part. */
import type { CallPart, Decision, Outcome, Part } from '../store/records.ts';
import type { ActionDraft } from '../store/store.ts';

/** Characters of an outcome's words that are looked at; the log cuts them further. */
const LONGEST = 4_000;

/** The first words of an outcome. */
function wordsOf(outcome: Outcome): string {
  if (!('content' in outcome)) return outcome.message;
  return outcome.content
    .flatMap((block) => (typeof block.text === 'string' ? [block.text] : [`(${block.type})`]))
    .join('\n')
    .slice(0, LONGEST);
}

/** Label of the model that took the call's step. */
function brainOf(call: CallPart, parts: readonly Part[]): string {
  const route = parts.findLast((part) => part.kind === 'route' && part.step === call.step);
  return route?.kind === 'route' ? route.label : '';
}

function decisionOf(call: CallPart, answer: Decision | undefined): ActionDraft['decision'] {
  const allowed = call.state !== 'denied' && call.state !== 'refused';
  const why = allowed ? call.why : (call.reason ?? call.why);
  const words = why === undefined ? {} : { why };
  if (!answer || answer.allow !== allowed) return { by: 'rule', allowed, ...words };
  return { by: 'person', allowed, scope: answer.scope, ...words };
}

/** Whether a call's new state is one that the log keeps. */
export const isLogged = ({ state }: CallPart): boolean =>
  state === 'running' || state === 'done' || state === 'denied' || state === 'refused';

/** The log's line on a call that was just sent, or has just ended. */
export function actionOf(
  call: CallPart,
  context: {
    readonly conversation: string;
    readonly parts: readonly Part[];
    /** The person's answer, where there was a question. */
    readonly answer: Decision | undefined;
    readonly now: number;
  },
): ActionDraft {
  const { callId, server, serverName, tool, title, args, state, outcome, startedAt } = call;
  const sent = state === 'running';
  return {
    ...{ at: context.now, event: sent ? 'sent' : 'ended', callId, server, serverName, tool, title },
    conversation: context.conversation,
    args,
    decision: decisionOf(call, context.answer),
    brain: brainOf(call, context.parts),
    ...(sent ? {} : { outcome: outcome?.kind ?? state }),
    ...(outcome ? { words: wordsOf(outcome) } : {}),
    ...(sent || startedAt === undefined ? {} : { ms: (call.endedAt ?? context.now) - startedAt }),
  };
}
