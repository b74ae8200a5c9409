/**
 * Stands between a model's wish and an action: run, ask or refuse, with the reason in words; and
 * takes the person's answers.
 *
 * Promises: asking is the default; a grant holds for one definition of a tool, so a changed tool
 * asks again; a question is answered exactly once, in whichever tab, and everyone who waits for the
 * answer gets that one.
 */
import type { Tool } from '../mcp/types.ts';
import type { Decision, Grant } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { plainName } from './names.ts';
import type { Answer, Approvals, Gate, Verdict } from './types.ts';

/**
 * Milliseconds between two looks at a question that waits. A change is announced at once; this is
 * for a tab that was killed between its decision and the announcement.
 */
const LOOK_AGAIN_MS = 5_000;

/** One grant for each tool and scope, so that a later answer replaces an earlier one. */
const grantId = (server: string, tool: string, conversation: string | null): string =>
  JSON.stringify([server, tool, conversation]);

/** The rules, in order. `grants` are those of this tool, for every scope and definition. */
function judge(tool: Tool, conversation: string, grants: readonly Grant[]): Verdict {
  const named = `${plainName(tool.title || tool.name)} on ${plainName(tool.serverName)}`;
  const holding = grants.filter(
    (it) =>
      it.pin === tool.pin && (it.conversation === undefined || it.conversation === conversation),
  );
  const where = (grant: Grant) =>
    grant.conversation === undefined ? 'always' : 'in this conversation';

  // A no wins over everything else.
  const denial = holding.find((it) => it.verdict === 'deny');
  if (denial)
    return {
      verdict: 'refuse',
      why: `You do not allow ${named}${denial.conversation === undefined ? '' : ' in this conversation'}.`,
    };
  if (tool.local && tool.readOnly)
    return { verdict: 'run', why: `${named} only reads, and it stays on this phone.` };
  const allowance = holding.find((it) => it.verdict === 'allow');
  if (allowance) return { verdict: 'run', why: `You allowed ${named} ${where(allowance)}.` };
  const outdated = grants.find((it) => it.pin !== tool.pin);
  if (outdated) {
    const did = outdated.verdict === 'allow' ? 'allowed it' : 'said no to it';
    return {
      verdict: 'ask',
      why: `${named} has changed since you ${did}, so you are asked again.`,
    };
  }
  if (tool.readOnly)
    return { verdict: 'run', why: `${named} only reads, and you trust what that server says.` };
  return { verdict: 'ask', why: `You have not allowed ${named} yet.` };
}

const toAnswer = ({ allow, scope, reason }: Decision): Answer =>
  reason === undefined ? { allow, scope } : { allow, scope, reason };

/** Waits until there is a decision for this call; listens before it looks, so none is missed. */
function waitForDecision(
  store: Pick<Store, 'decisions' | 'changes'>,
  callId: string,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const settle = () => {
      unsubscribe();
      clearInterval(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = () => {
      settle();
      reject(signal.reason as Error);
    };
    const look = () => {
      store.decisions.get(callId).then(
        (decision) => {
          if (!decision) return;
          settle();
          resolve(toAnswer(decision));
        },
        (error: unknown) => {
          settle();
          reject(error as Error);
        },
      );
    };
    const unsubscribe = store.changes.subscribe((change) => {
      if (change.topic === 'decisions' && change.key === callId) look();
    });
    const timer = setInterval(look, LOOK_AGAIN_MS);
    signal.addEventListener('abort', onAbort);
    look();
  });
}

export function createGate({
  store,
}: {
  readonly store: Pick<Store, 'decisions' | 'grants' | 'changes'>;
}): Gate & Approvals {
  return {
    async judge({ tool }, { conversation }) {
      return judge(tool, conversation, await store.grants.for(tool.server, tool.name));
    },

    answer: (callId, signal) => waitForDecision(store, callId, signal),

    async decide({ callId, conversation, server, tool, pin }, { allow, scope, reason }) {
      const createdAt = Date.now();
      const decision = { callId, conversation, allow, scope, at: createdAt };
      const ours = await store.decisions.add(
        reason === undefined ? decision : { ...decision, reason },
      );
      if (!ours) return false;
      if (scope !== 'once') {
        const within = scope === 'conversation' ? conversation : null;
        const grant = {
          id: grantId(server, tool, within),
          server,
          tool,
          pin,
          verdict: allow ? 'allow' : 'deny',
          createdAt,
        } as const;
        await store.grants.put(within === null ? grant : { ...grant, conversation: within });
      }
      return true;
    },
  };
}
